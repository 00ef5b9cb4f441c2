package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/store"
)

const logFolder = protocol.LogFolder + "/"

// listing is what a log folder holds, from some version on; files that are not the log's are left out, and so are staged
// commits, whose existence proves nothing, checkpoints that are incomplete, and checkpoints of no bytes.
type listing struct {
	commits     []logFile // ascending
	compactions []logFile // ascending by start, longest first
	checkpoints []checkpoint
	checksums   map[int64]logFile
	fromStart   bool // nothing was skipped
}

// checkpoint is one complete checkpoint: one file, or all parts in order.
type checkpoint struct {
	version int64
	files   []logFile
}

func (c *checkpoint) name() string { return c.files[0].Name }

func (c *checkpoint) kind() protocol.LogFileKind { return c.files[0].Kind }

// list reads the log folder from a version on; 0 is the start. A folder that is not there gives an empty listing.
func list(ctx context.Context, st store.Store, from int64) (*listing, error) {
	l := &listing{checksums: map[int64]logFile{}, fromStart: from == 0}
	after := ""
	if from > 0 {
		after = logFolder + protocol.VersionName(from) // every name of the version is longer
	}
	parts := map[[2]int64][]logFile{} // by version and number of parts
	for info, err := range st.List(ctx, logFolder, after) {
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, storageError(logFolder, err)
		}
		parsed, ok := protocol.ParseLogFile(strings.TrimPrefix(info.Name, logFolder))
		if !ok {
			continue
		}
		file := logFile{info, parsed}
		switch parsed.Kind {
		case protocol.LogCommit:
			l.commits = append(l.commits, file)
		case protocol.LogCompaction:
			l.compactions = append(l.compactions, file)
		case protocol.LogChecksum:
			l.checksums[parsed.Version] = file
		case protocol.LogCheckpoint, protocol.LogUUIDCheckpoint:
			if info.Size > 0 {
				l.checkpoints = append(l.checkpoints, checkpoint{parsed.Version, []logFile{file}})
			}
		case protocol.LogMultipartCheckpoint:
			if info.Size > 0 {
				key := [2]int64{parsed.Version, int64(parsed.Parts)}
				parts[key] = append(parts[key], file)
			}
		}
	}
	for key, files := range parts {
		if int64(len(files)) == key[1] {
			slices.SortFunc(files, func(a, b logFile) int { return cmp.Compare(a.Part, b.Part) })
			l.checkpoints = append(l.checkpoints, checkpoint{key[0], files})
		}
	}
	slices.SortFunc(l.checkpoints, func(a, b checkpoint) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(preference(a), preference(b)), cmp.Compare(a.name(), b.name()))
	})
	slices.SortFunc(l.compactions, func(a, b logFile) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(b.EndVersion, a.EndVersion))
	})
	return l, nil
}

// preference orders checkpoints of one version, the best last. All stand for the same state; the order is that of most
// information: V2 by UUID, a single file, parts.
func preference(c checkpoint) int {
	switch c.kind() {
	case protocol.LogUUIDCheckpoint:
		return 2
	case protocol.LogCheckpoint:
		return 1
	}
	return 0
}

// empty tells that the folder holds no log.
func (l *listing) empty() bool { return len(l.commits) == 0 && len(l.checkpoints) == 0 }

// latest is the newest version that the listing shows, -1 for none.
func (l *listing) latest() int64 {
	latest := int64(-1)
	if n := len(l.commits); n > 0 {
		latest = l.commits[n-1].Version
	}
	if n := len(l.checkpoints); n > 0 {
		latest = max(latest, l.checkpoints[n-1].version)
	}
	return latest
}

// commit finds the commit file of a version.
func (l *listing) commit(version int64) (logFile, bool) {
	at, found := slices.BinarySearchFunc(l.commits, version, func(f logFile, v int64) int { return cmp.Compare(f.Version, v) })
	if !found {
		return logFile{}, false
	}
	return l.commits[at], true
}

// earliest is the oldest version that can be rebuilt: 0 if the log begins there, else the oldest complete checkpoint
// that the commits continue; the newest version where there is nothing else.
func (l *listing) earliest() int64 {
	if len(l.commits) > 0 && l.commits[0].Version == 0 {
		return 0
	}
	if len(l.checkpoints) > 0 {
		return l.checkpoints[0].version
	}
	return l.latest()
}

// Segment is the set of files that rebuild one version.
type Segment struct {
	Version int64
	// checkpoint is where replay starts; nil for an empty state.
	checkpoint *checkpoint
	// replayed are the commits after the checkpoint, ascending and without a gap, some replaced by compactions.
	replayed []logFile
	// commit is the version's own commit file, checksum its .crc; the Names are empty where there is none.
	commit, checksum logFile
}

// Files are the names of the segment's files, relative to the table, in the order of replay.
func (s *Segment) Files() []string {
	var names []string
	if s.checkpoint != nil {
		for _, file := range s.checkpoint.files {
			names = append(names, file.Name)
		}
	}
	for _, file := range s.replayed {
		names = append(names, file.Name)
	}
	return names
}

// errIncomplete says that a listing does not show the files of a version; more of the log must be listed, or it is gone.
var errIncomplete = errors.New("the log does not go back far enough")

// segment chooses the files that rebuild a version, which may be latestVersion; files whose names are in the set are
// passed over. Of several ways it takes the newest checkpoint.
func (l *listing) segment(version int64, excluded map[string]bool) (*Segment, error) {
	if version == latestVersion {
		version = l.latest()
	}
	segment := &Segment{Version: version, checksum: l.checksums[version]}
	segment.commit, _ = l.commit(version)
	var firstErr error
	for i := len(l.checkpoints) - 1; i >= 0; i-- {
		candidate := &l.checkpoints[i]
		if candidate.version > version || excluded[candidate.name()] {
			continue
		}
		replayed, err := l.replayed(candidate.version, version, excluded)
		if err == nil {
			segment.checkpoint, segment.replayed = candidate, replayed
			return segment, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	replayed, err := l.replayed(-1, version, excluded)
	if err != nil {
		return nil, cmp.Or(firstErr, err)
	}
	segment.replayed = replayed
	return segment, nil
}

// replayed covers the versions after one up to another by commits and compactions, taking the longest compaction that fits.
func (l *listing) replayed(after, version int64, excluded map[string]bool) ([]logFile, error) {
	if after == version {
		return nil, nil
	}
	at, _ := slices.BinarySearchFunc(l.commits, after+1, func(f logFile, v int64) int { return cmp.Compare(f.Version, v) })
	replayed := make([]logFile, 0, max(0, min(int64(len(l.commits)-at), version-after)))
	for next := after + 1; next <= version; {
		if compaction, ok := l.compaction(next, version, excluded); ok {
			replayed = append(replayed, compaction)
			next = compaction.EndVersion + 1
			for at < len(l.commits) && l.commits[at].Version < next {
				at++
			}
			continue
		}
		if at == len(l.commits) || l.commits[at].Version != next {
			return nil, l.gap(after, next, at)
		}
		replayed = append(replayed, l.commits[at])
		at++
		next++
	}
	return replayed, nil
}

// compaction gives the longest compaction file from a version on that does not reach beyond another.
func (l *listing) compaction(from, version int64, excluded map[string]bool) (logFile, bool) {
	at, _ := slices.BinarySearchFunc(l.compactions, from, func(f logFile, v int64) int { return cmp.Compare(f.Version, v) })
	for ; at < len(l.compactions) && l.compactions[at].Version == from; at++ {
		if file := l.compactions[at]; file.EndVersion <= version && file.Size > 0 && !excluded[file.Name] {
			return file, true
		}
	}
	return logFile{}, false
}

// gap says why the commit `missing` is not among the commits after a version; at is where it would be.
func (l *listing) gap(after, missing int64, at int) error {
	if missing == 0 {
		return errIncomplete
	}
	before := fmt.Sprintf("commit %d", missing-1)
	if missing == after+1 {
		before = fmt.Sprintf("checkpoint %d", after)
	}
	next := "the end of the log"
	if at < len(l.commits) {
		next = fmt.Sprintf("commit %d", l.commits[at].Version)
	}
	return protocol.NewError("DELTA_VERSIONS_NOT_CONTIGUOUS", "%s is missing from the log: %s is followed by %s",
		named(protocol.CommitName(missing)), before, next).
		WithHint("restore the missing commit file, or read an older version")
}
