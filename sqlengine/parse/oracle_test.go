package parse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// startsRead matches the statements that read.
var startsRead = regexp.MustCompile(`(?i)^\s*(SELECT|SHOW|DESC|DESCRIBE|EXPLAIN|SET|USE|VALUES|TABLE)\b`)

// sharedFolder finds the material that lies beside the checkout; a clone without it skips what needs it.
func sharedFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the shared material does not lie beside this checkout")
	}
	return folder
}

// TestParseOracle parses every statement that a reference ran: what it accepted must parse, and queries among it must be
// known as such.
func TestParseOracle(t *testing.T) {
	shared := sharedFolder(t)
	for _, set := range []struct {
		folder  string
		dialect Dialect
	}{{"oracle", Spark}, {"oracle-mysql", MySQL}} {
		t.Run(set.folder, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(shared, set.folder, "*", "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no recordings in %s: %v", set.folder, err)
			}
			count := 0
			for _, file := range files {
				count += checkRecording(t, file, set.dialect)
			}
			t.Logf("%d statements", count)
		})
	}
}

func checkRecording(t *testing.T, file string, dialect Dialect) int {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var recording struct {
		Statements []struct {
			SQL   string
			Error json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &recording); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	opts := Options{Dialect: dialect}
	for _, s := range recording.Statements {
		statement, err := Parse(s.SQL, opts)
		failed := len(s.Error) > 0 && string(s.Error) != "null"
		where := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
		syntax := failed && (strings.Contains(string(s.Error), "1064") || strings.Contains(string(s.Error), "PARSE_SYNTAX_ERROR"))
		switch {
		case err != nil && protocol.ClassOf(err) == protocol.ClassInternal:
			t.Errorf("%s: %s\n\t%v", where, s.SQL, err)
		case err != nil && !failed:
			t.Errorf("%s: %s\n\t%v", where, s.SQL, err)
		case err == nil && syntax:
			if _, skipped := statement.(*Unsupported); !skipped {
				t.Logf("%s: more is accepted than by the reference: %s", where, s.SQL)
			}
		}
		if _, skipped := statement.(*Unsupported); skipped && startsRead.MatchString(s.SQL) && !strings.HasPrefix(s.SQL, "SET VAR") {
			t.Errorf("%s: %s\n\tis not known as a query", where, s.SQL)
		}
		if set, ok := statement.(*Set); ok && !failed {
			opts = sessionModes(opts, set)
		}
	}
	return len(recording.Statements)
}

// sessionModes follows SET sql_mode, which changes how the next statements are read.
func sessionModes(opts Options, set *Set) Options {
	for _, assign := range set.Assigns {
		value, ok := assign.Value.(*Literal)
		if assign.Name != "sql_mode" || !ok {
			continue
		}
		opts.AnsiQuotes = strings.Contains(value.Text, "ANSI_QUOTES")
		opts.PipesAsConcat = strings.Contains(value.Text, "PIPES_AS_CONCAT")
		opts.NoBackslashEscapes = strings.Contains(value.Text, "NO_BACKSLASH_ESCAPES")
		opts.HighNotPrecedence = strings.Contains(value.Text, "HIGH_NOT_PRECEDENCE")
	}
	return opts
}

// refusedConstructs are statements of the grammar list that this product refuses on purpose, by what they hold.
var refusedConstructs = []string{"ASOF JOIN", "AGAINST", "PARTITION (p0)", "INTO OUTFILE", "RETURNING", "SET('x')", "PARTITION BY RANGE (a)", "PARTITION BY HASH(a)"}

// TestParseGrammarList parses the statements of appendix A of wire.md, which another grammar accepts or rejects.
func TestParseGrammarList(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(sharedFolder(t), "wire.md"))
	if err != nil {
		t.Skip("the shared material has no wire.md")
	}
	_, list, _ := strings.Cut(string(data), "## Appendix A.")
	list, _, _ = strings.Cut(list, "## Appendix B.")
	count := 0
	for _, m := range regexp.MustCompile("(?m)^- `(.*?)`(?: \\(near .*\\))?$").FindAllStringSubmatch(list, -1) {
		sql := strings.ReplaceAll(m[1], "ˋ", "`")
		count++
		for _, dialect := range []Dialect{MySQL, Spark} {
			_, err := Parse(sql, Options{Dialect: dialect})
			class := protocol.ClassOf(err)
			refused := slices.ContainsFunc(refusedConstructs, func(c string) bool { return strings.Contains(sql, c) })
			switch {
			case refused && err != nil && class == "UNSUPPORTED_FEATURE":
			case refused:
				t.Errorf("dialect %d: %s: %v, want it refused", dialect, sql, err)
			case dialect == Spark && strings.Contains(sql, "BINARY a"): // a column and its alias there
			case err != nil:
				t.Errorf("dialect %d: %s\n\t%v", dialect, sql, err)
			}
		}
	}
	if count < 150 {
		t.Errorf("only %d statements were found", count)
	}
}
