package scan

import (
	"fmt"
	"slices"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// Misfit says why values that a file stores as one type cannot be read as a table's type: where in the type, and the two
// types at that place.
type Misfit struct {
	At             string // inside the column, as ".member", ".element", ".key" and ".value"; "" for the column itself
	Stored, Wanted string
}

// FindMisfit compares a column's type in a table with its type in a file; nil where the values can be read. DuckDB casts
// whatever there is a cast for; a reader must not, because a cast that rounds or prints gives values that nobody wrote.
// Read are:
//
//   - the same type, however it is stored;
//   - integers of any width and sign as each other and as decimals: one that does not fit is an error when it is met;
//   - what widening allows (protocol, "Type Widening");
//   - decimals of the same scale and another precision, with the same check;
//   - timestamps of any unit, of an instant or local, as each other; nanoseconds are cut to microseconds, down;
//   - text and bytes as each other, since writers leave the annotation away; UUIDs as text;
//   - nested types member by member; members that a file lacks are NULL, those that the table lacks are ignored.
func FindMisfit(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) *Misfit {
	switch t.Kind {
	case protocol.KindArray:
		if file.Kind == duck.KindList {
			return FindMisfit(*t.Element, &file.Children[0], mode).under("element")
		}
	case protocol.KindMap:
		if file.Kind == duck.KindMap {
			entry := file.Children[0].Children
			if m := FindMisfit(*t.Key, &entry[0], mode); m != nil {
				return m.under("key")
			}
			return FindMisfit(*t.Value, &entry[1], mode).under("value")
		}
	case protocol.KindStruct, protocol.KindFile:
		if file.Kind == duck.KindStruct {
			return findMemberMisfit(t, file, mode)
		}
	case protocol.KindVoid, protocol.KindVariant, protocol.KindGeometry, protocol.KindGeography:
		return nil // nothing is read of the first; the adapter judges variants; the last are refused before any file
	default:
		if fits(t, file) {
			return nil
		}
	}
	return &Misfit{Stored: file.String(), Wanted: t.String()}
}

func findMemberMisfit(t protocol.DataType, file *duck.Type, mode protocol.MappingMode) *Misfit {
	for i, m := range membersOf(t, mode) {
		at := memberIndex(file, m.name)
		if at < 0 {
			continue
		}
		if misfit := FindMisfit(m.typ, &file.Children[at], mode); misfit != nil {
			if t.Kind == protocol.KindStruct {
				return misfit.under(string(t.Fields[i].Name))
			}
			return misfit.under(m.name)
		}
	}
	return nil
}

func (m *Misfit) under(name string) *Misfit {
	if m != nil {
		m.At = "." + name + m.At
	}
	return m
}

// storedKinds are the kinds of scalars whose files' type is one of the table's. Whole numbers without sign are like those of
// the next width.
var storedKinds = map[duck.Kind]protocol.Kind{
	duck.KindBoolean: protocol.KindBoolean, duck.KindDate: protocol.KindDate,
	duck.KindTinyInt: protocol.KindByte, duck.KindSmallInt: protocol.KindShort, duck.KindInteger: protocol.KindInteger, duck.KindBigInt: protocol.KindLong,
	duck.KindUTinyInt: protocol.KindShort, duck.KindUSmallInt: protocol.KindInteger, duck.KindUInteger: protocol.KindLong, duck.KindUBigInt: protocol.KindLong,
	duck.KindFloat: protocol.KindFloat, duck.KindDouble: protocol.KindDouble, duck.KindDecimal: protocol.KindDecimal,
}

// fits says that a scalar of a file can be read as a scalar type.
func fits(t protocol.DataType, file *duck.Type) bool {
	switch t.Kind {
	case protocol.KindString:
		return file.Kind == duck.KindVarchar || file.Kind == duck.KindBlob || file.Kind == duck.KindUUID || file.Kind == duck.KindEnum
	case protocol.KindBinary:
		return file.Kind == duck.KindBlob || file.Kind == duck.KindVarchar
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		switch file.Kind {
		case duck.KindTimestamp, duck.KindTimestampTZ, duck.KindTimestampNS, duck.KindTimestampTZNS, duck.KindTimestampMS, duck.KindTimestampS:
			return true
		}
		return t.Kind == protocol.KindTimestampNTZ && file.Kind == duck.KindDate
	}
	kind, known := storedKinds[file.Kind]
	if !known {
		return false
	}
	if isWhole(kind) {
		switch t.Kind {
		case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDecimal,
			protocol.KindIntervalYearMonth, protocol.KindIntervalDayTime: // stored as months, as microseconds
			return true
		}
	}
	stored := protocol.DataType{Kind: kind, Precision: int(file.Width), Scale: int(file.Scale)}
	return protocol.CanWiden(stored, t) || kind == protocol.KindDecimal && t.Kind == kind && stored.Scale == t.Scale
}

func isWhole(k protocol.Kind) bool {
	return k == protocol.KindByte || k == protocol.KindShort || k == protocol.KindInteger || k == protocol.KindLong
}

// checkStored refuses files that store a column of the relation as a type that does not fit the table's, and notes whether
// columns are to be adapted for what a file stores.
func (b *builder) checkStored() error {
	b.adapts = b.needsLayouts()
	checked := map[fileKind]bool{}
	for _, f := range b.files {
		k := f.kind()
		if checked[k] || f.layout == nil {
			continue
		}
		checked[k] = true
		for _, c := range b.columns {
			stored, t := b.columnIn(k, c)
			if stored == nil {
				continue
			}
			b.adapts = b.adapts || storesNanoseconds(&stored.typ)
			if misfit := FindMisfit(t, &stored.typ, b.config.Mapping); misfit != nil {
				name := string(c.field.Name)
				if name == "" {
					name = stored.name
				}
				return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the data file %s stores the column %s%s as %s, which cannot be read as %s",
					f.path, name, misfit.At, misfit.Stored, misfit.Wanted).
					WithHint("some writer put it there without regard to the table's schema; select other columns, read the file as parquet.`%s`, or have it written anew", f.local)
			}
		}
	}
	return nil
}

// storesNanoseconds says that a type has timestamps that DuckDB's cast would round.
func storesNanoseconds(t *duck.Type) bool {
	return t.Kind == duck.KindTimestampNS || t.Kind == duck.KindTimestampTZNS ||
		slices.ContainsFunc(t.Children, func(child duck.Type) bool { return storesNanoseconds(&child) })
}

// fileKind is what the columns of a relation that a file stores depend on.
type fileKind struct {
	layout     *layout
	changeRows bool
}

func (f *dataFile) kind() fileKind { return fileKind{f.layout, f.changeRows} }

// columnIn finds what files of a kind store of a column of the relation, and the type that it is read as; nil for nothing.
func (b *builder) columnIn(k fileKind, c column) (*layoutColumn, protocol.DataType) {
	switch c.source {
	case sourceFile:
		return b.storedColumn(k.layout, c), c.field.Type
	case sourceChangeType:
		if k.changeRows {
			return k.layout.byName(string(c.physical)), c.field.Type
		}
	case sourceHidden:
		if property := materialisedProperty(c.hidden); property != "" {
			return k.layout.byName(b.config.Property(property)), c.field.Type
		}
	}
	return nil, protocol.DataType{}
}

// String is the misfit in words, without the column's name.
func (m *Misfit) String() string {
	return fmt.Sprintf("it has the type %s, which cannot be read as %s", m.Stored, m.Wanted)
}
