package scan

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// FilesOfOldTypes are the files of a snapshot that store a column whose type was widened (delta.typeChanges) as another type than
// the table's, by number. Their footers are read where they are not known.
func FilesOfOldTypes(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot) ([]int32, error) {
	config := snapshot.Config()
	b, err := footersOf(snapshot, func(f protocol.Field) bool { return typeChanged(f) })
	if err != nil || len(b.columns) == 0 {
		return nil, err
	}
	if err := b.findFooters(ctx, in); err != nil {
		return nil, err
	}
	var old []int32
	for i, f := range b.files {
		for _, c := range b.columns {
			stored, t := b.columnIn(f.kind(), c)
			if stored != nil && storedOtherwise(t, &stored.typ, config.Mapping) {
				old = append(old, int32(i))
				break
			}
		}
	}
	return old, nil
}

// FilesShredded are the files of a snapshot that store variants shredded, by number: those whose schema has a member
// typed_value. A file whose footer has an unusual form counts.
func FilesShredded(ctx context.Context, snapshot *log.Snapshot) ([]int32, error) {
	b, err := footersOf(snapshot, func(f protocol.Field) bool { return f.Type.Holds(protocol.KindVariant) })
	if err != nil || len(b.columns) == 0 {
		return nil, err
	}
	for _, f := range b.files {
		if err := b.table.locate(ctx, f); err != nil {
			return nil, err
		}
	}
	schemas, err := readSchemas(ctx, b.files)
	if err != nil {
		return nil, err
	}
	var shredded []int32
	for i, schema := range schemas {
		if schema.bytes == "" || strings.Contains(schema.bytes, "typed_value") {
			shredded = append(shredded, int32(i))
		}
	}
	return shredded, nil
}

// footersOf is a builder over the files of a snapshot and those of its columns that are stored in files and wanted.
func footersOf(snapshot *log.Snapshot, wanted func(protocol.Field) bool) (*builder, error) {
	config := snapshot.Config()
	b := &builder{config: config, table: tableRef{name: snapshot.Table().Name(), store: snapshot.Table().Store()}}
	for i, field := range config.Schema.Fields {
		if config.IsPartitionColumn(i) || !wanted(field) {
			continue
		}
		if err := b.addField(i); err != nil {
			return nil, err
		}
	}
	files := snapshot.Files()
	for i := range files.Len() {
		if err := b.addSnapshotFile(files, i); err != nil {
			return nil, diagnose(err, b.table.name, nil)
		}
	}
	return b, nil
}

func (b *builder) findFooters(ctx context.Context, in *duck.Instance) error {
	for _, f := range b.files {
		if err := b.table.locate(ctx, f); err != nil {
			return err
		}
	}
	return findLayouts(ctx, in, b.files, true)
}

// typeChanged tells whether a field, or one inside it, has a record of type changes.
func typeChanged(f protocol.Field) bool {
	if changes, err := f.Metadata.TypeChanges(); err != nil || len(changes) > 0 {
		return true
	}
	return anyField(f.Type, typeChanged)
}

func anyField(t protocol.DataType, is func(protocol.Field) bool) bool {
	switch t.Kind {
	case protocol.KindStruct:
		for _, f := range t.Fields {
			if is(f) {
				return true
			}
		}
	case protocol.KindArray:
		return anyField(*t.Element, is)
	case protocol.KindMap:
		return anyField(*t.Key, is) || anyField(*t.Value, is)
	}
	return false
}

// storedOtherwise tells whether a file stores a type that widening could have changed as another one.
func storedOtherwise(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) bool {
	switch t.Kind {
	case protocol.KindArray:
		return file.Kind == duck.KindList && storedOtherwise(*t.Element, &file.Children[0], mode)
	case protocol.KindMap:
		if file.Kind != duck.KindMap {
			return false
		}
		entry := file.Children[0].Children
		return storedOtherwise(*t.Key, &entry[0], mode) || storedOtherwise(*t.Value, &entry[1], mode)
	case protocol.KindStruct:
		if file.Kind != duck.KindStruct {
			return false
		}
		for _, m := range membersOf(t, mode) {
			if at := memberIndex(file, m.name); at >= 0 && storedOtherwise(m.typ, &file.Children[at], mode) {
				return true
			}
		}
		return false
	case protocol.KindTimestampNTZ:
		return file.Kind == duck.KindDate
	}
	kind, known := storedKinds[file.Kind]
	if !known {
		return false
	}
	return kind != t.Kind || kind == protocol.KindDecimal && (int(file.Width) != t.Precision || int(file.Scale) != t.Scale)
}

// FilesOfDroppedColumns are the files of a snapshot that hold a column, or a member of a struct, that the table has dropped, by
// number. Only column mapping lets columns be dropped and leaves them in the files; other tables' files are not looked at.
func FilesOfDroppedColumns(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot) ([]int32, error) {
	config := snapshot.Config()
	if config.Mapping == protocol.MappingNone {
		return nil, nil
	}
	b, err := footersOf(snapshot, func(protocol.Field) bool { return true })
	if err != nil {
		return nil, err
	}
	if err := b.findFooters(ctx, in); err != nil {
		return nil, err
	}
	known := map[string]*protocol.DataType{}
	for i := range config.Schema.Fields {
		known[string(config.PhysicalName(i))] = &config.Schema.Fields[i].Type
	}
	for _, property := range []string{rowIDProperty, rowCommitVersionProperty} {
		if name := config.Property(property); name != "" {
			known[name] = nil
		}
	}
	verdicts := map[*layout]bool{}
	var dropped []int32
	for i, f := range b.files {
		holds, decided := verdicts[f.layout]
		if !decided {
			for k := range f.layout.columns {
				c := &f.layout.columns[k]
				t, ok := known[c.name]
				holds = holds || !ok || t != nil && holdsDropped(*t, &c.typ, config.Mapping)
			}
			verdicts[f.layout] = holds
		}
		if holds {
			dropped = append(dropped, int32(i))
		}
	}
	return dropped, nil
}

// holdsDropped tells whether what a file stores of a type has a member that the type has not.
func holdsDropped(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) bool {
	switch {
	case t.Kind == protocol.KindArray && file.Kind == duck.KindList:
		return holdsDropped(*t.Element, &file.Children[0], mode)
	case t.Kind == protocol.KindMap && file.Kind == duck.KindMap:
		entry := file.Children[0].Children
		return holdsDropped(*t.Key, &entry[0], mode) || holdsDropped(*t.Value, &entry[1], mode)
	case t.Kind == protocol.KindStruct && file.Kind == duck.KindStruct:
		members := map[string]protocol.DataType{}
		for _, m := range membersOf(t, mode) {
			members[m.name] = m.typ
		}
		for i, name := range file.Names {
			m, ok := members[name]
			if !ok || holdsDropped(m, &file.Children[i], mode) {
				return true
			}
		}
	}
	return false
}
