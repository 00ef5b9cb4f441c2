package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// Target is the table to check.
type Target struct {
	Name   string         // for messages
	Files  store.Store    // the table's folder
	DuckDB *duck.Instance // reads checkpoints and data files
}

// Options say how far a check goes.
type Options struct {
	// Deep also reads all data, and compares it with the statistics (S2).
	Deep bool
	// Progress is told what is being looked at, and how much of it is done; nil for nobody.
	Progress func(stage string, done, total int)
}

// Fault is one thing that is wrong with a table.
type Fault struct {
	File    string // relative to the table, as it is called on disk; "" for the table as a whole
	Message string // one line
}

// Table verifies a table without changing it and reports each fault as it is found; report is called by this goroutine alone. The
// error says why the table could not be checked at all: the log's folder cannot be listed, or the context ended.
func Table(ctx context.Context, target Target, options Options, report func(Fault)) error {
	if options.Progress == nil {
		options.Progress = func(string, int, int) {}
	}
	c := &checker{target: target, options: options, report: report}
	return c.run(ctx)
}

// checker is one check of one table.
type checker struct {
	target  Target
	options Options
	report  func(Fault)
	listed  logListing
}

// fault reports; the message's line ends become blanks, so that a fault is a line.
func (c *checker) fault(file, format string, args ...any) {
	c.report(Fault{File: file, Message: strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")})
}

// failed reports an error as a fault of a file; only the end of the context is an error of the check.
func (c *checker) failed(ctx context.Context, file string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *protocol.Error
	if errors.As(err, &known) {
		c.fault(file, "[%s] %s", known.Class, known.Text())
		return nil
	}
	c.fault(file, "%v", err)
	return nil
}

func (c *checker) run(ctx context.Context) error {
	if err := c.list(ctx); err != nil {
		return err
	}
	replayed, err := c.replay(ctx)
	if err != nil {
		return err
	}
	snapshot, err := c.open(c.target.Files).Snapshot(ctx)
	if err != nil {
		return c.failed(ctx, "", err)
	}
	if err := c.checkHint(ctx); err != nil {
		return err
	}
	if replayed != nil && replayed.version == snapshot.Version() {
		for _, difference := range replayed.differences(snapshot) {
			c.fault("", "version %d as it is read differs from the replay of its commits: %s", snapshot.Version(), difference)
		}
	}
	c.checkConfig(snapshot.Config())
	c.checkRowIDs(snapshot)
	return c.checkFiles(ctx, snapshot)
}

// open gives the log on a store, which may be a view of the table's.
func (c *checker) open(st store.Store) *log.Table {
	return log.OpenTable(st, c.target.Name, scan.LogParquet{Instance: c.target.DuckDB})
}

// each runs a query to its end and gives its batches.
func (c *checker) each(ctx context.Context, sql string, use func(*duck.Batch) error, args ...any) error {
	stream, err := c.target.DuckDB.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := use(batch); err != nil {
			return err
		}
	}
}

// localFile is where a file of the log's words lies; absolute tells that it is not relative to the table.
func (c *checker) localFile(ctx context.Context, uri string) (path, local string, err error) {
	path, absolute, err := protocol.DecodePath(uri)
	if err != nil {
		return uri, "", err
	}
	if !absolute {
		local, err = c.target.Files.Locate(ctx, path)
		return path, local, err
	}
	if strings.Contains(path, "://") {
		return path, "", errors.New("it is on another store, which cannot be reached")
	}
	return path, path, nil
}

// sizeOf is the size of a local file.
func sizeOf(local string) (int64, error) {
	info, err := os.Stat(local)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, errors.New("the file is missing")
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("it is no regular file")
	}
	return info.Size(), nil
}
