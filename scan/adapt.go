package scan

import (
	"fmt"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// adapter writes, for one column of one layout of files, the type that read_parquet is asked for and the expression
// that makes the logical value of it.
//
// Scalars need no expression: read_parquet itself widens numbers and gives NULL for a column that a file lacks. Nested
// and binary columns are read with the layout that the file has, and adapted here, because DuckDB 2.0
//
//   - takes a struct's members by position when a statement needs only some of them, so that a file whose struct has
//     other members, or the same in another order, gives values of the wrong member without any error
//     (docs/decisions/0003);
//   - breaks with an INTERNAL error on a condition on a member of a struct that the file lacks;
//   - refuses a struct none of whose members are in the file;
//   - prints a string without Parquet's annotation as escaped bytes, and reads the reverse as escapes;
//   - knows an unannotated variant only as a struct of two byte strings;
//   - rounds nanoseconds to microseconds.
type adapter struct {
	mode   protocol.MappingMode
	lambda int // how many lambda variables were used, to keep nested ones apart
	// fixes are for variants of the column, by their type in the file; indexes are the lambda variables that count the
	// elements of the lists and maps around what is being converted.
	fixes   map[*duck.Type]variantFix
	indexes []string
}

// convert makes the expression of a value from the expression of what was read; nil stands for "as it is".
type convert func(read string) string

func (c convert) apply(read string) string {
	if c == nil {
		return read
	}
	return c(read)
}

// needsLayout says that a column of this type can be read right only by the layout of each file.
func needsLayout(t protocol.DataType) bool {
	return contains(t, ofKind(protocol.KindStruct, protocol.KindFile, protocol.KindVariant, protocol.KindBinary,
		protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime))
}

// adapt gives the type to read a column as, and the conversion. file is the column's type in the files, fileText the same
// as DuckDB writes it.
func (a *adapter) adapt(t protocol.DataType, file *duck.Type, fileText string) (read string, conv convert, err error) {
	if len(a.fixes) == 0 && sameLayout(t, file, a.mode) {
		read, err = TypeText(t, a.mode)
		return read, nil, err
	}
	conv, err = a.from(t, file)
	return fileText, conv, err
}

// sameLayout says that read_parquet reads a file's value as type t without help: structs have the same members in the
// same order, and scalars differ at most by widening.
func sameLayout(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) bool {
	switch t.Kind {
	case protocol.KindVoid, protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime:
		return false
	case protocol.KindString:
		return file.Kind == duck.KindVarchar
	case protocol.KindBinary:
		return file.Kind == duck.KindBlob
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return !storesNanoseconds(file)
	case protocol.KindVariant:
		return file.Kind == duck.KindVariant
	case protocol.KindArray:
		return file.Kind == duck.KindList && sameLayout(*t.Element, &file.Children[0], mode)
	case protocol.KindMap:
		return file.Kind == duck.KindMap && sameLayout(*t.Key, &file.Children[0].Children[0], mode) &&
			sameLayout(*t.Value, &file.Children[0].Children[1], mode)
	case protocol.KindStruct, protocol.KindFile:
		members := membersOf(t, mode)
		if file.Kind != duck.KindStruct || len(file.Children) != len(members) {
			return false
		}
		for i, m := range members {
			if m.name != file.Names[i] || !sameLayout(m.typ, &file.Children[i], mode) {
				return false
			}
		}
		return true
	}
	return len(file.Children) == 0
}

// from is the conversion of a value with the file's own type into the logical one.
func (a *adapter) from(t protocol.DataType, file *duck.Type) (convert, error) {
	wrong := protocol.NewError("DELTA_FAILED_TO_READ_FILE", "a value of type %s is stored as %s", t, file)
	switch t.Kind {
	case protocol.KindString:
		if file.Kind == duck.KindBlob {
			return func(e string) string { return "decode(" + e + ")" }, nil
		}
	case protocol.KindBinary:
		if file.Kind == duck.KindVarchar {
			return func(e string) string { return "encode(" + e + ")" }, nil
		}
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		if storesNanoseconds(file) {
			return cutNanoseconds(t), nil
		}
	case protocol.KindIntervalYearMonth:
		return func(e string) string { return "to_months(CAST(" + e + " AS INTEGER))" }, nil
	case protocol.KindIntervalDayTime:
		return func(e string) string { return "to_microseconds(CAST(" + e + " AS BIGINT))" }, nil
	case protocol.KindVariant:
		if fix, ok := a.fixes[file]; ok {
			return fixVariant(fix, slices.Clone(a.indexes)), nil
		}
		return fromVariant(file)
	case protocol.KindArray:
		if file.Kind != duck.KindList {
			return nil, wrong
		}
		x, parameters, leave := a.enter()
		element, err := a.from(*t.Element, &file.Children[0])
		leave()
		if err != nil || element == nil {
			return nil, err
		}
		return func(e string) string {
			return fmt.Sprintf("list_transform(%s, lambda %s: %s)", e, parameters, element(x))
		}, nil
	case protocol.KindMap:
		if file.Kind != duck.KindMap {
			return nil, wrong
		}
		return a.fromMap(t, &file.Children[0])
	case protocol.KindStruct, protocol.KindFile:
		if file.Kind != duck.KindStruct {
			return nil, wrong
		}
		return a.fromStruct(t, file)
	}
	text, err := TypeText(t, a.mode)
	if err != nil || text == file.String() {
		return nil, err
	}
	return func(e string) string {
		if t.Kind == protocol.KindVoid {
			e = "NULL"
		}
		return "CAST(" + e + " AS " + text + ")"
	}, nil
}

// cutNanoseconds gives the microsecond in which a time lies, as Spark and DuckDB do for INT96.
func cutNanoseconds(t protocol.DataType) convert {
	return func(e string) string {
		e = fmt.Sprintf("make_timestamp((epoch_ns(%s) - (epoch_ns(%[1]s) %% 1000 + 1000) %% 1000) // 1000)", e)
		if t.Kind == protocol.KindTimestamp {
			e = "CAST(" + e + " AS TIMESTAMP WITH TIME ZONE)"
		}
		return e
	}
}

// fromVariant: an annotated variant needs nothing but what variantFix does; in a column without annotation a variant null
// stays apart from NULL.
func fromVariant(file *duck.Type) (convert, error) {
	if file.Kind == duck.KindVariant {
		return nil, nil
	}
	metadata, value := memberIndex(file, "metadata"), memberIndex(file, "value")
	if file.Kind != duck.KindStruct || len(file.Children) != 2 || metadata < 0 || value < 0 {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE",
			"a variant is stored as %s, which is neither annotated as a variant nor made of metadata and value alone", file)
	}
	return func(e string) string {
		return fmt.Sprintf("variant_bytes_to_variant(%s.metadata || %s.value)", e, e)
	}, nil
}

func (a *adapter) fromMap(t protocol.DataType, entry *duck.Type) (convert, error) {
	key, err := a.from(*t.Key, &entry.Children[0])
	if err != nil {
		return nil, err
	}
	x, parameters, leave := a.enter()
	value, err := a.from(*t.Value, &entry.Children[1])
	leave()
	if err != nil || key == nil && value == nil {
		return nil, err
	}
	return func(e string) string {
		return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(key := %s, value := %s)))",
			e, parameters, key.apply(x+".key"), value.apply(x+".value"))
	}, nil
}

func (a *adapter) fromStruct(t protocol.DataType, file *duck.Type) (convert, error) {
	members := membersOf(t, a.mode)
	if len(members) == 0 {
		return nil, unsupportedType(t)
	}
	convs := make([]convert, len(members))
	for i, m := range members {
		at := memberIndex(file, m.name)
		if at < 0 {
			text, err := TypeText(m.typ, a.mode)
			if err != nil {
				return nil, err
			}
			convs[i] = func(string) string { return "CAST(NULL AS " + text + ")" }
			continue
		}
		conv, err := a.from(m.typ, &file.Children[at])
		if err != nil {
			return nil, err
		}
		name := duck.QuoteIdentifier(file.Names[at])
		convs[i] = func(e string) string { return conv.apply(e + "." + name) }
	}
	return func(e string) string {
		parts := make([]string, len(members))
		for i, m := range members {
			parts[i] = duck.QuoteIdentifier(m.name) + " := " + convs[i](e)
		}
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE struct_pack(%s) END", e, strings.Join(parts, ", "))
	}, nil
}

// enter begins the conversion of a list's elements: x is the lambda's variable, parameters what the lambda takes. leave
// ends it.
func (a *adapter) enter() (x, parameters string, leave func()) {
	a.lambda++
	x = fmt.Sprintf("x%d", a.lambda)
	if len(a.fixes) == 0 {
		return x, x, func() {}
	}
	index := fmt.Sprintf("i%d", a.lambda)
	a.indexes = append(a.indexes, index)
	return x, x + ", " + index, func() { a.indexes = a.indexes[:len(a.indexes)-1] }
}

// memberIndex finds a member as DuckDB does: ignoring case.
func memberIndex(t *duck.Type, name string) int {
	for i, candidate := range t.Names {
		if strings.EqualFold(candidate, name) {
			return i
		}
	}
	return -1
}

// logicalTemplate is the expression that gives a value's struct members their logical names, with %s for the value; ""
// where the names are right already.
func logicalTemplate(t protocol.DataType, mode protocol.MappingMode) (string, error) {
	if mode == protocol.MappingNone || !contains(t, func(t protocol.DataType) bool { return renamed(t, mode) }) {
		return "", nil
	}
	target, err := TypeText(t, protocol.MappingNone)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("remap_struct(%%s, NULL::%s, %s, NULL)", escapeTemplate(target), escapeTemplate(remapping(t, mode))), nil
}

// renamed says that a member of the struct itself has another physical name.
func renamed(t protocol.DataType, mode protocol.MappingMode) bool {
	if t.Kind != protocol.KindStruct {
		return false
	}
	for _, f := range t.Fields {
		if string(f.Name) != string(f.PhysicalName(mode)) {
			return true
		}
	}
	return false
}

// remapping is remap_struct's third argument for a nested type: each new member's name with the old one, and, where a
// member is nested, with what happens inside it.
func remapping(t protocol.DataType, mode protocol.MappingMode) string {
	entry := func(logical, physical string, inner protocol.DataType) string {
		old := duck.QuoteString(physical)
		if contains(inner, ofKind(protocol.KindStruct)) {
			old = "(" + old + ", " + remapping(inner, mode) + ")"
		}
		return duck.QuoteString(logical) + ": " + old
	}
	var entries []string
	switch t.Kind {
	case protocol.KindStruct:
		for _, f := range t.Fields {
			entries = append(entries, entry(string(f.Name), string(f.PhysicalName(mode)), f.Type))
		}
	case protocol.KindArray:
		entries = append(entries, entry("list", "list", *t.Element))
	case protocol.KindMap:
		entries = append(entries, entry("key", "key", *t.Key), entry("value", "value", *t.Value))
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// escapeTemplate protects the percent signs of names in a template.
func escapeTemplate(text string) string { return strings.ReplaceAll(text, "%", "%%") }
