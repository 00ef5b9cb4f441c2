package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// replayedState is a table's state by the plainest replay: one commit after the other, newest action of a key wins.
type replayedState struct {
	version  int64
	protocol *protocol.Protocol
	metadata *protocol.Metadata
	config   *protocol.TableConfig // of the two; nil where they do not fit together
	files    map[fileIdentity]protocol.AddFile
	vectors  map[string]string // by path, the vector under which it is live
	txns     map[string]protocol.SetTransaction
	domains  map[string]protocol.DomainMetadata
	time     int64 // the newest in-commit timestamp, 0 for none
}

// fileIdentity is the key of a logical file.
type fileIdentity struct{ path, vector string }

func identityOf(path string, vector *protocol.DeletionVector) fileIdentity {
	id := fileIdentity{path: path}
	if canonical, err := protocol.CanonicalPath(path); err == nil {
		id.path = canonical
	}
	if vector != nil {
		id.vector = vector.UniqueID()
	}
	return id
}

func emptyState() *replayedState {
	return &replayedState{
		version: -1, files: map[fileIdentity]protocol.AddFile{}, vectors: map[string]string{},
		txns: map[string]protocol.SetTransaction{}, domains: map[string]protocol.DomainMetadata{},
	}
}

// stateOf takes over what a snapshot has, for logs whose first commits are gone.
func stateOf(s *log.Snapshot) *replayedState {
	r := emptyState()
	r.version, r.config = s.Version(), s.Config()
	r.protocol, r.metadata = &r.config.Protocol, &r.config.Metadata
	r.txns, r.domains = s.Transactions(), s.Domains()
	files := s.Files()
	for i := range files.Len() {
		add := files.Add(i)
		id := identityOf(add.Path, add.DeletionVector)
		r.files[id], r.vectors[id.path] = add, id.vector
	}
	return r
}

// replay goes through all versions that the log has and checks commits, checkpoints and checksums against each other. It gives the
// newest state, nil where that cannot be had.
func (c *checker) replay(ctx context.Context) (*replayedState, error) {
	state := emptyState()
	versions := c.listed.versions()
	last, first := int64(-1), true
	for n, version := range versions {
		c.options.Progress("versions", n, len(versions))
		commit, committed := c.listed.commits[version]
		if committed {
			if !first && version > last+1 {
				c.fault(logPrefix+protocol.CommitName(last+1), "the commit is missing: version %d is followed by version %d", last, version)
			}
			first, last = false, version
			if state != nil && state.version != version-1 {
				state = nil
			}
			actions, err := ReadActions(ctx, c.target.Files, commit)
			switch {
			case err != nil:
				state = nil
				if err := c.failed(ctx, commit, err); err != nil {
					return nil, err
				}
			default:
				c.checkCommit(commit, version, actions, state)
				if state != nil {
					c.apply(state, commit, version, actions)
				}
			}
		}
		for _, checkpoint := range c.listed.checkpoints[version] {
			snapshot, err := c.readCheckpoint(ctx, version, checkpoint)
			switch {
			case err != nil:
				if err := c.failed(ctx, checkpoint.files[0], err); err != nil {
					return nil, err
				}
			case state != nil && state.version == version:
				for _, difference := range state.differences(snapshot) {
					c.fault(checkpoint.files[0], "the checkpoint differs from the replay of the commits: %s", difference)
				}
			default:
				state = stateOf(snapshot)
			}
		}
		if name, ok := c.listed.checksums[version]; ok && state != nil && state.version == version {
			if err := c.checkChecksum(ctx, name, state); err != nil {
				return nil, err
			}
		}
	}
	for _, compaction := range c.listed.compactions {
		if err := c.checkCompaction(ctx, compaction); err != nil {
			return nil, err
		}
	}
	if state == nil || state.version != last || state.config == nil {
		return nil, nil
	}
	return state, nil
}

// ReadActions parses a file of actions, by itself: what the rest of the log is like does not matter.
func ReadActions(ctx context.Context, files store.Store, name string) ([]protocol.Action, error) {
	data, err := files.Read(ctx, name, maxCommitBytes)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it holds no action")
	}
	var actions []protocol.Action
	for action, err := range protocol.ParseActions(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))) {
		if err != nil {
			return nil, err
		}
		actions = append(actions, action)
	}
	return actions, nil
}

// readCheckpoint reads a version from one checkpoint and nothing else.
func (c *checker) readCheckpoint(ctx context.Context, version int64, checkpoint logCheckpoint) (*log.Snapshot, error) {
	commit := c.listed.commits[version]
	view := withheld{Store: c.target.Files, shows: func(name string) bool { return name == commit || slices.Contains(checkpoint.files, name) }}
	return c.open(view).SnapshotAt(ctx, version)
}

// apply makes the state that of the next version.
func (c *checker) apply(s *replayedState, file string, version int64, actions []protocol.Action) {
	s.version = version
	changed := false
	for i := range actions {
		switch a := &actions[i]; {
		case a.Protocol != nil:
			s.protocol, changed = a.Protocol, true
		case a.Metadata != nil:
			s.metadata, changed = a.Metadata, true
		case a.Txn != nil:
			s.txns[a.Txn.AppID] = *a.Txn
		case a.Domain != nil && a.Domain.Removed:
			delete(s.domains, a.Domain.Domain)
		case a.Domain != nil:
			s.domains[a.Domain.Domain] = *a.Domain
		case a.Remove != nil:
			id := identityOf(a.Remove.Path, a.Remove.DeletionVector)
			if _, live := s.files[id]; live {
				delete(s.files, id)
				if s.vectors[id.path] == id.vector {
					delete(s.vectors, id.path)
				}
			}
		}
	}
	for i := range actions {
		if add := actions[i].Add; add != nil {
			id := identityOf(add.Path, add.DeletionVector)
			s.files[id], s.vectors[id.path] = *add, id.vector
		}
	}
	if changed && s.protocol != nil && s.metadata != nil {
		config, err := protocol.NewTableConfig(*s.protocol, *s.metadata)
		if err != nil {
			c.fault(file, "protocol and metadata do not fit together: %v", err)
		}
		s.config = config
	}
}

// maxDifferences bounds what is said of one pair of states.
const maxDifferences = 5

// differences says in what a snapshot differs from the state.
func (r *replayedState) differences(s *log.Snapshot) []string {
	var found []string
	say := func(format string, args ...any) {
		if len(found) < maxDifferences {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	config := s.Config()
	if r.protocol == nil || !r.protocol.Equal(config.Protocol) {
		say("another protocol")
	}
	if r.metadata == nil || !sameMetadata(r.metadata, &config.Metadata) {
		say("another metaData")
	}
	files := s.Files()
	seen := make(map[fileIdentity]bool, files.Len())
	for i := range files.Len() {
		id := identityOf(files.Path(i), files.DeletionVector(i))
		add, live := r.files[id]
		switch {
		case !live:
			say("it has the file %s, which the commits do not", files.Path(i))
		case seen[id]:
			say("it has the file %s twice", files.Path(i))
		case add.Size != files.Size(i):
			say("the file %s has size %d there and %d in its commit", files.Path(i), files.Size(i), add.Size)
		case !samePartition(add.PartitionValues, files.Add(i).PartitionValues):
			say("the file %s has other partition values than in its commit", files.Path(i))
		case !sameRowIDs(&add, files, i):
			say("the file %s has other row ids than in its commit", files.Path(i))
		}
		seen[id] = true
	}
	if lacking := len(r.files) - len(seen); lacking > 0 {
		for id, add := range r.files {
			if !seen[id] {
				say("it lacks %d files of the commits, such as %s", lacking, add.Path)
				break
			}
		}
	}
	transactions := s.Transactions()
	for app, txn := range r.txns {
		there, ok := transactions[app]
		if !ok && config.Property("delta.setTransactionRetentionDuration") != "" {
			continue // it may have expired
		}
		if !ok || there.Version != txn.Version {
			say("the transaction of application %s differs", app)
		}
	}
	if !maps.Equal(r.domains, s.Domains()) {
		say("other domains")
	}
	return found
}

func sameRowIDs(add *protocol.AddFile, files *log.Files, i int) bool {
	same := func(want *int64, got int64, ok bool) bool {
		return (want != nil) == ok && (want == nil || *want == got)
	}
	base, hasBase := files.BaseRowID(i)
	version, hasVersion := files.DefaultRowCommitVersion(i)
	return same(add.BaseRowID, base, hasBase) && same(add.DefaultRowCommitVersion, version, hasVersion)
}

func sameMetadata(a, b *protocol.Metadata) bool {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return a.ID == b.ID && sameSchema(a.SchemaString, b.SchemaString) && slices.Equal(a.PartitionColumns, b.PartitionColumns) &&
		maps.Equal(a.Configuration, b.Configuration) && text(a.Name) == text(b.Name) && text(a.Description) == text(b.Description)
}

// sameSchema compares by meaning: blanks and the order of members say nothing.
func sameSchema(a, b string) bool {
	if a == b {
		return true
	}
	x, xErr := protocol.ParseSchema(a)
	y, yErr := protocol.ParseSchema(b)
	return xErr == nil && yErr == nil && x.JSON() == y.JSON()
}

// samePartition compares by what the values mean: "" is NULL.
func samePartition(a, b map[string]*string) bool {
	return maps.EqualFunc(a, b, func(x, y *string) bool {
		return x == y || x != nil && y != nil && *x == *y || (x == nil || *x == "") && (y == nil || *y == "")
	})
}
