package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/check"
)

func checkCommand() *cobra.Command {
	var (
		deep   bool
		memory string
	)
	command := &cobra.Command{
		Use:   "check TABLE...",
		Short: "verify the log and the files of tables without changing them",
		Long: "check verifies tables: the log's listing, commits, checkpoints, checksums, and of the newest version every data file.\n" +
			"TABLE is a path, or database.table of the catalog in the current folder. Each fault is a line\n" +
			"    TABLE: FILE: what is wrong\n" +
			"on standard output; the exit status is 1 if there is one.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, tables []string) error {
			engine, err := sqlengine.Open(sqlengine.Options{Memory: memory, ReadOnly: true})
			if err != nil {
				return startFailed(err)
			}
			defer engine.Close()
			session, err := engine.NewSession(sqlengine.SessionOptions{})
			if err != nil {
				return startFailed(err)
			}
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt)
			defer stop()
			out := bufio.NewWriter(os.Stdout)
			defer out.Flush()
			return checkTables(ctx, session, tables, deep, out, os.Stderr)
		},
	}
	command.Flags().BoolVar(&deep, "deep", false, "read all data, and compare the statistics with it")
	command.Flags().StringVar(&memory, "memory", "", "memory limit, for example 1GB")
	return command
}

// checkTables checks tables one after another; faults go to out, what else there is to say to notes.
func checkTables(ctx context.Context, session *sqlengine.Session, tables []string, deep bool, out *bufio.Writer, notes *os.File) error {
	total, faulty := 0, 0
	for _, table := range tables {
		faults := 0
		say := func(file, message string) {
			faults++
			if file != "" {
				file += ": "
			}
			fmt.Fprintf(out, "%s: %s%s\n", table, file, message)
		}
		line := newStatusLine(notes, table)
		err := session.Check(ctx, table, check.Options{Deep: deep, Progress: line.show}, func(f check.Fault) { say(f.File, f.Message) })
		line.clear()
		if ctx.Err() != nil {
			return exitStatus(exitInterrupted)
		}
		if err != nil {
			say("", checkFailed(err))
		}
		if err := out.Flush(); err != nil {
			return err
		}
		total += faults
		if faults > 0 {
			faulty++
		}
	}
	fmt.Fprintf(notes, "%s checked, %s", counted(len(tables), "table"), counted(total, "fault"))
	if faulty > 0 && len(tables) > 1 {
		fmt.Fprintf(notes, " in %s", counted(faulty, "table"))
	}
	fmt.Fprintln(notes)
	if total > 0 {
		return exitStatus(exitFailed)
	}
	return nil
}

// checkFailed is the line of a table that could not be checked.
func checkFailed(err error) string {
	known := asError(err)
	return fmt.Sprintf("[%s] %s", known.Class, (&protocol.Error{Message: known.Message, Cause: known.Cause}).Text())
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// statusLine shows how far a check is, on a terminal and only once it takes a while.
type statusLine struct {
	out   io.Writer // nil: shows nothing
	table string
	begin time.Time
	last  time.Time
	shown bool
}

func newStatusLine(out *os.File, table string) *statusLine {
	line := &statusLine{table: table, begin: time.Now()}
	if isatty.IsTerminal(out.Fd()) {
		line.out = out
	}
	return line
}

func (l *statusLine) show(stage string, done, total int) {
	now := time.Now()
	if l.out == nil || now.Sub(l.begin) < progressDelay || now.Sub(l.last) < 200*time.Millisecond {
		return
	}
	l.last, l.shown = now, true
	fmt.Fprintf(l.out, "\r\x1b[K%s: %s %d of %d", l.table, stage, done, total)
}

func (l *statusLine) clear() {
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}
