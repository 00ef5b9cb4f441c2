package ddl

import (
	"encoding/json"
	"slices"
	"strings"

	"deltasql/protocol"
)

// ChangeColumn is ALTER, CHANGE and MODIFY COLUMN; what is nil, false or empty stays as it is. A form that gives the whole
// definition anew (MySQL's MODIFY) sets ClearComment, DropDefault and DropNotNull for what it leaves out.
type ChangeColumn struct {
	Column       Path
	Rename       string
	Type         *protocol.DataType
	CharVarchar  string // with Type STRING: "char(5)", "varchar(20)" or a plain string
	SetNotNull   bool
	DropNotNull  bool
	Comment      *string
	ClearComment bool
	SetDefault   *string // SQL text
	DropDefault  bool
	First        bool
	After        string // a sibling
	Sync         *SyncIdentity
}

// SyncIdentity is SYNC IDENTITY, with what the engine found in the table (IdentityScan says what to look for), reading the
// whole of it in the transaction that commits the Change. Value is nil where there is none.
type SyncIdentity struct {
	Value *int64
}

// IdentityScan says what SYNC IDENTITY of a column looks for: its greatest value, or for a negative step its least.
func IdentityScan(old State, column Path) (greatest bool, err error) {
	_, identity, err := identityColumn(&old.Config.Schema, column)
	return identity.Step > 0, err
}

func identityColumn(schema *protocol.DataType, column Path) (*place, protocol.Identity, error) {
	at, err := find(schema, column)
	if err != nil {
		return nil, protocol.Identity{}, err
	}
	if f := at.field(); f != nil && len(at.path) == 1 {
		if identity, ok := f.Metadata.Identity(); ok {
			return at, identity, nil
		}
	}
	return nil, protocol.Identity{}, protocol.NewError("DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN", "the column %s is no identity column", at.path)
}

func (s ChangeColumn) apply(a *alteration) error {
	at, err := find(&a.schema, s.Column)
	if err != nil {
		return err
	}
	if s.Sync != nil {
		return a.syncIdentity(s)
	}
	if f := at.field(); f != nil && (s.Type != nil || s.SetNotNull || s.DropNotNull || s.SetDefault != nil || s.DropDefault) {
		if err := s.keepsIdentity(f); err != nil {
			return err
		}
	}
	if err := s.describe(a, at); err != nil {
		return err
	}
	if s.Type != nil {
		if err := a.retype(at, *s.Type, s.CharVarchar); err != nil {
			return err
		}
	}
	if err := s.nullability(a, at); err != nil {
		return err
	}
	if err := s.defaults(at); err != nil {
		return err
	}
	oldPath := at.path
	if s.Rename != "" && s.Rename != oldPath[len(oldPath)-1] {
		if err := a.rename(at, s.Rename); err != nil {
			return err
		}
	}
	f := protocol.Field{Name: protocol.LogicalName(oldPath[len(oldPath)-1]), Type: *at.dataType(), Nullable: at.nullable()}
	if at.field() != nil {
		f = *at.field()
	}
	path := append(slices.Clone(oldPath[:len(oldPath)-1]), string(f.Name))
	if s.First || s.After != "" {
		if err := s.move(at); err != nil {
			return err
		}
	}
	a.recordChangeOf(path, f, s)
	return nil
}

// recordChangeOf is the entry in history. A rename alone has a name of its own there.
func (a *alteration) recordChangeOf(path Path, f protocol.Field, s ChangeColumn) {
	old := append(slices.Clone(path[:len(path)-1]), s.Column[len(s.Column)-1])
	if s.Rename != "" && !strings.EqualFold(s.Rename, s.Column[len(s.Column)-1]) {
		a.record(entry{operation: "RENAME COLUMN", schema: true, parameters: []protocol.Parameter{
			textParameter("oldColumnPath", old.String()), textParameter("newColumnPath", path.String())}})
		return
	}
	column := columnJSON(path, f)
	e := entry{operation: "CHANGE COLUMN", schema: true, silent: s.Type != nil, parameters: []protocol.Parameter{textParameter("column", column)}}
	item := column
	if where := position(s.First, s.After); where != "" {
		e.parameters = append(e.parameters, textParameter("position", where))
		item = column[:len(column)-1] + `,"position":` + string(jsonText(where)) + "}"
	}
	e.items = []json.RawMessage{json.RawMessage(item)}
	a.record(e)
}

// keepsIdentity: of an identity column only the comment, the name and the position change, and its mark by SYNC IDENTITY.
// What says again what is there changes nothing.
func (s ChangeColumn) keepsIdentity(f *protocol.Field) error {
	if _, ok := f.Metadata.Identity(); !ok {
		return nil
	}
	if s.Type != nil && !castsUp(f.Type, *s.Type) {
		return nil // no column could change like that, which is what the user is told
	}
	_, hasDefault := f.Metadata.CurrentDefault()
	same := (s.Type == nil || s.Type.Equal(f.Type)) && !(s.SetNotNull && f.Nullable) && !(s.DropNotNull && !f.Nullable) &&
		s.SetDefault == nil && !(s.DropDefault && hasDefault)
	if same {
		return nil
	}
	return protocol.NewError("DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED", "the identity column %s can change its comment, its position and its name only", f.Name)
}

// describe changes the comment.
func (s ChangeColumn) describe(a *alteration, at *place) error {
	if s.Comment == nil && !s.ClearComment {
		return nil
	}
	f := at.field()
	if f == nil {
		if s.Comment == nil {
			return nil
		}
		return protocol.NewError("DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY", "%s is an element, a key or a value, which has no comment", at.path)
	}
	if s.Comment != nil {
		setMeta(f, metaKeyComment, *s.Comment)
	} else {
		delete(f.Metadata, metaKeyComment)
	}
	return nil
}

// nullability lets NULL in, or keeps it out once the rows that are there have been looked at.
func (s ChangeColumn) nullability(a *alteration, at *place) error {
	f := at.field()
	switch {
	case s.SetNotNull && at.nullable() && (f == nil || at.inside):
		return nestedNotNull(at.path)
	case s.SetNotNull && f != nil && f.Nullable:
		f.Nullable = false
		a.checks = append(a.checks, Check{Kind: CheckNotNull, Column: at.path})
	case s.DropNotNull && f != nil:
		f.Nullable = true
	case s.DropNotNull && !at.nullable():
		return protocol.NewError("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "whether %s, an element, a key or a value, may be NULL cannot be changed", at.path)
	}
	return nil
}

// defaults changes the default for new rows.
func (s ChangeColumn) defaults(at *place) error {
	f := at.field()
	switch {
	case s.SetDefault != nil && (f == nil || len(at.path) > 1):
		return notAllowed("a default for %s, which is not a column of the table itself", at.path)
	case s.SetDefault != nil:
		setMeta(f, metaKeyDefault, *s.SetDefault)
	case s.DropDefault && f != nil:
		delete(f.Metadata, metaKeyDefault)
	}
	return nil
}

// move puts the field elsewhere in its struct. A column that is to come after itself stays.
func (s ChangeColumn) move(at *place) error {
	if at.field() == nil {
		return protocol.NewError("INVALID_FIELD_NAME", "%s has no position: it is an element, a key or a value", at.path)
	}
	f := *at.field()
	rest := slices.Delete(slices.Clone(at.parent.Fields), at.index, at.index+1)
	index := 0
	if !s.First {
		if strings.EqualFold(s.After, string(f.Name)) || strings.EqualFold(s.After, s.Column[len(s.Column)-1]) {
			return nil
		}
		sibling := protocol.DataType{Kind: protocol.KindStruct, Fields: rest}.Lookup(s.After)
		if sibling < 0 {
			return unresolved(append(slices.Clone(at.path[:len(at.path)-1]), s.After), at.parent)
		}
		index = sibling + 1
	}
	at.parent.Fields = slices.Insert(rest, index, f)
	return nil
}

// syncIdentity moves the mark past what is in the table: up to the next value that the column would give, in the direction
// of its step, and never back. What lies before the start says nothing.
func (a *alteration) syncIdentity(s ChangeColumn) error {
	at, identity, err := identityColumn(&a.schema, s.Column)
	if err != nil {
		return err
	}
	f := at.field()
	if s.Sync.Value != nil {
		mark, moved, err := identity.MarkAfter(*s.Sync.Value)
		if err != nil {
			return protocol.NewError("ARITHMETIC_OVERFLOW", "the identity column %s has no value left beyond %d", f.Name, *s.Sync.Value).WithCause(err)
		}
		if !moved && wrongMark(identity) {
			mark, moved = identity.Start, true
		}
		if moved {
			setMeta(f, metaKeyHighWaterMark, mark)
		}
	}
	a.recordChangeOf(at.path, *f, s)
	return nil
}

// wrongMark tells that the mark lies before the start, which is another writer's fault; the start is the least that is right.
func wrongMark(i protocol.Identity) bool {
	m := i.HighWaterMark
	return m != nil && (i.Step > 0 && *m < i.Start || i.Step < 0 && *m > i.Start)
}
