package sqlengine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopyExactNumbers: a JSON number that DuckDB would round on its way to a decimal is refused, at any depth.
func TestCopyExactNumbers(t *testing.T) {
	s := freshSession(t, SessionOptions{})
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want(t, s, "CREATE TABLE d (id INT, s STRUCT<p: DECIMAL(20,10), a: ARRAY<DECIMAL(10,2)>, w: STRING>)")
	fine := put("fine.json", `{"id":1,"s":{"p":1234567.125,"a":[1.5,2.25],"w":"12345678901234567"}}`)
	want(t, s, "COPY INTO d FROM '"+fine+"' FILEFORMAT = JSON", `[1,1,0]`)
	want(t, s, "SELECT s.p, s.a[1], s.w FROM d", `["1234567.1250000000","2.25","12345678901234567"]`)
	for name, text := range map[string]string{
		"member.json":  `{"id":2,"s":{"p":1234567890.1234567,"a":[1.5],"w":"x"}}`,
		"element.json": `{"id":3,"s":{"p":1.5,"a":[0.12345678901234567],"w":"x"}}`,
	} {
		refuse(t, s, "COPY INTO d FROM '"+put(name, text)+"' FILEFORMAT = JSON", "NUMERIC_VALUE_OUT_OF_RANGE")
	}
	want(t, s, "SELECT count(*) FROM d", `[1]`)
}
