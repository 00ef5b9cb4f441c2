package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is a shell under test on a pseudo-terminal of 100 x 40 cells.
type terminal struct {
	t       *testing.T
	file    *os.File
	command *exec.Cmd
	state   string // XDG_STATE_HOME

	lock sync.Mutex
	seen []byte // output since the last wait
	more chan struct{}
}

// patience is how long a wait may take on a machine that is busy.
const patience = 20 * time.Second

func newTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "deltasql") // TestMain runs the command under this name
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, command: exec.Command(link, args...), state: t.TempDir(), more: make(chan struct{}, 1)}
	s.command.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+t.TempDir(), "XDG_STATE_HOME="+s.state, "NO_COLOR=", "PAGER=cat")
	s.command.Env = append(s.command.Env, env...)
	if s.file, err = pty.StartWithSize(s.command, &pty.Winsize{Cols: 100, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	go s.read()
	t.Cleanup(func() {
		_ = s.command.Process.Kill()
		_ = s.command.Wait()
		_ = s.file.Close()
	})
	return s
}

// read collects output, and answers the question for the cursor's place as a terminal does.
func (s *terminal) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.file.Read(buffer)
		for range bytes.Count(buffer[:n], []byte("\x1b[6n")) {
			_, _ = s.file.WriteString("\x1b[1;1R")
		}
		s.lock.Lock()
		s.seen = append(s.seen, buffer[:n]...)
		s.lock.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b[=>78]|\r")

// wait waits for a text in the output, without its escape sequences, and forgets what came up to there.
func (s *terminal) wait(text string) string {
	s.t.Helper()
	return s.until(strconv.Quote(text), func(plain string) int {
		if i := strings.Index(plain, text); i >= 0 {
			return i + len(text)
		}
		return -1
	})
}

// until waits until the output has what is wanted, given by the place behind it, and forgets what came up to there.
func (s *terminal) until(wanted string, find func(plain string) int) string {
	s.t.Helper()
	timeout := time.After(patience)
	for {
		s.lock.Lock()
		plain := escapes.ReplaceAllString(string(s.seen), "")
		if end := find(plain); end >= 0 {
			s.seen = []byte(plain[end:])
			s.lock.Unlock()
			return plain[:end]
		}
		s.lock.Unlock()
		select {
		case <-s.more:
		case <-timeout:
			s.t.Fatalf("no %s within %s; the output ended in\n%s", wanted, patience, plain[max(0, len(plain)-1000):])
		}
	}
}

// keys types text as it is.
func (s *terminal) keys(text string) {
	s.t.Helper()
	if _, err := s.file.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// prompt waits until the output ends in a prompt, and gives what came before it.
func (s *terminal) prompt() string {
	s.t.Helper()
	return s.until("a prompt", func(plain string) int {
		if strings.HasSuffix(strings.TrimSpace(plain), "default>") {
			return len(plain)
		}
		return -1
	})
}

// enter waits for the prompt and types a line.
func (s *terminal) enter(line string) {
	s.t.Helper()
	s.prompt()
	s.line(line)
}

// line types a line and, once all of it is shown, Enter.
func (s *terminal) line(line string) {
	s.t.Helper()
	s.typed(line, line)
	s.keys("\r")
	s.wait("\n")
}

// typed types keys until the editor shows what they make. The editor drops what is typed while it asks the terminal for the cursor's
// place, as it does behind each prompt; then the line is cleared and typed again.
func (s *terminal) typed(keys, shown string) {
	s.t.Helper()
	for range 40 {
		s.keys(keys)
		for deadline := time.After(patience / 40); ; {
			s.lock.Lock()
			plain := escapes.ReplaceAllString(string(s.seen), "")
			s.lock.Unlock()
			if strings.Contains(plain, shown) {
				s.wait(shown)
				return
			}
			select {
			case <-s.more:
				continue
			case <-deadline:
			}
			break
		}
		s.keys("\x15")
	}
	s.t.Fatalf("typing %q never showed %q", keys, shown)
}

// leave types Ctrl-D until the shell ends, which must be in peace.
func (s *terminal) leave() {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.command.Wait() }()
	for range 10 {
		_, _ = s.file.WriteString("\x04") // fails once the shell is gone
		select {
		case err := <-ended:
			if err != nil {
				s.t.Fatalf("Ctrl-D ended the shell with %v", err)
			}
			return
		case <-time.After(patience / 10):
		}
	}
	s.t.Fatal("Ctrl-D does not end the shell")
}

func warehouse(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../testdata/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShellStatements(t *testing.T) {
	t.Parallel()
	s := newTerminal(t, nil, warehouse(t))
	s.wait("Statements end with a semicolon.")

	s.enter("SELECT id, name")
	s.line("FROM people")
	s.line("WHERE id = 3;")
	s.wait("│   3 │ Édgar  │")
	s.wait("1 row\n")

	s.enter("SELECT 'é ü' AS typed;")
	s.wait("│ é ü    │")

	s.enter("SELECT nme FROM people;")
	s.wait("[UNRESOLVED_COLUMN.WITH_SUGGESTION]")
	s.wait("hint: did you mean one of these: `name`")

	s.enter("SELECT 1 AS a; SELECT 2 AS b;")
	s.wait("│   1 │")
	s.wait("│   2 │")

	s.prompt()
	s.typed("SELECT 1 + ", "SELECT 1 + ")
	s.keys("\x03") // Ctrl-C clears the line
	s.enter("SELECT 41 + 1 AS answer;")
	s.wait("│     42 │")

	s.prompt()
	s.typed("\x1b[200~SELECT 7 AS a;\rSELECT 8\r AS b;\x1b[201~", "AS b;") // a pasted text waits for Enter
	s.keys("\r")
	s.wait("│   7 │")
	s.wait("│   8 │")
}

func TestShellCommands(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	script := filepath.Join(folder, "script.sql")
	if err := os.WriteFile(script, []byte("SELECT 'from a file' AS x;\n\nSELECT nothing;\nSELECT 'not run' AS y;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newTerminal(t, nil, warehouse(t))
	s.enter(".help")
	s.wait(".databases")
	s.wait(".open CATALOG")
	s.enter(".tables")
	s.wait("│ default   │ people ")
	s.enter(".schema people")
	s.wait("│ born     │ date ")
	s.enter(".schema")
	s.wait("a table is wanted")
	s.enter(".format csv")
	s.enter("SELECT id, name FROM people WHERE id = 1;")
	s.wait("1,Ada\n")
	s.enter(".format nonsense")
	s.wait(`unknown format "nonsense"`)
	s.enter(".format table")
	s.enter(".timing on")
	s.enter("SELECT 1 AS a;")
	s.wait("0 s\n"[1:])
	s.enter(".timing perhaps")
	s.wait("on or off is wanted")
	s.enter(".read " + script)
	s.wait("│ from a file │")
	s.wait("script.sql:3: ERROR 1054")
	if between := s.prompt(); strings.Contains(between, "not run") {
		t.Errorf("a statement ran behind a failed one: %s", between)
	}
	s.line(".read missing.sql")
	s.wait("no such file")
	s.enter(".nonsense")
	s.wait("there is no command .nonsense")
	s.enter(".open " + filepath.Join(folder, "missing"))
	s.wait("ERROR ")
	s.enter("SELECT count(*) AS people FROM people;") // the old catalog is still open
	s.wait("│      4 │")
	s.enter(".open " + folder)
	s.enter("SELECT count(*) FROM people;")
	s.wait("[DELTA_TABLE_NOT_FOUND]")
	s.enter(".quit")
	if err := s.command.Wait(); err != nil {
		t.Errorf("the shell ended with %v", err)
	}
}

func TestShellCompletion(t *testing.T) {
	t.Parallel()
	s := newTerminal(t, nil, warehouse(t))
	s.prompt()
	s.typed("SELECT max(id) AS most FROM peop\t", "FROM people")
	s.keys(";\r")
	s.wait("│    4 │")

	s.prompt()
	s.typed("FROM people SELECT min(scor\t", "min(score")
	s.keys(") AS least;\r")
	s.wait("│   -0.5 │")

	s.prompt()
	s.typed(".tab\t", ".tables")
	s.keys("\r")
	s.wait("│ default   │ people ")
}

func TestShellCancels(t *testing.T) {
	t.Parallel()
	s := newTerminal(t, nil, warehouse(t))
	s.enter("SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.id % 7 = b.id % 11;")
	s.wait("░ ") // the progress bar
	s.keys("\x03")
	s.wait("[DELTASQL_CANCELLED]")
	s.enter("SELECT 'still here' AS x;")
	s.wait("│ still here │")
}

func TestShellPager(t *testing.T) {
	t.Parallel()
	// The pager shows that it was used, reads a little and leaves: what remains of the statement is given up.
	s := newTerminal(t, []string{"PAGER=echo PAGED; head -n 5; exec <&-"}, warehouse(t))
	s.enter("SELECT id FROM range(10000000000);")
	s.wait("PAGED")
	s.enter("SELECT id FROM range(3);")
	if out := s.wait("3 rows"); strings.Contains(out, "PAGED") {
		t.Errorf("a short result was paged: %s", out)
	}
	s.enter(".pager off")
	s.enter("SELECT id FROM range(100);")
	if out := s.wait("100 rows"); strings.Contains(out, "PAGED") {
		t.Errorf("a result was paged with .pager off: %.300s", out)
	}
}

func TestShellHistory(t *testing.T) {
	t.Parallel()
	s := newTerminal(t, nil, warehouse(t))
	s.enter("SELECT 'to be remembered' AS x;")
	s.wait("│ to be remembered │")
	s.prompt()
	s.leave()
	path := filepath.Join(s.state, "deltasql", "history")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "to be remembered") {
		t.Errorf("history %q, %v", text, err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the history can be read by others: %s", info.Mode())
	}

	again := newTerminal(t, []string{"XDG_STATE_HOME=" + s.state}, warehouse(t))
	again.prompt()
	again.typed("\x1b[A", "to be remembered") // up
	again.keys("\r")
	again.wait("│ to be remembered │")
}

// TestShellWide shows a table that is wider than the terminal: squeezed, then as blocks; control characters cannot reach it.
func TestShellWide(t *testing.T) {
	t.Parallel()
	s := newTerminal(t, nil, warehouse(t))
	s.enter("SELECT repeat('long ', 30) AS text, 1 AS n;")
	s.wait("long…")
	s.enter("SELECT *, * FROM scalars LIMIT 1;")
	s.wait("1. row")
	s.wait("id: ")
	s.enter("SELECT concat('a', char(27), '[31mb', char(10), 'c') AS x, '日本' AS y, NULL AS z;")
	s.wait(`│ a\x1b[31mb\nc │ 日本   │ NULL │`)
}
