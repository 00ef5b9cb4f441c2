package rewrite

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"deltasql/protocol"
)

// partitionKey is a partition column, by whose value rows are divided among the files.
type partitionKey struct {
	field      *protocol.Field
	physical   protocol.PhysicalName
	name       string // of the column that COPY divides by
	expression string // its text: absentKey for NULL, else presentKey and the value
}

// The first character of a key tells NULL from values, which may be any text.
const (
	absentKey  = "n"
	presentKey = "v"
)

// partitionKeys are the keys of a table's partition columns, in their order.
func partitionKeys(config *protocol.TableConfig, l *layout) ([]partitionKey, error) {
	keys := make([]partitionKey, len(config.PartitionColumns))
	for k, i := range config.PartitionColumns {
		f := &config.Schema.Fields[i]
		text, err := keyText(f.Type, fmt.Sprintf("c%d", i))
		if err != nil {
			return nil, protocol.NewError(protocol.ClassOf(err), "the partition column %s cannot be written", f.Name).WithCause(err)
		}
		name := fmt.Sprintf("key%d", k)
		for l.has(name) {
			name += "_"
		}
		keys[k] = partitionKey{
			field: f, physical: config.PhysicalName(i), name: name,
			expression: fmt.Sprintf("CASE WHEN %s IS NULL OR %[1]s = '' THEN '%s' ELSE '%s' || %[1]s END", text, absentKey, presentKey),
		}
	}
	return keys, nil
}

// has tells whether a file has a column of the name, as DuckDB compares names.
func (l *layout) has(name string) bool {
	for _, c := range l.columns {
		if strings.EqualFold(c.name, name) {
			return true
		}
	}
	return false
}

// keyText is an expression of VARCHAR from which value reads the value c back; empty text stands for NULL, as it does in the
// log for every type.
func keyText(t protocol.DataType, c string) (string, error) {
	switch t.Kind {
	case protocol.KindVoid:
		return "CAST(NULL AS VARCHAR)", nil
	case protocol.KindString:
		return c, nil
	case protocol.KindBinary:
		return "hex(" + c + ")", nil
	case protocol.KindDate: // days, since DuckDB writes years before 1 in a way of its own
		return "CAST(" + c + " - DATE '1970-01-01' AS VARCHAR)", nil
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return "CAST(epoch_us(" + c + ") AS VARCHAR)", nil
	case protocol.KindBoolean, protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong,
		protocol.KindFloat, protocol.KindDouble, protocol.KindDecimal:
		return "CAST(" + c + " AS VARCHAR)", nil
	}
	return "", protocol.NewError("UNSUPPORTED_FEATURE", "values of type %s cannot be partition values", t)
}

// value reads a key of a file.
func (k *partitionKey) value(keys map[string]string) (protocol.Value, error) {
	bad := func() (protocol.Value, error) {
		return protocol.Value{}, protocol.NewError(protocol.ClassInternal, "a new data file has the key %q for the partition column %s", keys[k.name], k.field.Name)
	}
	key, ok := keys[k.name]
	if !ok {
		return bad()
	}
	if key == absentKey {
		return protocol.NullValue(k.field.Type.Kind), nil
	}
	text, ok := strings.CutPrefix(key, presentKey)
	if !ok {
		return bad()
	}
	t := k.field.Type
	switch t.Kind {
	case protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		t = protocol.DataType{Kind: protocol.KindLong}
	case protocol.KindBinary:
		bytes, ok := unhex(text)
		if !ok {
			return bad()
		}
		if !utf8.ValidString(bytes) {
			return protocol.Value{}, protocol.NewError("UNSUPPORTED_FEATURE",
				"the value X'%s' of the partition column %s is no UTF-8 text, and the log has no other form for it", text, k.field.Name).
				WithHint("partition by another column, for instance by the hexadecimal text of this one")
		}
		return protocol.Value{Kind: protocol.KindBinary, Str: bytes}, nil
	}
	v, ok := protocol.ParseValue(t, text, time.UTC)
	if !ok {
		return bad()
	}
	v.Kind = k.field.Type.Kind
	return v, nil
}

func unhex(text string) (string, bool) {
	if len(text)%2 != 0 {
		return "", false
	}
	out := make([]byte, len(text)/2)
	if _, err := fmt.Sscanf(text, "%x", &out); err != nil && len(text) > 0 {
		return "", false
	}
	return string(out), true
}

// logText is a partition value as the log has it (protocol, "Partition Value Serialization"); nil for NULL. Instants are
// written in UTC with their zone, for without it readers take their own.
func logText(v protocol.Value) *string {
	if v.Null {
		return nil
	}
	text := v.Text()
	if v.Kind == protocol.KindTimestamp {
		text = strings.Trim(string(v.AppendJSON(nil)), `"`)
	}
	return &text
}

// hiveDefault stands in a folder's name for NULL.
const hiveDefault = "__HIVE_DEFAULT_PARTITION__"

// partitionFolder is the folder of a tuple of partition values, "a=1/b=x/", with the names escaped as Hive does. It is only for
// people to look at: what counts is what the log says. false where a name is too long for file systems.
func partitionFolder(keys []partitionKey, values []protocol.Value) (string, bool) {
	const maxName = 255
	var folder strings.Builder
	for i := range keys {
		text := hiveDefault
		if !values[i].Null {
			text = escapeHive(values[i].Text())
		}
		name := escapeHive(string(keys[i].field.Name)) + "=" + text
		if len(name) > maxName {
			return "", false
		}
		folder.WriteString(name)
		folder.WriteByte('/')
	}
	return folder.String(), true
}

// escapeHive replaces what Hive does not want in the name of a folder by a percent sign and two hexadecimal digits.
func escapeHive(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if b := text[i]; b < ' ' || b == 0x7F || strings.IndexByte(`"#%'*/:=?\{[]^`, b) >= 0 {
			fmt.Fprintf(&out, "%%%02X", b)
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}
