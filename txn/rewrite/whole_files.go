package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// What this file does is about whole files, which are neither read nor written: which of them one version of a table has and
// another has not, and whether they are there.

// Difference gives the files that must come and those that must go so that one snapshot has the files of another. Files with
// another vector count as others.
func Difference(now, then *log.Snapshot) (come, gone []protocol.AddFile, err error) {
	has := make(map[string]bool, now.Files().Len())
	for i := range now.Files().Len() {
		has[fileKey(now.Files(), i)] = true
	}
	for i := range then.Files().Len() {
		key := fileKey(then.Files(), i)
		if has[key] {
			has[key] = false // it stays
			continue
		}
		add := then.Files().Add(i)
		add.DataChange = true
		if add.Stats, err = againWide(&add); err != nil {
			return nil, nil, err
		}
		come = append(come, add)
	}
	for i := range now.Files().Len() {
		if has[fileKey(now.Files(), i)] {
			gone = append(gone, now.Files().Add(i))
		}
	}
	return come, gone, nil
}

// fileKey tells files apart as log replay does.
func fileKey(files *log.Files, i int) string {
	return protocol.PathKey(files.Path(i)) + "\x00" + files.DeletionVector(i).UniqueID()
}

// againWide are the statistics of a file that is added again: with a vector their bounds are said to be wide, also where another
// writer had made them anew for the rows that are left.
func againWide(add *protocol.AddFile) (string, error) {
	if add.DeletionVector == nil || add.Stats == "" {
		return add.Stats, nil
	}
	var s struct {
		NumRecords  *int64 `json:"numRecords"`
		TightBounds *bool  `json:"tightBounds"`
	}
	if err := json.Unmarshal([]byte(add.Stats), &s); err != nil || s.NumRecords == nil || s.TightBounds != nil && !*s.TightBounds {
		return add.Stats, nil // what is wrong with them is said where they are staged
	}
	return wideStatistics(add.Stats, *s.NumRecords, add.DeletionVector.Cardinality)
}

// Exchange stages that files come and others go, with their rows as they are: the duties of the rows were done when the files were
// written, and readers of changes see rows come and go.
func Exchange(tx *txn.Transaction, come, gone []protocol.AddFile) error {
	if err := tx.Remove(true, gone...); err != nil {
		return err
	}
	return tx.Add(come, append(tx.Duties(), txn.Duty{Kind: txn.ChangeRows}, txn.Duty{Kind: txn.RowIDs}))
}

// MissingFile is a file of a table that is not on the store, or whose vector is not.
type MissingFile struct {
	Add                        protocol.AddFile
	DataMissing, VectorMissing bool
	Vector                     string // the vector's file, "" without one
}

// Missing finds the files that are not there, in the order given, up to limit of them (0: all). done is told now and then how many
// were looked at, from several goroutines; it may be nil.
func Missing(ctx context.Context, table *log.Table, files func(i int) protocol.AddFile, n, limit int, done func(int)) ([]MissingFile, error) {
	var mu sync.Mutex
	found := map[int]MissingFile{}
	looked := 0
	errEnough := errors.New("enough")
	err := inParallel(ctx, n, func(i int) error {
		add := files(i)
		m := MissingFile{Add: add}
		there, err := exists(ctx, table, add.Path)
		if err != nil {
			return err
		}
		m.DataMissing = !there
		if dv := add.DeletionVector; dv != nil && dv.StorageType != protocol.VectorInline {
			path, absolute, err := dv.Path()
			if err != nil {
				return err
			}
			m.Vector = path
			if there, err = existsDecoded(ctx, table, path, absolute); err != nil {
				return err
			}
			m.VectorMissing = !there
		}
		mu.Lock()
		defer mu.Unlock()
		if looked++; done != nil && looked%256 == 0 {
			done(looked)
		}
		if m.DataMissing || m.VectorMissing {
			found[i] = m
			if limit > 0 && len(found) == limit {
				return errEnough
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	numbers := make([]int, 0, len(found))
	for i := range found {
		numbers = append(numbers, i)
	}
	slices.Sort(numbers)
	missing := make([]MissingFile, len(numbers))
	for k, i := range numbers {
		missing[k] = found[i]
	}
	return missing, nil
}

// exists tells whether a file of the log's spelling is there.
func exists(ctx context.Context, table *log.Table, path string) (bool, error) {
	decoded, absolute, err := protocol.DecodePath(path)
	if err != nil {
		return false, err
	}
	return existsDecoded(ctx, table, decoded, absolute)
}

func existsDecoded(ctx context.Context, table *log.Table, path string, absolute bool) (bool, error) {
	var err error
	if !absolute {
		_, err = table.Store().Stat(ctx, path)
	} else if strings.Contains(path, "://") {
		return false, protocol.NewError("UNSUPPORTED_FEATURE", "the file %s of the table %s is on a store that is not supported", path, table.Name()).WithTable(table.Name())
	} else {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false, err
	}
	return false, protocol.NewError("DELTASQL_STORAGE", "the file %s of the table %s cannot be looked at", path, table.Name()).WithTable(table.Name()).WithCause(err)
}

// Readable reads every value of a file, to see whether that can be done.
func Readable(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, number int32) error {
	relation, sql, err := keptRows(ctx, in, snapshot, scan.Subset{Only: []int32{number}}, false, 1)
	if err != nil {
		return err
	}
	defer relation.Release()
	stream, err := in.Query(ctx, sql, relation.Args...)
	if err != nil {
		return relation.Diagnose(err)
	}
	defer stream.Close()
	rows := int64(0)
	err = eachBatch(ctx, stream, func(batch *duck.Batch) error {
		rows += int64(batch.Len())
		return nil
	})
	if known, ok := snapshot.Files().NumRecords(int(number)); err == nil && ok && rows != known-snapshot.Files().DeletedRows(int(number)) {
		return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the file %s has %d rows, and the log says otherwise", snapshot.Files().Path(int(number)), rows)
	}
	return relation.Diagnose(err)
}
