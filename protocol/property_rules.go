package protocol

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// propertyRule says what a value must be where it is not; "" where it is right. An error is one with a class of its own.
type propertyRule func(value string) (want string, err error)

// The prefixes of property names that have a free part.
const (
	PropertyPrefixConstraint = "delta.constraints."
	PropertyPrefixFeature    = "delta.feature."
	propertyPrefixUniversal  = "delta.universalformat.config."
)

// CanonicalProperty spells a property as it is stored: names that start with "delta." ignore case, all others are the
// user's own and stay as they are. False is a name that starts with "delta." and that nobody knows.
func CanonicalProperty(name string) (string, bool) {
	folded := foldProperty(name)
	switch {
	case strings.HasPrefix(folded, PropertyPrefixConstraint):
		return PropertyPrefixConstraint + folded[len(PropertyPrefixConstraint):], true
	case strings.HasPrefix(folded, PropertyPrefixFeature), strings.HasPrefix(folded, propertyPrefixUniversal):
		return folded, true
	}
	if p, ok := propertyByFolded[folded]; ok {
		return p.name, true
	}
	return name, !strings.HasPrefix(folded, "delta.")
}

// PropertyNames are the names of all table properties that have a meaning, in the order of the protocol digest.
func PropertyNames() []string {
	names := make([]string, len(tableProperties))
	for i, p := range tableProperties {
		names[i] = p.name
	}
	return names
}

// CheckProperty says whether the value may stand under the (canonical) name. What depends on the schema or on other
// properties is not looked at.
func CheckProperty(name, value string) error {
	p, ok := propertyByFolded[foldProperty(name)]
	if !ok {
		return nil
	}
	want, err := p.rule(value)
	if err != nil {
		e := err.(*Error)
		return NewError(e.Class, "the table property %s is %q: %s", name, shorten(value), e.Message)
	}
	if want != "" {
		return badProperty(name, value, want)
	}
	return nil
}

func isAny(string) (string, error) { return "", nil }

func isBool(value string) (string, error) {
	if strings.EqualFold(value, "true") || strings.EqualFold(value, "false") {
		return "", nil
	}
	return "true or false", nil
}

func isLong(value string) (string, error) {
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		return "an integer", nil
	}
	return "", nil
}

// atLeast is a 32-bit integer, which is how the reference reads all counts.
func atLeast(least int64) propertyRule {
	return func(value string) (string, error) {
		if v, err := strconv.ParseInt(value, 10, 32); err != nil || v < least {
			return fmt.Sprintf("an integer of %d or more", least), nil
		}
		return "", nil
	}
}

func between(least, most int64) propertyRule {
	return func(value string) (string, error) {
		if v, err := strconv.ParseInt(value, 10, 32); err != nil || v < least || v > most {
			return fmt.Sprintf("an integer from %d to %d", least, most), nil
		}
		return "", nil
	}
}

func isInterval(value string) (string, error) {
	_, err := ParseIntervalMillis(value)
	return "", err
}

func oneOf(words ...string) propertyRule {
	return func(value string) (string, error) {
		if slices.Contains(words, value) {
			return "", nil
		}
		return "one of " + strings.Join(words, ", "), nil
	}
}

func oneOfFolded(words ...string) propertyRule {
	return func(value string) (string, error) { return oneOf(words...)(strings.ToLower(value)) }
}

// isAutoCompact takes the words of today and those that older releases stored.
func isAutoCompact(value string) (string, error) {
	return oneOfFolded("true", "false", "auto", "enabled", "disabled", "legacy")(value)
}

func isColumnList(value string) (string, error) {
	_, err := ParseColumnPaths(value)
	return "", err
}

func isTextMap(value string) (string, error) {
	var texts map[string]string
	if json.Unmarshal([]byte(value), &texts) != nil || texts == nil {
		return "a JSON object of strings", nil
	}
	return "", nil
}

var parquetVersion = regexp.MustCompile(`^(1\.0\.0|2\.[0-9]+\.[0-9]+)$`)

func isParquetVersion(value string) (string, error) {
	if parquetVersion.MatchString(value) {
		return "", nil
	}
	return "1.0.0 or 2.x.y", nil
}

var byteSize = regexp.MustCompile(`(?i)^[0-9]+ *(b|k|kb|m|mb|g|gb)?$`)

func isByteSize(value string) (string, error) {
	if byteSize.MatchString(strings.TrimSpace(value)) {
		return "", nil
	}
	return `a number of bytes such as "134217728" or "128mb"`, nil
}

func isFormatList(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	formats := strings.Split(value, ",")
	for i, format := range formats {
		if format != "iceberg" && format != "hudi" || slices.Contains(formats[:i], format) {
			return "a list of iceberg and hudi, each at most once", nil
		}
	}
	return "", nil
}
