package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/parse"
)

// source is one place that statements come from, in the order of the command line.
type source struct {
	file string // a file's name; "" for the text of -e
	text string
}

// sourceFlag collects -e and -f into one list, so that they run in the order given.
type sourceFlag struct {
	sources *[]source
	file    bool
}

func (f sourceFlag) String() string { return "" }
func (f sourceFlag) Type() string {
	if f.file {
		return "FILE"
	}
	return "SQL"
}

func (f sourceFlag) Set(value string) error {
	if f.file {
		*f.sources = append(*f.sources, source{file: value})
	} else {
		*f.sources = append(*f.sources, source{text: value})
	}
	return nil
}

func execCommand() *cobra.Command {
	var (
		options   sessionFlags
		sources   []source
		keepGoing bool
	)
	command := &cobra.Command{
		Use:   "exec [flags] [CATALOG]",
		Short: "run statements from -e, -f or standard input, then exit",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			engine, session, err := options.open(catalogOf(args), nil)
			if err != nil {
				return startFailed(err)
			}
			defer engine.Close()
			format := options.format
			if format == "auto" {
				format = "tsv"
				if isatty.IsTerminal(os.Stdout.Fd()) {
					format = "table"
				}
			}
			out := bufio.NewWriterSize(os.Stdout, 1<<16)
			target, err := newWriter(format, out, os.Stderr, 0)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt)
			defer stop()
			run := &runner{session: session, target: target, keepGoing: keepGoing, timing: options.timing}
			return run.all(ctx, sources, os.Stdin)
		},
	}
	options.register(command.Flags())
	command.Flags().VarP(sourceFlag{&sources, false}, "execute", "e", "statements to run (repeatable)")
	command.Flags().VarP(sourceFlag{&sources, true}, "file", "f", "file of statements to run (repeatable)")
	command.Flags().BoolVar(&keepGoing, "continue", false, "go on after a failed statement")
	return command
}

// startFailed prints an error of the catalog or the session and ends with the status of a failed statement.
func startFailed(err error) error {
	var fault *protocol.Error
	if !errors.As(err, &fault) {
		return err
	}
	fmt.Fprint(os.Stderr, errorText(err, ""))
	return exitStatus(exitFailed)
}

// runner runs statements one after another and writes what comes of them.
type runner struct {
	session   *sqlengine.Session
	target    writer
	keepGoing bool
	timing    bool
	statement int
	failed    bool
}

// all runs the sources in order, or standard input where there is none.
func (r *runner) all(ctx context.Context, sources []source, stdin io.Reader) error {
	if len(sources) == 0 {
		if err := r.stream(ctx, stdin, ""); err != nil {
			return err
		}
	}
	for _, from := range sources {
		if err := r.one(ctx, from); err != nil {
			return err
		}
	}
	if r.failed {
		return exitStatus(exitFailed)
	}
	return nil
}

func (r *runner) one(ctx context.Context, from source) error {
	if from.file == "" {
		return r.text(ctx, from.text)
	}
	file, err := os.Open(from.file)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.stream(ctx, file, from.file)
}

// text runs the statements of a string; the last one needs no semicolon.
func (r *runner) text(ctx context.Context, text string) error {
	splitter := parse.NewSplitter(r.session.ParseOptions())
	splitter.Feed(text)
	return r.drain(ctx, splitter.Rest, "")
}

// stream runs statements as they arrive, so that a program can drive the process through pipes.
func (r *runner) stream(ctx context.Context, from io.Reader, name string) error {
	splitter := parse.NewSplitter(r.session.ParseOptions())
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		splitter.Feed(string(buffer[:n]))
		next := splitter.Next
		if errors.Is(err, io.EOF) {
			next = splitter.Rest
		} else if err != nil {
			return err
		}
		if failed := r.drain(ctx, next, name); failed != nil || err != nil {
			return failed
		}
	}
}

// drain runs statements until there is no more.
func (r *runner) drain(ctx context.Context, next func() (parse.Piece, bool), file string) error {
	for {
		piece, more := next()
		if !more {
			return nil
		}
		if err := r.run(ctx, piece, file); err != nil {
			return err
		}
	}
}

// run runs one statement. It returns an error only where the run must end: output failed, an interrupt, or a failed statement
// without --continue.
func (r *runner) run(ctx context.Context, piece parse.Piece, file string) error {
	r.statement++
	begin := time.Now()
	err := r.outcome(ctx, piece)
	if r.timing {
		fmt.Fprintf(os.Stderr, "statement %d: %.3f s\n", r.statement, time.Since(begin).Seconds())
	}
	var lost outputError
	switch {
	case errors.As(err, &lost):
		return lost.error
	case ctx.Err() != nil:
		return exitStatus(exitInterrupted)
	case err == nil:
		return r.target.Flush()
	}
	r.failed = true
	if file != "" {
		if fault := asError(err); fault.Line > 0 {
			fmt.Fprintf(os.Stderr, "%s:%d: ", file, fault.Line)
		} else {
			fmt.Fprintf(os.Stderr, "%s:%d: ", file, piece.Pos.Line)
		}
	}
	if err := r.target.Fail(r.statement, err); err != nil {
		return err
	}
	if !r.keepGoing {
		return exitStatus(exitFailed)
	}
	return nil
}

// outputError is a failure to write results, not of the statement.
type outputError struct{ error }

// outcome runs a statement and writes its result; the error is the statement's, or an outputError.
func (r *runner) outcome(ctx context.Context, piece parse.Piece) error {
	result, err := r.session.ExecuteAt(ctx, piece.Text, piece.Pos)
	if err != nil {
		return err
	}
	defer result.Close()
	if result.Columns == nil {
		return written(r.target.Done(r.statement, result.Affected))
	}
	if err := r.target.Begin(r.statement, result.Columns); err != nil {
		return outputError{err}
	}
	var rows int64
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return written(r.target.End(rows))
		}
		if err != nil {
			return err
		}
		rows += int64(batch.Len())
		if err := r.target.Batch(batch); err != nil {
			return outputError{err}
		}
	}
}

func written(err error) error {
	if err != nil {
		return outputError{err}
	}
	return nil
}
