package check

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/store"
)

const logPrefix = protocol.LogFolder + "/"

// logListing is the log's folder by kinds of files.
type logListing struct {
	commits     map[int64]string // names by version
	checksums   map[int64]string
	checkpoints map[int64][]logCheckpoint // complete ones
	compactions []logFileName
	hint        bool
}

// logCheckpoint is a complete checkpoint: its files in order.
type logCheckpoint struct{ files []string }

type logFileName struct {
	name string
	protocol.LogFile
}

// versions are all versions that have a commit, a checkpoint or a checksum, ascending.
func (l *logListing) versions() []int64 {
	all := map[int64]bool{}
	for v := range l.commits {
		all[v] = true
	}
	for v := range l.checkpoints {
		all[v] = true
	}
	for v := range l.checksums {
		all[v] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// list reads the log's folder and reports what does not belong there.
func (c *checker) list(ctx context.Context) error {
	l := logListing{commits: map[int64]string{}, checksums: map[int64]string{}, checkpoints: map[int64][]logCheckpoint{}}
	parts := map[[2]int64]map[int]string{}
	for info, err := range c.target.Files.List(ctx, logPrefix, "") {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "the log of %s cannot be listed", c.target.Name).WithCause(err)
		}
		base := strings.TrimPrefix(info.Name, logPrefix)
		if base == "" || base[0] == '.' || base[0] == '_' && base != protocol.LastCheckpointName {
			continue // temporary files, other products' own, and the folders of sidecars and staged commits
		}
		file, ok := protocol.ParseLogFile(base)
		if !ok {
			c.fault(info.Name, "the name is none that the log knows")
			continue
		}
		if info.Size == 0 {
			c.fault(info.Name, "the file is empty")
			if file.Kind != protocol.LogCommit {
				continue
			}
		}
		switch file.Kind {
		case protocol.LogCommit:
			l.commits[file.Version] = info.Name
		case protocol.LogChecksum:
			l.checksums[file.Version] = info.Name
		case protocol.LogCompaction:
			l.compactions = append(l.compactions, logFileName{info.Name, file})
		case protocol.LogCheckpoint, protocol.LogUUIDCheckpoint:
			l.checkpoints[file.Version] = append(l.checkpoints[file.Version], logCheckpoint{[]string{info.Name}})
		case protocol.LogMultipartCheckpoint:
			key := [2]int64{file.Version, int64(file.Parts)}
			if parts[key] == nil {
				parts[key] = map[int]string{}
			}
			parts[key][file.Part] = info.Name
		case protocol.LogLastCheckpoint:
			l.hint = true
		}
	}
	for key, files := range parts {
		names := make([]string, 0, len(files))
		for _, part := range slices.Sorted(maps.Keys(files)) {
			names = append(names, files[part])
		}
		if int64(len(files)) < key[1] {
			c.fault(names[0], "the checkpoint of version %d is incomplete: %d of its %d parts are there", key[0], len(files), key[1])
			continue
		}
		l.checkpoints[key[0]] = append(l.checkpoints[key[0]], logCheckpoint{names})
	}
	c.listed = l
	return nil
}

// maxHintBytes and maxChecksumBytes bound files that are read whole.
const (
	maxHintBytes     = 16 << 20
	maxChecksumBytes = 1 << 30
	maxCommitBytes   = 2 << 30
)

// checkHint compares _last_checkpoint with the checkpoints that are there.
func (c *checker) checkHint(ctx context.Context) error {
	if !c.listed.hint {
		return nil
	}
	const name = logPrefix + protocol.LastCheckpointName
	data, err := c.target.Files.Read(ctx, name, maxHintBytes)
	if err != nil {
		return c.failed(ctx, name, err)
	}
	hint, err := protocol.ParseLastCheckpoint(data)
	if err != nil {
		return c.failed(ctx, name, err)
	}
	checkpoints := c.listed.checkpoints[hint.Version]
	if len(checkpoints) == 0 {
		c.fault(name, "it names version %d, which has no complete checkpoint", hint.Version)
		return nil
	}
	if hint.Parts != nil && !slices.ContainsFunc(checkpoints, func(k logCheckpoint) bool { return int64(len(k.files)) == *hint.Parts }) {
		c.fault(name, "it says that the checkpoint of version %d has %d parts, and none there has", hint.Version, *hint.Parts)
	}
	return nil
}

// withheld is a store that shows only some of the log's files, so that a version can be read from chosen ones alone.
type withheld struct {
	store.Store
	shows func(name string) bool
}

func (w withheld) List(ctx context.Context, folder, startAfter string) iter.Seq2[store.FileInfo, error] {
	return func(yield func(store.FileInfo, error) bool) {
		for info, err := range w.Store.List(ctx, folder, startAfter) {
			if err == nil && folder == logPrefix && !info.IsFolder() && !w.shows(info.Name) {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (w withheld) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	if name == logPrefix+protocol.LastCheckpointName {
		return nil, errors.Join(store.ErrNotFound, errors.New(name))
	}
	return w.Store.Read(ctx, name, limit)
}
