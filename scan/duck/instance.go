package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Config is what the owner of an Instance decides. The zero value is usable.
type Config struct {
	MemoryLimit string // as DuckDB writes it ("4GB"); empty means 60 % of the memory that the process may use
	Threads     int    // 0: the number of CPUs
	TempDir     string // spill files go into a fresh folder inside it; empty: the system's folder
	MaxTempSize string // limit of the spill files ("20GB"); empty: 90 % of the free disk, DuckDB's own default
	Materialise bool   // build whole results before the first row: the fallback of streaming, see stream.go
	KeepOrder   bool   // keep the order of files and rows where SQL leaves it open
	// Macros are CREATE MACRO statements; every database runs them when a statement first misses a function (macros.go, K3).
	Macros []string
	// Progress lets statements tell how far they are (WithProgress). DuckDB has that as a setting of each connection, so the
	// settings are then not locked.
	Progress          bool
	maxIdleConnection int
}

// Instance is one in-memory DuckDB with its connections. It is safe for concurrent use.
type Instance struct {
	cfg     Config
	tempDir string

	mu      sync.Mutex // guards what follows
	current *database
	closed  bool
	retired int // how many databases had to be replaced
	alive   int // databases that are not closed yet
}

// database is one generation of the instance. It is closed when it has been replaced (or the instance closed) and its
// last connection has come back.
type database struct {
	handle  bindings.Database
	idle    []*connection
	open    int // connections, idle ones included
	retired bool
	macros  macroState
	// progress is Config.Progress.
	progress bool
}

// connection belongs to one running statement at a time.
type connection struct {
	db     *database
	handle bindings.Connection
}

// ErrClosed is the answer of an Instance after Close.
var ErrClosed = errors.New("the DuckDB instance is closed")

const defaultIdleConnections = 8

// Open starts an instance.
func Open(cfg Config) (*Instance, error) {
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.NumCPU()
	}
	if cfg.MemoryLimit == "" {
		cfg.MemoryLimit = "60%"
	}
	if cfg.maxIdleConnection == 0 {
		cfg.maxIdleConnection = defaultIdleConnections
	}
	tempDir, err := os.MkdirTemp(cfg.TempDir, "deltasql-spill-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for spill files: %w", err)
	}
	in := &Instance{cfg: cfg, tempDir: tempDir}
	if in.current, err = in.openDatabase(); err != nil {
		os.RemoveAll(tempDir)
		return nil, err
	}
	return in, nil
}

// settings are applied once to each new database. Their reasons:
//
//   - default_null_order: MySQL and Spark sort NULL first going up and last going down.
//   - ieee_floating_point_ops off: x/0 is NULL, as in MySQL; Spark's ANSI mode asks for an error, which the printer of
//     expressions writes out. With it on, both would have to undo infinities.
//   - TimeZone UTC: INT96 timestamps are cast through the session's zone (K4).
//   - preserve_insertion_order off unless Config.KeepOrder: a Delta table has no order, and a full scan then takes 0.6
//     of the time, its first batch 0.45, a COPY 0.75. ORDER BY, also inside a subquery, is not affected.
//   - late materialisation off: DuckDB 2.0 breaks with an INTERNAL error on ORDER BY with a small LIMIT above a condition on
//     file_index, which every condition on a partition value is.
//   - expressions may be 4000 levels deep instead of 1000, since one operator of a statement becomes several levels; deeper ones
//     are refused before they reach the end of an 8 MB stack.
//   - statistics are for estimates alone: the two optimizers that take them for proofs are off. Statistics come from outside, and
//     narrow ones would not only lose rows: sorted and grouped values come out as others, conditions disappear
//     (docs/decisions/0011).
//   - cache_local_files off: the operating system caches them already, and DuckDB's own cache counts against the
//     memory limit. No validation of what is cached: data files never change under a name.
//   - async_threads 0: DuckDB 2.0 deadlocks when a COPY is interrupted while its threads of their own write (AsyncFileWriter's
//     destructor waits for a write whose end waits for the destructor's lock). Reading and writing local files takes no longer without.
//   - no extension is ever looked for on the network; the built-in ones (parquet, json, icu) are there already.
//   - lock_configuration comes last: whatever text reaches DuckDB, these stay (see Config.Progress).
func (in *Instance) settings() []string {
	settings := []string{
		"SET GLOBAL default_null_order = 'nulls_first_on_asc_last_on_desc'",
		"SET GLOBAL ieee_floating_point_ops = false",
		"SET GLOBAL late_materialization_max_rows = 0",
		"SET GLOBAL max_expression_depth = 4000",
		"SET GLOBAL disabled_optimizers = 'statistics_propagation,compressed_materialization'",
		"SET GLOBAL TimeZone = 'UTC'",
		fmt.Sprintf("SET GLOBAL preserve_insertion_order = %t", in.cfg.KeepOrder),
		"SET GLOBAL cache_local_files = false",
		"SET GLOBAL async_threads = 0",
		"SET GLOBAL validate_external_file_cache = 'NO_VALIDATION'",
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
		"SET GLOBAL allow_persistent_secrets = false",
		"SET GLOBAL temp_directory = " + QuoteString(in.tempDir),
		"SET GLOBAL memory_limit = " + QuoteString(in.cfg.MemoryLimit),
		fmt.Sprintf("SET GLOBAL threads = %d", in.cfg.Threads),
	}
	if in.cfg.MaxTempSize != "" {
		settings = append(settings, "SET GLOBAL max_temp_directory_size = "+QuoteString(in.cfg.MaxTempSize))
	}
	if in.cfg.Progress {
		return settings
	}
	return append(settings, "SET GLOBAL lock_configuration = true")
}

func (in *Instance) openDatabase() (*database, error) {
	var config bindings.Config
	if bindings.CreateConfig(&config) != bindings.StateSuccess {
		return nil, errors.New("open DuckDB: cannot make a configuration")
	}
	defer bindings.DestroyConfig(&config)
	var message string
	db := &database{progress: in.cfg.Progress}
	if bindings.OpenExt(":memory:", &db.handle, config, &message) != bindings.StateSuccess {
		return nil, fmt.Errorf("open DuckDB: %w", newError(message))
	}
	conn, err := db.connect()
	if err != nil {
		bindings.Close(&db.handle)
		return nil, err
	}
	if err := in.prepareDatabase(conn); err != nil {
		conn.disconnect()
		bindings.Close(&db.handle)
		return nil, err
	}
	db.idle = append(db.idle, conn)
	in.alive++
	return db, nil
}

// prepareDatabase applies the settings and registers the C functions, which are catalog-wide.
func (in *Instance) prepareDatabase(conn *connection) error {
	for _, setting := range in.settings() {
		if err := conn.run(setting); err != nil {
			return fmt.Errorf("open DuckDB: %s: %w", setting, err)
		}
	}
	return registerFunctions(conn)
}

func (db *database) connect() (*connection, error) {
	conn := &connection{db: db}
	if bindings.Connect(db.handle, &conn.handle) != bindings.StateSuccess {
		return nil, errors.New("connect to DuckDB: refused")
	}
	db.open++
	if db.progress {
		// A connection without an estimate serves as well.
		_ = conn.run("SET enable_progress_bar = true")
		_ = conn.run("SET enable_progress_bar_print = false")
	}
	return conn, nil
}

func (c *connection) disconnect() {
	bindings.Disconnect(&c.handle)
	c.db.open--
}

// run executes a statement that has no result worth reading.
func (c *connection) run(sql string) error {
	var result bindings.Result
	state := bindings.Query(c.handle, sql, &result)
	defer bindings.DestroyResult(&result)
	if state != bindings.StateSuccess {
		return newError(bindings.ResultError(&result))
	}
	return nil
}

// acquire takes an idle connection or makes one, on a fresh database when the last one was given up.
func (in *Instance) acquire() (*connection, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, ErrClosed
	}
	if in.current == nil {
		db, err := in.openDatabase()
		if err != nil {
			return nil, err
		}
		in.current = db
	}
	db := in.current
	if n := len(db.idle); n > 0 {
		conn := db.idle[n-1]
		db.idle = db.idle[:n-1]
		return conn, nil
	}
	return db.connect()
}

// release takes a connection back. One that is not clean (a result was abandoned, an error was met) is closed, which
// also ends whatever DuckDB still does for it.
func (in *Instance) release(conn *connection, clean bool) {
	in.mu.Lock()
	db := conn.db
	if clean && !db.retired && len(db.idle) < in.cfg.maxIdleConnection {
		db.idle = append(db.idle, conn)
		in.mu.Unlock()
		return
	}
	in.mu.Unlock()
	// Ending abandoned work may take a moment: not under the lock.
	bindings.Disconnect(&conn.handle)
	in.mu.Lock()
	defer in.mu.Unlock()
	db.open--
	_ = in.closeUnused(db) // nobody is left to be told that the spill folder stays
}

// retire replaces the database after an error that leaves it unusable; statements still running on it end with
// errors of their own.
func (in *Instance) retire(db *database) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if db.retired {
		return
	}
	if in.current == db {
		in.current = nil
	}
	in.retired++
	_ = in.giveUp(db) // an open instance keeps its spill folder
}

// giveUp closes a database as soon as its last statement has ended. The caller holds the lock.
func (in *Instance) giveUp(db *database) error {
	db.retired = true
	for _, conn := range db.idle {
		conn.disconnect()
	}
	db.idle = nil
	return in.closeUnused(db)
}

// closeUnused closes a database that was given up and has no connections any more; with the last one of a closed instance goes the
// folder of spill files. The caller holds the lock.
func (in *Instance) closeUnused(db *database) error {
	if !db.retired || db.open > 0 {
		return nil
	}
	bindings.Close(&db.handle)
	in.alive--
	if in.closed && in.alive == 0 {
		return os.RemoveAll(in.tempDir)
	}
	return nil
}

// Replaced is how many times a fault of DuckDB made the instance start afresh.
func (in *Instance) Replaced() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.retired
}

// Threads is the number of DuckDB's threads.
func (in *Instance) Threads() int { return in.cfg.Threads }

// Close refuses new statements, and frees the database and the spill files once the running ones have ended.
func (in *Instance) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	in.closed = true
	db := in.current
	in.current = nil
	switch {
	case db != nil:
		return in.giveUp(db)
	case in.alive == 0: // the last one broke and was not replaced
		return os.RemoveAll(in.tempDir)
	}
	return nil
}

// interruptEvery repeats an interrupt: DuckDB forgets one that arrives just before a statement starts.
const interruptEvery = 5 * time.Millisecond

// watch interrupts the connection when the context ends, until stop is called. After stop has returned no interrupt
// can reach the connection any more, so it may serve another statement.
func (c *connection) watch(ctx context.Context) (stop func()) {
	quiet := c.tellProgress(ctx)
	if ctx.Done() == nil {
		return quiet
	}
	over, finished := make(chan struct{}), make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(finished)
		for {
			bindings.Interrupt(c.handle)
			select {
			case <-over:
				return
			case <-time.After(interruptEvery):
			}
		}
	})
	return func() {
		quiet()
		close(over)
		if !unregister() {
			<-finished
		}
	}
}
