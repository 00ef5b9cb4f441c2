package sqlengine

import (
	"slices"
	"strings"
	"time"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/meta"
	"deltasql/txn/log"
)

// systemEntry is a table, a view or a system relation of the catalog, opened as far as it is asked for.
type systemEntry struct {
	meta.Listed
	st       *statement
	target   target
	snapshot *log.Snapshot
}

// systemSchemas are the databases that a scan wants, with information_schema among them.
func (st *statement) systemSchemas(w *wanted) ([]string, error) {
	catalog := st.session.engine.catalog
	var names []string
	if w.schemas != nil {
		for _, name := range w.schemas {
			if strings.EqualFold(name, informationSchema) {
				names = append(names, informationSchema)
			} else if known, err := catalog.database(st.ctx, name); err == nil && !slices.Contains(names, known) {
				names = append(names, known)
			} else if err != nil && protocol.ClassOf(err) != "SCHEMA_NOT_FOUND" && protocol.ClassOf(err) != "AMBIGUOUS_REFERENCE" {
				return nil, err
			}
		}
		slices.Sort(names)
		return names, nil
	}
	names, err := catalog.databases(st.ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, informationSchema)
	slices.Sort(names)
	return names, nil
}

// namesAtMost is up to how many table names each is looked up by itself; for more of them the databases are listed.
const namesAtMost = 16

// systemEntries calls do for the tables, views and system relations that a scan wants, in the order of their names.
func (st *statement) systemEntries(w *wanted, do func(e *systemEntry) error) error {
	schemas, err := st.systemSchemas(w)
	if err != nil {
		return err
	}
	for _, database := range schemas {
		entries, err := st.entriesOf(database, w)
		if err != nil {
			return err
		}
		meta.SortListed(entries)
		for _, listed := range entries {
			e := &systemEntry{Listed: listed, st: st}
			if listed.System {
				e.target = target{format: systemFormat, system: systemRelations[strings.ToLower(database+"."+listed.Name)], database: database, name: listed.Name}
			}
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (st *statement) entriesOf(database string, w *wanted) ([]meta.Listed, error) {
	var out []meta.Listed
	if database == informationSchema {
		for _, r := range systemList {
			if r.database == informationSchema && w.tables.has(r.name) {
				out = append(out, meta.Listed{Namespace: database, Name: r.name, System: true})
			}
		}
		return out, nil
	}
	if w.tables != nil && len(w.tables) <= namesAtMost {
		for _, name := range w.tables {
			t, err := st.lookUpStored(st.ctx, database, name)
			switch {
			case err != nil && protocol.ClassOf(err) == "DELTASQL_CANCELLED":
				return nil, err
			case err != nil || t.path == "" && t.view == nil:
			default:
				out = append(out, meta.Listed{Namespace: database, Name: t.name, View: t.view != nil})
			}
		}
		return out, nil
	}
	list, err := st.listed(database, true)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(l meta.Listed) bool { return l.Temporary || !w.tables.has(l.Name) }), nil
}

// open finds what the entry stands for.
func (e *systemEntry) open() error {
	if e.target.path != "" || e.target.view != nil || e.target.system != nil {
		return nil
	}
	var err error
	e.target, err = e.st.lookUpStored(e.st.ctx, e.Namespace, e.Name)
	return err
}

// read reads a table's log. A table that does not open is told of in a warning, so that it hides no other one.
func (e *systemEntry) read() (*log.Snapshot, bool) {
	if e.View || e.System {
		return nil, false
	}
	if e.snapshot != nil {
		return e.snapshot, true
	}
	err := e.open()
	if err == nil {
		e.snapshot, err = e.st.snapshot(e.st.ctx, e.target, nil)
	}
	if err != nil {
		e.warn(err)
		return nil, false
	}
	return e.snapshot, true
}

func (e *systemEntry) warn(err error) {
	known, ok := translate(err, "").(*protocol.Error)
	number := 1105
	if ok {
		number = known.MySQLNumber()
	}
	e.st.warn(number, "%s.%s: %v", e.Namespace, e.Name, err)
}

// fields are the columns of whatever the entry is; none where it does not open.
func (e *systemEntry) fields() []protocol.Field {
	if err := e.open(); err != nil {
		e.warn(err)
		return nil
	}
	var columns []meta.Column
	switch {
	case e.System:
		columns = e.target.system.columns
	case e.View:
		if e.target.view == nil {
			return nil
		}
		var err error
		if columns, err = e.st.viewColumns(e.target.view); err != nil {
			e.warn(err)
			return nil
		}
	default:
		if snapshot, ok := e.read(); ok {
			return snapshot.Config().Schema.Fields
		}
		return nil
	}
	return fieldsOf(columns)
}

// fieldsOf makes fields of result columns.
func fieldsOf(columns []meta.Column) []protocol.Field {
	fields := make([]protocol.Field, len(columns))
	for i, c := range columns {
		fields[i] = protocol.Field{Name: protocol.LogicalName(c.Name), Type: c.Type, Nullable: c.Nullable}
	}
	return fields
}

// keys are the informational keys of a table, the primary one first.
func (e *systemEntry) keys() []ddl.Key {
	snapshot, ok := e.read()
	if !ok {
		return nil
	}
	return orderedKeys(snapshot.Config())
}

func orderedKeys(config *protocol.TableConfig) []ddl.Key {
	keys := ddl.Keys(config)
	slices.SortStableFunc(keys, func(a, b ddl.Key) int { return strings.Compare(b.Kind, a.Kind) })
	return keys
}

// keyName is a key's name as MySQL has it.
func keyName(key ddl.Key) string {
	if key.Kind == "PRIMARY KEY" {
		return "PRIMARY"
	}
	return key.Name
}

// referred is the database and the table of a foreign key.
func (e *systemEntry) referred(key ddl.Key) (database, table any) {
	switch n := len(key.Table); {
	case n == 1:
		return e.Namespace, key.Table[0]
	case n > 1:
		return key.Table[n-2], key.Table[n-1]
	}
	return nil, nil
}

// sizes are the rows and bytes of a table as its log counts them; rows are nil where files do not tell theirs.
func sizesOf(snapshot *log.Snapshot) (rows, average, bytes any) {
	files := snapshot.Files()
	total := int64(0)
	for i := range files.Len() {
		total += files.Size(i)
	}
	count, exact := snapshot.Stats().Rows(nil)
	if !exact {
		return nil, nil, total
	}
	if count > 0 {
		return count, total / count, total
	}
	return count, int64(0), total
}

// wallMicros is a time of the log on the session's clock.
func (st *statement) wallMicros(millis int64) any {
	if millis <= 0 {
		return nil
	}
	_, offset := time.UnixMilli(millis).In(st.session.Location()).Zone()
	return (millis + int64(offset)*1000) * 1000
}
