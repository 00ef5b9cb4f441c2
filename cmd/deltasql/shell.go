package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/mattn/go-isatty"
	"github.com/reeflective/readline"
	"golang.org/x/term"

	"deltasql/sqlengine"
	"deltasql/sqlengine/parse"
)

// shell is the interactive session: line editing in front, a runner behind, and what its dot commands change.
type shell struct {
	options  sessionFlags
	engine   *sqlengine.Engine
	session  *sqlengine.Session
	editor   *readline.Shell
	names    *nameCache
	fraction fraction
	format   string
	timing   bool
	paging   bool
	count    int
}

// errQuit ends the shell.
var errQuit = errors.New("quit")

// runShell is the root command. Where standard input is no terminal it runs what arrives there, as exec does.
func runShell(ctx context.Context, options sessionFlags, catalog string) error {
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		return runScript(ctx, options, catalog, nil, false)
	}
	s := &shell{options: options, timing: options.timing, paging: true}
	if err := setFormat(ctx, s, options.format); err != nil {
		return err
	}
	engine, session, err := options.open(catalog, s.fraction.set)
	if err != nil {
		return startFailed(err)
	}
	s.engine, s.session, s.names = engine, session, newNameCache(session)
	defer s.close()
	s.editor = s.newEditor()
	fmt.Printf("deltasql %s on %s\nStatements end with a semicolon. .help lists commands, Ctrl-D leaves.\n", sqlengine.Version, catalog)
	return s.loop(ctx)
}

// loop reads and runs until the end of input. Ctrl-C while editing clears the line, while running cancels the statement.
func (s *shell) loop(ctx context.Context) error {
	for {
		line, err := s.editor.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue
		case errors.Is(err, io.EOF):
			fmt.Println()
			return nil
		case err != nil:
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		err = s.entered(ctx, line)
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// entered runs what the user has entered, and lets Ctrl-C cancel it.
func (s *shell) entered(ctx context.Context, line string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if strings.HasPrefix(line, ".") {
		return s.command(ctx, line)
	}
	s.runText(ctx, line, "")
	return nil
}

// newEditor wires editing, history, highlighting and completion together.
func (s *shell) newEditor() *readline.Shell {
	editor := readline.NewShell()
	// Text is UTF-8: without these an é is read as a key with Meta. A pasted text of several lines waits for Enter.
	for option, value := range map[string]bool{"convert-meta": false, "input-meta": true, "output-meta": true, "enable-bracketed-paste": true} {
		_ = editor.Config.Set(option, value)
	}
	editor.Prompt.Primary(func() string { return s.session.Database() + "> " })
	editor.Prompt.Secondary(func() string { return "   …> " })
	editor.AcceptMultiline = func(line []rune) bool { return complete(string(line), s.session.ParseOptions()) }
	if colorful() {
		editor.SyntaxHighlighter = func(line []rune) string { return highlight(string(line), s.session.ParseOptions()) }
	}
	editor.Completer = s.complete
	if path, err := xdg.StateFile(filepath.Join("deltasql", "history")); err == nil {
		if file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			file.Close()
			if history, err := readline.NewHistoryFromFile(path); err == nil {
				editor.History.Add("deltasql", history)
			}
		}
	}
	return editor
}

// complete tells whether the text may be run: a dot command, nothing at all, or statements that all end with a semicolon.
func complete(text string, options parse.Options) bool {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || strings.HasPrefix(trimmed, ".") {
		return true
	}
	splitter := parse.NewSplitter(options)
	splitter.Feed(text)
	return splitter.State() == parse.Complete
}

// runText runs the statements of a text, one after another, until one fails. File is where the text comes from, for messages.
func (s *shell) runText(ctx context.Context, text, file string) {
	splitter := parse.NewSplitter(s.session.ParseOptions())
	splitter.Feed(text)
	for {
		piece, more := splitter.Rest()
		if !more || !s.runPiece(ctx, piece, file) {
			return
		}
	}
}

// runPiece runs one statement with a pager and a progress bar of its own, and tells whether the next one may run: leaving the
// pager ends a statement without harm.
func (s *shell) runPiece(ctx context.Context, piece parse.Piece, file string) bool {
	pages := newPager(s.paging)
	defer pages.Close()
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	target, err := newWriter(s.format, bufio.NewWriter(pages), pages, width)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	if table, ok := target.(*tableWriter); ok {
		table.color = colorful()
	}
	bar := startProgress(&s.fraction)
	pages.onFirst = bar.Stop
	defer bar.Stop()
	begin := time.Now()
	run := &runner{session: s.session, target: target, statement: s.count}
	err = run.run(ctx, piece, file)
	s.count = run.statement
	s.names.forget()
	if s.timing {
		fmt.Fprintf(pages, "%.3f s\n", time.Since(begin).Seconds())
	}
	return err == nil || errors.Is(err, errPagerLeft)
}

// colorful tells whether colours are wanted (https://no-color.org).
func colorful() bool { return os.Getenv("NO_COLOR") == "" }

// close ends the session, which rolls back what is open, and the engine. Temporary files that the one cannot remove the other tries again.
func (s *shell) close() {
	_ = s.session.Close()
	s.engine.Close()
}
