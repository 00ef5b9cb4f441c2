package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// Fault is one thing that is wrong with a table.
type Fault struct {
	File    string // relative to the table, as it is called on disk; "" for the table as a whole
	Message string
}

// CheckOptions say how far a check goes.
type CheckOptions struct {
	// Deep also reads all data, and compares it with the statistics (S2).
	Deep bool
	// Progress is told what is being looked at, and how much of it is done; nil for nobody.
	Progress func(stage string, done, total int)
}

// Check verifies a table's log and files without changing them, and reports each fault as it is found. The name is a path, or
// database.table of the catalog.
//
// Of the log: its listing has no gap (L1) and no stray file, the hint names a checkpoint that is there, each commit keeps the
// protocol's rules for its actions, each checkpoint and compaction equals the replay of the commits (L2), each .crc agrees. Of the
// newest version: protocol and metadata fit together, every data file is there with the size, the rows and the columns that the log
// says, partition values and deletion vectors can be read, row ids do not overlap (R1); Deep adds that statistics are bounds.
//
// The replay is one of this check's own, plain and in commit order, so that it does not share the faults of the reader it checks.
// The error says why the table could not be checked at all.
func (s *Session) Check(ctx context.Context, name string, options CheckOptions, report func(Fault)) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = recovered(fault)
		}
		if err != nil {
			err = translate(err, "")
		}
	}()
	folder, err := s.tableFolder(ctx, name)
	if err != nil {
		return err
	}
	files, err := store.NewLocal(folder)
	if err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be opened", folder).WithCause(err)
	}
	release, err := s.engine.admit(ctx)
	if err != nil {
		return err
	}
	defer release()
	if options.Progress == nil {
		options.Progress = func(string, int, int) {}
	}
	c := &checker{engine: s.engine, store: files, name: name, options: options, report: report}
	return c.run(ctx)
}

// tableFolder finds a table by its path, else by its name in the catalog.
func (s *Session) tableFolder(ctx context.Context, name string) (string, error) {
	path, err := localPath(name)
	if err != nil {
		return "", err
	}
	if isTable(path) {
		return path, nil
	}
	database, table := s.Database(), name
	if before, after, ok := strings.Cut(name, "."); ok {
		database, table = before, after
	}
	if found, err := s.engine.catalog.database(ctx, database); err == nil {
		if inCatalog, err := s.engine.catalog.find(ctx, found, table); err == nil && inCatalog != "" {
			return inCatalog, nil
		}
	}
	return "", checkTableFolder(path, name)
}

// checker is one check of one table.
type checker struct {
	engine  *Engine
	store   store.Store
	name    string
	options CheckOptions
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
	snapshot, err := c.open(c.store).Snapshot(ctx)
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
	return log.OpenTable(st, c.name, duckParquet{c.engine})
}

// each runs a query and gives its batches.
func (c *checker) each(ctx context.Context, sql string, use func(*duck.Batch) error, args ...any) error {
	instance, err := c.engine.duck()
	if err != nil {
		return err
	}
	return eachBatch(ctx, instance, sql, use, args...)
}

// localFile is where a file of the log's words lies; absolute tells that it is not relative to the table.
func (c *checker) localFile(ctx context.Context, uri string) (path, local string, err error) {
	path, absolute, err := protocol.DecodePath(uri)
	if err != nil {
		return uri, "", err
	}
	if !absolute {
		local, err = c.store.Locate(ctx, path)
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
