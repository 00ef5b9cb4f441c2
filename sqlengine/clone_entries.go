package sqlengine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// A shallow clone refers to files in its source's folder, of which the source's log says nothing. The catalog keeps an entry for each
// clone and each table whose files it refers to, written before the clone's commit, by which VACUUM of that table finds it. Clones that
// another engine or another catalog makes leave no entry; nothing can know of these.
const cloneFolder = catalogFolder + "/clones/"

// cloneEntry says that a table refers to files of another.
type cloneEntry struct {
	Format  int    `json:"format"`
	Source  string `json:"source"` // both are absolute paths without links
	Clone   string `json:"clone"`
	Version int64  `json:"version"` // of the table that was cloned, which is the source or itself a clone
	Cloned  string `json:"cloned"`  // its path
	Created int64  `json:"createdMillis"`
}

func hashedPath(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

func clonesOf(source string) string { return cloneFolder + hashedPath(source) + "/" }

// enterClone writes the entries of a clone.
func (st *statement) enterClone(clone string, source *log.Snapshot, adds []protocol.AddFile) error {
	root, err := rewrite.TableFolder(st.ctx, source.Table())
	if err != nil {
		return err
	}
	cloned := withoutLinks(root)
	owners, folders := map[string]bool{cloned: true}, map[string]bool{}
	for i := range adds {
		for _, path := range absolutePaths(&adds[i]) {
			if folder := filepath.Dir(path); !folders[folder] {
				folders[folder] = true
				if real := withoutLinks(folder); isTable(real) {
					owners[real] = true
				} else if owner := enclosingTable(real); owner != "" {
					owners[owner] = true
				}
			}
		}
	}
	for owner := range owners {
		entry := cloneEntry{Format: entryFormat, Source: owner, Clone: withoutLinks(clone), Version: source.Version(), Cloned: cloned, Created: st.session.now().UnixMilli()}
		if err := st.session.engine.catalog.putEntry(st.ctx, clonesOf(owner)+hashedPath(entry.Clone)+".json", "the clone "+clone, &entry, true); err != nil {
			return err
		}
	}
	return nil
}

// absolutePaths are the local files that an add names by absolute paths.
func absolutePaths(add *protocol.AddFile) []string {
	var out []string
	note := func(decoded string, absolute bool, err error) {
		if err == nil && absolute && !strings.Contains(decoded, "://") {
			out = append(out, filepath.FromSlash(decoded))
		}
	}
	note(protocol.DecodePath(add.Path))
	if dv := add.DeletionVector; dv != nil && dv.StorageType == protocol.VectorByPath {
		note(dv.Path())
	}
	return out
}

// unmadeCloneAge is how long the entry of a clone that is not there protects what it was to refer to: it may be being made.
const unmadeCloneAge = 7 * 24 * time.Hour

// spareClones takes out of the garbage of a table what its shallow clones refer to, in their newest versions and in those inside their own
// retention. A clone that is there and cannot be read stops VACUUM; the entry of one that is gone is removed.
func (st *statement) spareClones(table *log.Table, garbage *rewrite.Garbage) error {
	root, err := rewrite.TableFolder(st.ctx, table)
	if err != nil || len(garbage.Files) == 0 {
		return err
	}
	c, source := st.session.engine.catalog, withoutLinks(root)
	names, err := c.entryNames(st.ctx, clonesOf(source))
	if err != nil {
		return err
	}
	for _, name := range names {
		file := clonesOf(source) + name + ".json"
		var e cloneEntry
		if found, err := c.readEntry(st.ctx, file, "a clone of "+source, &e); err != nil {
			return err
		} else if !found || e.Source != source {
			continue
		}
		if e.Format > entryFormat {
			return protocol.NewError("UNSUPPORTED_FEATURE", "the clone %s of %s was made by a newer version of deltasql (format %d)", e.Clone, source, e.Format)
		}
		var refers *log.Snapshot
		before := int64(0)
		switch made := isMade(e.Clone); {
		case made:
			refers, before, err = st.cloneSnapshot(e.Clone)
		case st.session.now().UnixMilli()-e.Created > unmadeCloneAge.Milliseconds():
			if err := c.dropEntry(st.ctx, file, "the clone "+e.Clone); err != nil {
				st.warn(warningLog, "%v", err)
			}
			continue
		case !isMade(e.Cloned):
			continue
		default:
			refers, err = st.clonedVersion(&e)
			if protocol.ClassOf(err) == "DELTA_VERSION_NOT_FOUND" {
				continue // and so it is not being cloned any more
			}
		}
		if err == nil {
			err = garbage.SpareReferred(st.ctx, table, refers, before)
		}
		if err != nil {
			if st.ctx.Err() != nil {
				return err
			}
			return protocol.NewError("DELTASQL_CLONE_NOT_READABLE", "%s is a shallow clone that refers to files of this table, and cannot be read, so that VACUUM does not know which files it needs", e.Clone).
				WithHint("repair the clone, or drop it; a folder that is no table any more stops nothing").WithCause(err)
		}
	}
	return nil
}

// cloneSnapshot is a clone as it is, and the time from which on its removed files are needed.
func (st *statement) cloneSnapshot(path string) (*log.Snapshot, int64, error) {
	table, err := st.session.engine.catalog.table(path)
	if err != nil {
		return nil, 0, err
	}
	snapshot, err := table.Snapshot(st.ctx)
	if err != nil {
		return nil, 0, err
	}
	own, set, err := snapshot.Config().DurationProperty(retentionProperty)
	if err != nil {
		return nil, 0, err
	}
	if !set {
		own = (7 * 24 * time.Hour).Milliseconds()
	}
	return snapshot, st.session.now().UnixMilli() - own, nil
}

// clonedVersion is the version that a clone is to have which is not there yet.
func (st *statement) clonedVersion(e *cloneEntry) (*log.Snapshot, error) {
	table, err := st.session.engine.catalog.table(e.Cloned)
	if err != nil {
		return nil, err
	}
	return table.SnapshotAt(context.WithoutCancel(st.ctx), e.Version)
}
