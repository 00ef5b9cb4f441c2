package stats

import (
	"strings"
	"unicode/utf8"
)

// The bounds of strings are cut to a number of UTF-16 units, as the reference counts them, so that bounds agree with its own
// byte for byte (protocol digest, "Statistics JSON").

const (
	// maxASCII stands behind a cut maximum whose next character is smaller, maxRune behind any other.
	maxASCII = '\u007F'
	maxRune  = '\U0010FFFF'
)

// unitsOf is how many UTF-16 units a character takes.
func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// unitPrefix is where, in bytes, the longest prefix of at most limit units ends, and how many units it has. No surrogate pair
// is split.
func unitPrefix(text string, limit int) (end, units int) {
	for i, r := range text {
		n := unitsOf(r)
		if units+n > limit {
			return i, units
		}
		units += n
	}
	return len(text), units
}

// TruncateMin cuts a least value to a lower bound of at most limit units.
func TruncateMin(text string, limit int) string {
	end, _ := unitPrefix(text, limit)
	return text[:end]
}

// TruncateMax cuts a greatest value to an upper bound: its prefix with a character behind it that is greater than the one cut
// off. Where the character cut off is itself the greatest there is, the prefix grows over it, up to twice the limit; false
// if that does not help.
func TruncateMax(text string, limit int) (string, bool) {
	end, units := unitPrefix(text, limit)
	for units <= 2*limit {
		if end == len(text) {
			return text, true
		}
		next, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case next == maxRune:
			end += size
			units += unitsOf(next)
			continue
		case next < maxASCII:
			return text[:end] + string(maxASCII), true
		}
		var b strings.Builder
		b.WriteString(text[:end])
		b.WriteRune(maxRune)
		return b.String(), true
	}
	return "", false
}
