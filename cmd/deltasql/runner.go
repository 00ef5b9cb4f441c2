package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/parse"
)

// maxStatement is how long a statement may grow before its semicolon comes, so that a stream without one cannot fill the memory.
const maxStatement = 64 << 20

// runner runs statements one after another and writes what comes of them.
type runner struct {
	session   *sqlengine.Session
	target    writer
	keepGoing bool
	timing    bool
	statement int // the number of the statement that ran last, from 1
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
		splitter := parse.NewSplitter(r.session.ParseOptions())
		splitter.Feed(from.text)
		return r.drain(ctx, splitter.Rest, "")
	}
	file, err := os.Open(from.file)
	if err != nil {
		return broken(err)
	}
	defer file.Close()
	return r.stream(ctx, file, from.file)
}

// stream runs statements as they arrive, so that a program can drive the process through pipes. The last one needs no semicolon.
func (r *runner) stream(ctx context.Context, from io.Reader, name string) error {
	splitter := parse.NewSplitter(r.session.ParseOptions())
	chunks := readAhead(ctx, from)
	for {
		var next chunk
		select {
		case next = <-chunks:
		case <-ctx.Done():
			return exitStatus(exitInterrupted)
		}
		splitter.Feed(next.text)
		take := splitter.Next
		switch {
		case errors.Is(next.err, io.EOF):
			take = splitter.Rest
		case next.err != nil:
			return broken(next.err)
		}
		if failed := r.drain(ctx, take, name); failed != nil || next.err != nil {
			return failed
		}
		if splitter.Len() > maxStatement {
			err := protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "a statement has more than %d bytes and no semicolon yet", maxStatement)
			r.statement++
			if err := r.target.Fail(r.statement, name, err); err != nil {
				return broken(err)
			}
			return exitStatus(exitFailed)
		}
	}
}

// chunk is a piece of input and what ended the reading, if anything.
type chunk struct {
	text string
	err  error
}

// readAhead reads in the background, so that an interrupt ends the process even while it waits for input.
func readAhead(ctx context.Context, from io.Reader) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		buffer := make([]byte, 1<<16)
		for {
			n, err := from.Read(buffer)
			select {
			case chunks <- chunk{string(buffer[:n]), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
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

// run runs one statement; file is where it comes from, for messages. It returns an error only where the run must end: output
// failed, an interrupt, or a failed statement without --continue.
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
		return broken(lost.error)
	case err == nil:
		err = r.target.Flush()
		if err != nil {
			return broken(err)
		}
		return nil
	}
	r.failed = true
	if err := r.target.Fail(r.statement, place(file, piece, err), err); err != nil {
		return broken(err)
	}
	switch {
	case ctx.Err() != nil:
		return exitStatus(exitInterrupted)
	case !r.keepGoing:
		return exitStatus(exitFailed)
	}
	return nil
}

// place is file:line of an error in a script, by the statement's first line where the error has none; "" outside of files.
func place(file string, piece parse.Piece, err error) string {
	if file == "" {
		return ""
	}
	line := piece.Pos.Line
	if fault := asError(err); fault.Line > 0 {
		line = fault.Line
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// outputError is a failure to write results, not of the statement.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// broken ends the run because input or output does not work any more.
func broken(err error) error {
	if errors.Is(err, errPagerLeft) {
		return err
	}
	fmt.Fprintln(os.Stderr, "deltasql:", err)
	return exitStatus(exitFailed)
}

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
