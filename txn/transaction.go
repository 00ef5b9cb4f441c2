package txn

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"deltasql/protocol"
	"deltasql/stats"
	"deltasql/txn/log"
)

// Options are what a transaction takes from outside. Now and NewID must be set.
type Options struct {
	Now    func() time.Time
	NewID  func() string // a fresh UUID as text
	Engine string        // engineInfo: "deltasql/<version>"
	// UserName and UserMetadata go into commitInfo where they are not empty.
	UserName, UserMetadata string
	// Isolation is a level that the commit is held to if it is stricter than the table's; zero leaves it to the table.
	Isolation Isolation
	// MaxRetries bounds how often a commit that lost is tried again; 0 is the default.
	MaxRetries int
	// Wait is called before each new try, with the number of tries so far; nil waits a random, slowly growing time.
	Wait func(ctx context.Context, attempt int) error
	// Alone keeps the commit from being joined with other appends of this process that are committed at the same time.
	Alone bool
	// Upkeep is what the session wants of the log's upkeep; its Now, NewID and Snapshot are set here.
	Upkeep log.Upkeep
}

// defaultRetries is far above what fair writers need: with n of them a commit loses n-1 times between two of its own.
const defaultRetries = 10_000

// maxWait bounds the wait before a new try. Who lost tries again at once, for the winner is done; waiting longer with each
// loss only spreads the tries of many writers that woke up together.
const maxWait = 50 * time.Millisecond

func (o Options) withDefaults() Options {
	if o.MaxRetries <= 0 {
		o.MaxRetries = defaultRetries
	}
	if o.Wait == nil {
		o.Wait = func(ctx context.Context, attempt int) error {
			limit := min(time.Duration(attempt)*time.Millisecond, maxWait)
			timer := time.NewTimer(rand.N(limit + 1))
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return o
}

// Transaction collects what one commit will do to a table, and commits it. It is made by Begin or Create and ends with
// Commit or Abort. Its methods are safe for concurrent use, so that several writers of files may share it; what they stage
// has no order among them.
type Transaction struct {
	table   *log.Table
	read    *log.Snapshot // nil for Create
	options Options

	mu     sync.Mutex
	ended  bool
	wrote  []string // names on the store
	made   []string // folders, likewise
	reads  reads
	staged staged
	config *protocol.TableConfig // as it will be; nil in Create before there is both a protocol and metadata
	view   *log.Snapshot         // what View gave; nil after anything was staged
	newest *log.Snapshot         // what the commit made, if the table knows it
	joined bool                  // another transaction made the commit for this one too
	mark   int64                 // see RaiseRowMark; -1 for none
}

// Begin starts a transaction on a table as a snapshot has it. It refuses at once what this product may not change.
//
// Errors: DELTA_UNSUPPORTED_FEATURES_FOR_WRITE, DELTA_INVALID_PROTOCOL_VERSION, and
// DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED where a catalog owns the log.
func Begin(_ context.Context, table *log.Table, read *log.Snapshot, o Options) (*Transaction, error) {
	if err := read.Unreadable(); err != nil {
		return nil, err
	}
	if err := checkWritable(read.Config().Protocol, table.Name()); err != nil {
		return nil, err
	}
	if err := read.Config().CheckListed(table.Name()); err != nil {
		return nil, err
	}
	return &Transaction{table: table, read: read, options: o.withDefaults(), config: read.Config(), staged: newStaged(), mark: -1}, nil
}

// Create starts the transaction that makes version 0 of a table that is not there. Its protocol and metadata must be set
// before files are added. Where another makes the table first, Commit fails with DELTA_PROTOCOL_CHANGED.
func Create(_ context.Context, table *log.Table, o Options) (*Transaction, error) {
	return &Transaction{table: table, options: o.withDefaults(), staged: newStaged(), mark: -1}, nil
}

// checkWritable is protocol.CheckWritable, but for tables whose commits a catalog makes, where no look at the features helps.
func checkWritable(p protocol.Protocol, table string) error {
	if p.Supports("catalogManaged") || p.Supports("catalogOwned-preview") {
		return protocol.NewError("DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
			"the table %s is managed by a catalog, which alone may commit to it", table).
			WithTable(table).WithHint("change it through its catalog")
	}
	return protocol.CheckWritable(p, table)
}

// Snapshot is the version that the transaction reads; nil for Create.
func (tx *Transaction) Snapshot() *log.Snapshot { return tx.read }

// Table is the table that is changed.
func (tx *Transaction) Table() *log.Table { return tx.table }

// Config is the table's configuration as it will be; nil in Create before protocol and metadata are set.
func (tx *Transaction) Config() *protocol.TableConfig {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.config
}

// Duties are what rows owe that are written to Config. ChangeRows and RowIDs are not among them: only a commit that also
// removes rows owes those, see Add.
func (tx *Transaction) Duties() []Duty {
	if config := tx.Config(); config != nil {
		return config.Duties()
	}
	return nil
}

// View is the table with what is staged so far: what the transaction's next statement reads. Files that are not committed
// yet have no row ids there. In Create there is nothing to see yet, and View is nil.
func (tx *Transaction) View() (*log.Snapshot, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.read == nil {
		return nil, nil
	}
	if tx.view == nil {
		tx.view = tx.read
		if !tx.staged.empty() {
			view, err := tx.read.Overlay(log.Commit{Version: tx.read.Version() + 1, Actions: tx.staged.actions(tx.nowMillis())})
			if err != nil {
				tx.view = nil
				return nil, err
			}
			tx.view = view
		}
	}
	return tx.view, nil
}

func (tx *Transaction) nowMillis() int64 { return tx.options.Now().UnixMilli() }

// change makes a change to what is staged, under the lock.
func (tx *Transaction) change(apply func() error) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended {
		return internal("the transaction on %s has ended", tx.table.Name())
	}
	tx.view = nil
	return apply()
}

// ReadAll records that what is staged depends on every row of the table.
func (tx *Transaction) ReadAll() { tx.ReadWhere(nil) }

// ReadWhere records that what is staged depends on the rows that satisfy a condition, those that are not there included.
// nil is every row.
func (tx *Transaction) ReadWhere(p stats.Predicate) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if p == nil {
		tx.reads.all = true
		return
	}
	tx.reads.predicates = append(tx.reads.predicates, p)
}

// ReadFile records that what is staged depends on the rows of files, whatever their values; paths are as the log has them.
func (tx *Transaction) ReadFile(paths ...string) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	for _, path := range paths {
		tx.reads.file(path)
	}
}

// ReadApp records that what is staged depends on how far an application has written, and gives that; false where the table
// knows nothing of it.
func (tx *Transaction) ReadApp(appID string) (int64, bool) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.reads.app(appID)
	return tx.appVersion(appID)
}

func (tx *Transaction) appVersion(appID string) (int64, bool) {
	if staged, ok := tx.staged.txns[appID]; ok {
		return staged.Version, true
	}
	if tx.read == nil {
		return 0, false
	}
	last, ok := tx.read.Transactions()[appID]
	return last.Version, ok
}

// Wrote names files that were created for the transaction, as the store knows them. Abort and a failed Commit delete them,
// a successful one deletes those that it does not refer to.
func (tx *Transaction) Wrote(names ...string) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.wrote = append(tx.wrote, names...)
}

// MadeFolders names folders that were made for files of the transaction. Where it ends with nothing in them they are removed.
func (tx *Transaction) MadeFolders(names ...string) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.made = append(tx.made, names...)
}

// Abort ends the transaction and deletes what was written for it. It does nothing once the transaction has ended.
func (tx *Transaction) Abort(ctx context.Context) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if !tx.ended {
		tx.ended = true
		tx.deleteWrote(ctx, nil)
	}
}

// deleteWrote deletes the written files but for those kept, as well as it goes: what is left is an unreferenced file, which
// VACUUM finds. The context's end does not stop it, for cancelling is the commonest reason to come here.
func (tx *Transaction) deleteWrote(ctx context.Context, keep map[string]bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteLimit)
	defer cancel()
	for _, name := range tx.wrote {
		if !keep[name] {
			_ = tx.table.Store().Delete(ctx, name)
		}
	}
	// A folder with something in it is not deleted, by no store; below others come first.
	slices.SortFunc(tx.made, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, name := range tx.made {
		_ = tx.table.Store().Delete(ctx, name)
	}
	tx.wrote, tx.made = nil, nil
}

// deleteLimit bounds how long a failed statement waits for the store to delete its files.
const deleteLimit = 30 * time.Second

// Savepoint is what a transaction had staged at a time. Files written since stay until the transaction ends.
type Savepoint struct {
	staged staged
	config *protocol.TableConfig
}

// Savepoint remembers what is staged; it may be returned to any number of times.
func (tx *Transaction) Savepoint() *Savepoint {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return &Savepoint{tx.staged.clone(), tx.config}
}

// RollbackTo drops what was staged since the savepoint. What was read stays read.
func (tx *Transaction) RollbackTo(s *Savepoint) error {
	return tx.change(func() error {
		tx.staged, tx.config = s.staged.clone(), s.config
		return nil
	})
}

// SetProtocol stages the table's protocol; the last one counts.
func (tx *Transaction) SetProtocol(p protocol.Protocol) error {
	return tx.change(func() error {
		if err := p.Validate(); err != nil {
			return err
		}
		if err := checkWritable(p, tx.table.Name()); err != nil {
			return err
		}
		return tx.reconfigure(&p, tx.staged.metadata)
	})
}

// SetMetadata stages the table's metadata; the last ones count. They must fit the protocol as it will be, so that one is
// set first where both change.
func (tx *Transaction) SetMetadata(m protocol.Metadata) error {
	return tx.change(func() error {
		return tx.reconfigure(tx.staged.protocol, &m)
	})
}

// reconfigure takes protocol and metadata, either of which may be unchanged (nil).
func (tx *Transaction) reconfigure(p *protocol.Protocol, m *protocol.Metadata) error {
	var was *protocol.TableConfig
	if tx.read != nil {
		was = tx.read.Config()
	}
	config, err := configured(was, p, m)
	if err != nil {
		return err
	}
	tx.staged.protocol, tx.staged.metadata, tx.config = p, m, config
	return nil
}

// configured joins what changes with what was there; nil where a new table has not both yet.
func configured(was *protocol.TableConfig, p *protocol.Protocol, m *protocol.Metadata) (*protocol.TableConfig, error) {
	if was != nil {
		if p == nil && m == nil {
			return was, nil
		}
		if p == nil {
			p = &was.Protocol
		}
		if m == nil {
			m = &was.Metadata
		}
	}
	if p == nil || m == nil {
		return nil, nil
	}
	return protocol.NewTableConfig(*p, *m)
}

// SetDomain stages a domain's metadata or its removal; the last one of a domain counts. Users never set domains: those that
// start with "delta." belong to features, and of them only delta.clustering is set from outside. delta.rowTracking is kept by
// the transaction itself and may only be removed, with its feature.
func (tx *Transaction) SetDomain(d protocol.DomainMetadata) error {
	return tx.change(func() error {
		if d.Domain == protocol.DomainRowTracking && !d.Removed {
			return internal("the domain %s is kept by transactions and cannot be set", d.Domain)
		}
		if d.Domain == "" || !d.Removed && strings.HasPrefix(d.Domain, "delta.") && d.Domain != protocol.DomainClustering {
			return internal("the domain %q cannot be set", d.Domain)
		}
		tx.staged.domains[d.Domain] = d
		return nil
	})
}

// RaiseRowMark makes sure that no row is given an id up to mark: rows that the commit brings in from another version, or another
// table, may have any of these (R1). A lower mark than the table's changes nothing.
func (tx *Transaction) RaiseRowMark(mark int64) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.mark = max(tx.mark, mark)
}

// Domain is a domain's metadata as they will be; false where the table has none.
func (tx *Transaction) Domain(name string) (protocol.DomainMetadata, bool) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	d, ok := tx.staged.domains[name]
	if !ok && tx.read != nil {
		d, ok = tx.read.Domain(name)
	}
	return d, ok && !d.Removed
}

// SetTxn stages how far an application has written. Where the table, or another commit that comes first, has that version
// or a later one, Commit writes nothing and says so (Committed.AlreadyApplied).
func (tx *Transaction) SetTxn(appID string, version int64) error {
	return tx.change(func() error {
		if staged, ok := tx.staged.txns[appID]; ok && staged.Version >= version {
			return nil
		}
		updated := tx.nowMillis()
		tx.staged.txns[appID] = protocol.SetTransaction{AppID: appID, Version: version, LastUpdated: &updated}
		return nil
	})
}

// AdvanceIdentity moves the marks of identity columns, by logical name, to values that were generated last: the greatest,
// or the least where the step is negative. A mark never goes back, and stands on a value that the column can generate.
func (tx *Transaction) AdvanceIdentity(last map[protocol.LogicalName]int64) error {
	return tx.change(func() error {
		if tx.config == nil {
			return internal("identity values before the table has a schema")
		}
		schema, moved, err := advanceIdentity(tx.config.Schema, last)
		if err != nil || !moved {
			return err
		}
		metadata := tx.config.Metadata
		metadata.SchemaString = schema.JSON()
		return tx.reconfigure(tx.staged.protocol, &metadata)
	})
}

// Staged counts what is staged: files added, removed (updates of a vector count as both) and change files.
func (tx *Transaction) Staged() (adds, removes, changes int) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.staged.counts()
}

// Changed tells whether there is anything to commit.
func (tx *Transaction) Changed() bool {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return !tx.staged.empty()
}
