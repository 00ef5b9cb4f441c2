package wire

import (
	"fmt"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/meta"
)

// command runs one command; false ends the connection.
func (c *conn) command(payload []byte) bool {
	if len(payload) == 0 {
		return c.sendError(protocolFault(1047, "a command is empty")) == nil
	}
	code, body := payload[0], payload[1:]
	c.server.count(1)
	defer c.process.End()
	if code != comQuery && code != comStmtPrepare && code != comStmtExecute {
		c.process.Begin(commandNames[code], "")
	}
	switch code {
	case comQuit:
		return false
	case comPing:
		return c.done()
	case comQuery:
		return c.query(string(body))
	case comInitDB:
		if err := c.session.Use(c.ctx, string(body)); err != nil {
			return c.failed(err)
		}
		return c.sendOK(okay{status: c.status(), database: c.session.Database(), changed: true}, 0) == nil
	case comFieldList:
		return c.fieldList(body)
	case comStmtPrepare:
		return c.prepare(string(body))
	case comStmtExecute:
		return c.execute(body)
	case comStmtFetch:
		return c.fetch(body)
	case comStmtSendLongData:
		return c.longData(body)
	case comStmtClose:
		in := cursor{data: body}
		c.closeStatement(in.uint32())
		return true // which has no answer
	case comStmtReset:
		return c.resetStatement(body)
	case comChangeUser:
		return c.changeUser(body)
	case comResetConnection:
		for id := range c.statements {
			c.closeStatement(id)
		}
		if err := c.session.Reset(); err != nil {
			return c.failed(err)
		}
		return c.done()
	case comSetOption:
		return c.setOption(body)
	case comStatistics:
		return c.statistics()
	case comProcessInfo:
		return c.query("SHOW FULL PROCESSLIST")
	case comProcessKill:
		in := cursor{data: body}
		if err := c.server.engine.Kill(int64(in.uint32()), true); err != nil {
			return c.failed(err)
		}
		return c.done()
	}
	name := commandNames[code]
	if name == "" {
		name = fmt.Sprintf("number %d", code)
	}
	return c.sendError(protocolFault(1047, "the command "+name+" is not supported")) == nil
}

// done answers a command that has nothing to tell.
func (c *conn) done() bool { return c.sendOK(okay{status: c.status()}, 0) == nil }

// failed answers a command with an error.
func (c *conn) failed(err error) bool { return c.sendError(err) == nil }

// Options of COM_SET_OPTION.
const (
	multiStatementsOn  = 0
	multiStatementsOff = 1
)

func (c *conn) setOption(body []byte) bool {
	in := cursor{data: body}
	switch in.uint16() {
	case multiStatementsOn:
		c.capabilities |= clientMultiStatements
	case multiStatementsOff:
		c.capabilities &^= clientMultiStatements
	default:
		in.bad = true
	}
	if in.bad {
		return c.failed(protocolFault(1047, "the option is not known"))
	}
	return c.endOfRows(c.status(), 0) == nil
}

// statistics answers with one line of text, which is a packet of its own kind.
func (c *conn) statistics() bool {
	questions, connections := c.server.count(0)
	seconds := int64(time.Since(c.server.started) / time.Second)
	c.out.begin()
	c.out.out = fmt.Appendf(c.out.out, "Uptime: %d  Threads: %d  Questions: %d  Queries per second avg: %.3f",
		seconds, connections, questions, float64(questions)/float64(max(seconds, 1)))
	return c.out.end() == nil
}

// fieldList lists the columns of a table whose names match a pattern of LIKE.
func (c *conn) fieldList(body []byte) bool {
	in := cursor{data: body}
	table, pattern := string(in.terminated()), string(in.rest())
	ctx, done := c.statementContext()
	defer done()
	columns, err := c.session.TableColumns(ctx, table)
	if err != nil {
		return c.failed(err)
	}
	for _, column := range columnsOf(columns, c.session.Dialect()) {
		if pattern != "" && !meta.MatchLike(&pattern, column.name, true) {
			continue
		}
		c.out.begin()
		c.out.out = column.define(c.out.out, c.session.Database(), table, true)
		if c.out.end() != nil {
			return false
		}
	}
	return c.endOfRows(c.status(), 0) == nil
}

// changeUser gives the connection to another user, or ends it.
func (c *conn) changeUser(body []byte) bool {
	in := cursor{data: body}
	user := string(in.terminated())
	response := append([]byte(nil), in.take(int(in.uint8()))...)
	database := string(in.terminated())
	method := methodNative
	if len(in.data) >= 2 {
		in.uint16() // character set: text is UTF-8
		if c.has(clientPluginAuth) && len(in.data) > 0 {
			method = string(in.terminated())
		}
	}
	err := error(protocolFault(1043, "bad handshake"))
	if !in.bad {
		err = c.authenticate(user, method, response)
	}
	if err == nil {
		for id := range c.statements {
			c.closeStatement(id)
		}
		err = c.session.ChangeUser(c.ctx, user, database)
	}
	if err != nil {
		if _, ok := err.(*protocol.Error); ok || isFault(err) {
			c.sendError(err)
		}
		return false
	}
	return c.done()
}

func isFault(err error) bool {
	_, ok := err.(fault)
	return ok
}
