package sqlengine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/expr"
	"deltasql/txn/store"

	"github.com/google/uuid"
)

// Version is deltasql's own version.
const Version = "0.1.0"

// Options are what the owner of an Engine decides. The zero value is a usable engine over the current folder.
type Options struct {
	Catalog    string           // folder of databases of tables; empty: the current folder
	Memory     string           // limit of DuckDB's memory ("4GB"); empty: 60 % of the memory that the process may use
	Threads    int              // of DuckDB; 0: one a CPU
	TempDir    string           // where statements spill; empty: the system's folder
	ReadOnly   bool             // refuses everything that would change a table or the catalog
	Roots      []string         // folders that paths in statements must lie in; empty: any path
	MaxRunning int              // statements that may run at once, others wait; 0: four a CPU, at least 16
	Clock      func() time.Time // nil: time.Now
	// Store is given each store that the engine opens, a table's or the catalog's, with its folder, and gives the one that is used: one
	// that counts, delays or fails calls. Data files are read and written by DuckDB, at the path that Locate answers. nil: as it is.
	Store   func(folder string, files store.Store) store.Store
	TestNow time.Time // the clock at the engine's start for sessions with deltasql_test_clock on; zero: the real one
}

// Engine answers statements over one catalog. It is safe for concurrent use.
type Engine struct {
	options Options
	catalog *catalog
	roots   []string // Options.Roots, absolute and without links
	started time.Time
	running chan struct{} // a token a running statement

	processes processes

	mu       sync.Mutex // guards what follows
	instance *duck.Instance
	closed   bool
	sessions int64
	progress bool // a session that started before DuckDB wants progress
	// leftovers are the folders of sessions' temporary tables, which Close removes for sessions that nobody closed.
	leftovers map[string]bool
}

// Open makes an engine. It touches nothing: DuckDB starts with the first statement that needs it, tables open when named.
func Open(options Options) (*Engine, error) {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Threads < 0 || options.MaxRunning < 0 {
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "threads and running statements cannot be negative")
	}
	if options.MaxRunning == 0 {
		options.MaxRunning = max(16, 4*runtime.NumCPU())
	}
	root, err := localFolder(options.Catalog)
	if err != nil {
		return nil, err
	}
	e := &Engine{options: options, leftovers: map[string]bool{}, started: options.Clock(), running: make(chan struct{}, options.MaxRunning)}
	if e.catalog, err = newCatalog(root, duckParquet{e}, options.Store); err != nil {
		return nil, err
	}
	if e.roots, err = fenceRoots(options.Roots); err != nil {
		return nil, err
	}
	return e, nil
}

// localFolder is the absolute path of a catalog's folder.
func localFolder(name string) (string, error) {
	if name == "" {
		name = "."
	}
	path, err := localPath(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "the catalog folder %s cannot be opened", path).WithCause(err)
	}
	if !info.IsDir() {
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "the catalog %s is a file, not a folder", path).
			WithHint("a catalog is a folder of databases, which are folders of tables")
	}
	return filepath.Clean(path), nil
}

// duck starts DuckDB once.
func (e *Engine) duck() (*duck.Instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, engineClosed()
	}
	if e.instance == nil {
		instance, err := duck.Open(duck.Config{MemoryLimit: e.options.Memory, Threads: e.options.Threads, TempDir: e.options.TempDir, Macros: expr.Macros(), Progress: e.progress})
		var fault *duck.Error
		if errors.As(err, &fault) {
			return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "DuckDB does not start with these options: %s", fault.Message).
				WithHint("look at the memory limit (such as 4GB), the threads and the folder for temporary files")
		}
		if err != nil {
			return nil, protocol.NewError("DELTASQL_STORAGE", "DuckDB does not start").WithCause(err)
		}
		e.instance = instance
	}
	return e.instance, nil
}

// admit waits for its turn to run a statement; the caller calls release once.
func (e *Engine) admit(ctx context.Context) (release func(), err error) {
	select {
	case e.running <- struct{}{}:
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	var once sync.Once
	return func() { once.Do(func() { <-e.running }) }, nil
}

// Close refuses new statements and frees DuckDB once the running ones have ended. It does not wait for them: a result that is open
// can be read to its end.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	var err error
	for folder := range e.leftovers {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	clear(e.leftovers)
	if e.instance != nil {
		err = errors.Join(err, e.instance.Close())
		e.instance = nil
	}
	return err
}

// newID makes the random ids of tables, files and commits.
func newID() string { return uuid.NewString() }
