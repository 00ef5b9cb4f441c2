package log

import (
	"maps"
	"slices"

	"deltasql/protocol"
)

// Overlay gives the snapshot that a commit would make of this one: what a transaction sees of its own writes before it
// commits. The commit's Version counts as the snapshot's. Any number of overlays can be made of a snapshot, at the same
// time too, and neither it (L3) nor they see each other.
//
// An overlay stands outside the log: its Segment is empty, and Tombstones of it are refused.
func (s *Snapshot) Overlay(commit Commit) (*Snapshot, error) {
	state := s.state.fork()
	applied := commit.parsed("the open transaction")
	state.index = newPartialIndex(state.columns, applied)
	if err := state.applyCommit(applied); err != nil {
		return nil, s.table.explain(err)
	}
	state.index = nil
	config := s.config
	if state.protocol != s.state.protocol || state.metadata != s.state.metadata {
		var err error
		if config, err = protocol.NewTableConfig(*state.protocol, *state.metadata); err != nil {
			return nil, s.table.explain(err)
		}
	}
	files, err := state.files()
	if err != nil {
		return nil, s.table.explain(err)
	}
	return &Snapshot{
		table: s.table, version: commit.Version, timestamp: commit.TimestampMillis, config: config, files: files,
		segment: &Segment{Version: commit.Version}, state: state, warnings: slices.Clip(state.warnings), overlay: true,
	}, nil
}

// fork is extend for a state that others extend at the same time: what extend shares with the one next state is copied
// when it is first written to.
//
// The index is not even looked at: it moves to the next state, under the table's lock.
func (s *state) fork() *state {
	return &state{
		version: s.version, protocol: s.protocol, metadata: s.metadata, txns: maps.Clone(s.txns), domains: maps.Clone(s.domains),
		columns: s.columns.fork(), dead: slices.Clone(s.dead), deadRows: s.deadRows,
		sizeBytes: s.sizeBytes, vectors: s.vectors, deleted: s.deleted, totals: s.totals.clone(), warnings: slices.Clip(s.warnings),
	}
}

// fork gives columns that can be appended to although the original has a clone already.
func (c *columns) fork() *columns {
	fork := &columns{chunks: slices.Clone(c.chunks), rows: c.rows, tuples: c.tuples.fork(), providers: slices.Clip(c.providers)}
	if last := len(fork.chunks) - 1; last >= 0 {
		k := *fork.chunks[last]
		for _, text := range []*textColumn{&k.path, &k.stats, &k.tags} {
			text.data, text.ends = slices.Clip(text.data), slices.Clip(text.ends)
		}
		k.size, k.modification, k.tuple = slices.Clip(k.size), slices.Clip(k.modification), slices.Clip(k.tuple)
		k.baseRowID, k.rowCommitVersion = slices.Clip(k.baseRowID), slices.Clip(k.rowCommitVersion)
		k.provider, k.vectors = slices.Clip(k.provider), slices.Clip(k.vectors)
		fork.chunks[last] = &k
	}
	return fork
}

// fork makes its own map: the shared one belongs to the table's lock.
func (t *tuples) fork() *tuples {
	fork := &tuples{values: slices.Clip(t.values), encoded: slices.Clip(t.encoded), codes: make(map[string]uint32, len(t.encoded))}
	for code, encoded := range t.encoded {
		fork.codes[encoded] = uint32(code)
	}
	return fork
}

// newPartialIndex makes an index of those rows only whose keys a commit names, which is all that applying it looks for.
func newPartialIndex(c *columns, applied *commit) *fileIndex {
	index := &fileIndex{slots: make([]uint64, slotsFor(applied.adds+applied.removes))}
	named := make(map[uint64]bool, applied.adds+applied.removes)
	for i := range applied.actions {
		switch action := &applied.actions[i]; {
		case action.Add != nil:
			named[keyOf([]byte(action.Add.Path), action.Add.DeletionVector).hash()] = true
		case action.Remove != nil:
			named[keyOf([]byte(action.Remove.Path), action.Remove.DeletionVector).hash()] = true
		}
	}
	if len(named) == 0 {
		return index
	}
	for row := range c.rows {
		if key := keyOf(c.path(row), c.vector(row)); named[key.hash()] {
			index.swap(c, row, key)
		}
	}
	return index
}
