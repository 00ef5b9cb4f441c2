package wire

import (
	"context"
	"errors"
	"io"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/parse"
)

// query runs the statements of a text one after another, until one fails. Each is cut off under the rules that hold when its turn comes.
func (c *conn) query(text string) bool {
	c.process.Begin(commandNames[comQuery], text)
	options := c.session.ParseOptions()
	splitter := parse.NewSplitter(options)
	splitter.Feed(text)
	piece, ok := splitter.Rest()
	if !ok {
		return c.failed(protocolFault(1065, "the statement is empty"))
	}
	for {
		next, more := splitter.Rest()
		if more && !c.has(clientMultiStatements) {
			return c.failed(protocolFault(1064, "[PARSE_SYNTAX_ERROR] (42601) one statement at a time: the client has not asked for several"))
		}
		if !c.run(piece, more) {
			return false
		}
		if !more || c.broken() {
			return true
		}
		if now := c.session.ParseOptions(); now != options {
			at := next.Pos
			options = now
			options.Start = at
			splitter = parse.NewSplitter(options)
			options.Start = parse.Pos{}
			splitter.Feed(text[at.Offset:])
			if next, more = splitter.Rest(); !more {
				return true
			}
		}
		piece = next
	}
}

// broken tells whether the answer ended with an error, behind which no other comes.
func (c *conn) broken() bool { return c.lastFailed }

// run runs one statement of COM_QUERY; false ends the connection.
func (c *conn) run(piece parse.Piece, more bool) bool {
	ctx, done := c.statementContext()
	defer done()
	before := c.session.Database()
	result, err := c.session.ExecuteAt(ctx, piece.Text, piece.Pos)
	if err != nil {
		return c.statementFailed(ctx, err)
	}
	defer result.Close()
	return c.answer(ctx, result, before, more, false)
}

// statementFailed answers a statement with its error. One that was cancelled is told why, where the context knows.
func (c *conn) statementFailed(ctx context.Context, err error) bool {
	c.lastFailed = true
	var cause *protocol.Error
	if protocol.ClassOf(err) == "DELTASQL_CANCELLED" && errors.As(context.Cause(ctx), &cause) {
		c.session.Fail(cause)
		err = cause
	}
	return c.sendError(err) == nil
}

// answer sends what a statement gave: an OK packet, or columns and rows.
func (c *conn) answer(ctx context.Context, result *sqlengine.Result, before string, more, binary bool) bool {
	c.lastFailed = false
	flags := c.status()
	if more {
		flags |= statusMoreResults
	}
	if result.Columns == nil {
		database := c.session.Database()
		affected := result.Affected
		if c.has(clientFoundRows) {
			affected = max(affected, result.Found)
		}
		return c.sendOK(okay{
			affected: uint64(max(affected, 0)), insertID: uint64(result.LastInsertID), info: result.Info, status: flags, warnings: c.session.WarningCount(),
			database: database, changed: database != before,
		}, 0) == nil
	}
	columns := columnsOf(result.Columns, c.session.Dialect())
	if !c.sendColumns(columns) || c.endOfColumns(flags) != nil {
		return false
	}
	rows := newRowWriter(&c.out, columns)
	rows.zone.zone = c.session.Location()
	return c.rows(ctx, result, rows, flags, binary)
}

// sendColumns sends the number of columns and their definitions.
func (c *conn) sendColumns(columns []column) bool {
	c.out.begin()
	c.out.out = appendLength(c.out.out, uint64(len(columns)))
	if c.out.end() != nil {
		return false
	}
	for i := range columns {
		c.out.begin()
		c.out.out = columns[i].define(c.out.out, "", "", false)
		if c.out.end() != nil {
			return false
		}
	}
	return true
}

// sendEvery is how long rows are kept back to go out together.
const sendEvery = 5 * time.Millisecond

// rows sends all rows and the end of the result set, or the error that takes its place (W1).
func (c *conn) rows(ctx context.Context, result *sqlengine.Result, rows *rowWriter, flags uint16, binary bool) bool {
	sent := time.Now()
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return c.endOfRows(flags, c.warnOfLost(rows)) == nil
		}
		if err != nil {
			return c.statementFailed(ctx, err)
		}
		if rows.batch(batch, 0, batch.Len(), binary) != nil {
			return false
		}
		if now := time.Now(); now.Sub(sent) > sendEvery {
			if sent = now; c.out.flush() != nil {
				return false
			}
		}
	}
}

// batch writes the rows of a batch from one number up to another.
func (w *rowWriter) batch(batch *duck.Batch, from, to int, binary bool) error {
	write := w.textRow
	if binary {
		write = w.binaryRow
	}
	for row := from; row < to; row++ {
		if err := write(batch, row); err != nil {
			return err
		}
	}
	return nil
}

// lostValue is MySQL's number of a value that is out of range for its column.
const lostValue = 1264

// warnOfLost warns of values that went out as NULL, and gives the number of the statement's warnings.
func (c *conn) warnOfLost(rows *rowWriter) int {
	for i, n := range rows.lost {
		if n > 0 {
			c.session.Warn(sqlengine.Warning{Code: lostValue, Message: protocol.NewError("NUMERIC_VALUE_OUT_OF_RANGE",
				"column %s: %d values that the MySQL protocol cannot carry (NaN, infinities, dates outside of the years 0 to 9999, times beyond 838 hours) were sent as NULL",
				rows.columns[i].name, n).Error()})
			rows.lost[i] = 0
		}
	}
	return c.session.WarningCount()
}
