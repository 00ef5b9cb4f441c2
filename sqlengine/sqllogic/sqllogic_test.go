package sqllogic

import (
	"fmt"
	"strings"
	"testing"

	"deltasql/protocol"
)

// judge is a test that only remembers what was said of it: the runner must find faults, not just accept.
type judge struct {
	testing.TB
	faults []string
}

func (j *judge) Helper()                      {}
func (j *judge) Errorf(f string, args ...any) { j.faults = append(j.faults, fmt.Sprintf(f, args...)) }

// echo answers `rows a b` with two rows, `fail CLASS` with an error, and anything else with no result set.
type echo struct{}

func (echo) Connect(testing.TB) Connection { return echo{} }
func (echo) Close()                        {}

func (echo) Run(sql string) ([]Column, [][]string, error) {
	words := strings.Fields(sql)
	switch words[0] {
	case "rows":
		var rows [][]string
		for _, word := range words[1:] {
			rows = append(rows, []string{word})
		}
		return []Column{{Name: "c", Letter: 'T'}}, rows, nil
	case "fail":
		return nil, nil, protocol.NewError(protocol.Class(words[1]), "as asked")
	}
	return nil, nil, nil
}

func run(script string) (*judge, string) {
	j := &judge{}
	rewritten := RunText(j, "script", script, Options{Open: func(testing.TB, string) Database { return echo{} }, Rewrite: strings.HasPrefix(script, "# rewrite")})
	return j, rewritten
}

// TestVerdicts checks that right scripts pass and wrong ones do not.
func TestVerdicts(t *testing.T) {
	for script, right := range map[string]bool{
		"statement ok\nanything":                                    true,
		"statement ok\nfail SOME_CLASS":                             false,
		"statement error SOME_CLASS\nfail SOME_CLASS":               true,
		"statement error SOME_CLASS\nfail SOME_CLASS.SUB":           true,
		"statement error SOME_CLASS\nfail SOME_CLASSIC":             false,
		"statement error SOME_CLASS /as asked/\nfail SOME_CLASS":    true,
		"statement error SOME_CLASS /elsewise/\nfail SOME_CLASS":    false,
		"statement error SOME_CLASS\nanything":                      false,
		"statement error DELTASQL_INTERNAL\nfail DELTASQL_INTERNAL": false,
		"query T\nrows b a\n----\nb\na":                             true,
		"query T\nrows b a\n----\na\nb":                             false,
		"query T rowsort\nrows b a\n----\na\nb":                     true,
		"query T\nrows a\n----\na\na":                               false,
		"query I\nrows a\n----\na":                                  false,
		"query T names\nrows a\n----\nc\na":                         true,
		"query T\nfail SOME_CLASS\n----\n":                          false,
		"let $x a\n\nquery T\nrows $x\n----\na":                     true,
		"foreach $x a b\n\nquery T\nrows $x\n----\n$x\n\nendloop":   true,
		"foreach $x a b\n\nquery T\nrows $x\n----\na\n\nendloop":    false,
	} {
		if j, _ := run(script); (len(j.faults) == 0) != right {
			t.Errorf("%q: faults %q, want right %v", script, j.faults, right)
		}
	}
}

// TestRewrite checks that the rows seen take the place of the rows expected, and nothing else changes.
func TestRewrite(t *testing.T) {
	j, got := run("# rewrite\nquery T\nrows b a\n----\nold\n\nquery T\nrows c\n----\n")
	if want := "# rewrite\nquery T\nrows b a\n----\nb\na\n\nquery T\nrows c\n----\nc\n"; got != want || len(j.faults) > 0 {
		t.Errorf("got %q, faults %q, want %q", got, j.faults, want)
	}
}

// TestMalformedScripts checks that a script's own faults are told with their line.
func TestMalformedScripts(t *testing.T) {
	for script, want := range map[string]string{
		"statement maybe\nx":       "line 1",
		"query Z\nx\n----":         "line 1",
		"query T\nx":               "wants ----",
		"\nnonsense":               "line 2",
		"foreach $x a\n":           "without endloop",
		"endloop":                  "without foreach",
		"let x 1":                  "$name",
		"statement error X /(/\ny": "missing",
	} {
		if _, err := parseScript(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", script, err, want)
		}
	}
}
