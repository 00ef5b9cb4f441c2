package sqlengine

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
)

// statement is one statement while it runs: its clock, the snapshots it has pinned, what it must free.
type statement struct {
	ctx      context.Context
	session  *Session
	now      time.Time
	pins     map[string]*log.Snapshot  // by path and moment (Q1)
	folded   map[string]protocol.Value // constants by their text
	warnings []Warning
	dropped  int64       // warnings beyond max_error_count
	noting   *duck.Notes // what the statement's functions note, nil where none has anything to note
	// inspects is set where what the protocol and the metadata say is all that is wanted, so that the table need not be readable.
	inspects bool
	// keepsFailure is set for SHOW WARNINGS and SHOW ERRORS, which leave the error before them to be shown again.
	keepsFailure bool
	wide         bool     // run again with decimals of 128 bits
	release      []func() // run once by close, last added first
	admitted     bool
	// creating is the view that CREATE VIEW is about, temporaries whether its query reads a temporary view.
	creating    *view
	temporaries bool
	answer      *bind.SQLTable // what SHOW ... WHERE filters, found under answerFunction
	explain     *explanation   // collects what scans report, nil outside EXPLAIN
	// tx is the change that the statement makes, while it makes it; changing is the table.
	tx          *txn.Transaction
	changing    target
	reserved    reservation          // identity values set aside for the next run of the change
	parameters  []Parameter          // values of ?
	namedValues map[string]Parameter // values of :name, in lower case
}

func newStatement(ctx context.Context, s *Session) *statement {
	return &statement{ctx: ctx, session: s, now: s.now(), pins: map[string]*log.Snapshot{}, folded: map[string]protocol.Value{}}
}

// onClose adds something to run when the statement ends.
func (st *statement) onClose(f func()) { st.release = append(st.release, f) }

func (st *statement) close() {
	for i := len(st.release) - 1; i >= 0; i-- {
		st.release[i]()
	}
	st.release = nil
}

// admit waits for the statement's turn, once.
func (st *statement) admit() error {
	if st.admitted {
		return nil
	}
	release, err := st.session.engine.admit(st.ctx)
	if err != nil {
		return err
	}
	st.admitted = true
	st.onClose(release)
	return nil
}

// run does what the statement says.
func (st *statement) run(parsed parse.Statement) (*Result, error) {
	if err := st.surround(parsed); err != nil {
		return nil, err
	}
	switch s := parsed.(type) {
	case *parse.QueryStatement:
		if len(s.Into) > 0 {
			return st.selectInto(s)
		}
		return st.query(s.Query)
	case *parse.Do:
		return st.do(s)
	case *parse.Explain:
		return st.explainStatement(s)
	case *parse.Use:
		return st.use(s)
	case *parse.Describe:
		return st.describe(s)
	case *parse.Show:
		return st.show(s)
	case *parse.Set:
		return st.set(s)
	case *parse.Reset:
		return &Result{}, st.session.settings.reset(s.Name)
	case *parse.CreateView:
		return st.createView(s)
	case *parse.DropView:
		return st.dropView(s)
	case *parse.Refresh:
		return st.refresh(s)
	case *parse.Kill:
		return st.kill(s)
	case *parse.Prepare:
		return st.prepare(s)
	case *parse.Execute:
		return st.executePrepared(s)
	case *parse.Deallocate:
		return st.deallocate(s)
	case *parse.Transaction:
		return st.transactionStatement(s)
	case *parse.CreateTable:
		return st.createTable(s)
	case *parse.Insert:
		return st.insert(s)
	case *parse.LoadData:
		return st.loadData(s)
	case *parse.CopyInto:
		return st.copyInto(s)
	case *parse.CopyTo:
		return st.copyTo(s)
	case *parse.Delete:
		return st.deleteFrom(s)
	case *parse.Update:
		return st.update(s)
	case *parse.Merge:
		return st.merge(s)
	case *parse.Truncate:
		return st.truncate(s)
	case *parse.AlterTable:
		return st.alterTable(s)
	case *parse.Optimize:
		return st.optimize(s)
	case *parse.Reorg:
		return st.reorg(s)
	case *parse.Vacuum:
		return st.vacuum(s)
	case *parse.Convert:
		return st.convert(s)
	case *parse.Maintain:
		return st.maintain(s)
	case *parse.Restore:
		return st.restore(s)
	case *parse.CommentOn:
		return st.commentOn(s)
	case *parse.Several:
		return st.several(s)
	case *parse.CreateDatabase:
		return st.createDatabase(s)
	case *parse.DropDatabase:
		return st.dropDatabase(s)
	case *parse.DropTable:
		return st.dropTable(s)
	case *parse.Unsupported:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "%s is not supported by this version", s.Verb).
			At(s.Pos.Line, s.Pos.Column)
	}
	return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "%s is not supported by this version", parse.Verb(parsed))
}

// context is what lowering needs to know of the session.
func (st *statement) context() *expr.Context {
	s := st.session
	mode := s.settings.sqlMode()
	return &expr.Context{
		Dialect:       s.Dialect(),
		TimeZone:      s.settings.get("time_zone"),
		Now:           st.told(),
		Database:      s.Database(),
		User:          s.User(),
		Version:       serverVersion,
		PipesAsConcat: mode.pipesAsConcat,
		MySQLCompare:  s.settings.on("deltasql_mysql_compare"),
		ConnectionID:  s.id,
		LastInsertID:  s.lastInserted(),
		WideDecimals:  st.widens(),
		Variable:      st.variable,
		Assign:        st.assign,
		Param:         st.parameter,
		Warn:          func(code int, message string) { st.warn(code, "%s", message) },

		Notes: st.notes, ZeroDivisionTold: mode.zeroDivision, GroupConcatLimit: s.settings.groupConcatLimit(), SignedSubtraction: mode.signedSubtraction,
	}
}

// told is the time that the statement's functions tell: the session may have set it.
func (st *statement) told() time.Time {
	seconds, err := strconv.ParseFloat(st.session.settings.get("timestamp"), 64)
	if err != nil || seconds == 0 {
		return st.now
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6)))
}

// widens tells whether decimals are computed in 128 bits.
func (st *statement) widens() bool {
	return st.wide || st.session.settings.on("deltasql_wide_decimals")
}

// variable is the value of @name (scope "user") or @@name.
func (st *statement) variable(scope, name string) (protocol.Value, protocol.DataType, error) {
	settings := st.session.settings
	if scope == "user" {
		if v, ok := settings.userVariable(name); ok {
			return v.value, v.of, nil
		}
		return protocol.Value{Kind: protocol.KindVoid, Null: true}, protocol.DataType{Kind: protocol.KindVoid}, nil
	}
	long := func(n int64) (protocol.Value, protocol.DataType, error) {
		return protocol.Value{Kind: protocol.KindLong, Int: n}, protocol.DataType{Kind: protocol.KindLong}, nil
	}
	switch warnings, errors := st.diagnostics(); strings.ToLower(name) {
	case "warning_count":
		return long(warnings)
	case "error_count":
		return long(errors)
	case "timestamp":
		return protocol.Value{Kind: protocol.KindDouble, Float: float64(st.told().UnixMicro()) / 1e6}, protocol.DataType{Kind: protocol.KindDouble}, nil
	}
	return settings.system(name)
}

func (st *statement) assign(name string, value protocol.Value) {
	st.session.settings.setUser(name, userValue{value, typeOfValue(value)})
}

// typeOfValue is the type of a bare value.
func typeOfValue(v protocol.Value) protocol.DataType {
	if v.Kind == protocol.KindDecimal {
		return protocol.DataType{Kind: v.Kind, Precision: 38, Scale: v.Scale}
	}
	return protocol.DataType{Kind: v.Kind}
}
