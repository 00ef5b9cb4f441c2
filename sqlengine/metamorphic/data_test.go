package metamorphic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// cell is one value of a row: a scalar, or the members of a struct or the elements of an array.
type cell struct {
	value protocol.Value // Null also tells a NULL struct or array
	parts []cell
}

type row []cell

// dataset is the logical table that all variants hold. The first column is a key: unique, never NULL, ascending with the rows.
type dataset struct {
	schema protocol.DataType
	rows   []row
	rng    *rand.Rand
}

const schemaText = "struct<id:bigint,i:int,l:bigint,d:double,f:float,n:decimal(12,3),s:string,dt:date,ts:timestamp,tn:timestamp_ntz," +
	"b:boolean,st:struct<x:int,y:string>,a:array<int>,p:string,q:int>"

// odd values of each kind, drawn now and then.
var (
	oddStrings = []string{"", " ", "z", "ü", "日本", "\U0010FFFF\U0010FFFFx", "a'b\\c", "%_%", strings.Repeat("m", 40), strings.Repeat("m", 39) + "é", "\x7f\x7f", "A", "abc\n\t"}
	oddDoubles = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e308, -1e308, 5e-324, 0.1}
	oddLongs   = []int64{1<<53 + 1, 1 << 53, -(1<<53 + 1), math.MaxInt64, math.MinInt64 + 1, 0}
	partitions = []string{"a", "b", "a b", "ü/%", "x=y&z", "é", "A", "__HIVE_DEFAULT_PARTITION__", "null"}
)

func newDataset(rng *rand.Rand, n int) (*dataset, error) {
	schema, err := protocol.ParseDataType(schemaText)
	if err != nil {
		return nil, err
	}
	data := &dataset{schema: schema, rng: rng}
	for k := range n {
		data.rows = append(data.rows, data.row(k))
	}
	return data, nil
}

// row makes row k. Most columns rise with k, so that files of neighbours have narrow bounds; outliers, NULLs and stretches of
// NULLs lie in between.
func (d *dataset) row(k int) row {
	out := make(row, len(d.schema.Fields))
	for c, field := range d.schema.Fields {
		out[c] = d.cell(string(field.Name), field.Type, k)
	}
	return out
}

func (d *dataset) cell(name string, t protocol.DataType, k int) cell {
	if name != "id" && (d.chance(12) || (k/25+len(name)*7)%11 == 3) {
		return cell{value: protocol.NullValue(t.Kind)}
	}
	switch t.Kind {
	case protocol.KindStruct:
		c := cell{value: protocol.Value{Kind: t.Kind}}
		for _, member := range t.Fields {
			c.parts = append(c.parts, d.cell(string(member.Name), member.Type, k))
		}
		return c
	case protocol.KindArray:
		c := cell{value: protocol.Value{Kind: t.Kind}}
		for range d.rng.IntN(4) {
			c.parts = append(c.parts, d.cell("element", *t.Element, k))
		}
		return c
	}
	return cell{value: d.scalar(name, t, k)}
}

func (d *dataset) scalar(name string, t protocol.DataType, k int) protocol.Value {
	v := protocol.Value{Kind: t.Kind}
	noise := d.rng.IntN(5)
	odd := d.chance(25)
	switch {
	case name == "id":
		v.Int = int64(k)
	case name == "p":
		v.Str = partitions[(k/40+d.rng.IntN(2))%len(partitions)]
	case name == "q":
		v.Int = int64(k/60 - 1)
	case t.Kind == protocol.KindBoolean:
		v.Int = int64((k / 30) % 2)
		if odd {
			v.Int = 1 - v.Int
		}
	case t.Kind == protocol.KindInteger:
		v.Int = int64(k/3 + noise - 40)
		if odd {
			v.Int = int64(d.rng.IntN(2000) - 1000)
		}
	case t.Kind == protocol.KindLong:
		v.Int = int64(k-100) * 1_000_000_007
		if odd {
			v.Int = oddLongs[d.rng.IntN(len(oddLongs))]
		}
	case t.Kind == protocol.KindDouble, t.Kind == protocol.KindFloat:
		v.Float = float64(k-120)/4 + float64(noise)/10
		if odd {
			v.Float = oddDoubles[d.rng.IntN(len(oddDoubles))]
		}
		if t.Kind == protocol.KindFloat {
			v.Float = float64(float32(v.Float))
		}
	case t.Kind == protocol.KindDecimal:
		v.Scale = t.Scale
		v.Dec = protocol.Int128FromInt64(int64(k-100)*1500 + int64(noise))
		if odd {
			v.Dec = protocol.Int128FromInt64(d.rng.Int64N(1_999_999_999_998) - 999_999_999_999)
		}
	case t.Kind == protocol.KindString:
		v.Str = fmt.Sprintf("%c%s%d", 'a'+rune(k/20), []string{"", "b", "é", "abcdefghijklmnopqrstuvwxyz abcdefghij"}[d.rng.IntN(4)], noise)
		if odd {
			v.Str = oddStrings[d.rng.IntN(len(oddStrings))]
		}
	case t.Kind == protocol.KindDate:
		v.Int = int64(k/10 - 12)
		if odd {
			v.Int = int64(d.rng.IntN(40000) - 20000)
		}
	default: // the timestamps: around 1970, where rounding down and towards zero differ
		v.Int = int64(k-120)*3_600_000_000*7 + int64(d.rng.IntN(3_000_000)) - 1_500_000
		if odd {
			v.Int = int64(d.rng.IntN(4000)) - 2000
		}
	}
	return v
}

// chance is true once in n times.
func (d *dataset) chance(n int) bool { return d.rng.IntN(n) == 0 }

// literal writes a cell for DuckDB; names gives the members of structs their physical names.
func literal(c cell, t protocol.DataType, names func(protocol.Field) string) string {
	typ := duckType(t, names)
	if c.value.Null {
		return "NULL::" + typ
	}
	v := c.value
	switch t.Kind {
	case protocol.KindStruct:
		var members []string
		for i, part := range c.parts {
			members = append(members, duck.QuoteIdentifier(names(t.Fields[i]))+": "+literal(part, t.Fields[i].Type, names))
		}
		return "{" + strings.Join(members, ", ") + "}::" + typ
	case protocol.KindArray:
		var elements []string
		for _, part := range c.parts {
			elements = append(elements, literal(part, *t.Element, names))
		}
		return "[" + strings.Join(elements, ", ") + "]::" + typ
	case protocol.KindString:
		return duck.QuoteString(v.Str)
	case protocol.KindDate:
		return fmt.Sprintf("(DATE '1970-01-01' + (%d))", v.Int)
	case protocol.KindTimestamp:
		return fmt.Sprintf("make_timestamptz(%d)", v.Int)
	case protocol.KindTimestampNTZ:
		return fmt.Sprintf("make_timestamp(%d)", v.Int)
	case protocol.KindFloat, protocol.KindDouble:
		return fmt.Sprintf("'%s'::%s", v.Text(), typ)
	}
	return fmt.Sprintf("'%s'::%s", v.Text(), typ)
}

// duckType is a type in DuckDB's words.
func duckType(t protocol.DataType, names func(protocol.Field) string) string {
	switch t.Kind {
	case protocol.KindStruct:
		var members []string
		for _, field := range t.Fields {
			members = append(members, duck.QuoteIdentifier(names(field))+" "+duckType(field.Type, names))
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	case protocol.KindArray:
		return duckType(*t.Element, names) + "[]"
	case protocol.KindDecimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	}
	return map[protocol.Kind]string{
		protocol.KindBoolean: "BOOLEAN", protocol.KindInteger: "INTEGER", protocol.KindLong: "BIGINT", protocol.KindFloat: "FLOAT",
		protocol.KindDouble: "DOUBLE", protocol.KindString: "VARCHAR", protocol.KindDate: "DATE", protocol.KindTimestamp: "TIMESTAMPTZ",
		protocol.KindTimestampNTZ: "TIMESTAMP",
	}[t.Kind]
}
