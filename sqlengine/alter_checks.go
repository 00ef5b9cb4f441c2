package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
)

// checkRows holds the rows that are there to what a staged change of the definition asks of them, under the new definition. The
// change then depends on every row.
func (st *statement) checkRows(tx *txn.Transaction, t target, checks []ddl.Check) error {
	if len(checks) == 0 {
		return nil
	}
	view, err := tx.View()
	if err != nil {
		return err
	}
	st.pin(t.path, view)
	for _, check := range checks {
		tx.ReadAll()
		if view.Files().Len() == 0 {
			continue
		}
		condition := "true"
		switch check.Kind {
		case ddl.CheckNotNull:
			condition = quotedPath(check.Column) + " IS NULL"
		case ddl.CheckConstraint:
			condition = "(" + check.Expression + ") IS NOT TRUE"
		}
		n, err := st.countRows(t, condition)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		switch check.Kind {
		case ddl.CheckNotNull:
			return protocol.NewError("DELTA_NEW_NOT_NULL_VIOLATION", "%d rows of %s have NULL in %s", n, t.shown(), check.Column).
				WithHint("give them a value first")
		case ddl.CheckConstraint:
			return protocol.NewError("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "%d rows of %s violate the new CHECK constraint %s (%s)", n, t.shown(), check.Name, check.Expression).
				WithHint("SELECT * FROM ... WHERE (%s) IS NOT TRUE shows them", check.Expression)
		}
		return check.Refusal
	}
	return nil
}

// identityValue is the greatest value of an identity column, or the least where its step is negative; nil where there is none.
func (st *statement) identityValue(config *protocol.TableConfig, column ddl.Path) (*int64, error) {
	greatest, err := ddl.IdentityScan(ddl.State{Config: config}, column)
	if err != nil {
		return nil, err
	}
	function := "min"
	if greatest {
		function = "max"
	}
	st.tx.ReadAll()
	value, err := st.single(fmt.Sprintf("SELECT %s(%s) FROM %s", function, quotedPath(column), st.changedTable()))
	if err != nil || value.Null {
		return nil, err
	}
	return &value.Int, nil
}

// countRows counts the rows of the table that is being changed that satisfy a condition in the Spark dialect.
func (st *statement) countRows(t target, condition string) (int64, error) {
	value, err := st.single("SELECT count(*) FROM " + pathName(t.path) + " WHERE " + condition)
	return value.Int, err
}

// changedTable names the table of the transaction.
func (st *statement) changedTable() string { return pathName(st.changing.path) }

// pathName is a table's name by its path.
func pathName(path string) string {
	return "delta.`" + strings.ReplaceAll(path, "`", "``") + "`"
}

func quotedPath(path ddl.Path) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = "`" + strings.ReplaceAll(part, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}

// single runs a query of one value, written in the Spark dialect whatever the session's.
func (st *statement) single(sql string) (protocol.Value, error) {
	parsed, err := parse.Parse(sql, parse.Options{Dialect: parse.Spark})
	if err != nil {
		return protocol.Value{}, err
	}
	query, ok := parsed.(*parse.QueryStatement)
	if !ok {
		return protocol.Value{}, protocol.NewError(protocol.ClassInternal, "%s is no query", sql)
	}
	options := st.bindOptions()
	context := *options.Context
	context.Dialect = expr.Spark
	options.Context = &context
	return st.scalar(query.Query, options)
}
