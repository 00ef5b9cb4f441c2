package rewrite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"deltasql/protocol"
	"deltasql/txn"
	"deltasql/txn/log"
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

// CopyFiles copies the files of a snapshot, and their vectors, into the folder of another table and gives their adds there. What the
// other table, as it is (nil for a new one), has under the same name already is not copied again. Names stay what they are; the
// transaction deletes the copies if it fails. done is told of the bytes that were copied.
func CopyFiles(ctx context.Context, source *log.Snapshot, tx *txn.Transaction, done func(bytes int64)) (come, gone []protocol.AddFile, copied int, copiedBytes int64, err error) {
	root, err := TableFolder(ctx, source.Table())
	if err != nil {
		return nil, nil, 0, 0, err
	}
	there := map[string]protocol.AddFile{}
	vectors := map[string]bool{}
	data := map[string]int64{} // sizes of the files that are there, by their paths
	if now := tx.Snapshot(); now != nil {
		for i := range now.Files().Len() {
			there[fileKey(now.Files(), i)] = now.Files().Add(i)
			data[now.Files().Path(i)] = now.Files().Size(i)
			if dv := now.Files().DeletionVector(i); dv != nil && dv.StorageType != protocol.VectorInline {
				if name, absolute, err := dv.Path(); err == nil && !absolute {
					vectors[name] = true
				}
			}
		}
	}
	type job struct{ from, to string }
	var jobs []job
	for i := range source.Files().Len() {
		add := source.Files().Add(i)
		if err := checkTracked(source, &add); err != nil {
			return nil, nil, 0, 0, err
		}
		add.DataChange = true
		if add.Stats, err = againWide(&add); err != nil {
			return nil, nil, 0, 0, err
		}
		from, to, err := placeOf(root, add.Path)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		add.Path = protocol.EncodePath(to)
		var vector job
		if dv := add.DeletionVector; dv != nil && dv.StorageType != protocol.VectorInline {
			name, absolute, err := dv.Path()
			if err != nil {
				return nil, nil, 0, 0, err
			}
			vector.from, vector.to = filepath.Join(root, filepath.FromSlash(name)), name
			if absolute {
				vector.from, vector.to = filepath.FromSlash(name), path.Base(name)
				target, err := TableFolder(ctx, tx.Table())
				if err != nil {
					return nil, nil, 0, 0, err
				}
				moved := *dv
				moved.PathOrInline = fileURI(target, vector.to)
				add.DeletionVector = &moved
			}
		}
		key := keyOfAdd(&add)
		if old, ok := there[key]; ok && old.Size == add.Size {
			delete(there, key)
			continue
		}
		come = append(come, add)
		if size, ok := data[add.Path]; !ok || size != add.Size { // otherwise only its vector is another
			jobs = append(jobs, job{from, to})
		}
		if vector.from != "" && !vectors[vector.to] {
			vectors[vector.to] = true
			jobs = append(jobs, vector)
		}
	}
	for _, old := range there {
		gone = append(gone, old)
	}
	for _, j := range jobs {
		tx.Wrote(j.to)
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

// placeOf is where a file lies, and its name in a copy of the table.
func placeOf(root, uri string) (from, to string, err error) {
	decoded, absolute, err := protocol.DecodePath(uri)
	switch {
	case err != nil:
		return "", "", err
	case !absolute:
		return filepath.Join(root, filepath.FromSlash(decoded)), path.Clean(decoded), nil
	case strings.Contains(decoded, "://"):
		return "", "", protocol.NewError("UNSUPPORTED_FEATURE", "the file %s is on a store that is not supported", decoded)
	}
	return filepath.FromSlash(decoded), path.Base(decoded), nil
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
