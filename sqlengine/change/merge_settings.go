package change

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// settings finds what a clause assigns.
func (m *merging) settings(i int) error {
	w := &m.s.Whens[i]
	var list []setting
	var err error
	switch {
	case w.Star:
		list, err = m.star(w)
	case w.Action == parse.MergeUpdate:
		list, err = m.updateList(w)
	case w.Action == parse.MergeInsert:
		list, err = m.insertList(w)
	}
	m.lists = append(m.lists, list)
	return unresolvedInMerge(err)
}

// star is what UPDATE SET * and INSERT * stand for: every column of the table that the source has. One that it lacks is an error, unless
// it is computed, or schema evolution lets it stay as it is.
func (m *merging) star(w *parse.MergeWhen) ([]setting, error) {
	except := map[int]bool{}
	for _, name := range w.Except {
		at := m.schema.Lookup(name[len(name)-1].Name)
		if at < 0 {
			return nil, m.unresolved(name)
		}
		except[at] = true
	}
	var list []setting
	for i, f := range m.schema.Fields {
		if except[i] {
			continue
		}
		var found expr.Expr
		for _, it := range m.given {
			if strings.EqualFold(it.Name, string(f.Name)) {
				found = it.Value
			}
		}
		_, generated := m.generation(f)
		id, identity := m.identity(f)
		switch {
		case found == nil && (generated || identity || m.s.Evolve):
			continue
		case found == nil:
			return nil, fail("DELTA_MERGE_UNRESOLVED_EXPRESSION", w.Pos, "* needs every column of %s in the source, which has no `%s`", m.table.shown(), f.Name).
				WithHint("name the columns, or use MERGE WITH SCHEMA EVOLUTION")
		case identity && w.Action == parse.MergeUpdate:
			return nil, fail("DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", w.Pos, "the identity column `%s` of %s cannot be updated", f.Name, m.table.shown()).WithHint("UPDATE SET * EXCEPT (%s)", f.Name)
		case identity && !id.AllowExplicitInsert:
			return nil, m.explicitIdentity(f, w.Pos)
		}
		list = append(list, setting{column: i, names: []string{string(f.Name)}, bound: found, pos: w.Pos})
	}
	return list, nil
}

func (m *merging) explicitIdentity(f protocol.Field, at parse.Pos) error {
	return fail("DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", at, "column `%s` of %s is GENERATED ALWAYS AS IDENTITY: no value can be given for it", f.Name, m.table.shown())
}

// updateList is UPDATE SET path = value, ...
func (m *merging) updateList(w *parse.MergeWhen) ([]setting, error) {
	var list []setting
	for _, item := range w.Set {
		name := item.Target
		for k := min(len(name)-1, len(m.path)); k > 0; k-- {
			if qualifies(m.path, name[:k]) {
				name = name[k:]
				break
			}
		}
		at := m.schema.Lookup(name[0].Name)
		if at < 0 {
			return nil, m.unresolved(item.Target)
		}
		s := setting{value: item.Value, pos: item.Target[0].Pos}
		var members []protocol.LogicalName
		for _, part := range name[1:] {
			members = append(members, protocol.LogicalName(part.Name))
		}
		if err := m.locate(&s, at, members); err != nil {
			return nil, err
		}
		for _, o := range list {
			if s.overlaps(o) {
				return nil, fail("DELTA_CONFLICT_SET_COLUMN", s.pos, "there is a conflict between the SET columns `%s` and `%s`", o.shown(), s.shown())
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// insertList is INSERT (columns) VALUES (values).
func (m *merging) insertList(w *parse.MergeWhen) ([]setting, error) {
	columns := make([]parse.Name, len(w.Set))
	for i, item := range w.Set {
		columns[i] = item.Target
	}
	targets, err := m.listed(columns)
	if err != nil {
		return nil, err
	}
	var list []setting
	for i, at := range targets {
		f := m.schema.Fields[at]
		_, isDefault := w.Set[i].Value.(*parse.DefaultValue)
		id, identity := m.identity(f)
		_, generated := m.generation(f)
		if isDefault && (identity || generated) {
			continue
		}
		if identity && !id.AllowExplicitInsert {
			return nil, m.explicitIdentity(f, columns[i][0].Pos)
		}
		list = append(list, setting{column: at, names: []string{string(f.Name)}, value: w.Set[i].Value, pos: columns[i][0].Pos})
	}
	return list, nil
}
