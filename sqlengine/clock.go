package sqlengine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// now is the session's clock. It is the engine's, unless deltasql_test_clock is on: then it starts at Options.TestNow, where
// that is set, and deltasql_clock_advance moves it forward.
func (s *Session) now() time.Time {
	real := s.engine.options.Clock()
	if !s.settings.on("deltasql_test_clock") {
		return real
	}
	if base := s.engine.options.TestNow; !base.IsZero() {
		real = base.Add(real.Sub(s.engine.started))
	}
	advance, err := parseClockAdvance(s.settings.get("deltasql_clock_advance"))
	if err != nil {
		return real
	}
	return real.Add(advance)
}

// parseClockAdvance reads "INTERVAL 7 DAYS", "7 days 2 hours" or the empty text. Units go from seconds to weeks: months have
// no fixed length.
func parseClockAdvance(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, "'", " ")))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words)%2 != 0 {
		return 0, fmt.Errorf("it is an interval such as 'INTERVAL 7 DAYS'")
	}
	var total time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no number of %s", words[i], words[i+1])
		}
		unit, ok := map[string]time.Duration{
			"week": 7 * 24 * time.Hour, "day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute,
			"second": time.Second, "millisecond": time.Millisecond,
		}[strings.TrimSuffix(words[i+1], "s")]
		if !ok {
			return 0, fmt.Errorf("%q is no unit of time", words[i+1])
		}
		if n > int64(200*365*24*time.Hour/unit) || n < 0 {
			return 0, fmt.Errorf("%d %s is out of range", n, words[i+1])
		}
		total += time.Duration(n) * unit
	}
	return total, nil
}
