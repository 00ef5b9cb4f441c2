package rewrite

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"deltasql/protocol"
)

// partitionKey is a partition column, by whose value rows are divided among the files.
type partitionKey struct {
	field    *protocol.Field
	physical protocol.PhysicalName
	// names are the columns that COPY divides by, and expressions their texts, which together make the key: absentKey for NULL,
	// else presentKey and the value.
	names, expressions []string
	long               bool // the value is in base64
}

// The first character of a key tells NULL from values, which may be any text.
const (
	absentKey  = "n"
	presentKey = "v"
)

// COPY makes a folder for each key, with its name quoted as in URLs, so that long texts do not fit. Those are put into base64, and
// into so many parts of that length.
const (
	longParts      = 12
	longPartLength = 240
)

// partitionKeys are the keys of a table's partition columns, in their order; long makes room for texts that a folder's name has
// not.
func partitionKeys(config *protocol.TableConfig, l *layout, long bool) ([]partitionKey, error) {
	keys := make([]partitionKey, len(config.PartitionColumns))
	for k, i := range config.PartitionColumns {
		f := &config.Schema.Fields[i]
		text, err := keyText(f.Type, fmt.Sprintf("c%d", i))
		if err != nil {
			return nil, protocol.NewError(protocol.ClassOf(err), "the partition column %s cannot be written", f.Name).WithCause(err)
		}
		key := &keys[k]
		*key = partitionKey{field: f, physical: config.PhysicalName(i), long: long && hasLongText(f.Type)}
		parts := []string{text}
		if key.long {
			base64 := fmt.Sprintf("replace(replace(to_base64(encode(%s)), '+', '-'), '/', '_')", text)
			parts = nil
			for part := range longParts {
				length := longPartLength
				if part == longParts-1 {
					length = math.MaxInt32 // whatever is left: too much fails
				}
				parts = append(parts, fmt.Sprintf("substr(%s, %d, %d)", base64, 1+part*longPartLength, length))
			}
		}
		for n, part := range parts {
			name := fmt.Sprintf("key%d_%d", k, n)
			for l.has(name) {
				name += "_"
			}
			key.names = append(key.names, name)
			key.expressions = append(key.expressions, fmt.Sprintf("CASE WHEN %s IS NULL OR %[1]s = '' THEN '%s' ELSE '%s' || %s END", text, absentKey, presentKey, part))
		}
	}
	return keys, nil
}

// hasLongText tells whether a value's text may be of any length.
func hasLongText(t protocol.DataType) bool {
	return t.Kind == protocol.KindString || t.Kind == protocol.KindBinary
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
		return protocol.Value{}, protocol.NewError(protocol.ClassInternal, "a new data file has the keys %q, which do not tell the partition column %s", keys, k.field.Name)
	}
	var text string
	for _, name := range k.names {
		key := keys[name]
		if key == absentKey {
			return protocol.NullValue(k.field.Type.Kind), nil
		}
		part, ok := strings.CutPrefix(key, presentKey)
		if !ok {
			return bad()
		}
		text += part
	}
	if k.long {
		plain, err := base64.URLEncoding.DecodeString(text)
		if err != nil {
			return bad()
		}
		text = string(plain)
	}
	t := k.field.Type
	switch t.Kind {
	case protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
		t = protocol.DataType{Kind: protocol.KindLong}
	case protocol.KindBinary:
		bytes, err := hex.DecodeString(text)
		if err != nil {
			return bad()
		}
		if !utf8.Valid(bytes) {
			return protocol.Value{}, protocol.NewError("UNSUPPORTED_FEATURE",
				"the value X'%s' of the partition column %s is no UTF-8 text, and the log has no other form for it", text, k.field.Name).
				WithHint("partition by another column, for instance by the hexadecimal text of this one")
		}
		return protocol.Value{Kind: protocol.KindBinary, Str: string(bytes)}, nil
	}
	v, ok := protocol.ParseValue(t, text, time.UTC)
	if !ok {
		return bad()
	}
	v.Kind = k.field.Type.Kind
	return v, nil
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
