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
	catalog  string
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
	s := &shell{options: options, catalog: catalog, format: options.format, timing: options.timing, paging: true}
	engine, session, err := options.open(catalog, s.fraction.set)
	if err != nil {
		return startFailed(err)
	}
	s.engine, s.session = engine, session
	defer func() { s.engine.Close() }()
	if s.format == "auto" {
		s.format = "table"
	}
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		target, err := newWriter(s.format, bufio.NewWriter(os.Stdout), os.Stderr, 0)
		if err != nil {
			return err
		}
		run := &runner{session: session, target: target, keepGoing: true, timing: s.timing}
		return run.all(ctx, nil, os.Stdin)
	}
	s.names = newNameCache(session)
	s.editor = s.newEditor()
	fmt.Printf("deltasql %s on %s. Statements end with ; — .help for help, Ctrl-D to leave.\n", sqlengine.Version, catalog)
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
		if strings.HasPrefix(line, ".") {
			err = s.command(ctx, line)
			if errors.Is(err, errQuit) {
				return nil
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			continue
		}
		s.runText(ctx, line)
	}
}

// newEditor wires editing, history, highlighting and completion together.
func (s *shell) newEditor() *readline.Shell {
	editor := readline.NewShell()
	editor.Prompt.Primary(func() string { return s.session.Database() + "> " })
	editor.Prompt.Secondary(func() string { return "   …> " })
	editor.AcceptMultiline = func(line []rune) bool { return complete(string(line), s.session.ParseOptions()) }
	if os.Getenv("NO_COLOR") == "" {
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

// runText runs the statements of a text, one after another, until one fails.
func (s *shell) runText(ctx context.Context, text string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	pages := newPager(s.paging)
	defer pages.Close()
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	target, err := newWriter(s.format, bufio.NewWriter(pages), pages, width)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	if table, ok := target.(*tableWriter); ok {
		table.color = os.Getenv("NO_COLOR") == ""
	}
	bar := startProgress(&s.fraction)
	pages.onFirst = bar.Stop
	defer bar.Stop()
	begin := time.Now()
	run := &runner{session: s.session, target: target, statement: s.count}
	err = run.text(ctx, text)
	s.count = run.statement
	bar.Stop()
	var status exitStatus
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "cancelled")
	case err != nil && !errors.As(err, &status):
		fmt.Fprintln(os.Stderr, err)
	case s.timing:
		fmt.Fprintf(pages, "%.3f s\n", time.Since(begin).Seconds())
	}
	s.names.forget()
}
