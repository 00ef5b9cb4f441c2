package ddl

import (
	"slices"
	"strings"

	"deltasql/protocol"
)

// ReplaceColumns is REPLACE COLUMNS: the columns of the table from now on, in their order. A column that has the name of an
// old one is that column, with its data; its comment stays unless another is given. What the reference refuses inside one
// struct, to drop a column and add another, is refused because nobody can tell it from a rename.
type ReplaceColumns struct {
	Columns []protocol.Field // with comments, and the types of CHAR and VARCHAR, in their metadata
}

func (s ReplaceColumns) apply(a *alteration) error {
	for _, f := range a.schema.Fields {
		if _, identity := f.Metadata.Identity(); identity {
			return protocol.NewError("DELTA_IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED", "REPLACE COLUMNS is not supported for a table with identity columns (%s)", f.Name)
		}
	}
	seen := map[string]bool{}
	if err := checkCollations(protocol.DataType{Kind: protocol.KindStruct, Fields: s.Columns}); err != nil {
		return err
	}
	for _, f := range s.Columns {
		folded := strings.ToLower(string(f.Name))
		if seen[folded] {
			return protocol.NewError("COLUMN_ALREADY_EXISTS", "the column %s is given twice", f.Name)
		}
		seen[folded] = true
	}
	if len(s.Columns) == 0 {
		return protocol.NewError("DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA", "REPLACE COLUMNS needs at least one column")
	}
	old := copyType(a.schema)
	r := replacing{a: a}
	next, err := r.merge(nil, protocol.DataType{Kind: protocol.KindStruct, Fields: s.Columns}, &a.schema, nil, "")
	if err != nil {
		return err
	}
	for _, path := range r.dropped {
		if err := a.mayLeave(path); err != nil {
			return err
		}
	}
	a.schema = next
	if !slices.ContainsFunc(a.schema.Fields, func(f protocol.Field) bool { return !a.partitioned(string(f.Name)) }) {
		return protocol.NewError("DELTA_NON_PARTITION_COLUMN_ABSENT", "only partition columns would be left")
	}
	for _, path := range append(r.dropped, r.retyped...) {
		if err := a.dependants(path); err != nil {
			return err
		}
	}
	for _, path := range r.retyped {
		if err := a.keepsGeneratedType(path); err != nil {
			return err
		}
	}
	a.statsColumns(func(listed Path) Path {
		if _, err := find(&old, listed); err == nil && slices.ContainsFunc(r.dropped, listed.within) {
			return nil
		}
		return listed
	})
	var texts []string
	for _, f := range s.Columns {
		texts = append(texts, columnJSON(Path{string(f.Name)}, f))
	}
	a.record(entry{operation: "REPLACE COLUMNS", schema: true, parameters: []protocol.Parameter{textParameter("columns", "["+strings.Join(texts, ",")+"]")}})
	return nil
}

// replacing merges the columns that are wanted into those that are there.
type replacing struct {
	a                *alteration
	dropped, retyped []Path
}

// refused is the one class for all that REPLACE COLUMNS does not do, with the reason in it.
func refused(class protocol.Class, format string, args ...any) *protocol.Error {
	reason := protocol.NewError(class, format, args...)
	return protocol.NewError("DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP", "REPLACE COLUMNS cannot do this").WithCause(reason)
}

// merge gives the wanted type with the ids, metadata and history of the one that is there. owner is the nearest struct
// field of the result, which keeps the record of widened types; below leads from it to here.
func (r *replacing) merge(path Path, want protocol.DataType, have *protocol.DataType, owner *protocol.Field, below string) (protocol.DataType, error) {
	step := func(name string) (Path, string) {
		next := name
		if below != "" {
			next = below + "." + name
		}
		return append(slices.Clone(path), name), next
	}
	fail := func(e *protocol.Error) (protocol.DataType, error) { return protocol.DataType{}, e }
	if want.Kind != have.Kind {
		return r.scalar(path, want, *have, owner, below)
	}
	out := *have
	switch want.Kind {
	case protocol.KindStruct:
		fields, err := r.fields(path, want, have)
		out.Fields = fields
		return out, err
	case protocol.KindArray:
		if have.ContainsNull && !want.ContainsNull {
			return fail(refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "tightening nullability of %s", path))
		}
		p, b := step("element")
		element, err := r.merge(p, *want.Element, have.Element, owner, b)
		out.Element, out.ContainsNull = &element, want.ContainsNull
		return out, err
	case protocol.KindMap:
		if have.ValueContainsNull && !want.ValueContainsNull {
			return fail(refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "tightening nullability of %s", path))
		}
		p, b := step("key")
		key, err := r.merge(p, *want.Key, have.Key, owner, b)
		if err != nil {
			return out, err
		}
		p, b = step("value")
		value, err := r.merge(p, *want.Value, have.Value, owner, b)
		out.Key, out.Value, out.ValueContainsNull = &key, &value, want.ValueContainsNull
		return out, err
	}
	return r.scalar(path, want, *have, owner, below)
}

// scalar keeps a type or widens it.
func (r *replacing) scalar(path Path, want, have protocol.DataType, owner *protocol.Field, below string) (protocol.DataType, error) {
	if have.Kind == protocol.KindVoid {
		r.retyped = append(r.retyped, path)
		want = copyType(want)
		stripMapping(&want)
		return want, nil
	}
	if want.Equal(have) {
		return have, nil
	}
	if !widens(r.a.old.Config) || !MayWiden(have, want) {
		return have, refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "changing data type of %s from %s to %s", path, have, want)
	}
	r.retyped = append(r.retyped, path)
	return want, recordChange(owner, have, want, below, r.a.recordedVersion())
}

func (r *replacing) fields(path Path, want protocol.DataType, have *protocol.DataType) ([]protocol.Field, error) {
	var out []protocol.Field
	kept := map[int]bool{}
	var added []Path
	for _, w := range want.Fields {
		at := have.Lookup(string(w.Name))
		below := append(slices.Clone(path), string(w.Name))
		if at < 0 {
			if !w.Nullable {
				return nil, refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "adding non-nullable column %s", below)
			}
			added = append(added, below)
			f, err := r.a.newField(below, NewColumn{Field: w}, false)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
			continue
		}
		h := have.Fields[at]
		kept[at] = true
		if h.Nullable && !w.Nullable {
			return nil, refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "tightening nullability of %s", below)
		}
		f, err := r.field(below, w, h)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	var gone []string
	for i, h := range have.Fields {
		if !kept[i] {
			gone = append(gone, string(h.Name))
			r.dropped = append(r.dropped, append(slices.Clone(path), string(h.Name)))
		}
	}
	if len(gone) > 0 && len(added) > 0 {
		return nil, refused("DELTA_AMBIGUOUS_DATA_TYPE_CHANGE", "%s would lose %s and get %v: it could be a rename", describePath(path), strings.Join(gone, ", "), added).
			WithHint("use RENAME COLUMN, or drop and add in two statements")
	}
	if len(gone) > 0 && !r.a.mapped() {
		from := ""
		if len(path) > 0 {
			from = " from " + path.String()
		}
		return nil, refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "dropping column(s) [%s]%s", strings.Join(gone, ", "), from).
			WithHint("switch column mapping on first: ALTER TABLE ... SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
	}
	return out, nil
}

func describePath(path Path) string {
	if len(path) == 0 {
		return "the table"
	}
	return path.String()
}

// field is the old field with what the statement says of it.
func (r *replacing) field(path Path, want, have protocol.Field) (protocol.Field, error) {
	f := have
	f.Nullable = want.Nullable
	if comment, ok := want.Metadata.Comment(); ok {
		setMeta(&f, metaKeyComment, comment)
	}
	from, _ := have.Metadata.CharVarchar()
	to, _ := want.Metadata.CharVarchar()
	if from != to {
		if want.Type.Kind != protocol.KindString || have.Type.Kind != protocol.KindString || !lengthGrows(from, to) {
			return f, refused("DELTA_CANNOT_CHANGE_DATA_TYPE", "changing data type of %s from %s to %s", path, typeText(have.Type, from), typeText(want.Type, to))
		}
		setCharVarchar(&f, to)
	}
	t, err := r.merge(path, want.Type, &have.Type, &f, "")
	f.Type = t
	return f, err
}
