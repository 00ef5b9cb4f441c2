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

// parserClasses are the classes of the reference's errors that its parser raises, and ours with the same class.
var parserClasses = []string{
	"PARSE_SYNTAX_ERROR", "DUPLICATE_CLAUSES", "DUPLICATE_KEY", "MERGE_WITHOUT_WHEN", "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
	"NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION", "IDENTITY_COLUMNS_DUPLICATED_SEQUENCE_GENERATOR_OPTION",
	"DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
}

// unsupportedVerbs are the statements of the recordings that this version knows by name only.
var unsupportedVerbs = []string{"DECLARE", "SET VARIABLE", "DO"}

// recordedClass is the class of a recorded error; "" where there is none.
func recordedClass(recorded json.RawMessage) string {
	var e struct{ Class string }
	if json.Unmarshal(recorded, &e) != nil {
		return ""
	}
	return e.Class
}

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

// TestParseOracle parses every statement that a reference ran: what it accepted must parse, and not just be known by name; what its
// parser refused must be refused with the same class.
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
		case err == nil && syntax && dialect == Spark:
			t.Errorf("%s: %s\n\tis accepted, the reference has a syntax error", where, s.SQL)
		case err == nil && syntax: // that server knows less than the dialect it speaks
			t.Logf("%s: more is accepted than by the reference: %s", where, s.SQL)
		}
		if class := recordedClass(s.Error); slices.Contains(parserClasses, class) && string(protocol.ClassOf(err)) != class {
			t.Errorf("%s: %s\n\tgot %v, want %s", where, s.SQL, err, class)
		}
		if other, skipped := statement.(*Unsupported); skipped && !slices.Contains(unsupportedVerbs, other.Verb) {
			t.Errorf("%s: %s\n\tis not supported: %s", where, s.SQL, other.Verb)
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
