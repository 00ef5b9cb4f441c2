package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/sqlengine/parse"
)

// sqlMode is what a value of sql_mode changes here. It rules the MySQL dialect alone.
type sqlMode struct {
	ansiQuotes, pipesAsConcat, noBackslashEscapes, highNotPrecedence, onlyFullGroupBy bool
	strict, zeroIsValue                                                               bool // of writing: values that do not fit are errors; 0 asks for no new identity value
	zeroDivision                                                                      bool // a division by zero is told
	signedSubtraction                                                                 bool // the difference of unsigned numbers may be negative
}

// sqlModes are MySQL's modes by name. Those without a function change nothing that a reader could see: they rule writing,
// account management or types that have one form here.
var sqlModes = map[string]func(*sqlMode){
	"ANSI_QUOTES":                func(m *sqlMode) { m.ansiQuotes = true },
	"PIPES_AS_CONCAT":            func(m *sqlMode) { m.pipesAsConcat = true },
	"NO_BACKSLASH_ESCAPES":       func(m *sqlMode) { m.noBackslashEscapes = true },
	"HIGH_NOT_PRECEDENCE":        func(m *sqlMode) { m.highNotPrecedence = true },
	"ONLY_FULL_GROUP_BY":         func(m *sqlMode) { m.onlyFullGroupBy = true },
	"STRICT_ALL_TABLES":          func(m *sqlMode) { m.strict = true },
	"STRICT_TRANS_TABLES":        func(m *sqlMode) { m.strict = true },
	"TRADITIONAL":                func(m *sqlMode) { m.strict, m.zeroDivision = true, true },
	"ERROR_FOR_DIVISION_BY_ZERO": func(m *sqlMode) { m.zeroDivision = true },
	"NO_UNSIGNED_SUBTRACTION":    func(m *sqlMode) { m.signedSubtraction = true },
	"NO_AUTO_VALUE_ON_ZERO":      func(m *sqlMode) { m.zeroIsValue = true },
	"ANSI":                       func(m *sqlMode) { m.ansiQuotes, m.pipesAsConcat, m.onlyFullGroupBy = true, true, true },

	"ALLOW_INVALID_DATES": nil, "IGNORE_SPACE": nil, "NO_AUTO_CREATE_USER": nil,
	"NO_DIR_IN_CREATE": nil, "NO_ENGINE_SUBSTITUTION": nil,
	"NO_ZERO_DATE": nil, "NO_ZERO_IN_DATE": nil, "REAL_AS_FLOAT": nil,
	"TIME_TRUNCATE_FRACTIONAL": nil,
}

// parseSQLMode reads a list of modes divided by commas. A mode that is not known, or that would have to change answers and does
// not, is refused.
func parseSQLMode(text string) (sqlMode, error) {
	var mode sqlMode
	for _, name := range strings.Split(strings.ToUpper(text), ",") {
		name = strings.TrimSpace(name)
		set, known := sqlModes[name]
		switch {
		case name == "":
		case !known:
			return sqlMode{}, fmt.Errorf("mode %s is not known or not supported", name)
		case set != nil:
			set(&mode)
		}
	}
	return mode, nil
}

func isSQLMode(text string) error {
	_, err := parseSQLMode(text)
	return err
}

// sqlMode is the session's mode now. Its text was checked when it was set.
func (s *settings) sqlMode() sqlMode {
	mode, _ := parseSQLMode(s.get("sql_mode"))
	return mode
}

// parseOptions are how a text of the MySQL dialect is read under the mode.
func (m sqlMode) parseOptions() parse.Options {
	return parse.Options{
		Dialect: parse.MySQL, AnsiQuotes: m.ansiQuotes, PipesAsConcat: m.pipesAsConcat,
		NoBackslashEscapes: m.noBackslashEscapes, HighNotPrecedence: m.highNotPrecedence,
	}
}
