package sqlengine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
)

// transaction is what BEGIN opens, or the first statement where autocommit is off: several statements that read one version of
// each table and change at most one table, in one commit. A version of a table is chosen when the transaction first touches it, or
// with CONSISTENT SNAPSHOT is the newest when it began.
type transaction struct {
	begun      time.Time
	readOnly   bool
	consistent bool
	pins       map[string]*log.Snapshot // by identity

	target     target           // what is changed
	tx         *txn.Transaction // nil before the first change
	operations []txn.Operation  // of the statements that changed something
	savepoints []savepoint      // oldest first

	// reads is what the queries have read of each table, by identity: what the client knows of the table that it changes the commit
	// depends on, as it does on what the changes themselves have read.
	reads map[string][]stats.Predicate
}

// mostReads is how many conditions a transaction keeps of one table; after that it depends on the whole table.
const mostReads = 200

// read notes that a query reads a table's newest version as the transaction has it.
func (open *transaction) read(source *tableSource, predicate stats.Predicate) {
	path := identity(source.target.path)
	if pinned, ok := open.pins[path]; open.readOnly || !ok || source.snapshot.Version() < pinned.Version() {
		return
	}
	list := open.reads[path]
	if predicate == nil || len(list) == mostReads || len(list) == 1 && list[0] == nil {
		list, predicate = nil, nil
	}
	open.reads[path] = append(list, predicate)
	if open.changes(path) {
		open.tx.ReadWhere(predicate)
	}
}

// changes tells whether a table, by its identity, is the one that the transaction changes.
func (open *transaction) changes(id string) bool {
	return open.tx != nil && identity(open.target.path) == id
}

// depend tells the transaction's changes what queries have read before.
func (open *transaction) depend() {
	for _, predicate := range open.reads[identity(open.target.path)] {
		open.tx.ReadWhere(predicate)
	}
}

type savepoint struct {
	name       string
	staged     *txn.Savepoint // nil where nothing had been changed
	operations int
}

// transactionStatement is BEGIN, COMMIT, ROLLBACK and savepoints.
func (st *statement) transactionStatement(s *parse.Transaction) (*Result, error) {
	session := st.session
	switch s.Verb {
	case "BEGIN":
		if err := st.commit(); err != nil { // as MySQL does with what is open
			return nil, err
		}
		st.begin(s.ReadOnly, s.Consistent)
	case "COMMIT":
		chain := s.Chain && session.open != nil
		if err := st.commit(); err != nil {
			return nil, err
		}
		if chain {
			st.begin(false, false)
		}
	case "ROLLBACK":
		chain := s.Chain && session.open != nil
		session.rollback(st.ctx)
		if chain {
			st.begin(false, false)
		}
	case "SAVEPOINT":
		if session.open != nil {
			session.open.save(s.Savepoint.Name)
		}
	case "ROLLBACK TO", "RELEASE":
		i := -1
		if session.open != nil {
			i = session.open.saved(s.Savepoint.Name)
		}
		if i < 0 {
			return nil, protocol.NewError("DELTASQL_NO_SAVEPOINT", "there is no savepoint %s", s.Savepoint.Name).At(s.Pos.Line, s.Pos.Column)
		}
		if s.Verb == "RELEASE" {
			session.open.savepoints = session.open.savepoints[:i]
			break
		}
		return &Result{}, session.open.rollbackTo(i)
	}
	return &Result{}, nil
}

func (st *statement) begin(readOnly, consistent bool) {
	st.session.open = &transaction{begun: st.now, readOnly: readOnly, consistent: consistent, pins: map[string]*log.Snapshot{}, reads: map[string][]stats.Predicate{}}
}

// surround opens a transaction where autocommit is off, and ends an open one before a statement that cannot be part of it.
func (st *statement) surround(parsed parse.Statement) error {
	switch s := parsed.(type) {
	case *parse.QueryStatement, *parse.Insert, *parse.Update, *parse.Delete, *parse.Merge, *parse.LoadData, *parse.CopyInto:
		if st.session.open == nil && !st.session.settings.on("autocommit") {
			st.begin(false, false)
		}
	case *parse.CreateTable:
		if s.Temporary {
			return nil
		}
		return st.commit()
	case *parse.DropTable:
		if s.Temporary {
			return nil
		}
		return st.commit()
	case *parse.AlterTable, *parse.CreateDatabase, *parse.DropDatabase, *parse.Several, *parse.CommentOn,
		*parse.Truncate, *parse.Optimize, *parse.Reorg, *parse.Vacuum, *parse.Restore, *parse.Convert, *parse.Maintain:
		return st.commit()
	}
	return nil
}

// commit ends the open transaction, if there is one, and makes its commit.
func (st *statement) commit() error {
	open := st.session.open
	if open == nil {
		return nil
	}
	st.session.open = nil
	if open.tx == nil {
		return nil
	}
	if len(open.operations) == 0 {
		open.tx.Abort(st.ctx)
		return nil
	}
	if err := st.applicationTransaction(open.tx); err != nil {
		open.tx.Abort(st.ctx)
		return err
	}
	committed, err := open.tx.Commit(st.ctx, joined(open.operations))
	for _, text := range committed.Warnings {
		st.warn(warningLog, "%s", text)
	}
	if err == nil && committed.AlreadyApplied {
		if own, failure := st.tellApplied(open.tx.Table()); failure != nil || !own {
			return errors.Join(failure, protocol.NewError("DELTA_CONCURRENT_TRANSACTION", "another COPY INTO has loaded some of the files meanwhile; nothing of the transaction was stored").
				WithTable(open.target.shown()).WithHint("run the transaction again"))
		}
	}
	if err == nil && !committed.Empty && !committed.AlreadyApplied {
		st.autoCompact(open.target, open.tx.Table(), joined(open.operations).Name)
	}
	return withTable(err, open.target)
}

// rollback ends the open transaction and leaves the table as it was.
func (s *Session) rollback(ctx context.Context) {
	if open := s.open; open != nil {
		s.open = nil
		if open.tx != nil {
			open.tx.Abort(ctx)
		}
	}
}

// joined is the one operation that a commit of several statements is recorded as: theirs where there is one, else TRANSACTION with
// the names of all and their counts added up.
func joined(operations []txn.Operation) txn.Operation {
	if len(operations) == 1 {
		return operations[0]
	}
	names := make([]string, len(operations))
	all := txn.Operation{Name: "TRANSACTION", AllowEmpty: true}
	sums := map[string]int64{}
	for i, operation := range operations {
		names[i] = operation.Name
		for _, m := range operation.Metrics {
			n, err := strconv.ParseInt(m.Value, 10, 64)
			if err != nil {
				continue
			}
			if _, seen := sums[m.Key]; !seen {
				all.Metrics = append(all.Metrics, txn.Metric{Key: m.Key})
			}
			sums[m.Key] += n
		}
	}
	for i := range all.Metrics {
		all.Metrics[i].Value = strconv.FormatInt(sums[all.Metrics[i].Key], 10)
	}
	all.Parameters = []txn.Parameter{{Key: "statements", Value: textOf(names)}}
	return all
}

func (open *transaction) save(name string) {
	if i := open.saved(name); i >= 0 { // the name moves on
		open.savepoints = slices.Delete(open.savepoints, i, i+1)
	}
	point := savepoint{name: name, operations: len(open.operations)}
	if open.tx != nil {
		point.staged = open.tx.Savepoint()
	}
	open.savepoints = append(open.savepoints, point)
}

func (open *transaction) saved(name string) int {
	return slices.IndexFunc(open.savepoints, func(p savepoint) bool { return strings.EqualFold(p.name, name) })
}

// rollbackTo undoes what was done since the i-th savepoint, which stays.
func (open *transaction) rollbackTo(i int) error {
	point := open.savepoints[i]
	open.savepoints = open.savepoints[:i+1]
	open.operations = open.operations[:point.operations]
	switch {
	case open.tx == nil:
		return nil
	case point.staged == nil:
		open.leave(context.Background())
		return nil
	}
	return open.tx.RollbackTo(point.staged)
}

// leave gives up the table that was to be changed, of which nothing is staged.
func (open *transaction) leave(ctx context.Context) {
	open.tx.Abort(ctx)
	open.tx, open.target = nil, target{}
	for i := range open.savepoints {
		open.savepoints[i].staged = nil
	}
}

// forget takes a table out of the transaction that is about to be dropped: what was done to it goes with it.
func (open *transaction) forget(ctx context.Context, t target) {
	id := identity(t.path)
	delete(open.pins, id)
	delete(open.reads, id)
	if !open.changes(id) {
		return
	}
	open.leave(ctx)
	open.operations = nil
	for i := range open.savepoints {
		open.savepoints[i].operations = 0
	}
}

// newest is the version of a table that the statement reads where no clause says otherwise: the newest, or inside a transaction
// the one that it has chosen, with what it has changed itself.
func (st *statement) newest(ctx context.Context, table *log.Table, t target) (*log.Snapshot, error) {
	open := st.session.open
	if open == nil {
		return table.Snapshot(ctx)
	}
	id := identity(t.path)
	if open.changes(id) {
		return open.tx.View()
	}
	if pinned, ok := open.pins[id]; ok {
		return pinned, nil
	}
	snapshot, err := table.Snapshot(ctx)
	if err == nil && open.consistent && snapshot.TimestampMillis() > open.begun.UnixMilli() {
		micros := open.begun.UnixMicro()
		snapshot, err = st.snapshotAt(ctx, table, t, &bind.AsOf{Timestamp: &micros})
	}
	if err != nil {
		return nil, err
	}
	open.pins[id] = snapshot
	return snapshot, nil
}

// changeInside runs work inside the open transaction. A failure undoes what the statement staged and leaves the transaction open.
func (st *statement) changeInside(open *transaction, t target, table *log.Table, do work) (committed txn.Committed, err error) {
	if open.readOnly {
		return txn.Committed{}, protocol.NewError("DELTASQL_READ_ONLY", "the transaction is read-only").WithErrno(1792)
	}
	id := identity(t.path)
	if open.tx != nil && !open.changes(id) && len(open.operations) == 0 && !open.tx.Changed() {
		open.leave(st.ctx) // a statement that failed or found no row has not made it the transaction's table
	}
	if open.tx != nil && !open.changes(id) {
		return txn.Committed{}, protocol.NewError("DELTASQL_MULTI_TABLE_TRANSACTION", "the transaction changes the table %s and cannot change %s as well", open.target.shown(), t.shown()).
			WithHint("commit first: no commit of the Delta protocol spans two tables")
	}
	read, err := st.newest(st.ctx, table, t)
	if err != nil {
		return txn.Committed{}, err
	}
	if open.tx == nil {
		// A query may have chosen the version over another path.
		tx, err := txn.Begin(st.ctx, read.Table(), read, st.transactionOptions())
		if err != nil {
			return txn.Committed{}, err
		}
		open.tx, open.target = tx, t
		open.depend()
	}
	st.pin(t.path, read)
	before := open.tx.Savepoint()
	st.tx, st.changing = open.tx, t
	whole := false
	defer func() {
		st.tx = nil
		if whole {
			return
		}
		if undo := open.tx.RollbackTo(before); undo != nil { // a panic undoes the statement as well
			err = undo
		}
	}()
	operation, err := do(open.tx)
	if err != nil {
		return txn.Committed{}, err
	}
	if operation == nil { // whatever was staged on the way there is not the transaction's, as it is none's outside of one
		return txn.Committed{Empty: true, Version: read.Version()}, nil
	}
	whole = true
	open.operations = append(open.operations, *operation)
	return txn.Committed{Version: read.Version()}, nil
}
