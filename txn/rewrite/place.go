package rewrite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"deltasql/protocol"
	"deltasql/txn"
	"deltasql/txn/store"

	"github.com/google/uuid"
)

const (
	// rowGroupRows is DuckDB's own size of row groups; smaller ones prune better and compress worse.
	rowGroupRows = 122_880
	// defaultTargetBytes is the size of new files where the table does not wish another.
	defaultTargetBytes = 128 << 20
	// syncers is how many files at most are synced at once.
	syncers = 8
)

// targetFileBytes is the size at which a new file is begun.
func targetFileBytes(config *protocol.TableConfig, wanted int64) (int64, error) {
	if wanted > 0 {
		return wanted, nil
	}
	const property = "delta.targetFileSize"
	text := strings.TrimSpace(config.Property(property))
	if text == "" {
		return defaultTargetBytes, nil
	}
	digits := strings.TrimRight(strings.ToLower(text), "bkmgt")
	shift, ok := map[string]int{"": 0, "b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40}[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if !ok || err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %q; it must be a number of bytes such as 134217728 or 128mb", property, text)
	}
	return n << shift, nil
}

// codec is a compression, as COPY has it and as names of files show it.
type codec struct{ option, suffix string }

// codecs by the value of delta.parquet.compression.codec. The first level of zstd writes in 0.7 of the time of the third,
// DuckDB's own choice, and its files are 8 % larger. The old lz4 is read by few, and DuckDB reads and writes its successor.
var codecs = map[string]codec{
	"uncompressed": {"COMPRESSION uncompressed", ""}, "none": {"COMPRESSION uncompressed", ""},
	"snappy": {"COMPRESSION snappy", ".snappy"}, "gzip": {"COMPRESSION gzip", ".gz"},
	"lz4": {"COMPRESSION lz4_raw", ".lz4raw"}, "lz4_raw": {"COMPRESSION lz4_raw", ".lz4raw"},
	"zstd": {"COMPRESSION zstd, COMPRESSION_LEVEL 1", ".zstd"},
}

func codecOf(config *protocol.TableConfig) (codec, error) {
	const property = "delta.parquet.compression.codec"
	name := strings.ToLower(strings.TrimSpace(config.Property(property)))
	c, ok := codecs[name]
	if !ok {
		return c, protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %q; it must be uncompressed, snappy, gzip, lz4_raw or zstd", property, name)
	}
	return c, nil
}

// bloomOptions are those of COPY for Bloom filters, by Parquet's own names of the properties, which Spark obeys as well. DuckDB writes
// filters of the columns that it stores by dictionary unless it is told not to; it cannot choose columns, so that the forms of a
// single column (name#column) have no effect.
func bloomOptions(config *protocol.TableConfig) ([]string, error) {
	const enabled, ratio = "parquet.bloom.filter.enabled", "parquet.bloom.filter.fpp"
	if _, set := config.LookupProperty(enabled); set {
		on, err := config.BoolProperty(enabled)
		if err != nil || !on {
			return []string{"WRITE_BLOOM_FILTER false"}, err
		}
	}
	text, set := config.LookupProperty(ratio)
	if !set {
		return nil, nil
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(value > 0 && value < 1) {
		return nil, protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %q; it must be a number between 0 and 1", ratio, text)
	}
	return []string{"BLOOM_FILTER_FALSE_POSITIVE_RATIO " + strconv.FormatFloat(value, 'f', -1, 64)}, nil
}

// stagingFolder is where files are written before they have their names: in the table's folder, so that a rename places them, and
// under a name that is not hidden, so that VACUUM finds what a crash leaves there.
type stagingFolder struct {
	local string
}

func newStagingFolder(ctx context.Context, tx *txn.Transaction) (stagingFolder, error) {
	table := tx.Table()
	name := "staging-" + uuid.NewString()
	local, err := table.Store().Locate(ctx, name)
	if err != nil {
		return stagingFolder{}, protocol.NewError("UNSUPPORTED_FEATURE", "the table %s cannot be written where it is: only tables on a local file system can", table.Name()).
			WithTable(table.Name()).WithCause(err)
	}
	if tx.Snapshot() != nil { // a table that was dropped meanwhile does not come back
		if _, err := os.Stat(filepath.Dir(local)); errors.Is(err, fs.ErrNotExist) {
			return stagingFolder{}, tx.Gone()
		}
		return stagingFolder{local}, nil
	}
	// A new table has no folder yet. It is synced with what is put into it.
	if err := os.MkdirAll(filepath.Dir(local), 0o777); err != nil {
		return stagingFolder{}, protocol.NewError("DELTASQL_STORAGE", "the data files of the table %s cannot be written", table.Name()).WithTable(table.Name()).WithCause(err)
	}
	return stagingFolder{local}, nil
}

// names gives new files their names, as the reference does: part-00000-<uuid>-c000.snappy.parquet, with .c000 in partitioned
// tables. Files stand in folders of their partition values, or, where these are not to be seen or the table wishes it, in folders
// with random names, over which object stores spread their load.
type names struct {
	w      *writer
	count  int
	random int // characters of a random folder's name; 0 where folders tell the partition values
}

func newNames(w *writer) (*names, error) {
	n := &names{w: w}
	randomize, err := w.config.BoolProperty("delta.randomizeFilePrefixes")
	if err != nil {
		return nil, err
	}
	// Under column mapping a folder with a name and a value would go stale when the column is renamed.
	if randomize || w.config.Mapping != protocol.MappingNone {
		n.random, err = randomPrefixLength(w.config)
	}
	return n, err
}

func randomPrefixLength(config *protocol.TableConfig) (int, error) {
	const property = "delta.randomPrefixLength"
	length, _, err := config.IntProperty(property)
	if err == nil && (length <= 0 || length > 100) {
		err = protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %d; it must be from 1 to 100", property, length)
	}
	return int(length), err
}

// next is the name, in the table, of the next file, whose rows have the partition values.
func (n *names) next(values []protocol.Value) string {
	kind, joint, folder := "part", "-", ""
	if len(values) > 0 {
		joint = "."
	}
	random := n.random
	if random == 0 && len(values) > 0 {
		var short bool
		if folder, short = partitionFolder(n.w.partitions, values); !short {
			random = 2
		}
	}
	if random > 0 {
		folder = randomText(random) + "/"
	}
	if n.w.rows.ChangeType {
		kind, folder = "cdc", "_change_data/"+folder
	}
	name := fmt.Sprintf("%s%s-%05d-%s%sc000%s.parquet", folder, kind, n.count, uuid.NewString(), joint, n.w.codec.suffix)
	n.count++
	return name
}

// randomText has letters and digits.
func randomText(length int) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := make([]byte, length)
	_, _ = rand.Read(out)
	for i := range out {
		out[i] = alphabet[int(out[i])%len(alphabet)]
	}
	return string(out)
}

// placedFile is a file on its way from where it was written to its name in the table.
type placedFile struct {
	staged string
	name   string
}

func (p *placedFile) stat() (size, modifiedMillis int64, err error) {
	info, err := os.Stat(p.staged)
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), info.ModTime().UnixMilli(), nil
}

// place syncs the files, gives them their names, and syncs the folders that have changed (W1).
func (w *writer) place(ctx context.Context, files []placedFile) error {
	root := filepath.Dir(w.staging.local)
	changed := map[string]bool{root: true}
	if w.tx.Snapshot() == nil {
		changed[filepath.Dir(root)] = true // the table's folder is new
	}
	for i := range files {
		folder := filepath.Join(root, filepath.FromSlash(path.Dir(files[i].name)))
		for ; !changed[folder]; folder = filepath.Dir(folder) {
			changed[folder] = true
		}
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].name
	}
	noteFolders(w.tx, root, names)
	err := inParallel(ctx, len(files), func(i int) error {
		if err := store.Sync(files[i].staged); err != nil {
			return err
		}
		return move(files[i].staged, filepath.Join(root, filepath.FromSlash(files[i].name)), root)
	})
	if err != nil {
		return w.placingFailed(err)
	}
	folders := make([]string, 0, len(changed))
	for folder := range changed {
		folders = append(folders, folder)
	}
	if err := inParallel(ctx, len(folders), func(i int) error { return store.Sync(folders[i]) }); err != nil {
		return w.placingFailed(err)
	}
	return nil
}

// noteFolders tells the transaction which folders will be made for files.
func noteFolders(tx *txn.Transaction, root string, names []string) {
	seen := map[string]bool{".": true}
	for _, name := range names {
		for folder := path.Dir(name); !seen[folder]; folder = path.Dir(folder) {
			seen[folder] = true
			if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(folder))); errors.Is(err, fs.ErrNotExist) {
				tx.MadeFolders(folder)
			}
		}
	}
}

// move gives a file another name below the table's folder, which must be there. Another transaction that fails may remove a folder
// that it had made and has not filled just before the file comes into it.
func move(from, to, root string) (err error) {
	const tries = 5
	for range tries {
		if err = store.MakeFolders(filepath.Dir(to), root); err != nil {
			return err
		}
		if err = os.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (w *writer) placingFailed(err error) error {
	if _, gone := os.Stat(filepath.Dir(w.staging.local)); errors.Is(gone, fs.ErrNotExist) && w.tx.Snapshot() != nil {
		return w.tx.Gone()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return w.storageError(err)
}

// remove deletes files that were placed, whatever has become of the context.
func (w *writer) remove(ctx context.Context, files []placedFile) error {
	ctx = context.WithoutCancel(ctx)
	var failures []error
	for i := range files {
		if err := w.tx.Table().Store().Delete(ctx, files[i].name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// inParallel does something n times, a few at once, until one fails or the context ends.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	var next atomic.Int64
	var once sync.Once
	var failed error
	var group sync.WaitGroup
	for range min(syncers, n) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = do(i)
				}
				if err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	group.Wait()
	return failed
}
