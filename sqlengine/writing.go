package sqlengine

import (
	"errors"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
)

// errReserveMore ends a run that made more identity values than were reserved for it.
var errReserveMore = errors.New("more identity values are needed than were reserved")

// maxReruns bounds how often a statement runs again because another writer used up the identity values it had made.
const maxReruns = 50

// engineInfo names this product in commits.
const engineInfo = "deltasql/" + Version

// transactionOptions are what transactions of the session's statements take from it.
func (st *statement) transactionOptions() txn.Options {
	every, _ := wholeNumber("deltasql_log_compaction", st.session.settings.get("deltasql_log_compaction"))
	return txn.Options{
		Now: st.session.now, NewID: newID, Engine: engineInfo,
		UserMetadata: st.session.settings.get("deltasql_user_metadata"),
		Upkeep:       log.Upkeep{CompactionInterval: every},
	}
}

// env is what package ddl takes from outside.
func (st *statement) env() ddl.Env {
	return ddl.Env{NewID: newID, NowMillis: st.now.UnixMilli(), SessionDefaults: st.session.settings.tableDefaults()}
}

// tableDefaultsPrefix begins the session's settings that new tables take as properties.
const tableDefaultsPrefix = "spark.databricks.delta.properties.defaults."

// changeTarget finds the Delta table that a statement changes. doing names the statement in errors.
func (st *statement) changeTarget(name parse.Name, doing string) (target, *log.Table, error) {
	if len(name) > 0 {
		if err := st.mayWrite(doing, name[0].Pos); err != nil {
			return target{}, nil, err
		}
	}
	t, err := st.resolve(st.ctx, name)
	if err != nil {
		return target{}, nil, err
	}
	table, err := st.table(t, doing)
	if err != nil {
		return target{}, nil, at(err, name)
	}
	if t.moment != nil {
		return target{}, nil, at(protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "%s changes a table's newest version; %s names an older one", doing, t.shown()), name)
	}
	return t, table, nil
}

// work is what a statement does to a table inside a transaction. It stages everything and gives the operation that the commit
// is recorded as; nil is a statement that found nothing to do.
type work func(tx *txn.Transaction) (*txn.Operation, error)

// changeTable runs work on a table in a transaction of its own and commits it, or inside the session's open transaction. Work that
// made identity values which another writer used up meanwhile runs again on the new version.
func (st *statement) changeTable(t target, table *log.Table, do work) (txn.Committed, error) {
	if open := st.session.open; open != nil {
		committed, err := st.changeInside(open, t, table, do)
		return committed, withTable(err, t)
	}
	for run := 0; ; run++ {
		committed, err := st.changeOnce(t, table, do)
		if err == nil || run == maxReruns || !txn.MayRerun(err) && !errors.Is(err, errReserveMore) || st.ctx.Err() != nil {
			st.reserved = reservation{}
			return committed, withTable(err, t)
		}
		clear(st.pins) // the whole statement reads anew
		if err := st.reserve(table); err != nil {
			return committed, withTable(err, t)
		}
	}
}

// changeRows is changeTable for statements whose result counts rows: where the table has the session's application transaction already,
// nothing was stored and nothing is counted.
func (st *statement) changeRows(t target, table *log.Table, result *Result, do work) error {
	committed, err := st.changeTable(t, table, do)
	if committed.AlreadyApplied {
		result.Affected, result.LastInsertID, result.Info = 0, 0, ""
	}
	return err
}

func (st *statement) changeOnce(t target, table *log.Table, do work) (txn.Committed, error) {
	read, err := table.Snapshot(st.ctx)
	if err != nil {
		return txn.Committed{}, err
	}
	tx, err := txn.Begin(st.ctx, table, read, st.transactionOptions())
	if err != nil {
		return txn.Committed{}, err
	}
	st.pin(t.path, read)
	st.changing = t
	return st.finish(tx, do)
}

// finish does the work and commits; a failure anywhere leaves the table as it was.
func (st *statement) finish(tx *txn.Transaction, do work) (txn.Committed, error) {
	st.tx = tx
	st.forgetNotes()
	worked := false
	defer func() {
		st.tx = nil
		if !worked { // a panic leaves no files either
			tx.Abort(st.ctx)
		}
	}()
	operation, err := do(tx)
	worked = true
	if err != nil || operation == nil {
		tx.Abort(st.ctx)
		return txn.Committed{Empty: true}, err
	}
	if err := st.applicationTransaction(tx); err != nil {
		tx.Abort(st.ctx)
		return txn.Committed{}, err
	}
	committed, err := tx.Commit(st.ctx, *operation)
	for _, text := range committed.Warnings {
		st.warn(warningLog, "%s", text)
	}
	if err == nil && committed.AlreadyApplied {
		_, err = st.tellApplied(tx.Table())
		return committed, err
	}
	if err == nil && !committed.Empty && st.changing.path != "" {
		st.autoCompact(st.changing, tx.Table(), operation.Name)
	}
	return committed, err
}

// noteApplied is the number of the note that what a statement was to do was done before (MySQL: unknown error).
const noteApplied = 1105

// tellApplied tells the client that a commit stored nothing because the table has the session's application transaction already; false
// where that is not why.
func (st *statement) tellApplied(table *log.Table) (bool, error) {
	own, err := st.ownApplied(table)
	if own {
		st.warn(noteApplied, "the table %s has version %s of the application %s already; nothing was stored",
			table.Name(), st.session.settings.get("deltasql_txn_version"), st.session.settings.get("deltasql_txn_app_id"))
	}
	return own, err
}

// applicationTransaction stages the idempotence mark that the session's variables ask for.
func (st *statement) applicationTransaction(tx *txn.Transaction) error {
	app := st.session.settings.get("deltasql_txn_app_id")
	if app == "" {
		return nil
	}
	version, err := wholeNumber("deltasql_txn_version", st.session.settings.get("deltasql_txn_version"))
	if err != nil {
		return err
	}
	return tx.SetTxn(app, version)
}

// stage hands a change of package ddl to a transaction.
func (st *statement) stage(tx *txn.Transaction, c *ddl.Change) error {
	for _, text := range c.Warnings {
		st.warn(warnIgnored, "%s", text)
	}
	if c.Protocol != nil {
		if err := tx.SetProtocol(*c.Protocol); err != nil {
			return err
		}
	}
	if c.Metadata != nil {
		if err := tx.SetMetadata(*c.Metadata); err != nil {
			return err
		}
	}
	for _, d := range c.Domains {
		if err := tx.SetDomain(d); err != nil {
			return err
		}
	}
	return nil
}

// state is a table as package ddl sees it.
func state(s *log.Snapshot) ddl.State {
	tracked := true
	for i := range s.Files().Len() {
		_, id := s.Files().BaseRowID(i)
		_, version := s.Files().DefaultRowCommitVersion(i)
		if tracked = id && version; !tracked {
			break
		}
	}
	return ddl.State{
		Tracked: tracked, Config: s.Config(), Domains: s.Domains(), NumFiles: s.Files().Len(), NumVectors: s.Files().NumDeletionVectors(), Version: s.Version()}
}

// removeAll stages the removal of every file of a snapshot. It depends on all of them: rows that another writer adds meanwhile would
// stay, in a table of which nothing was to stay.
func removeAll(tx *txn.Transaction, s *log.Snapshot) error {
	tx.ReadAll()
	files := s.Files()
	for i := range files.Len() {
		if err := tx.Remove(true, files.Add(i)); err != nil {
			return err
		}
	}
	return nil
}

// reads tells the transaction that the statement's change depends on rows of the table it changes, and an open transaction what its
// queries have read. Older versions never change, so that reading them depends on nothing.
func (st *statement) reads(source *tableSource, predicate stats.Predicate) {
	// What CREATE TEMPORARY TABLE AS reads inside a transaction, and what a change reads of other tables, the client may come to know too.
	if open := st.session.open; open != nil && (st.tx == nil || st.tx != open.tx || !open.changes(identity(source.target.path))) {
		open.read(source, predicate)
		return
	}
	if st.tx == nil || st.tx.Snapshot() == nil || source.snapshot.Table() != st.tx.Table() || source.snapshot.Version() < st.tx.Snapshot().Version() {
		return
	}
	st.tx.ReadWhere(predicate)
}

// propertyMap turns a list of properties into a map; a key given twice is an error.
func propertyMap(list []parse.Property, at parse.Pos) (map[string]string, error) {
	out := make(map[string]string, len(list))
	for _, p := range list {
		if _, twice := out[p.Key]; twice {
			return nil, protocol.NewError("DUPLICATE_KEY", "the property %s is given twice", p.Key).At(at.Line, at.Column)
		}
		out[p.Key] = p.Value
	}
	return out, nil
}

// tableDefaults are the settings that new tables take as properties.
func (s *settings) tableDefaults() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for key, value := range s.conf {
		if len(key) > len(tableDefaultsPrefix) && strings.EqualFold(key[:len(tableDefaultsPrefix)], tableDefaultsPrefix) {
			out[key] = value
		}
	}
	return out
}

// several is one statement that is several; those before one that fails stand.
func (st *statement) several(s *parse.Several) (*Result, error) {
	result := &Result{}
	for _, one := range s.Statements {
		r, err := st.run(one)
		if err != nil {
			return nil, err
		}
		result.Affected += r.Affected
	}
	return result, nil
}
