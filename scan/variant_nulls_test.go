package scan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// jsonNull is a variant null, as an expression for COPY.
const jsonNull = `variant_bytes_to_variant('\x01\x00\x00\x00'::BLOB)`

// told tells a variant null from NULL and from other values.
func told(e string) string {
	return "CASE WHEN " + e + " IS NULL THEN 'NULL' ELSE CAST(" + e + " AS JSON)::VARCHAR END"
}

func TestVariantNullsByFile(t *testing.T) {
	in := openInstance(t)
	for _, test := range []struct {
		name, values string // of the column v, a row each
		want         string
		nulls        bool // the file may have variant nulls
	}{
		{"values alone", "1::VARIANT, 'a'::VARIANT", `["a"] [1]`, false},
		{"NULL alone", "NULL, NULL", "[NULL] [NULL]", false},
		{"NULL and values", "NULL, 1::VARIANT", "[NULL] [1]", false},
		{"variant nulls alone", jsonNull + ", " + jsonNull, "[null] [null]", true},
		{"variant nulls and values", jsonNull + ", 1::VARIANT", "[null] [1]", true},
		{"all of them", jsonNull + ", NULL, 1::VARIANT, NULL, " + jsonNull, "[NULL] [NULL] [null] [null] [1]", true},
		{"nulls inside", "[1, NULL]::VARIANT, NULL, '{\"a\":null}'::JSON::VARIANT", `[NULL] [[1,null]] [{"a":null}]`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, field("id", `"long"`)+","+field("v", `"variant"`), nil, nil)
			tt.write("a.parquet", "SELECT i AS id, CAST(v AS VARIANT) AS v FROM (SELECT unnest(range(100)) AS i, unnest(["+test.values+"]) AS v) WHERE i < len(["+test.values+"])", "")
			tt.commit(add("a.parquet", "", ""))
			if got := strings.ReplaceAll(tt.rows(told("c0"), "", "v"), "'", ""); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			relation, err := tt.relation(nil, "v")
			if err != nil {
				t.Fatal(err)
			}
			defer relation.Release()
			if got := strings.Contains(relation.SQL, "variant_bytes_to_variant"); got != test.nulls {
				t.Errorf("the relation is %s", relation.SQL)
			}
		})
	}
}

// TestVariantNullsOfBranch has files of all kinds, with row groups, a deletion vector's worth of rows and a second variant.
func TestVariantNullsOfBranch(t *testing.T) {
	in := openInstance(t)
	tt := newTable(t, in, field("id", `"long"`)+","+field("v", `"variant"`)+","+field("w", `"variant"`), nil, nil)
	kinds := map[string]string{
		"clean":   "i::VARIANT",
		"null":    "NULL::VARIANT",
		"present": "CASE WHEN i % 3 = 0 THEN " + jsonNull + " ELSE i::VARIANT END",
		"mixed":   "CASE i % 3 WHEN 0 THEN " + jsonNull + " WHEN 1 THEN NULL ELSE i::VARIANT END",
	}
	for name, v := range kinds {
		tt.write(name+".parquet", "SELECT i AS id, "+v+" AS v, "+kinds["mixed"]+" AS w FROM range(5000) t(i)", ", ROW_GROUP_SIZE 2048")
		tt.commit(add(name+".parquet", "", ""))
	}
	expressions := "count(*), count(*) FILTER (c1 IS NULL), count(*) FILTER (CAST(c1 AS JSON)::VARCHAR = 'null'), count(*) FILTER (c1 IS NULL AND c0 % 3 <> 1), " +
		"count(*) FILTER (c2 IS NULL AND c0 % 3 = 1), count(*) FILTER (CAST(c2 AS JSON)::VARCHAR = 'null' AND c0 % 3 = 0)"
	if got, want := tt.rows(expressions, "", "id", "v", "w"), "[20000, 6667, 3334, 3333, 6668, 6668]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := tt.rows("count(*), count(DISTINCT c0)", "c1 IS NULL AND c0 % 3 = 0", "id", "v"), "[1667, 1667]"; got != want {
		t.Errorf("filtered: got %s, want %s", got, want)
	}
	relation, err := tt.relation(nil, "v")
	if err != nil {
		t.Fatal(err)
	}
	defer relation.Release()
	if relation.Report.Branches != 2 {
		t.Errorf("%d branches: files without variant nulls are to be read as they are", relation.Report.Branches)
	}
	if relation, err = tt.relation(nil, "id"); err != nil || len(relation.sets) > 0 || strings.Contains(relation.SQL, "variant") {
		t.Errorf("a statement without the variant: %v, %v", relation, err)
	}
}

// level is a value of a Parquet column with its levels; no text means no value.
type level struct {
	text                   string
	repetition, definition int
}

// writeLevels writes a file of one column named v of variants, nested as node has it, from values with levels. rows are the
// columns' values row by row, each variant giving metadata and value.
func writeLevels(t *testing.T, path string, node parquet.Node, keys [][]level, rows [][]level) {
	t.Helper()
	schema := parquet.NewSchema("root", parquet.Group{"v": node})
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	writer := parquet.NewWriter(file, schema)
	for at, row := range rows {
		var values parquet.Row
		column := 0
		put := func(levels []level, text func(string) string) {
			for _, l := range levels {
				v := parquet.NullValue()
				if l.text != "" {
					v = parquet.ByteArrayValue([]byte(text(l.text)))
				}
				values = append(values, v.Level(l.repetition, l.definition, column))
			}
			column++
		}
		if keys != nil {
			put(keys[at], func(s string) string { return s })
		}
		put(row, func(string) string { return "\x01\x00\x00" })
		put(row, func(s string) string {
			if s == "null" {
				return "\x00"
			}
			return string([]byte{byte(len(s)<<2 | 1)}) + s
		})
		if _, err := writer.WriteRows([]parquet.Row{values}); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestVariantNullsInside(t *testing.T) {
	in := openInstance(t)
	variant := parquet.Optional(parquet.Variant())
	list := func(of parquet.Node) parquet.Node { return parquet.Optional(parquet.List(of)) }
	none := func(definition int) []level { return []level{{"", 0, definition}} }
	for _, test := range []struct {
		name, typ  string
		node       parquet.Node
		keys, rows [][]level
		want       string
	}{
		{
			"struct", `{"type":"struct","fields":[` + field("w", `"variant"`) + `]}`,
			parquet.Optional(parquet.Group{"w": variant}), nil,
			[][]level{{{"a", 0, 2}}, {{"null", 0, 2}}, none(1), none(0)},
			`null {"w":#} {"w":"a"} {"w":null}`,
		},
		{
			"list", `{"type":"array","elementType":"variant","containsNull":true}`, list(variant), nil,
			[][]level{
				{{"a", 0, 3}, {"", 1, 2}, {"null", 1, 3}}, none(0), none(1), {{"null", 0, 3}}, none(2),
				{{"", 0, 2}, {"null", 1, 3}, {"null", 1, 3}, {"", 1, 2}},
			},
			`[#] ["a",null,#] [] [null,#,#,null] [null] null`,
		},
		{
			"list of present", `{"type":"array","elementType":"variant","containsNull":true}`, list(variant), nil,
			[][]level{{{"a", 0, 3}, {"null", 1, 3}}, none(0), none(1)},
			`["a",#] [] null`,
		},
		{
			"list of lists", `{"type":"array","elementType":{"type":"array","elementType":"variant","containsNull":true},"containsNull":true}`,
			list(list(variant)), nil,
			[][]level{
				{{"", 0, 4}, {"null", 2, 5}, {"null", 1, 5}, {"", 2, 4}, {"null", 2, 5}}, none(1), none(2), none(3),
				{{"null", 0, 5}, {"", 1, 4}, {"null", 1, 5}},
			},
			`[[#],[null],[#]] [[]] [[null,#],[#,null,#]] [] [null]`,
		},
		{
			"map", `{"type":"map","keyType":"string","valueType":"variant","valueContainsNull":true}`,
			parquet.Optional(parquet.Map(parquet.String(), variant)),
			[][]level{{{"k", 0, 2}, {"l", 1, 2}, {"m", 1, 2}}, none(0), {{"k", 0, 2}}},
			[][]level{{{"", 0, 2}, {"null", 1, 3}, {"a", 1, 3}}, none(0), {{"null", 0, 3}}},
			`null {"k":#} {"k":null,"l":#,"m":"a"}`,
		},
		{
			"list of structs", `{"type":"array","elementType":{"type":"struct","fields":[` + field("w", `"variant"`) + `]},"containsNull":true}`,
			list(parquet.Optional(parquet.Group{"w": variant})), nil,
			[][]level{{{"null", 0, 4}, {"", 1, 3}, {"", 1, 2}}, {{"", 0, 3}}},
			`[{"w":#},{"w":null},null] [{"w":null}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tt := newTable(t, in, field("v", test.typ), nil, nil)
			writeLevels(t, filepath.Join(tt.dir, "a.parquet"), test.node, test.keys, test.rows)
			tt.commit(add("a.parquet", "", ""))
			// In JSON both nulls look alike, so variant nulls become the text #.
			mark := "CASE WHEN x IS NOT NULL AND CAST(x AS JSON)::VARCHAR = 'null' THEN '\"#\"' ELSE CAST(x AS JSON)::VARCHAR END"
			marked := func(e string) string { return "CAST(" + strings.ReplaceAll(mark, "x", e) + " AS JSON)" }
			struct1 := func(e string) string {
				return "CASE WHEN " + e + " IS NOT NULL THEN {'w': " + marked(e+".w") + "} END"
			}
			expression := map[string]string{
				"struct":          struct1("c0"),
				"list of lists":   "list_transform(c0, lambda y: list_transform(y, lambda z: " + marked("z") + "))",
				"map":             "map_from_entries(list_transform(map_entries(c0), lambda e: {'key': e.key, 'value': " + marked("e.value") + "}))",
				"list of structs": "list_transform(c0, lambda y: " + struct1("y") + ")",
			}[test.name]
			if expression == "" {
				expression = "list_transform(c0, lambda z: " + marked("z") + ")"
			}
			got := tt.rows("coalesce(to_json("+expression+")::VARCHAR, 'null')", "", "v")
			got = strings.NewReplacer(`"#"`, "#", "'", "").Replace(got)
			if want := "[" + strings.ReplaceAll(test.want, " ", "] [") + "]"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestDamagedVariant(t *testing.T) {
	in := openInstance(t)
	tt := newTable(t, in, field("v", `"variant"`), nil, nil)
	tt.write("a.parquet", "SELECT CASE i % 2 WHEN 0 THEN "+jsonNull+" END AS v FROM range(100) t(i)", "")
	tt.commit(add("a.parquet", "", ""))
	path := filepath.Join(tt.dir, "a.parquet")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4; i < 40; i++ {
		data[i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := tt.rows("c0", "", "v"); got != "DELTA_FAILED_TO_READ_FILE" {
		t.Errorf("got %s", got)
	}
}
