package txn

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"deltasql/protocol"
)

// staged is what a transaction will commit, as net effects: a file that it adds and removes again vanishes, of several
// vectors for one file the last counts, and so do the last protocol, metadata, and metadata of a domain.
type staged struct {
	protocol *protocol.Protocol
	metadata *protocol.Metadata
	txns     map[string]protocol.SetTransaction
	domains  map[string]protocol.DomainMetadata
	files    map[string]*stagedFile // by canonical path
	order    []string               // of files, by the place they know; some may have vanished
	changes  []protocol.AddCDCFile
	changed  map[string]bool // canonical paths of changes
	done     []Duty          // what all new files have had done; nil while there are none
}

// stagedFile is what happens to the file at one path: it is new (add), committed again (add, again), has another vector
// (remove and add), is removed (remove), or was removed and is brought back (remove, add, fresh).
type stagedFile struct {
	add    *protocol.AddFile
	remove *protocol.RemoveFile
	fresh  bool // add is a file that was not in the table
	place  int  // in the order
}

func newStaged() staged {
	return staged{txns: map[string]protocol.SetTransaction{}, domains: map[string]protocol.DomainMetadata{}, files: map[string]*stagedFile{},
		changed: map[string]bool{}}
}

func (s *staged) empty() bool {
	return s.protocol == nil && s.metadata == nil && len(s.txns) == 0 && len(s.domains) == 0 && len(s.files) == 0 && len(s.changes) == 0
}

func (s *staged) clone() staged {
	c := *s
	c.txns, c.domains = maps.Clone(s.txns), maps.Clone(s.domains)
	c.files = make(map[string]*stagedFile, len(s.files))
	for path, file := range s.files {
		copied := *file
		c.files[path] = &copied
	}
	c.order, c.changes, c.done, c.changed = slices.Clone(s.order), slices.Clone(s.changes), slices.Clone(s.done), maps.Clone(s.changed)
	return c
}

func (s *staged) counts() (adds, removes, changes int) {
	for _, file := range s.files {
		if file.add != nil {
			adds++
		}
		if file.remove != nil {
			removes++
		}
	}
	return adds, removes, len(s.changes)
}

// put stages what happens to the file at a path. A path that was staged before keeps its place.
func (s *staged) put(key string, file *stagedFile) {
	if old := s.files[key]; old != nil {
		file.place = old.place
	} else {
		file.place = len(s.order)
		s.order = append(s.order, key)
	}
	s.files[key] = file
}

// each gives the staged files in order.
func (s *staged) each() iter.Seq2[string, *stagedFile] {
	return func(yield func(string, *stagedFile) bool) {
		for place, key := range s.order {
			if file := s.files[key]; file != nil && file.place == place && !yield(key, file) {
				return
			}
		}
	}
}

// singles are the actions that are not files: metadata before protocol, as the reference has it.
func (s *staged) singles() []protocol.Action {
	var out []protocol.Action
	if s.metadata != nil {
		out = append(out, protocol.Action{Metadata: s.metadata})
	}
	if s.protocol != nil {
		out = append(out, protocol.Action{Protocol: s.protocol})
	}
	for _, t := range s.transactions() {
		out = append(out, protocol.Action{Txn: &t})
	}
	for _, d := range s.domainList() {
		out = append(out, protocol.Action{Domain: &d})
	}
	return out
}

func (s *staged) transactions() []protocol.SetTransaction {
	return slices.SortedFunc(maps.Values(s.txns), func(a, b protocol.SetTransaction) int { return cmp.Compare(a.AppID, b.AppID) })
}

func (s *staged) domainList() []protocol.DomainMetadata {
	return slices.SortedFunc(maps.Values(s.domains), func(a, b protocol.DomainMetadata) int { return cmp.Compare(a.Domain, b.Domain) })
}

// fileActions are the actions about files, in the order in which their paths were first staged, removes before adds of one
// path; removals are stamped with a time.
func (s *staged) fileActions(nowMillis int64) []protocol.Action {
	out := make([]protocol.Action, 0, len(s.order)+len(s.changes))
	for _, file := range s.each() {
		if file.remove != nil {
			remove := *file.remove
			remove.DeletionTimestamp = &nowMillis
			out = append(out, protocol.Action{Remove: &remove})
		}
		if file.add != nil {
			add := *file.add
			out = append(out, protocol.Action{Add: &add})
		}
	}
	for i := range s.changes {
		change := s.changes[i]
		out = append(out, protocol.Action{CDC: &change})
	}
	return out
}

func (s *staged) actions(nowMillis int64) []protocol.Action {
	return append(s.singles(), s.fileActions(nowMillis)...)
}

// owe adds the duties that were done for new files: only what was done for all of them counts.
func (s *staged) owe(done []Duty) {
	if s.done == nil {
		s.done = append([]Duty{}, done...)
		return
	}
	s.done = slices.DeleteFunc(s.done, func(d Duty) bool { return !slices.Contains(done, d) })
}

// Add stages new data files. done lists the duties that were discharged for their rows: all of Duties, and where the
// transaction also removes rows, ChangeRows of a table that feeds changes and RowIDs of a table that tracks rows.
// A duty that is missing fails with DELTASQL_INTERNAL, here or in Commit, so that no writer can forget one.
func (tx *Transaction) Add(files []protocol.AddFile, done []Duty) error {
	return tx.change(func() error {
		if tx.config == nil {
			return internal("files are added to %s before it has a protocol and metadata", tx.table.Name())
		}
		if duty, missing := undone(tx.config.Duties(), done); missing {
			return internal("files are added to %s without the duty %s", tx.table.Name(), duty)
		}
		for i := range files {
			add := files[i]
			if err := checkAdd(tx.config, &add); err != nil {
				return err
			}
			key := protocol.PathKey(add.Path)
			file := &stagedFile{add: &add, fresh: true}
			if old := tx.staged.files[key]; old != nil {
				if old.add != nil {
					return duplicate(add.Path, "adds")
				}
				file.remove = old.remove
				if old.remove.DeletionVector.UniqueID() == add.DeletionVector.UniqueID() {
					file.remove, file.fresh = nil, false // it was there with this vector, and is again
					tx.reads.file(add.Path)
				}
			}
			tx.staged.put(key, file)
		}
		if len(files) > 0 {
			tx.staged.owe(done)
		}
		return nil
	})
}

func duplicate(path, does string) error {
	return protocol.NewError("DELTA_DUPLICATE_ACTIONS_FOUND", "the transaction %s the file %s twice", does, path)
}

// AddAgain stages a live file again: other statistics, tags, vector bookkeeping or row ids of the same rows. The commit
// depends on the file's still being there.
func (tx *Transaction) AddAgain(add protocol.AddFile) error {
	return tx.change(func() error {
		if err := checkAdd(tx.config, &add); err != nil {
			return err
		}
		key := protocol.PathKey(add.Path)
		old := tx.staged.files[key]
		switch {
		case old == nil:
			tx.staged.put(key, &stagedFile{add: &add})
			tx.reads.file(add.Path)
		case old.add == nil:
			return internal("the file %s is removed and committed again in one transaction", add.Path)
		case old.add.DeletionVector.UniqueID() != add.DeletionVector.UniqueID():
			return internal("the file %s is committed again with another deletion vector; that is an update", add.Path)
		default:
			add.DataChange = add.DataChange || old.add.DataChange
			tx.staged.put(key, &stagedFile{add: &add, remove: old.remove, fresh: old.fresh})
		}
		return nil
	})
}

// Remove stages the removal of live files, as Snapshot or View has them. A file that the transaction added itself vanishes.
func (tx *Transaction) Remove(dataChange bool, files ...protocol.AddFile) error {
	return tx.change(func() error {
		if tx.config == nil {
			return internal("files are removed from %s before it is made", tx.table.Name())
		}
		for i := range files {
			add := &files[i]
			key := protocol.PathKey(add.Path)
			old := tx.staged.files[key]
			switch {
			case old == nil:
				if err := tx.checkRemove(dataChange); err != nil {
					return err
				}
				tx.staged.put(key, &stagedFile{remove: removal(add, dataChange)})
			case old.add == nil:
				return duplicate(add.Path, "removes")
			case old.fresh && old.remove == nil:
				delete(tx.staged.files, key)
			default:
				if err := tx.checkRemove(dataChange); err != nil {
					return err
				}
				remove := removal(old.add, dataChange) // right for one that was only committed again
				if old.remove != nil {
					*remove = *old.remove // which savepoints may hold too
					remove.DataChange = remove.DataChange || dataChange
				}
				tx.staged.put(key, &stagedFile{remove: remove})
			}
		}
		return nil
	})
}

// checkRemove holds removals that change data against append-only tables.
func (tx *Transaction) checkRemove(dataChange bool) error {
	if dataChange && tx.config.Active("appendOnly") {
		return appendOnly(tx.table.Name())
	}
	return nil
}

func appendOnly(table string) error {
	return protocol.NewError("DELTA_CANNOT_MODIFY_APPEND_ONLY", "the table %s is append-only: its rows can be neither changed nor deleted", table).
		WithTable(table).WithHint("set its property delta.appendOnly to false first")
}

// removal is the remove action of a live file. What it copies of the add serves those who do not have that any more: change
// feeds, row tracking, and writers who must tell whether the removed rows concern them (statistics).
func removal(add *protocol.AddFile, dataChange bool) *protocol.RemoveFile {
	extended, size := true, add.Size
	return &protocol.RemoveFile{
		Path: add.Path, DataChange: dataChange, ExtendedFileMetadata: &extended,
		PartitionValues: add.PartitionValues, Size: &size, Stats: add.Stats, Tags: add.Tags, DeletionVector: add.DeletionVector,
		BaseRowID: add.BaseRowID, DefaultRowCommitVersion: add.DefaultRowCommitVersion,
	}
}

// UpdateVector stages another deletion vector for a live file: old is the file as Snapshot or View has it, dv the vector
// that hides what the old one does and more, stats the statistics with tightBounds false. A file whose rows are all deleted
// is removed instead.
func (tx *Transaction) UpdateVector(old protocol.AddFile, dv protocol.DeletionVector, stats string) error {
	return tx.change(func() error {
		if tx.config == nil {
			return internal("rows are deleted from %s before it is made", tx.table.Name())
		}
		if err := tx.checkRemove(true); err != nil {
			return err
		}
		add := old
		add.DeletionVector, add.Stats, add.DataChange = &dv, stats, true
		if err := checkNewVector(tx.config, &add, old.DeletionVector); err != nil {
			return err
		}
		if err := checkAdd(tx.config, &add); err != nil {
			return err
		}
		key := protocol.PathKey(add.Path)
		file := tx.staged.files[key]
		switch {
		case file == nil:
			tx.staged.put(key, &stagedFile{add: &add, remove: removal(&old, true)})
		case file.add == nil:
			return internal("rows of the file %s are deleted after it was removed", add.Path)
		case file.add.DeletionVector.UniqueID() != old.DeletionVector.UniqueID():
			return internal("the file %s has another deletion vector by now", add.Path)
		case file.fresh || file.remove != nil:
			tx.staged.put(key, &stagedFile{add: &add, remove: file.remove, fresh: file.fresh})
		default:
			tx.staged.put(key, &stagedFile{add: &add, remove: removal(&old, true)}) // it was committed again before
		}
		return nil
	})
}

// AddChangeFile stages a file of change rows.
func (tx *Transaction) AddChangeFile(change protocol.AddCDCFile) error {
	return tx.change(func() error {
		if tx.config == nil || !tx.config.Active("changeDataFeed") {
			return internal("change rows are written for %s, which feeds no changes", tx.table.Name())
		}
		if err := checkPath(change.Path); err != nil {
			return err
		}
		if err := checkPartition(tx.config, change.Path, change.PartitionValues); err != nil {
			return err
		}
		key := protocol.PathKey(change.Path)
		if tx.staged.changed[key] || tx.staged.files[key] != nil {
			return duplicate(change.Path, "adds")
		}
		change.DataChange, tx.staged.changed[key] = false, true
		tx.staged.changes = append(tx.staged.changes, change)
		return nil
	})
}
