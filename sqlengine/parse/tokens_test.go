package parse

import "testing"

func TestTokensJoined(t *testing.T) {
	for _, c := range []struct {
		text string
		opts Options
		want string
	}{
		{"id > 0", Options{}, "id > 0"},
		{"SIZE(l) <= 2", Options{}, "SIZE ( l ) <= 2"},
		{"length(s)<5 OR (id%2)=0", Options{}, "length ( s ) < 5 OR ( id % 2 ) = 0"},
		{"s.a  IS\n\tNOT NULL -- c", Options{}, "s . a IS NOT NULL"},
		{"s <> 'x  y' and `odd name`[0]>=-1.5e3", Options{}, "s <> 'x  y' and `odd name` [ 0 ] >= - 1.5e3"},
		{`a = "q" /* c */ and b != 'it''s'`, Options{}, `a = "q" and b != 'it''s'`},
		{"a::INT<=>b AND exists(l,x->x>1)", Options{}, "a :: INT <=> b AND exists ( l , x -> x > 1 )"},
		{"cast(a AS DECIMAL(10,2))=X'1F'", Options{}, "cast ( a AS DECIMAL ( 10 , 2 ) ) = X'1F'"},
		{`"a b" > 1`, Options{AnsiQuotes: true}, "`a b` > 1"},
		{`"a""b" = '\'`, Options{AnsiQuotes: true, NoBackslashEscapes: true}, "`a\"b` = '\\\\'"},
		{"a=1||b=2 && c", Options{Dialect: MySQL}, "a = 1 OR b = 2 AND c"},
		{"a||b", Options{Dialect: MySQL, PipesAsConcat: true}, "a || b"},
		{"a||b", Options{}, "a || b"},
	} {
		got, err := TokensJoined(c.text, c.opts)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
		if _, err := Parse("SELECT "+got, Options{}); err != nil {
			t.Errorf("%s is not read again: %v", got, err)
		}
	}
	for _, text := range []string{"", " /* nothing */", "'a", "a = “b”"} {
		if got, err := TokensJoined(text, Options{}); err == nil {
			t.Errorf("%q gives %q, want an error", text, got)
		}
	}
}
