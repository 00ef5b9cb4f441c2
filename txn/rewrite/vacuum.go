package rewrite

import (
	"context"
	"errors"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// Garbage is what is in a table's folder and no version inside the retention needs.
type Garbage struct {
	Files   []GarbageFile
	Staging []string // folders of writers that died, to be removed once their files are
	Folders int      // that were looked into
}

// GarbageFile is one file, by its name on the store.
type GarbageFile struct {
	Name string
	Size int64
}

// Bytes is the size of all files.
func (g *Garbage) Bytes() int64 {
	total := int64(0)
	for _, f := range g.Files {
		total += f.Size
	}
	return total
}

// needed tells which files must stay. It knows them by hashes: two names with one hash keep a file too many, never one too few.
type needed struct {
	seed  maphash.Seed
	names map[uint64]bool
	roots []string          // the table's folder, as it is called and without links
	real  map[string]string // folders elsewhere, without links
}

func (n *needed) hash(name string) uint64 { return maphash.String(n.seed, path.Clean(name)) }

func (n *needed) has(name string) bool { return n.names[n.hash(name)] }

// relative is a decoded path as a name in the table's folder; false for files elsewhere. A path that leads into the folder over
// links of its own is a name in it too.
func (n *needed) relative(decoded string, absolute bool) (string, bool) {
	if !absolute {
		return decoded, true
	}
	decoded = path.Clean(decoded)
	if name, ok := n.inside(decoded); ok || strings.Contains(decoded, "://") {
		return name, ok
	}
	folder := path.Dir(decoded)
	real, known := n.real[folder]
	if !known {
		real = folder
		if followed, err := filepath.EvalSymlinks(filepath.FromSlash(folder)); err == nil {
			real = filepath.ToSlash(followed)
		}
		n.real[folder] = real
	}
	return n.inside(path.Join(real, path.Base(decoded)))
}

func (n *needed) inside(absolute string) (string, bool) {
	for _, root := range n.roots {
		if inside, ok := strings.CutPrefix(absolute, root+"/"); ok {
			return inside, true
		}
	}
	return "", false
}

func (n *needed) keep(uri string, dv *protocol.DeletionVector) error {
	decoded, absolute, err := protocol.DecodePath(uri)
	if err != nil {
		return err
	}
	if name, ok := n.relative(decoded, absolute); ok {
		n.names[n.hash(name)] = true
	}
	if dv == nil || dv.StorageType == protocol.VectorInline {
		return nil
	}
	if decoded, absolute, err = dv.Path(); err != nil {
		return err
	}
	if name, ok := n.relative(decoded, absolute); ok {
		n.names[n.hash(name)] = true
	}
	return nil
}

// newNeeded collects the files of the snapshot and those that were removed at a time, in milliseconds, or later.
func newNeeded(ctx context.Context, snapshot *log.Snapshot, beforeMillis int64) (*needed, error) {
	root, err := TableFolder(ctx, snapshot.Table())
	if err != nil {
		return nil, err
	}
	n := &needed{seed: maphash.MakeSeed(), names: make(map[uint64]bool, 2*snapshot.Files().Len()), roots: []string{filepath.ToSlash(root)}, real: map[string]string{}}
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		n.roots = append(n.roots, filepath.ToSlash(real))
	}
	return n, n.keepAll(ctx, snapshot, beforeMillis)
}

// keepAll keeps the files of a snapshot, and those that were removed from it since a time.
func (n *needed) keepAll(ctx context.Context, snapshot *log.Snapshot, beforeMillis int64) error {
	files := snapshot.Files()
	for i := range files.Len() {
		if err := n.keep(files.Path(i), files.DeletionVector(i)); err != nil {
			return err
		}
	}
	for remove, err := range snapshot.Tombstones(ctx) {
		if err != nil {
			return err
		}
		// A tombstone without a time is as old as can be.
		if remove.DeletionTimestamp == nil || *remove.DeletionTimestamp < beforeMillis {
			continue
		}
		if err := n.keep(remove.Path, remove.DeletionVector); err != nil {
			return err
		}
	}
	return nil
}

// TableFolder is the local folder of a table.
func TableFolder(ctx context.Context, table *log.Table) (string, error) {
	local, err := table.Store().Locate(ctx, "x")
	if err != nil {
		return "", protocol.NewError("UNSUPPORTED_FEATURE", "the table %s is not on a local file system", table.Name()).WithTable(table.Name()).WithCause(err)
	}
	return filepath.Dir(local), nil
}

// stagingPrefix begins the names of folders in which files are written before they have their names.
const stagingPrefix = "staging-"

// collectable tells whether files of a name are of the kinds that writers of tables make.
func collectable(name string) bool {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(name, stagingPrefix):
		return true
	case strings.HasPrefix(base, "part-"), strings.HasPrefix(base, "cdc-"):
		return strings.HasSuffix(base, ".parquet")
	case strings.HasPrefix(base, "deletion_vector_"):
		return strings.HasSuffix(base, ".bin")
	}
	return false
}

// vacuum is one look for garbage.
type vacuum struct {
	snapshot *log.Snapshot
	needed   *needed
	before   int64
	fenced   bool // only files of the kinds that writers make may go: values of the table name others
	garbage  *Garbage
}

func newVacuum(ctx context.Context, snapshot *log.Snapshot, beforeMillis int64) (*vacuum, error) {
	n, err := newNeeded(ctx, snapshot, beforeMillis)
	if err != nil {
		return nil, err
	}
	v := &vacuum{snapshot: snapshot, needed: n, before: beforeMillis, garbage: &Garbage{}}
	for _, f := range snapshot.Config().Schema.Fields {
		v.fenced = v.fenced || f.Type.Holds(protocol.KindFile)
	}
	return v, nil
}

// Unreferenced looks through the table's folder for files that are older than a time and that neither the snapshot nor a version that
// was replaced since then refers to. Folders and files whose names begin with _ or . are not looked at, but for the one of change files
// and those of partition columns; nor are folders that are tables themselves. Where values of the table name files (the type FILE), only
// files of the kinds that writers of tables make are garbage.
func Unreferenced(ctx context.Context, snapshot *log.Snapshot, beforeMillis int64) (*Garbage, error) {
	v, err := newVacuum(ctx, snapshot, beforeMillis)
	if err != nil {
		return nil, err
	}
	return v.garbage, v.walk(ctx, "")
}

func (v *vacuum) walk(ctx context.Context, folder string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var entries []store.FileInfo
	for info, err := range v.snapshot.Table().Store().List(ctx, folder, "") {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "the folder %s of the table %s cannot be listed", folder, v.snapshot.Table().Name()).WithTable(v.snapshot.Table().Name()).WithCause(err)
		}
		if folder != "" && info.Name == folder+protocol.LogFolder+"/" {
			return nil // another table
		}
		entries = append(entries, info)
	}
	v.garbage.Folders++
	for _, info := range entries {
		if v.hidden(strings.TrimPrefix(info.Name, folder)) {
			continue
		}
		if info.IsFolder() {
			before := len(v.garbage.Files)
			if err := v.walk(ctx, info.Name); err != nil {
				return err
			}
			if folder == "" && strings.HasPrefix(info.Name, stagingPrefix) && len(v.garbage.Files) > before {
				v.garbage.Staging = append(v.garbage.Staging, strings.TrimSuffix(info.Name, "/"))
			}
			continue
		}
		v.consider(info)
	}
	return nil
}

// consider counts a file as garbage where it is.
func (v *vacuum) consider(info store.FileInfo) {
	if info.ModTimeMillis >= v.before || v.needed.has(info.Name) || v.fenced && !collectable(info.Name) {
		return
	}
	v.garbage.Files = append(v.garbage.Files, GarbageFile{info.Name, info.Size})
}

// hidden is the protocol's rule on names.
func (v *vacuum) hidden(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
		return false
	}
	if name == "_change_data" {
		return false
	}
	config := v.snapshot.Config()
	for _, i := range config.PartitionColumns {
		if strings.HasPrefix(name, string(config.PhysicalName(i))+"=") {
			return false
		}
	}
	return true
}

// UnreferencedOf is Unreferenced among files that are named, by their decoded paths; those that are not there are no garbage.
func UnreferencedOf(ctx context.Context, snapshot *log.Snapshot, beforeMillis int64, names func(yield func(decoded string, absolute bool) error) error) (*Garbage, error) {
	v, err := newVacuum(ctx, snapshot, beforeMillis)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var list []string
	err = names(func(decoded string, absolute bool) error {
		name, inside := v.needed.relative(decoded, absolute)
		if !inside || seen[name] || v.needed.has(name) {
			return nil
		}
		for part := range strings.SplitSeq(name, "/") {
			if v.hidden(part) || part == ".." {
				return nil
			}
		}
		seen[name] = true
		list = append(list, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := make([]store.FileInfo, len(list))
	err = inParallel(ctx, len(list), func(i int) error {
		info, err := snapshot.Table().Store().Stat(ctx, list[i])
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "the file %s of the table %s cannot be looked at", list[i], snapshot.Table().Name()).WithCause(err)
		}
		info.Name = list[i]
		found[i] = info
		return nil
	})
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{".": true}
	for _, info := range found {
		if info.Name != "" && !info.IsFolder() {
			folders[path.Dir(info.Name)] = true
			v.consider(info)
		}
	}
	v.garbage.Folders = len(folders)
	return v.garbage, nil
}

// Spare takes out of the garbage what a newer snapshot needs: files that were written before the look and committed after it.
func (g *Garbage) Spare(ctx context.Context, newest *log.Snapshot, beforeMillis int64) error {
	n, err := newNeeded(ctx, newest, beforeMillis)
	if err == nil {
		g.Files = slices.DeleteFunc(g.Files, func(f GarbageFile) bool { return n.has(f.Name) })
	}
	return err
}

// SpareReferred takes out of the garbage of a table what another table refers to by absolute paths: in the snapshot, and in what was
// removed from it at a time, in milliseconds, or later.
func (g *Garbage) SpareReferred(ctx context.Context, table *log.Table, other *log.Snapshot, beforeMillis int64) error {
	root, err := TableFolder(ctx, table)
	if err != nil {
		return err
	}
	n := &needed{seed: maphash.MakeSeed(), names: map[uint64]bool{}, roots: []string{filepath.ToSlash(root)}, real: map[string]string{}}
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		n.roots = append(n.roots, filepath.ToSlash(real))
	}
	// A table that refers to its own files names them by relative paths; where it is this table they stay as well.
	if err := n.keepAll(ctx, other, beforeMillis); err != nil {
		return err
	}
	g.Files = slices.DeleteFunc(g.Files, func(f GarbageFile) bool { return n.has(f.Name) })
	return nil
}

// Delete deletes garbage, several files at once, and gives how many are gone when it ends, however it ends. done is told how many are.
func (g *Garbage) Delete(ctx context.Context, table *log.Table, done func(files int)) (deleted int, err error) {
	var gone atomic.Int64
	err = inParallel(ctx, len(g.Files), func(i int) error {
		if err := table.Store().Delete(ctx, g.Files[i].Name); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return protocol.NewError("DELTASQL_STORAGE", "the file %s of the table %s cannot be deleted", g.Files[i].Name, table.Name()).WithTable(table.Name()).WithCause(err)
		}
		if n := gone.Add(1); done != nil && n%64 == 0 {
			done(int(n))
		}
		return nil
	})
	if err == nil {
		for _, folder := range g.Staging {
			if local, locating := table.Store().Locate(ctx, folder); locating == nil {
				_ = os.Remove(local) // it stays where files in it are too young
			}
		}
	}
	return int(gone.Load()), err
}
