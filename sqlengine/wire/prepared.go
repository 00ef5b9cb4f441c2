package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"deltasql/scan/duck"
	"deltasql/sqlengine"
)

// maxStatements bounds the prepared statements of one connection.
const maxStatements = 16_382

// maxParameters is what the protocol can count.
const maxParameters = 65_535

// preparedStatement is what COM_STMT_PREPARE has made.
type preparedStatement struct {
	statement *sqlengine.Prepared
	types     []parameterType // of the parameters, as they were bound last
	long      map[int][]byte  // values sent ahead
	longFault error           // what was wrong with one of them
	open      *fetchCursor
}

// fetchCursor is a result that the client reads in pieces. It runs on while other commands run.
type fetchCursor struct {
	result *sqlengine.Result
	rows   *rowWriter
	ctx    context.Context
	stop   context.CancelCauseFunc
	batch  *duck.Batch // nil: none is left over
	at     int         // the next row of it
}

func (f *fetchCursor) close() {
	f.stop(nil)
	f.result.Close()
}

func (c *conn) prepare(text string) bool {
	c.process.Begin(commandNames[comStmtPrepare], text)
	if len(c.statements) >= maxStatements {
		return c.failed(protocolFault(1461, fmt.Sprintf("a connection has at most %d prepared statements", maxStatements)))
	}
	ctx, done := c.statementContext()
	defer done()
	statement, err := c.session.Prepare(ctx, text)
	if err != nil {
		return c.failed(err)
	}
	if statement.Parameters() > maxParameters {
		return c.failed(protocolFault(1390, fmt.Sprintf("a prepared statement has at most %d parameters", maxParameters)))
	}
	for c.lastID++; c.lastID == 0 || c.statements[c.lastID] != nil; c.lastID++ {
	}
	c.statements[c.lastID] = &preparedStatement{statement: statement}
	return c.described(c.lastID, statement)
}

// described answers COM_STMT_PREPARE.
func (c *conn) described(id uint32, statement *sqlengine.Prepared) bool {
	columns := columnsOf(statement.Columns(), c.session.Dialect())
	c.out.begin()
	out := appendUint32(append(c.out.out, 0), id)
	out = appendUint16(out, uint16(len(columns)))
	out = appendUint16(out, uint16(statement.Parameters()))
	c.out.out = appendUint16(append(out, 0), 0)
	if c.out.end() != nil {
		return false
	}
	parameters := slices.Repeat([]column{parameterColumn}, statement.Parameters())
	for _, group := range [][]column{parameters, columns} {
		for i := range group {
			c.out.begin()
			c.out.out = group[i].define(c.out.out, "", "", false)
			if c.out.end() != nil {
				return false
			}
		}
		if len(group) > 0 && c.endOfColumns(c.status()) != nil {
			return false
		}
	}
	return true
}

// find is the statement that a command is about.
func (c *conn) find(in *cursor, command string) (*preparedStatement, error) {
	id := in.uint32()
	p := c.statements[id]
	if in.bad || p == nil {
		return nil, protocolFault(1243, fmt.Sprintf("unknown prepared statement handler (%d) given to %s", id, command))
	}
	return p, nil
}

// readOnlyCursor asks, in the flags of COM_STMT_EXECUTE, for rows in pieces.
const readOnlyCursor = 1

func (c *conn) execute(body []byte) bool {
	in := &cursor{data: body}
	p, err := c.find(in, "mysqld_stmt_execute")
	if err != nil {
		return c.failed(err)
	}
	c.process.Begin(commandNames[comStmtExecute], p.statement.Text())
	flags := in.uint8()
	in.uint32() // the number of executions is always one
	p.closeCursor()
	parameters, err := p.bindParameters(in)
	if p.longFault != nil {
		err = p.longFault
	}
	p.long, p.longFault = nil, nil
	if err != nil {
		return c.failed(err)
	}
	if flags&readOnlyCursor != 0 && len(p.statement.Columns()) > 0 {
		return c.openCursor(p, parameters)
	}
	ctx, done := c.statementContext()
	defer done()
	before := c.session.Database()
	result, err := p.statement.Execute(ctx, parameters)
	if err != nil {
		return c.statementFailed(ctx, err)
	}
	defer result.Close()
	return c.answer(ctx, result, before, false, true)
}

// openCursor starts a statement whose rows wait for COM_STMT_FETCH.
func (c *conn) openCursor(p *preparedStatement, parameters []sqlengine.Parameter) bool {
	ctx, stop := context.WithCancelCause(c.ctx)
	c.watchFor(stop)
	defer c.watchFor(nil)
	result, err := p.statement.Execute(ctx, parameters)
	if err != nil {
		defer stop(nil)
		return c.statementFailed(ctx, err)
	}
	columns := columnsOf(result.Columns, c.session.Dialect())
	rows := newRowWriter(&c.out, columns)
	rows.zone.zone = c.session.Location()
	p.open = &fetchCursor{result: result, rows: rows, ctx: ctx, stop: stop}
	if !c.sendColumns(columns) {
		return false
	}
	// The one packet behind the columns ends the answer: the rows are another command's.
	return c.endOfRows(c.status()|statusCursorExists, len(result.Warnings)) == nil
}

// watchFor makes KILL QUERY end what stop ends; nil ends that.
func (c *conn) watchFor(stop context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
}

// fetch sends the next rows of a cursor.
func (c *conn) fetch(body []byte) bool {
	in := &cursor{data: body}
	p, err := c.find(in, "mysqld_stmt_fetch")
	wanted := int(in.uint32())
	switch {
	case err != nil:
		return c.failed(err)
	case p.open == nil || in.bad:
		return c.failed(protocolFault(1421, "the statement has no open cursor"))
	}
	f := p.open
	c.process.Begin(commandNames[comStmtFetch], p.statement.Text())
	c.watchFor(f.stop)
	defer c.watchFor(nil)
	flags := c.status() | statusCursorExists
	for wanted > 0 {
		if f.batch == nil {
			batch, err := f.result.Next(f.ctx)
			if errors.Is(err, io.EOF) {
				warnings := c.warnOfLost(f.rows)
				p.closeCursor()
				return c.endOfRows(c.status()|statusLastRowSent, warnings) == nil
			}
			if err != nil {
				p.closeCursor()
				return c.statementFailed(f.ctx, err)
			}
			f.batch, f.at = batch, 0
		}
		to := min(f.batch.Len(), f.at+wanted)
		if f.rows.batch(f.batch, f.at, to, true) != nil {
			return false
		}
		wanted -= to - f.at
		if f.at = to; to == f.batch.Len() {
			f.batch = nil
		}
	}
	return c.endOfRows(flags, 0) == nil
}

// longData adds a piece to the value of a parameter. The command has no answer: what is wrong is told when the statement runs.
func (c *conn) longData(body []byte) bool {
	in := &cursor{data: body}
	p, err := c.find(in, "mysqld_stmt_send_long_data")
	if err != nil {
		return true
	}
	at := int(in.uint16())
	switch total := p.longBytes() + len(in.data); {
	case in.bad || at >= p.statement.Parameters():
		p.longFault = protocolFault(1210, "a value was sent ahead for a parameter that the statement has not")
	case total > c.server.options.MaxPacket:
		p.longFault = protocolFault(1153, fmt.Sprintf("values sent ahead are larger than max_allowed_packet (%d bytes)", c.server.options.MaxPacket))
		p.long = nil
	case p.longFault == nil:
		if p.long == nil {
			p.long = map[int][]byte{}
		}
		p.long[at] = append(p.long[at], in.data...)
		if p.long[at] == nil {
			p.long[at] = []byte{}
		}
	}
	return true
}

func (p *preparedStatement) longBytes() int {
	n := 0
	for _, value := range p.long {
		n += len(value)
	}
	return n
}

func (c *conn) resetStatement(body []byte) bool {
	p, err := c.find(&cursor{data: body}, "mysqld_stmt_reset")
	if err != nil {
		return c.failed(err)
	}
	p.closeCursor()
	p.long, p.longFault = nil, nil
	return c.done()
}

func (p *preparedStatement) closeCursor() {
	if p.open != nil {
		p.open.close()
		p.open = nil
	}
}

func (c *conn) closeStatement(id uint32) {
	if p := c.statements[id]; p != nil {
		p.closeCursor()
		delete(c.statements, id)
	}
}
