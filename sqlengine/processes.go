package sqlengine

import (
	"slices"
	"sync"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
)

// processes are the sessions of doors that let others see and end them: what SHOW PROCESSLIST lists and KILL finds.
type processes struct {
	mu   sync.Mutex
	byID map[int64]*Process
}

// Process is a session as SHOW PROCESSLIST shows it. It is safe for concurrent use.
type Process struct {
	session    *Session
	host       string
	attributes map[string]string
	kill       func(connection bool)

	mu      sync.Mutex // guards what follows
	command string
	info    string
	since   time.Time
}

// Announce makes a session visible to SHOW PROCESSLIST and reachable by KILL. Host is where its client is, attributes what the client
// tells of itself; kill must end the running statement, or the whole connection, and return without waiting for it. Withdraw takes it
// back.
func (s *Session) Announce(host string, attributes map[string]string, kill func(connection bool)) *Process {
	p := &Process{session: s, host: host, attributes: attributes, kill: kill, command: idle, since: s.engine.options.Clock()}
	list := &s.engine.processes
	list.mu.Lock()
	defer list.mu.Unlock()
	if list.byID == nil {
		list.byID = map[int64]*Process{}
	}
	list.byID[s.id] = p
	return p
}

// idle is the command of a session that waits for its client.
const idle = "Sleep"

// Withdraw ends Announce.
func (p *Process) Withdraw() {
	list := &p.session.engine.processes
	list.mu.Lock()
	defer list.mu.Unlock()
	delete(list.byID, p.session.id)
}

// Begin says what the session does now; info is the statement's text, "" for none.
func (p *Process) Begin(command, info string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command, p.info, p.since = command, info, p.session.engine.options.Clock()
}

// End says that the session waits for its client.
func (p *Process) End() { p.Begin(idle, "") }

// Attributes are what the client told of itself when it connected, such as program_name.
func (p *Process) Attributes() map[string]string { return p.attributes }

// Kill ends the statement that a session runs, or its connection.
func (e *Engine) Kill(id int64, connection bool) error {
	e.processes.mu.Lock()
	p := e.processes.byID[id]
	e.processes.mu.Unlock()
	if p == nil {
		return protocol.NewError("DELTASQL_NO_SUCH_SESSION", "there is no session %d", id).WithHint("SHOW PROCESSLIST lists the sessions")
	}
	p.kill(connection)
	return nil
}

// kill is KILL.
func (st *statement) kill(s *parse.Kill) (*Result, error) {
	v, err := st.constant(s.ID)
	if err != nil {
		return nil, err
	}
	id := v.value.Int
	switch v.value.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
	default:
		return nil, protocol.NewError("DELTASQL_NO_SUCH_SESSION", "%s is no number of a session", v.value.Text()).At(s.Pos.Line, s.Pos.Column)
	}
	return &Result{}, st.session.engine.Kill(id, !s.Query)
}

// maxShownText is how much of a statement SHOW PROCESSLIST shows without FULL.
const maxShownText = 100

// showProcesses is SHOW PROCESSLIST.
func (st *statement) showProcesses(s *parse.Show) meta.Table {
	return meta.Processes(st.processes(s.Full))
}

// processes lists the sessions by their numbers, with the whole of their statements if full.
func (st *statement) processes(full bool) []meta.Process {
	engine := st.session.engine
	engine.processes.mu.Lock()
	all := make([]*Process, 0, len(engine.processes.byID))
	for _, p := range engine.processes.byID {
		all = append(all, p)
	}
	engine.processes.mu.Unlock()
	slices.SortFunc(all, func(a, b *Process) int { return int(a.session.id - b.session.id) })
	now := engine.options.Clock()
	rows := make([]meta.Process, len(all))
	for i, p := range all {
		rows[i] = p.shown(now, full)
	}
	return rows
}

func (p *Process) shown(now time.Time, full bool) meta.Process {
	database, user := p.session.Database(), p.session.User()
	p.mu.Lock()
	defer p.mu.Unlock()
	row := meta.Process{
		ID: p.session.id, User: user, Host: p.host, Database: database, Command: p.command,
		Seconds: int64(max(now.Sub(p.since), 0) / time.Second), Info: p.info,
	}
	if p.command != idle {
		row.State = "executing"
	}
	if characters := []rune(row.Info); !full && len(characters) > maxShownText {
		row.Info = string(characters[:maxShownText])
	}
	return row
}
