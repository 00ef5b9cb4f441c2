package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"deltasql/protocol"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"

	"github.com/google/uuid"
)

// FilesOf gives the files of a snapshot as another table refers to them where they lie: by absolute paths, their vectors too.
func FilesOf(ctx context.Context, source *log.Snapshot) ([]protocol.AddFile, error) {
	root, err := TableFolder(ctx, source.Table())
	if err != nil {
		return nil, err
	}
	adds := make([]protocol.AddFile, source.Files().Len())
	for i := range adds {
		add := source.Files().Add(i)
		if err := checkTracked(source, &add); err != nil {
			return nil, err
		}
		add.DataChange = true
		if add.Stats, err = againWide(&add); err != nil {
			return nil, err
		}
		decoded, absolute, err := protocol.DecodePath(add.Path)
		if err != nil {
			return nil, err
		}
		if !absolute {
			add.Path = fileURI(root, decoded)
		}
		if dv := add.DeletionVector; dv != nil && dv.StorageType != protocol.VectorInline {
			name, absolute, err := dv.Path()
			if err != nil {
				return nil, err
			}
			if !absolute {
				moved := *dv
				moved.StorageType, moved.PathOrInline = protocol.VectorByPath, fileURI(root, name)
				add.DeletionVector = &moved
			}
		}
		adds[i] = add
	}
	return adds, nil
}

// checkTracked: where rows have ids, files must say how many rows they have.
func checkTracked(source *log.Snapshot, add *protocol.AddFile) error {
	if !source.Config().Supports("rowTracking") || strings.Contains(add.Stats, `"numRecords"`) {
		return nil
	}
	return protocol.NewError("DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS", "the table %s tracks rows and cannot be cloned: its file %s does not say how many rows it has", source.Table().Name(), add.Path).
		WithHint("ANALYZE TABLE ... COMPUTE DELTA STATISTICS counts them")
}

func fileURI(root, name string) string {
	return "file:" + protocol.EncodePath(filepath.ToSlash(filepath.Join(root, filepath.FromSlash(name))))
}

// clonedFromTag says of a file of a deep clone what it is a copy of: the id of the source, its path and the identity of its vector
// there, and that of the copied vector here. The clone knows by it what it has already when it is made once more; a file whose vector
// is another by now is no such copy any more. Names alone would not do: tables made of plain files have files of one name.
const clonedFromTag = "deltasql.clonedFrom"

// origin is the content of the tag.
func origin(source *log.Snapshot, path, theirVector, ourVector string) string {
	text, _ := json.Marshal([]string{source.Config().Metadata.ID, path, theirVector, ourVector}) // texts have no error
	return string(text)
}

// copies are the files that a clone has.
type copies struct {
	files map[string]protocol.AddFile // by the source's file and vector, those that are copies
	data  map[string]protocol.AddFile // by the source's file alone
	other []protocol.AddFile          // files that are none of the source's
}

func copiesIn(clone, source *log.Snapshot) copies {
	c := copies{files: map[string]protocol.AddFile{}, data: map[string]protocol.AddFile{}}
	if clone == nil {
		return c
	}
	for i := range clone.Files().Len() {
		add := clone.Files().Add(i)
		var of []string
		_, absolute, err := protocol.DecodePath(add.Path) // what lies in another table's folder is no copy, whatever it says
		tagged := json.Unmarshal([]byte(add.Tags[clonedFromTag]), &of) == nil && len(of) == 4 && of[0] == source.Config().Metadata.ID
		if err != nil || absolute || !tagged {
			c.other = append(c.other, add)
			continue
		}
		c.data[of[1]] = add
		if of[3] == add.DeletionVector.UniqueID() {
			c.files[of[1]+"\x00"+of[2]] = add
		} else {
			c.other = append(c.other, add)
		}
	}
	return c
}

// CopyFiles copies the files of a snapshot, and their vectors, into the folder of another table and gives their adds there. What the
// other table, as it is (nil for a new one), has copied already is not copied again. Copies have names of their own: the transaction
// deletes them if it fails, and what it deletes must never be what another clone of the same source has committed. done is told of
// the bytes that were copied.
func CopyFiles(ctx context.Context, source *log.Snapshot, tx *txn.Transaction, done func(bytes int64)) (come, gone []protocol.AddFile, copied int, copiedBytes int64, err error) {
	root, err := TableFolder(ctx, source.Table())
	if err != nil {
		return nil, nil, 0, 0, err
	}
	there := copiesIn(tx.Snapshot(), source)
	type job struct{ from, to string }
	var jobs []job
	vectors := map[string]string{} // the source's files of vectors, and how the copies are encoded
	for i := range source.Files().Len() {
		add := source.Files().Add(i)
		if err := checkTracked(source, &add); err != nil {
			return nil, nil, 0, 0, err
		}
		add.DataChange = true
		if add.Stats, err = againWide(&add); err != nil {
			return nil, nil, 0, 0, err
		}
		from, folder, err := placeOf(root, add.Path)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		key, path := keyOfAdd(&add), protocol.PathKey(add.Path)
		if old, ok := there.files[key]; ok && old.Size == add.Size {
			delete(there.files, key)
			continue
		}
		if old, ok := there.data[path]; ok && old.Size == add.Size { // only its vector is another
			add.Path = old.Path
		} else {
			name := fmt.Sprintf("%spart-%05d-%s-c000.parquet", folder, i, uuid.NewString())
			add.Path = protocol.EncodePath(name)
			jobs = append(jobs, job{from, name})
		}
		theirs := add.DeletionVector.UniqueID()
		if dv := add.DeletionVector; dv != nil && dv.StorageType != protocol.VectorInline {
			name, absolute, err := dv.Path()
			if err != nil {
				return nil, nil, 0, 0, err
			}
			if name = filepath.FromSlash(name); !absolute {
				name = filepath.Join(root, name)
			}
			moved := *dv
			moved.StorageType, moved.PathOrInline = protocol.VectorByUUID, vectors[name]
			if moved.PathOrInline == "" {
				id := uuid.New()
				moved.PathOrInline = protocol.EncodeZ85(id[:])
				to, _, err := moved.Path()
				if err != nil {
					return nil, nil, 0, 0, err
				}
				vectors[name] = moved.PathOrInline
				jobs = append(jobs, job{name, to})
			}
			add.DeletionVector = &moved
		}
		of := origin(source, path, theirs, add.DeletionVector.UniqueID())
		tags := map[string]string{clonedFromTag: of}
		for name, value := range add.Tags {
			if name != clonedFromTag {
				tags[name] = value
			}
		}
		add.Tags = tags
		come = append(come, add)
	}
	gone = slices.AppendSeq(there.other, maps.Values(there.files))
	into, err := TableFolder(ctx, tx.Table())
	if err != nil {
		return nil, nil, 0, 0, err
	}
	names := make([]string, len(jobs))
	for i := range jobs {
		names[i] = jobs[i].to
	}
	noteFolders(tx, into, names)
	tx.Wrote(names...)
	if tx.Snapshot() != nil {
		ctx = store.RootStands(ctx)
	}
	var total atomic.Int64
	err = inParallel(ctx, len(jobs), func(i int) error {
		n, err := copyFile(ctx, tx.Table(), jobs[i].from, jobs[i].to)
		if done != nil {
			done(total.Add(n))
		} else {
			total.Add(n)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "the file %s of the table %s is not there", jobs[i].from, source.Table().Name()).WithTable(source.Table().Name())
		}
		return protocol.NewError("DELTASQL_STORAGE", "the file %s of the table %s cannot be copied", jobs[i].from, source.Table().Name()).WithCause(err)
	})
	return come, gone, len(jobs), total.Load(), err
}

// placeOf is where a file lies, and the folder that a copy of the table has it in.
func placeOf(root, uri string) (from, folder string, err error) {
	decoded, absolute, err := protocol.DecodePath(uri)
	switch {
	case err != nil:
		return "", "", err
	case !absolute:
		folder, _ = path.Split(path.Clean(decoded))
		return filepath.Join(root, filepath.FromSlash(decoded)), folder, nil
	case strings.Contains(decoded, "://"):
		return "", "", protocol.NewError("UNSUPPORTED_FEATURE", "the file %s is on a store that is not supported", decoded)
	}
	return filepath.FromSlash(decoded), "", nil
}

func keyOfAdd(add *protocol.AddFile) string {
	return protocol.PathKey(add.Path) + "\x00" + add.DeletionVector.UniqueID()
}

// copyFile copies a file into a table's folder; it appears whole and durable.
func copyFile(ctx context.Context, table *log.Table, from, to string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	n := int64(0)
	err = table.Store().PutFrom(ctx, to, func(w io.Writer) error {
		buffer := make([]byte, 1<<20)
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			read, err := in.Read(buffer)
			if read > 0 {
				if _, err := w.Write(buffer[:read]); err != nil {
					return err
				}
				n += int64(read)
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	return n, err
}
