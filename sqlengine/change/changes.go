package change

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/rewrite"
)

// Changes is a bound UPDATE, DELETE or MERGE. Its query is to be run once, into a table of its own: it reads the source of a MERGE once,
// holds new rows to their duties, and everything that is written follows from its rows and from the files that they name.
type Changes struct {
	// Query gives a row for each row that is changed, added or matched (rewrite.Keep, because a second match of one row is an error
	// whatever the clauses say). Its first columns, c0 to c<Values-1>, are the table's logical columns with the new values, as in
	// Plan.Query; NULL for rewrite.Delete and rewrite.Keep.
	Query  *expr.Query
	Values int // 0 for DELETE, which has no new values
	// Action, File, Row and RowID are the numbers of further columns: a rewrite.Action (TINYINT), where the row lies, as the hidden
	// columns FileNumber and _metadata.row_index say it, and its row id, -1 where the table has none. Place and id are NULL for
	// rewrite.Insert.
	Action, File, Row, RowID int
	// Repeated says what it means that a row of the table comes several times (rewrite.Insert aside): an error of that class, or nothing
	// if it is empty; then any one of the rows counts.
	Repeated protocol.Class
	// Keys are the columns of the table by which the error of Repeated names rows; FindRepeated is a query that finds them, "" where
	// none can be written down.
	Keys         []int
	FindRepeated string
	// Differs is whether a BOOLEAN follows that tells of an updated row whether it is not as it was. Counts is how many BIGINT columns
	// follow that, whose sums the statement has to tell; see Upsert. Keeps is whether rows may be rewrite.Keep without a place.
	Differs bool
	Counts  int
	Keeps   bool
	// Updates, Deletes and Inserts say which actions can occur.
	Updates, Deletes, Inserts bool
	Done                      []txn.Duty
	Identity                  []Identity
	// Target is the scan of the table within Query; its Filters may skip files.
	Target *expr.Relation
	// Where is the condition of an UPDATE or DELETE of one table without ORDER BY and LIMIT, over Target; nil for every row. With Simple,
	// the changed rows are exactly those that satisfy it, so that a DELETE may drop files by their partition values alone.
	Where  expr.Expr
	Simple bool
}

// FileNumber is the hidden column of a changed table's Source that numbers its files in the snapshot.
const FileNumber = "__file_number"

// place is where a scan's hidden columns stand: file number, row_index and, where there is one, row_id.
func place(target *expr.Relation) (items []bind.Item, hasID bool, err error) {
	find := func(name string) int {
		for i, c := range target.Columns {
			if c.Hidden && c.Name == name {
				return i
			}
		}
		return -1
	}
	for _, name := range []string{FileNumber, "_metadata.row_index"} {
		at := find(name)
		if at < 0 {
			return nil, false, protocol.NewError(protocol.ClassInternal, "the scan of a changed table has no %s", name)
		}
		items = append(items, bind.Item{Name: strings.TrimPrefix(name, "_metadata."), Value: columnOf(target, at)})
	}
	if at := find("_metadata.row_id"); at >= 0 {
		items, hasID = append(items, bind.Item{Name: "row_id", Value: columnOf(target, at)}), true
	}
	return items, hasID, nil
}

// from binds the FROM of an UPDATE or DELETE and says whether it is one table.
func (b *binding) from(f parse.From) (from expr.From, scope bind.Scope, single *expr.Relation, err error) {
	if from, scope, err = b.build.From(f); err != nil {
		return nil, scope, nil, err
	}
	if r, ok := from.(*expr.Relation); ok {
		if r.Kind != expr.RelScan {
			return nil, scope, nil, protocol.NewError("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "%s is no table whose rows can be changed", b.table.shown())
		}
		single = r
	}
	return from, scope, single, nil
}

// unordered refuses ORDER BY and LIMIT of a change through a join: they would count rows of the join, of which several may be one row of
// the table.
func (b *binding) unordered(single *expr.Relation, order []parse.OrderItem, limit parse.Expr, at parse.Pos) error {
	if single != nil || len(order) == 0 && limit == nil {
		return nil
	}
	return fail("DELTASQL_WRONG_USAGE", at, "a change of joined tables takes neither ORDER BY nor LIMIT").
		WithHint("choose the rows by a condition: ... WHERE key IN (SELECT ... ORDER BY ... LIMIT ...)")
}

// where binds the condition of an UPDATE or DELETE; nil without one.
func (b *binding) where(e parse.Expr, scope bind.Scope) (expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	bound, err := b.build.Expression(e, scope)
	if err != nil {
		return nil, err
	}
	if bound.Type().Kind == protocol.KindVoid && !b.mysql() {
		return nil, fail("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", e.At(), "the condition must be a boolean, not a NULL without a type")
	}
	return expr.Condition(bound, b.build.Context())
}

// both joins two conditions; either may be nil.
func both(a, b expr.Expr) expr.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &expr.Logic{Typed: expr.Typed{Of: boolean, Null: true}, Operands: []expr.Expr{a, b}}
}

func actionOf(a rewrite.Action) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: protocol.DataType{Kind: protocol.KindByte}}, Value: protocol.Value{Kind: protocol.KindByte, Int: int64(a)}}
}

// unchecked makes rows of some actions pass without checks, since they bring no values.
func (b *binding) unchecked(action expr.Expr) {
	without := &expr.In{Typed: expr.Typed{Of: boolean}, Operand: action, List: []expr.Expr{actionOf(rewrite.Delete), actionOf(rewrite.DeleteBySource), actionOf(rewrite.Keep)}}
	keeper := b.schema.Fields[b.keeper()]
	b.checks = append([]expr.When{{Condition: without, Result: expr.Null(keeper.Type)}}, b.checks...)
}
