package rewrite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/sqlengine/check"
)

// rowMaker makes random schemas and rows.
type rowMaker struct {
	*rand.Rand
	mapped bool
	nextID int
}

var scalarKinds = []protocol.Kind{
	protocol.KindBoolean, protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindFloat, protocol.KindDouble,
	protocol.KindDecimal, protocol.KindString, protocol.KindBinary, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ,
}

func (m *rowMaker) scalar() protocol.DataType {
	t := protocol.DataType{Kind: scalarKinds[m.IntN(len(scalarKinds))]}
	if t.Kind == protocol.KindDecimal {
		t.Precision = 1 + m.IntN(38)
		t.Scale = m.IntN(t.Precision + 1)
	}
	return t
}

func (m *rowMaker) datatype(depth int) protocol.DataType {
	switch n := m.IntN(10); {
	case depth == 0 || n < 5:
		return m.scalar()
	case n < 6:
		return protocol.DataType{Kind: protocol.KindVariant}
	case n < 7:
		element := m.datatype(depth - 1)
		return protocol.DataType{Kind: protocol.KindArray, Element: &element, ContainsNull: true}
	case n < 8:
		key, value := protocol.DataType{Kind: protocol.KindInteger}, m.datatype(depth-1)
		return protocol.DataType{Kind: protocol.KindMap, Key: &key, Value: &value, ValueContainsNull: true}
	}
	return protocol.DataType{Kind: protocol.KindStruct, Fields: m.fields(1+m.IntN(3), depth-1)}
}

func (m *rowMaker) fields(n, depth int) []protocol.Field {
	odd := []string{"plain", `quote"d`, "a.b", "Ünï", "per%cent", "sp ace", "it's"}
	fields := make([]protocol.Field, n)
	for i := range fields {
		m.nextID++
		id := m.nextID
		f := protocol.Field{Name: protocol.LogicalName(fmt.Sprintf("%s_%d", odd[m.IntN(len(odd))], id)), Type: m.datatype(depth), Nullable: true}
		if m.mapped {
			f.Metadata = protocol.FieldMetadata{
				"delta.columnMapping.id":           []byte(strconv.Itoa(id)),
				"delta.columnMapping.physicalName": []byte(fmt.Sprintf(`"col-%d"`, id)),
			}
		} else {
			f.Name = protocol.LogicalName(strings.ReplaceAll(string(f.Name), " ", "_"))
		}
		fields[i] = f
	}
	return fields
}

var texts = []string{
	"''", "'a'", "'NULL'", "'n'", "'a/b=c%'", "repeat('x', 300)", "repeat('é', 200)", "repeat('😀', 40)", "'it''s'", "chr(0) || 'x'", "repeat('z', 31) || repeat(chr(1114111), 3)",
	"repeat(chr(127), 300)", "repeat(chr(1114111), 80)", "'Ünï'", "repeat('y', 256)", "repeat('w', 255) || 'é'", "'..'", "'__HIVE_DEFAULT_PARTITION__'",
}

// value is an expression of DuckDB; partition values are such that the log can have them.
func (m *rowMaker) value(t protocol.DataType, partition bool) string {
	typ, err := scan.TypeText(t, protocol.MappingNone)
	if err != nil {
		panic(err)
	}
	if m.IntN(5) == 0 {
		return "CAST(NULL AS " + typ + ")"
	}
	pick := func(list ...string) string { return "CAST(" + list[m.IntN(len(list))] + " AS " + typ + ")" }
	integer := func(bits int) string {
		return pick("0", "-1", "1", strconv.FormatInt(1<<(bits-1)-1, 10), strconv.FormatInt(-1<<(bits-1), 10), strconv.Itoa(m.IntN(100)))
	}
	switch t.Kind {
	case protocol.KindBoolean:
		return pick("true", "false")
	case protocol.KindByte:
		return integer(8)
	case protocol.KindShort:
		return integer(16)
	case protocol.KindInteger:
		return integer(32)
	case protocol.KindLong:
		return integer(64)
	case protocol.KindFloat, protocol.KindDouble:
		return pick("'nan'", "'inf'", "'-inf'", "'-0.0'", "0.0", "0.1", "-1.5e-30", "'1.1754944E-38'", "1e20", "12345678")
	case protocol.KindDecimal:
		digits := make([]byte, 1+m.IntN(t.Precision))
		for i := range digits {
			digits[i] = '0' + byte(m.IntN(10))
		}
		d := string(digits)
		if t.Scale > 0 {
			d = strings.Repeat("0", max(0, t.Scale-len(d)+1)) + d
			d = d[:len(d)-t.Scale] + "." + d[len(d)-t.Scale:]
		}
		return pick("'"+d+"'", "'-"+d+"'")
	case protocol.KindString:
		if partition {
			return pick(slices.DeleteFunc(slices.Clone(texts), func(s string) bool {
				return strings.Contains(s, "repeat(chr(127)") || strings.Contains(s, "repeat(chr(1114111), 80)")
			})...)
		}
		return pick(texts...)
	case protocol.KindBinary:
		if partition {
			return pick(`'\x00a'`, `'abc'`, `''`)
		}
		return pick(`'\x00\xFF'`, `''`, `'abc'`)
	case protocol.KindDate:
		return pick("'0001-01-01'", "'9999-12-31'", "'12345-01-01'", "'0045-03-15 (BC)'", "'1969-12-31'", "'2024-02-29'")
	case protocol.KindTimestamp:
		return pick("'1969-12-31 23:59:59.999999+00'", "'0001-01-01 00:00:00.000001+00'", "'9999-12-31 23:59:59.999999+00'", "'2024-02-29 12:00:00+00'", "'0045-03-15 (BC) 00:00:00.123456+00'", "'2024-01-01 00:00:00.0009+00'")
	case protocol.KindTimestampNTZ:
		return pick("'1969-12-31 23:59:59.999999'", "'0001-01-01 00:00:00.000001'", "'9999-12-31 23:59:59.999999'", "'12345-01-01 00:00:00.5'", "'2024-01-01 00:00:00.0009'")
	case protocol.KindVariant:
		return pick(`variant_bytes_to_variant('\x01\x00\x00\x00'::BLOB)`, "5", "'text'", "{'a': 1, 'b': [1, 2]}", "[1, NULL]", "1.5::DOUBLE")
	case protocol.KindArray:
		var elements []string
		for range m.IntN(4) {
			elements = append(elements, m.value(*t.Element, false))
		}
		return "CAST([" + strings.Join(elements, ", ") + "] AS " + typ + ")"
	case protocol.KindMap:
		var keys, values []string
		for i := range m.IntN(3) {
			keys, values = append(keys, strconv.Itoa(i)), append(values, m.value(*t.Value, false))
		}
		return "CAST(MAP([" + strings.Join(keys, ", ") + "], [" + strings.Join(values, ", ") + "]) AS " + typ + ")"
	}
	var members []string
	for _, f := range t.Fields {
		members = append(members, duck.QuoteIdentifier(string(f.Name))+" := "+m.value(f.Type, false))
	}
	return "struct_pack(" + strings.Join(members, ", ") + ")"
}

// TestRoundTrip writes random rows of random schemas and reads them back; statistics are held against the rows (S2).
func TestRoundTrip(t *testing.T) {
	rounds, first := 60, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		rounds = n
	}
	if seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		rounds, first = 1, seed
	}
	in := openInstance(t)
	for seed := first; seed < first+uint64(rounds); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { roundTrip(t, in, seed) })
	}
}

func roundTrip(t *testing.T, in *duck.Instance, seed uint64) {
	m := &rowMaker{Rand: rand.New(rand.NewPCG(seed, 1))}
	mode := []protocol.MappingMode{protocol.MappingNone, protocol.MappingName, protocol.MappingID}[seed%3]
	m.mapped = mode != protocol.MappingNone
	schema := protocol.DataType{Kind: protocol.KindStruct, Fields: m.fields(2+m.IntN(5), 2)}
	var partitions []string
	for i := range schema.Fields[1:] {
		f := &schema.Fields[i+1]
		if m.IntN(3) == 0 && len(partitions) < 2 && slices.Contains(scalarKinds, f.Type.Kind) {
			partitions = append(partitions, string(f.Name))
		}
	}
	configuration := map[string]string{"delta.enableVariantShredding": strconv.FormatBool(seed%2 == 0), "delta.columnMapping.mode": string(mode)}
	if m.mapped {
		configuration["delta.columnMapping.maxColumnId"] = strconv.Itoa(m.nextID)
	}
	if m.IntN(4) == 0 {
		configuration["delta.writePartitionColumnsToParquet"] = "true"
	}
	if m.IntN(4) == 0 {
		configuration["delta.dataSkippingStringPrefixLength"] = "100"
	}
	tt := newTableOf(t, in, features, protocol.Metadata{
		ID: "id", Provider: "parquet", SchemaString: schema.JSON(), PartitionColumns: partitions, Configuration: configuration,
	})
	var tuples, names []string
	for range 1 + m.IntN(40) {
		var values []string
		for _, f := range schema.Fields {
			values = append(values, m.value(f.Type, slices.Contains(partitions, string(f.Name))))
		}
		tuples = append(tuples, "("+strings.Join(values, ", ")+")")
	}
	expected := make([]string, len(schema.Fields))
	for i, f := range schema.Fields {
		name := fmt.Sprintf("c%d", i)
		names = append(names, name)
		expected[i] = comparable(name, f.Type)
		if slices.Contains(partitions, string(f.Name)) && (f.Type.Kind == protocol.KindString || f.Type.Kind == protocol.KindBinary) {
			expected[i] = "nullif(" + expected[i] + ", '')"
		}
	}
	sql := "SELECT * FROM (VALUES " + strings.Join(tuples, ", ") + ") t(" + strings.Join(names, ", ") + ")"
	tt.write(sql)
	want := rows(t, in, "SELECT "+strings.Join(expected, ", ")+" FROM ("+sql+")")
	if got := tt.read(); !slices.Equal(got, want) {
		t.Errorf("schema %s, partitions %q\n got %q\nwant %q", schema.JSON(), partitions, got, want)
	}
	tt.check()
}

// check holds the table against the protocol and its statistics against its rows.
func (tt *testTable) check() {
	tt.t.Helper()
	err := check.Table(context.Background(), check.Target{Name: "t", Files: tt.Store(), DuckDB: tt.in}, check.Options{Deep: true}, func(f check.Fault) {
		tt.t.Errorf("%s: %s", f.File, f.Message)
	})
	if err != nil {
		tt.t.Error(err)
	}
}
