package ddl

import (
	"maps"
	"slices"

	"deltasql/protocol"
)

// Evolution says how a write may change the schema of its table.
type Evolution struct {
	// Strict refuses a column of another type than the table's, as a write of rows that are already typed does
	// (mergeSchema). Otherwise the table's type stays, and the statement casts its values to it, as SQL does.
	Strict bool
	Deps   Dependencies
}

// EvolveSchema merges the columns that a write brings into the table's: new ones, and new members of structs, go to the end
// and may be NULL; a column without a type gets one; where type widening is on a type grows to the one that is written, by
// any step that may be recorded. Names ignore case. Nothing is dropped, renamed, moved or made NOT NULL.
//
// incoming is a struct of the columns as the write names and types them; of their metadata only the comments are taken.
// The result has no Operation, which is the write's own, and neither Protocol nor Metadata where the schema stays.
func EvolveSchema(old State, incoming protocol.DataType, e Evolution, env Env) (*Change, error) {
	a := &alteration{old: old, env: env, deps: e.Deps, schema: copyType(old.Config.Schema), metadata: old.Config.Metadata,
		constraints: old.Config.Constraints()}
	a.metadata.Configuration = maps.Clone(a.metadata.Configuration)
	if err := a.checkDependencies(); err != nil {
		return nil, err
	}
	ev := evolving{a: a, strict: e.Strict, widen: widens(old.Config), iceberg: icebergVersion(a.metadata.Configuration) > 0}
	if err := ev.fields(nil, &a.schema, incoming); err != nil {
		return nil, err
	}
	a.followLengths()
	a.metadata.SchemaString = a.schema.JSON()
	p, m, err := a.update()
	if err != nil {
		return nil, err
	}
	config, err := protocol.NewTableConfig(p, m)
	if err != nil {
		return nil, err
	}
	change := &Change{}
	if sameMetadata(m, old.Config.Metadata, config.Schema, old.Config.Schema) {
		return change, nil
	}
	change.Metadata = &m
	if !p.Equal(old.Config.Protocol) {
		change.Protocol = &p
	}
	return change, nil
}

// evolving is a schema that grows.
type evolving struct {
	a                      *alteration
	strict, widen, iceberg bool
}

// fields merges the members of a struct.
func (e *evolving) fields(path Path, have *protocol.DataType, incoming protocol.DataType) error {
	seen := map[int]bool{}
	for _, in := range incoming.Fields {
		below := append(slices.Clone(path), string(in.Name))
		at := have.Lookup(string(in.Name))
		if at < 0 {
			if len(path) > 0 {
				if err := e.a.keepsGeneratedType(path); err != nil {
					return err
				}
			}
			have.Fields = append(have.Fields, newcomer(in))
			seen[len(have.Fields)-1] = true
			continue
		}
		if seen[at] {
			return protocol.NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "the written columns name %s twice", below)
		}
		seen[at] = true
		f := &have.Fields[at]
		below[len(below)-1] = string(f.Name)
		if err := e.merge(below, &f.Type, in.Type, f, ""); err != nil {
			if len(path) > 0 || protocol.ClassOf(err) != "DELTA_MERGE_INCOMPATIBLE_DATATYPE" {
				return err
			}
			return protocol.NewError("DELTA_FAILED_TO_MERGE_FIELDS", "the column %s of the table and the written column %s cannot be merged", f.Name, in.Name).WithCause(err)
		}
	}
	return nil
}

// newcomer is a field as it joins the table: everything in it may be NULL, and metadata of where it comes from stay there.
func newcomer(in protocol.Field) protocol.Field {
	f := protocol.Field{Name: in.Name, Type: relaxed(in.Type), Nullable: true}
	if comment, ok := in.Metadata.Comment(); ok {
		setMeta(&f, metaKeyComment, comment)
	}
	return f
}

// relaxed is the type with NULL allowed everywhere.
func relaxed(t protocol.DataType) protocol.DataType {
	child := func(c *protocol.DataType) *protocol.DataType {
		if c == nil {
			return nil
		}
		out := relaxed(*c)
		return &out
	}
	t.Element, t.Key, t.Value = child(t.Element), child(t.Key), child(t.Value)
	t.ContainsNull, t.ValueContainsNull = t.Kind == protocol.KindArray, t.Kind == protocol.KindMap
	fields := t.Fields
	if t.Kind == protocol.KindStruct {
		t.Fields = make([]protocol.Field, len(fields))
	}
	for i, f := range fields {
		t.Fields[i] = newcomer(f)
	}
	return t
}

// merge grows one type. owner is the nearest struct field, which keeps the record of widened types; below leads from it here.
func (e *evolving) merge(path Path, have *protocol.DataType, in protocol.DataType, owner *protocol.Field, below string) error {
	step := func(name string) (Path, string) {
		next := name
		if below != "" {
			next = below + "." + name
		}
		return append(slices.Clone(path), name), next
	}
	switch {
	case in.Kind == protocol.KindVoid:
		return nil
	case have.Kind == protocol.KindVoid:
		if err := e.referred(path, *have, in); err != nil {
			return err
		}
		*have = relaxed(in)
		return nil
	case have.Kind == protocol.KindStruct && in.Kind == protocol.KindStruct:
		return e.fields(path, have, in)
	case have.Kind == protocol.KindArray && in.Kind == protocol.KindArray:
		p, b := step("element")
		return e.merge(p, have.Element, *in.Element, owner, b)
	case have.Kind == protocol.KindMap && in.Kind == protocol.KindMap:
		p, b := step("key")
		if err := e.merge(p, have.Key, *in.Key, owner, b); err != nil {
			return err
		}
		p, b = step("value")
		return e.merge(p, have.Value, *in.Value, owner, b)
	case have.Equal(in):
		return nil
	}
	_, identity := owner.Metadata.Identity()
	computed := e.a.keepsGeneratedType(path) != nil // its values are what the expression gives, and of its type
	if e.widen && !identity && !computed && MayWiden(*have, in) && (!e.iceberg || icebergFollows(*have, in)) {
		if err := e.referred(path, *have, in); err != nil {
			return err
		}
		from := *have
		*have = in
		return recordChange(owner, from, in, below, e.a.recordedVersion())
	}
	if !e.strict || storedAlike(*have, in) {
		return nil
	}
	return protocol.NewError("DELTA_MERGE_INCOMPATIBLE_DATATYPE", "the types %s and %s of %s cannot be merged", *have, in, path)
}

// storedAlike: bytes and shorts are stored as the integers that they are among, so that a write of the narrower one fits.
func storedAlike(have, in protocol.DataType) bool {
	return (have.Kind == protocol.KindShort || have.Kind == protocol.KindInteger) && in.Kind == protocol.KindByte ||
		have.Kind == protocol.KindInteger && in.Kind == protocol.KindShort
}

// referred refuses to change the type of a column that a CHECK or a generated column computes with.
func (e *evolving) referred(path Path, from, to protocol.DataType) error {
	touched := func(paths []Path) bool {
		return slices.ContainsFunc(paths, func(p Path) bool { return p.touches(path) })
	}
	for _, name := range slices.Sorted(maps.Keys(e.a.constraints)) {
		if touched(e.a.deps.Constraints[name]) {
			return protocol.NewError("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", "the type of %s cannot change from %s to %s: the constraint %s (%s) refers to it", path, from, to, name, e.a.constraints[name]).
				WithHint("drop the constraint first, or cast the written values to %s", from)
		}
	}
	for _, f := range e.a.schema.Fields {
		if text, ok := f.Metadata.GenerationExpression(); ok && touched(e.a.deps.Generated[string(f.Name)]) {
			return protocol.NewError("DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH", "the type of %s cannot change from %s to %s: the generated column %s (%s) refers to it", path, from, to, f.Name, text).
				WithHint("cast the written values to %s", from)
		}
	}
	return nil
}
