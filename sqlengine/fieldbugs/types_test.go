package fieldbugs_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTY01VoidColumn(t *testing.T) {
	tb := newTable(t, columns("id long", "x void", "s "+structType("a void", "b integer"), "l "+arrayOf("void")))
	tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, {'b': 2::INTEGER} AS s UNION ALL SELECT 2, NULL")
	tb.commit(1, tb.add("a.parquet", records(2)))
	tb.want("SELECT * FROM $t", `1,null,{"a":null,"b":2},null`, `2,null,null,null`)
	tb.want("SELECT count(*) FROM $t WHERE x IS NULL", "2")
	tb.want("SELECT count(*), count(x) FROM $t", "2,0")
	tb.want("SELECT s.a, s.b FROM $t WHERE s.a IS NULL AND s.b = 2", "null,2")
	lines, err := tb.linesOf("DESCRIBE $t")
	if err != nil || !strings.Contains(lines, `"x","void"`) {
		t.Errorf("DESCRIBE gives %s, %v", lines, err)
	}
	t.Run("nothing but void", func(t *testing.T) {
		tb := newTable(t, columns("x void", "y void"))
		tb.parquet("a.parquet", ids(1, 3))
		tb.commit(1, tb.add("a.parquet", records(3)))
		tb.want("SELECT * FROM $t", "null,null", "null,null", "null,null")
		tb.want("SELECT count(*) FROM $t", "3")
	})
	t.Run("retyped later", func(t *testing.T) {
		tb := newTable(t, columns("id long", "x integer"))
		tb.parquet("a.parquet", ids(1, 1))
		tb.parquet("b.parquet", "SELECT 2::BIGINT AS id, 7::INTEGER AS x")
		tb.commit(1, tb.add("a.parquet", records(1)), tb.add("b.parquet", records(1)))
		tb.want("SELECT * FROM $t", "1,null", "2,7")
	})
}

func TestTY02CharAndVarchar(t *testing.T) {
	char := func(name, typ string) string {
		return field(name, "string", true, `{"__CHAR_VARCHAR_TYPE_STRING":"`+typ+`"}`)
	}
	tb := newTable(t, columns("id long", char("c", "varchar(5)"), char("f", "char(3)")))
	tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, 'ünïcö' AS c, 'a' AS f UNION ALL SELECT 2, 'longer than five', 'a  ' UNION ALL SELECT 3, 'a ', 'abc'")
	tb.commit(1, tb.add("a.parquet", bounds(3, "f", `"a"`, `"abc"`, 0)))
	// CHAR is shown and compared as padded, VARCHAR as it is; what was written too long is shown, never cut.
	tb.want("SELECT id, c, f FROM $t", `1,"ünïcö","a  "`, `2,"longer than five","a  "`, `3,"a ","abc"`)
	for _, from := range []string{"$t", "(SELECT id, f, c FROM $t)"} {
		for condition, rows := range map[string][]string{
			"f = 'a'": {"1", "2"}, "f = 'a  '": {"1", "2"}, "'a' = f": {"1", "2"}, "f IN ('a', 'zz')": {"1", "2"}, "f NOT IN ('a', 'zz')": {"3"}, "f > 'a'": {"3"},
			"f <> 'a '": {"3"}, "f <=> 'a'": {"1", "2"}, "f BETWEEN 'a' AND 'a'": {"1", "2"}, "f = 'abc'": {"3"}, "f = 'a   '": nil, "c = 'a'": nil, "c = 'a '": {"3"},
			"CASE f WHEN 'a' THEN true ELSE false END": {"1", "2"}, "f IS DISTINCT FROM 'a'": {"3"}, "f = NULL": nil,
		} {
			tb.want("SELECT id FROM "+from+" WHERE "+condition, rows...)
		}
	}
	tb.want("SELECT l.id, r.id FROM $t l JOIN $t r ON l.f = r.f AND l.id < r.id", "1,2")
}

func TestTY04FieldAddedInsideANestedStruct(t *testing.T) {
	old, now := structType("a integer", "b string"), structType("a integer", "b string", "c double")
	fields := func(s string) []string {
		return []string{"id long", "s " + s, "l " + arrayOf(s), "m " + mapOf("string", s), "d " + structType("deep "+structType("in "+s), "n integer")}
	}
	tb := newTable(t, shape{fields: fields(old)})
	const oldStruct, newStruct = "{'a': 1::INTEGER, 'b': 'x'}", "{'c': 0.5::DOUBLE, 'a': 3::INTEGER, 'b': 'z'}"
	row := func(id int, s string) string {
		return fmt.Sprintf("SELECT %d::BIGINT AS id, %s AS s, [%[2]s, NULL] AS l, MAP {'k': %[2]s} AS m, {'n': 9::INTEGER, 'deep': {'in': %[2]s}} AS d", id, s)
	}
	tb.parquet("a.parquet", row(1, oldStruct)+" UNION ALL SELECT 2, NULL, NULL, NULL, {'n': 8, 'deep': NULL}")
	tb.commit(1, tb.add("a.parquet", records(2)))
	tb.commit(2, shape{fields: fields(now)}.metadataAction())
	tb.parquet("b.parquet", row(3, newStruct))
	tb.commit(3, tb.add("b.parquet", records(1)))
	const one, three = `{"a":1,"b":"x","c":null}`, `{"a":3,"b":"z","c":0.5}`
	tb.want("SELECT id, s FROM $t", "1,"+one, "2,null", "3,"+three)
	tb.want("SELECT id, l FROM $t", "1,["+one+",null]", "2,null", "3,["+three+",null]")
	tb.want("SELECT id, m FROM $t", `1,[["k",`+one+`]]`, "2,null", `3,[["k",`+three+`]]`)
	tb.want("SELECT id, d FROM $t", `1,{"deep":{"in":`+one+`},"n":9}`, `2,{"deep":null,"n":8}`, `3,{"deep":{"in":`+three+`},"n":9}`)
	tb.wantIDs("s.c IS NULL", 1, 2)
	tb.wantIDs("s.c = 0.5", 3)
	tb.wantIDs("s IS NULL", 2)
	tb.wantIDs("d.deep.in.c IS NOT NULL", 3)
	tb.wantIDs("l[0].c IS NULL AND id <> 2", 1)
	tb.wantIDs("m['k'].a = 3", 3)
	tb.want("SELECT count(s), count(s.c) FROM $t", "2,1")
	tb.want("SELECT id, s FROM $t VERSION AS OF 1", `1,{"a":1,"b":"x"}`, "2,null")
}

func TestTY06TypeWidening(t *testing.T) {
	for _, feature := range []string{"typeWidening", "typeWidening-preview"} {
		for _, c := range []struct {
			from, to, old, new string // types of Delta; values as DuckDB literals
			rows               [2]string
			where              string // true of the old row alone
		}{
			{"byte", "long", "7::TINYINT", "5000000000::BIGINT", [2]string{"7", "5000000000"}, "v = 7"},
			{"byte", "integer", "(-7)::TINYINT", "70000::INTEGER", [2]string{"-7", "70000"}, "v < 0"},
			{"short", "integer", "300::SMALLINT", "70000::INTEGER", [2]string{"300", "70000"}, "v = 300"},
			{"integer", "long", "(-1)::INTEGER", "5000000000::BIGINT", [2]string{"-1", "5000000000"}, "v = -1"},
			{"float", "double", "0.1::FLOAT", "0.1::DOUBLE", [2]string{"0.10000000149011612", "0.1"}, "v > 0.1"},
			{"integer", "double", "2147483647::INTEGER", "1e300::DOUBLE", [2]string{"2.147483647e+09", "1e+300"}, "v = 2147483647"},
			{"short", "double", "(-3)::SMALLINT", "0.5::DOUBLE", [2]string{"-3.0", "0.5"}, "v = -3.0"},
			{"integer", "decimal(12,2)", "123::INTEGER", "1234567890.12::DECIMAL(12,2)", [2]string{`"123.00"`, `"1234567890.12"`}, "v = 123"},
			{"long", "decimal(22,2)", "9223372036854775807::BIGINT", "0.01::DECIMAL(22,2)", [2]string{`"9223372036854775807.00"`, `"0.01"`}, "v > 1"},
			{"decimal(10,2)", "decimal(20,5)", "1.25::DECIMAL(10,2)", "123456789012345.00001::DECIMAL(20,5)", [2]string{`"1.25000"`, `"123456789012345.00001"`}, "v = 1.25"},
			{"date", "timestamp_ntz", "DATE '2024-01-01'", "TIMESTAMP '2024-01-01 12:00:00.000001'", [2]string{`"2024-01-01T00:00:00.000000"`, `"2024-01-01T12:00:00.000001"`}, "v = TIMESTAMP_NTZ '2024-01-01 00:00:00'"},
		} {
			t.Run(feature+" "+c.from+" to "+c.to, func(t *testing.T) {
				key := c.from != "float" // a map of floating keys is nobody's
				s := func(typ, changes string) shape {
					metadata := func(path string) string {
						if changes == "" {
							return "{}"
						}
						return `{"delta.typeChanges":[{` + changes + path + `}]}`
					}
					fields := []string{"id long", field("v", typ, true, metadata("")), field("s", structType(field("x", typ, true, metadata(""))), true, "{}"),
						field("l", arrayOf(typ), true, metadata(`,"fieldPath":"element"`))}
					if key {
						fields = append(fields, field("m", mapOf(typ, "string"), true, metadata(`,"fieldPath":"key"`)))
					}
					return shape{features: feature + " timestampNtz", fields: fields, config: map[string]string{"delta.enableTypeWidening": "true"}}
				}
				row := func(id int, value string) string {
					sql := fmt.Sprintf("SELECT %d::BIGINT AS id, %s AS v, {'x': %[2]s} AS s, [%[2]s] AS l", id, value)
					if key {
						sql += ", MAP {" + value + ": 'k'} AS m"
					}
					return sql
				}
				tb := newTable(t, s(c.from, ""))
				tb.parquet("a.parquet", row(1, c.old))
				tb.commit(1, tb.add("a.parquet", records(1)))
				tb.commit(2, s(c.to, fmt.Sprintf(`"toType":%q,"fromType":%q,"tableVersion":2`, c.to, c.from)).metadataAction())
				tb.parquet("b.parquet", row(2, c.new))
				tb.commit(3, tb.add("b.parquet", records(1)))
				shown := func(v string) string {
					out := v + `,{"x":` + v + `},[` + v + "]"
					if key {
						out += `,[[` + v + `,"k"]]`
					}
					return out
				}
				tb.want("SELECT * FROM $t", "1,"+shown(c.rows[0]), "2,"+shown(c.rows[1]))
				tb.wantIDs(c.where, 1)
				tb.wantIDs("s.x = v", 1, 2)
				tb.wantIDs("l[0] = v AND v IS NOT NULL", 1, 2)
				tb.want("SELECT a.id, b.id FROM $t a JOIN $t b ON a.v = b.s.x", "1,1", "2,2")
			})
		}
	}
	t.Run("changed twice", func(t *testing.T) {
		changed := field("v", "long", true, `{"delta.typeChanges":[{"toType":"integer","fromType":"byte","tableVersion":2},{"toType":"long","fromType":"integer","tableVersion":4}]}`)
		tb := newTable(t, shape{features: "typeWidening", fields: []string{"id long", changed}})
		for i, value := range []string{"1::TINYINT", "2::INTEGER", "3::BIGINT", "4::SMALLINT"} {
			name := fmt.Sprintf("f%d.parquet", i)
			tb.parquet(name, fmt.Sprintf("SELECT %d::BIGINT AS id, %s AS v", i, value))
			tb.commit(i+1, tb.add(name, bounds(1, "v", fmt.Sprint(i+1), fmt.Sprint(i+1), 0)))
		}
		tb.want("SELECT * FROM $t", "0,1", "1,2", "2,3", "3,4")
		tb.wantIDs("v >= 2 AND v < 4", 1, 2)
	})
	t.Run("partition column", func(t *testing.T) {
		tb := newTable(t, shape{features: "typeWidening", partitionBy: []string{"p"}, fields: []string{"id long",
			field("p", "long", true, `{"delta.typeChanges":[{"toType":"long","fromType":"integer","tableVersion":2}]}`)}})
		tb.parquet("a.parquet", ids(1, 1))
		tb.parquet("b.parquet", ids(2, 2))
		tb.commit(1, tb.add("a.parquet", partition("p", `"7"`)), tb.add("b.parquet", partition("p", `"5000000000"`)))
		tb.want("SELECT * FROM $t", "1,7", "2,5000000000")
		tb.wantIDs("p > 2147483647", 2)
	})
	t.Run("a change that is none of widening", func(t *testing.T) {
		tb := newTable(t, shape{features: "typeWidening", fields: []string{"id long",
			field("v", "integer", true, `{"delta.typeChanges":[{"toType":"integer","fromType":"string","tableVersion":2}]}`)}})
		tb.parquet("a.parquet", "SELECT 1::BIGINT AS id, 'x' AS v")
		tb.commit(1, tb.add("a.parquet", records(1)))
		tb.refuse("SELECT v FROM $t", "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "v", "$dir")
	})
}

func TestTY08ColumnAddedLater(t *testing.T) {
	tb := newTable(t, columns("id long", "name string"))
	tb.parquet("a.parquet", "SELECT range AS id, 'n' || range AS name FROM range(1, 4)")
	tb.commit(1, tb.add("a.parquet", bounds(3, "id", "1", "3", 0)))
	tb.commit(2, columns("id long", "sex string", "name string").metadataAction()) // in the middle
	tb.parquet("b.parquet", "SELECT range AS id, 'male' AS sex, 'n' || range AS name FROM range(4, 6)")
	tb.commit(3, tb.add("b.parquet", bounds(2, "sex", `"male"`, `"male"`, 0)))
	tb.wantIDs("sex IS NOT NULL", 4, 5)
	tb.wantIDs("sex IS NULL", 1, 2, 3)
	tb.wantIDs("sex = 'male'", 4, 5)
	tb.wantIDs("sex <> 'male'")
	tb.wantIDs("sex NOT IN ('x')", 4, 5)
	tb.wantIDs("NOT (sex = 'male')")
	tb.wantIDs("coalesce(sex, 'none') = 'none'", 1, 2, 3)
	tb.wantIDs("sex <=> NULL", 1, 2, 3)
	tb.wantIDs("sex LIKE 'm%' OR id = 1", 1, 4, 5)
	tb.want("SELECT * FROM $t WHERE id IN (3, 4)", `3,null,"n3"`, `4,"male","n4"`)
	tb.want("SELECT count(sex), min(sex), max(sex), count(*) FROM $t", `2,"male","male",5`)
	tb.want("SELECT a.id, b.id FROM $t a JOIN $t b ON a.sex = b.sex AND a.id < b.id", "4,5")
}

func TestTY11VariantPlainAndShredded(t *testing.T) {
	texts := []string{`{"a":1}`, `"x"`, `[1,"b",null]`, `{"a":"no number","b":2}`, `{"a":null}`, `{}`, `{"a":{"b":[true,0.5]}}`}
	for _, features := range []string{"variantType", "variantType-preview", "variantType variantShredding-preview"} {
		t.Run(features, func(t *testing.T) {
			tb := newTable(t, shape{features: features, fields: []string{"id long", "v variant"}})
			var rows, want []string
			for i, text := range texts {
				rows = append(rows, fmt.Sprintf("(%d::BIGINT, '%s')", i, text))
				want = append(want, fmt.Sprintf(`%d,{"$variant":%s}`, i, text), fmt.Sprintf(`%d,{"$variant":%s}`, i+10, text))
			}
			from := " FROM (SELECT id, j::JSON::VARIANT AS v FROM (VALUES " + strings.Join(rows, ", ") + ", (8, NULL)) AS t(id, j))"
			// As Spark writes them: bytes without the annotation; shredded: some rows' member does not fit its typed column.
			tb.parquet("plain.parquet", "SELECT id, CASE WHEN v IS NOT NULL THEN variant_to_parquet_variant(v) END AS v"+from)
			tb.parquet("shredded.parquet", "SELECT id + 10 AS id, v"+from, "SHREDDING {v: 'STRUCT(a BIGINT)'}")
			tb.commit(1, tb.add("plain.parquet", records(8)), tb.add("shredded.parquet", records(8)))
			tb.want("SELECT * FROM $t", append(want, "8,null", "18,null")...)
			tb.wantIDs("v IS NULL", 8, 18)
			tb.wantIDs("v:a::string = '1'", 0, 10)
			tb.want("SELECT id, v:a::string FROM $t WHERE id IN (3, 13)", `3,"no number"`, `13,"no number"`)
			tb.want("SELECT id, v:a.b[1]::double FROM $t WHERE id IN (6, 16)", `6,0.5`, `16,0.5`)
		})
	}
	t.Run("JSON null is not NULL", func(t *testing.T) {
		tb := newTable(t, shape{features: "variantType", fields: []string{"id long", "v variant"}})
		tb.parquet("a.parquet", `SELECT 1::BIGINT AS id, {'metadata': '\x01\x00\x00'::BLOB, 'value': '\x00'::BLOB} AS v UNION ALL SELECT 2, NULL`)
		tb.commit(1, tb.add("a.parquet", records(2)))
		tb.want("SELECT * FROM $t", `1,{"$variant":null}`, "2,null")
		tb.wantIDs("v IS NULL", 2)
		tb.wantIDs("is_variant_null(v)", 1)
	})
	t.Run("shredded without the annotation is refused, never half read", func(t *testing.T) {
		tb := newTable(t, shape{features: "variantType variantShredding-preview", fields: []string{"id long", "v variant"}})
		tb.parquet("a.parquet", `SELECT 1::BIGINT AS id, {'metadata': '\x01\x00\x00'::BLOB, 'value': NULL::BLOB, 'typed_value': 7::BIGINT} AS v`)
		tb.commit(1, tb.add("a.parquet", records(1)))
		tb.refuse("SELECT v FROM $t", "UNSUPPORTED_FEATURE", "a.parquet", "$dir")
	})
}
