package parse

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deltasql/protocol"
)

var rewrite = flag.Bool("rewrite", false, "write the expectations of testdata anew")

var prefixes = map[string]Options{
	"my":     {Dialect: MySQL},
	"concat": {Dialect: MySQL, PipesAsConcat: true},
	"high":   {Dialect: MySQL, HighNotPrecedence: true},
	"ansi":   {AnsiQuotes: true},
	"plain":  {NoBackslashEscapes: true},
}

// checkFile runs each statement of a file and compares what outcome makes of it with the indented line behind it.
func checkFile(t *testing.T, name string, outcome func(sql string, opts Options) string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		sql, opts := line, Options{}
		if prefix, rest, ok := strings.Cut(line, ":"); ok {
			if o, known := prefixes[prefix]; known {
				sql, opts = rest, o
			}
		}
		got := outcome(sql, opts)
		i++
		want := strings.TrimPrefix(lines[i], "    ")
		if *rewrite {
			lines[i] = "    " + got
		} else if got != want {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", path, i+1, line, got, want)
		}
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseTrees(t *testing.T) {
	checkFile(t, "trees.txt", func(sql string, opts Options) string {
		statement, err := Parse(sql, opts)
		if err != nil {
			return err.Error()
		}
		if Verb(statement) == "" {
			t.Errorf("%s has no verb", sql)
		}
		return dump(statement)
	})
}

func TestParseErrors(t *testing.T) {
	checkFile(t, "errors.txt", func(sql string, opts Options) string {
		statement, err := Parse(sql, opts)
		var e *protocol.Error
		switch {
		case err == nil:
			return "parsed: " + dump(statement)
		case !errors.As(err, &e):
			return "not a protocol error: " + err.Error()
		case e.Hint != "":
			return e.Error() + " | " + e.Hint
		}
		return e.Error()
	})
}

// TestParsePlaces checks that lines and columns count characters, and that a script's statement keeps the script's lines.
func TestParsePlaces(t *testing.T) {
	for _, c := range []struct {
		sql          string
		start        Pos
		line, column int
	}{
		{"SELECT 'é😀' +", Pos{}, 1, 14},
		{"SELECT a,\n\t'é' é$ FROM\n  WHERE", Pos{}, 3, 3},
		{"SELECT 'a\nb\nc' x y", Pos{}, 3, 6},
		{"SELECT /* é\n */ )", Pos{}, 2, 5},
		{"SELECT\r\n )", Pos{}, 2, 2},
		{"SELECT )", Pos{Line: 7, Column: 5}, 7, 12},
		{"SELECT\n)", Pos{Line: 7, Column: 5}, 8, 1},
	} {
		_, err := Parse(c.sql, Options{Start: c.start})
		var e *protocol.Error
		if !errors.As(err, &e) || e.Line != c.line || e.Column != c.column {
			t.Errorf("%q: %v, want line %d, column %d", c.sql, err, c.line, c.column)
		}
	}
}

// TestParseSpans checks where expressions begin and end, which names MySQL's columns.
func TestParseSpans(t *testing.T) {
	sql := "SELECT (a + b) * c , `x`.y, f( 1 )  AS z, (1), -a [0], e::int FROM t"
	statement, err := Parse(sql, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"(a + b) * c", "`x`.y", "f( 1 )", "(1)", "-a [0]", "e::int"}
	spans := []string{"(a + b) * c", "`x`.y", "f( 1 )", "1", "-a [0]", "e::int"}
	for i, item := range statement.(*QueryStatement).Query.Body.(*Select).Items {
		if item.Text != want[i] {
			t.Errorf("text %q, want %q", item.Text, want[i])
		}
		if got := sql[item.Expr.At().Offset:item.Expr.End()]; got != spans[i] {
			t.Errorf("span %q, want %q", got, spans[i])
		}
	}
}

func TestParseLimits(t *testing.T) {
	deep := func(n int, open, middle, shut string) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	refused := map[string]string{
		"parentheses":    "SELECT " + deep(5000, "(", "1", ")"),
		"queries":        "SELECT " + deep(5000, "(SELECT ", "1", ")"),
		"derived tables": deep(5000, "SELECT * FROM (", "SELECT 1", ") t"),
		"tables":         "SELECT * FROM " + deep(5000, "(", "t", ")"),
		"calls":          "SELECT " + deep(5000, "f(", "1", ")"),
		"not":            "SELECT " + deep(5000, "NOT ", "1", ""),
		"minus":          "SELECT " + deep(5000, "- ", "1", ""),
		"case":           "SELECT " + deep(5000, "CASE WHEN 1 THEN ", "1", " END"),
		"sum":            "SELECT 1" + strings.Repeat(" + 1", 20000),
		"or":             "SELECT 1" + strings.Repeat(" OR 1", 20000),
		"union":          "SELECT 1" + strings.Repeat(" UNION SELECT 1", 20000),
		"joins":          "SELECT * FROM t" + strings.Repeat(", t", 20000),
		"index":          "SELECT a" + strings.Repeat("[0]", 5000),
		"path":           "SELECT a:b" + strings.Repeat(".c", 5000),
		"name":           "SELECT a" + strings.Repeat(".b", 50),
		"type":           "SELECT CAST(1 AS " + deep(150, "ARRAY<", "INT", ">") + ")",
		"interval":       "SELECT INTERVAL" + strings.Repeat(" 1 DAY", 20000),
		"brackets":       "SELECT " + deep(5000, "a[", "1", "]"),
		"lambdas":        "SELECT " + deep(5000, "x -> ", "1", ""),
		"text":           "SELECT '" + strings.Repeat("x", maxText) + "'",
		"explain":        deep(5000, "EXPLAIN ", "SELECT 1", ""),
		"check":          "ALTER TABLE t ADD CONSTRAINT c CHECK (" + deep(5000, "(", "a", ")") + ")",
		"default":        "CREATE TABLE t (a INT DEFAULT " + deep(5000, "(", "1", ")") + ")",
		"column type":    "CREATE TABLE t (a " + deep(150, "ARRAY<", "CHAR(1)", ">") + ")",
		"column path":    "ALTER TABLE t DROP COLUMN a" + strings.Repeat(".b", 50),
		"insert":         "INSERT INTO t " + deep(5000, "(", "SELECT 1", ")"),
		"values":         "INSERT INTO t VALUES (" + deep(5000, "(", "1", ")") + ")",
		"set":            "UPDATE t SET a = " + deep(5000, "(", "1", ")"),
		"update joins":   "UPDATE t" + strings.Repeat(" JOIN t", 20000) + " SET a = 1",
		"merge":          "MERGE INTO t USING " + deep(5000, "(SELECT * FROM ", "s", ") x") + " ON a WHEN MATCHED THEN DELETE",
		"explain insert": deep(5000, "EXPLAIN ", "INSERT INTO t VALUES (1)", ""),
	}
	between := "SELECT 1" + strings.Repeat(" BETWEEN 1 AND 1", 20000)
	if _, err := Parse(between, Options{Dialect: MySQL}); protocol.ClassOf(err) != "DELTASQL_LIMIT_EXCEEDED" {
		t.Errorf("between: %v", err)
	}
	for name, sql := range refused {
		if _, err := Parse(sql, Options{}); protocol.ClassOf(err) != "DELTASQL_LIMIT_EXCEEDED" {
			text := ""
			if err != nil {
				text = err.Error()
			}
			t.Errorf("%s: %.200s", name, text)
		}
	}
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + deep(300, "(", "1", ")"),
		"closing":     "SELECT CAST(1 AS " + deep(99, "ARRAY<", "INT", ">") + ")",
		"list":        "SELECT a IN (1" + strings.Repeat(", 1", 100000) + ")",
		"items":       "SELECT 1" + strings.Repeat(", 1", 100000),
		"values":      "VALUES (1)" + strings.Repeat(", (1)", 100000),
		"or":          "SELECT 1" + strings.Repeat(" OR 1", 9000),
		"inserted":    "INSERT INTO t VALUES (1, DEFAULT)" + strings.Repeat(", (1, DEFAULT)", 100000),
		"columns":     "CREATE TABLE t (a INT" + strings.Repeat(", a INT", 20000) + ")",
		"actions":     "ALTER TABLE t ADD COLUMN a INT" + strings.Repeat(", DROP COLUMN b", 20000),
		"whens":       "MERGE INTO t USING s ON a" + strings.Repeat(" WHEN MATCHED AND a THEN DELETE", 20000),
		"targets":     "DELETE FROM " + strings.Repeat("t, ", 400) + "t USING t",
	} {
		if _, err := Parse(sql, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseLinear feeds texts that make a parser which reads things twice take exponential time.
func TestParseLinear(t *testing.T) {
	n := 200
	begin := time.Now()
	for _, sql := range []string{
		"SELECT " + strings.Repeat("((SELECT ", n) + "1" + strings.Repeat(") + 1)", n),
		"SELECT " + strings.Repeat("interval (", n) + "1" + strings.Repeat(")", n),
		"SELECT * FROM " + strings.Repeat("((SELECT * FROM ", n/2) + "t" + strings.Repeat(") x)", n/2),
		"SELECT " + strings.Repeat("a IN ((SELECT ", n) + "1" + strings.Repeat("), 2)", n),
		"SELECT " + strings.Repeat("(", 400) + "SELECT 1" + strings.Repeat(")", 400),
		"SELECT " + strings.Repeat("interval -(", n) + "x" + strings.Repeat(")", n),
	} {
		_, err := Parse(sql, Options{})
		if protocol.ClassOf(err) == protocol.ClassInternal && err != nil {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestKeywordsComplete checks that each word that the parser looks for is one that the lexer knows.
func TestKeywordsComplete(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`\.(?:is|isAt|accept|acceptAll|expect|sequence|endsAt)\(([^)]*)\)`)
	words := regexp.MustCompile(`"([A-Z_]{2,})"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls.FindAllStringSubmatch(string(data), -1) {
			for _, word := range words.FindAllStringSubmatch(call[1], -1) {
				if keywords[word[1]] == "" {
					t.Errorf("%s looks for %s, which is not in keywordList", file, word[1])
				}
			}
		}
	}
	for _, list := range []map[string]string{reserved, softWords, notItems, notTables} {
		for word := range list {
			if keywords[word] == "" {
				t.Errorf("%s is in a list of words, but not in keywordList", word)
			}
		}
	}
	for _, list := range [][]string{
		queryVerbs, changeVerbs, otherVerbs, objectVerbs, statementVerbs, selectOptions, createAttributes, changeModifiers, alterVerbs,
	} {
		for _, word := range list {
			if keywords[word] == "" && word != "(" {
				t.Errorf("%s is in a list of verbs, but not in keywordList", word)
			}
		}
	}
	for _, forms := range [][][]string{showPlain, showDatabase, showTable} {
		for _, form := range forms {
			for _, word := range form {
				if keywords[word] == "" {
					t.Errorf("%s is in a list of SHOW forms, but not in keywordList", word)
				}
			}
		}
	}
	for word := range units {
		if keywords[word] == "" {
			t.Errorf("unit %s is not in keywordList", word)
		}
	}
	for word := range simpleTypes {
		if keywords[word] == "" {
			t.Errorf("type %s is not in keywordList", word)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"trees.txt", "errors.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
				f.Add(line, uint8(0))
				f.Add(line, uint8(1))
			}
		}
	}
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		opts := Options{
			Dialect: Dialect(mode & 1), AnsiQuotes: mode&2 != 0, NoBackslashEscapes: mode&4 != 0,
			PipesAsConcat: mode&8 != 0, HighNotPrecedence: mode&16 != 0,
		}
		statement, err := Parse(sql, opts)
		var e *protocol.Error
		switch {
		case err == nil:
			dump(statement)
		case !errors.As(err, &e):
			t.Fatalf("not a protocol error: %v", err)
		case e.Class == protocol.ClassInternal:
			t.Fatal(err)
		case e.Line < 1 || e.Column < 1 || e.Line > strings.Count(sql, "\n")+1:
			t.Fatalf("no place in the text: %v", err)
		}
		if joined, err := TokensJoined(sql, opts); err == nil && !utf8.ValidString(joined) && utf8.ValidString(sql) {
			t.Fatalf("tokens joined: %q", joined)
		}
		end := 0
		for _, token := range Tokens(sql, opts) {
			if token.Start < end || token.End <= token.Start || token.End > len(sql) {
				t.Fatalf("token %v behind %d", token, end)
			}
			end = token.End
		}
		for piece := range Split(sql, opts) {
			if !strings.HasPrefix(sql[piece.Pos.Offset:], piece.Text) {
				t.Fatalf("piece %q is not at %d", piece.Text, piece.Pos.Offset)
			}
		}
	})
}
