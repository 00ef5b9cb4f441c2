package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // session zones must work on machines without a zone database

	"deltasql/protocol"
)

var offsetZone = regexp.MustCompile(`^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?$`)

// Zone reads a time zone as SET TIME ZONE takes it: an IANA name, UTC, Z, or an offset such as +02:00.
func Zone(name string) (*time.Location, error) {
	switch strings.ToUpper(name) {
	case "", "UTC", "Z", "GMT", "UT", "SYSTEM":
		return time.UTC, nil
	}
	if m := offsetZone.FindStringSubmatch(strings.ToUpper(name)); m != nil {
		seconds := 0
		for i, unit := range []int{3600, 60, 1} {
			n, _ := strconv.Atoi(m[2+i])
			seconds += n * unit
		}
		if seconds > 18*3600 {
			return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "the time zone offset %q is beyond 18 hours", name)
		}
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "the time zone %q is not known", name).
			WithHint("use an IANA name such as Europe/Paris or an offset such as +02:00")
	}
	return zone, nil
}

// location is the session's zone; a session never holds one that Zone refuses.
func (c *Context) location() *time.Location {
	zone, err := Zone(c.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

func (c *Context) isUTC() bool { return c.location() == time.UTC }

// offset is the constant offset of an offset zone in seconds.
func fixedOffset(zone *time.Location) (int, bool) {
	if offsetZone.MatchString(strings.ToUpper(zone.String())) {
		_, seconds := time.Unix(0, 0).In(zone).Zone()
		return seconds, true
	}
	return 0, false
}

// localSQL is the wall clock (DuckDB TIMESTAMP) of an instant (TIMESTAMPTZ) in a zone. DuckDB's own zone is UTC, so its plain
// cast gives UTC's wall clock.
func localSQL(zone *time.Location, x string) string {
	if zone == time.UTC {
		return "CAST(" + x + " AS TIMESTAMP)"
	}
	if seconds, ok := fixedOffset(zone); ok {
		return fmt.Sprintf("(CAST(%s AS TIMESTAMP) + INTERVAL (%d) SECOND)", x, seconds)
	}
	return "timezone(" + quoteText(zone.String()) + ", " + x + ")"
}

// instantSQL is the instant (TIMESTAMPTZ) of a wall clock reading (TIMESTAMP) in a zone.
func instantSQL(zone *time.Location, x string) string {
	if zone == time.UTC {
		return "CAST(" + x + " AS TIMESTAMPTZ)"
	}
	if seconds, ok := fixedOffset(zone); ok {
		return fmt.Sprintf("CAST(%s - INTERVAL (%d) SECOND AS TIMESTAMPTZ)", x, seconds)
	}
	return "timezone(" + quoteText(zone.String()) + ", " + x + ")"
}

func (c *Context) local(x string) string   { return localSQL(c.location(), x) }
func (c *Context) instant(x string) string { return instantSQL(c.location(), x) }
