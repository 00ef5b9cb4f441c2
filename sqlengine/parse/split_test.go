package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pieces writes what Split gives, each piece with its line and column.
func pieces(sql string, opts Options) string {
	var list []string
	for piece := range Split(sql, opts) {
		list = append(list, fmt.Sprintf("%d:%d %s", piece.Pos.Line, piece.Pos.Column, piece.Text))
	}
	return strings.Join(list, "|")
}

func TestSplit(t *testing.T) {
	my := Options{Dialect: MySQL}
	for _, c := range []struct {
		sql  string
		opts Options
		want string
	}{
		{"", my, ""},
		{" ;; ; ", my, ""},
		{"SELECT 1", my, "1:1 SELECT 1"},
		{"SELECT 1;\n  SELECT 2 ; SELECT 3", my, "1:1 SELECT 1|2:3 SELECT 2|2:14 SELECT 3"},
		{"SELECT ';', \"a;\", `b;`; SELECT 2", my, "1:1 SELECT ';', \"a;\", `b;`|1:25 SELECT 2"},
		{`SELECT 'a\';b'; SELECT 2`, my, `1:1 SELECT 'a\';b'|1:17 SELECT 2`},
		{`SELECT 'a\'; SELECT 2`, Options{Dialect: MySQL, NoBackslashEscapes: true}, `1:1 SELECT 'a\'|1:14 SELECT 2`},
		{"SELECT 'a'';b'; SELECT 2", my, "1:1 SELECT 'a'';b'|1:17 SELECT 2"},
		{"-- a; b\nSELECT 1 -- c; d\n; # e; f\nSELECT 2", my, "2:1 SELECT 1 -- c; d|4:1 SELECT 2"},
		{"SELECT 5--3; SELECT 2", my, "1:1 SELECT 5--3|1:14 SELECT 2"},
		{"SELECT 5--3; SELECT 2", Options{}, "1:1 SELECT 5--3; SELECT 2"},
		{"/* a; */ SELECT /* b; */ 1; /* c; */", my, "1:10 SELECT /* b; */ 1"},
		{"/* a /* b; */ c; */ SELECT 1", Options{}, "1:21 SELECT 1"},
		{"/*!40101 SET a = 1 */; SELECT 2", my, "1:1 /*!40101 SET a = 1 */|1:24 SELECT 2"},
		{"/*!99999 x; */ SELECT 2", my, "1:16 SELECT 2"},
		{`SELECT r'a\'; SELECT 2`, Options{}, `1:1 SELECT r'a\'|1:15 SELECT 2`},
		{`SELECT xr'a\'; SELECT 2'`, Options{}, `1:1 SELECT xr'a\'; SELECT 2'`},
		{"SELECT 'open; SELECT 2", my, "1:1 SELECT 'open; SELECT 2"},
		{"SELECT 1; /* open; SELECT 2", my, "1:1 SELECT 1|1:10  /* open; SELECT 2"},
		{"\uFEFFSELECT 1; SELECT 'é' x; SELECT 2", my, "1:2 SELECT 1|1:12 SELECT 'é' x|1:26 SELECT 2"},
		{"SELECT 1;", Options{Start: Pos{Line: 5, Column: 3}}, "5:3 SELECT 1"},
	} {
		if got := pieces(c.sql, c.opts); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.sql, got, c.want)
		}
	}
}

// TestSplitterPieces checks that a text gives the same statements however it is fed.
func TestSplitterPieces(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "trees.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"SELECT '/*' ; SELECT /*!40101 1 */ + 2; /*!99999 x; */ SELECT 'a''b', r'\\'; -- x;\n SELECT 5--3; SELECT 'a\\';b';",
		strings.ReplaceAll(string(data), "\n", ";\n"),
	}
	for _, sql := range texts {
		for _, dialect := range []Dialect{Spark, MySQL} {
			opts := Options{Dialect: dialect}
			want := pieces(sql, opts)
			for _, step := range []int{1, 2, 3, 7, 64} {
				s := NewSplitter(opts)
				var got []string
				for chunk := range slices.Chunk([]byte(sql), step) {
					s.Feed(string(chunk))
					for piece, ok := s.Next(); ok; piece, ok = s.Next() {
						got = append(got, fmt.Sprintf("%d:%d %s", piece.Pos.Line, piece.Pos.Column, piece.Text))
					}
				}
				for piece, ok := s.Rest(); ok; piece, ok = s.Rest() {
					got = append(got, fmt.Sprintf("%d:%d %s", piece.Pos.Line, piece.Pos.Column, piece.Text))
				}
				if text := strings.Join(got, "|"); text != want {
					t.Errorf("dialect %d, fed by %d:\n got %.300q\nwant %.300q", dialect, step, text, want)
				}
			}
		}
	}
}

func TestSplitterState(t *testing.T) {
	for _, c := range []struct {
		text string
		want State
	}{
		{"", Complete},
		{"  -- c\n", Complete},
		{"SELECT 1", InStatement},
		{"SELECT 1;", Complete},
		{"SELECT 1; ", Complete},
		{"SELECT 1; SELECT", InStatement},
		{"SELECT 'a", InString},
		{"SELECT 'a'", InStatement},
		{"SELECT 'a''", InString},
		{"SELECT \"a", InString},
		{"SELECT `a", InName},
		{"SELECT /* a", InComment},
		{"/* a", InComment},
		{"SELECT r'a", InString},
		{"SELECT 1 -", InStatement},
		{"/*!40101 SET a = 1", InStatement},
		{"SELECT 'a' -- 'b", InStatement},
	} {
		s := NewSplitter(Options{})
		s.Feed(c.text)
		if got := s.State(); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	sql := "SELECT t.end, `a b`, 'x' 1.5 -- c\n /* d */ @v := ? FROM x'4D' \\ /*! AS */ 'open"
	classes := "KIOIOIOSN" + "CC" + "VOOKSB" + "CKCB"
	names := map[TokenClass]byte{
		KeywordToken: 'K', IdentifierToken: 'I', StringToken: 'S', NumberToken: 'N', CommentToken: 'C', OperatorToken: 'O',
		VariableToken: 'V', BrokenToken: 'B',
	}
	var got []byte
	for _, token := range Tokens(sql, Options{}) {
		got = append(got, names[token.Class])
	}
	if string(got) != classes {
		t.Errorf("%s, want %s", got, classes)
	}
	words := Keywords()
	if !slices.IsSorted(words) || !slices.Contains(words, "SELECT") {
		t.Errorf("keywords: %v", words)
	}
}
