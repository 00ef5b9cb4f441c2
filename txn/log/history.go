package log

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"

	"deltasql/protocol"
)

// infoBytes is how much of a commit is read to find its commitInfo, which writers put first.
const infoBytes = 64 << 10

// Commit is one version as its commit file tells it.
type Commit struct {
	Version int64
	// TimestampMillis is the in-commit timestamp from the version on at which that was enabled, else the time of the file,
	// moved so that each commit is at least a millisecond later than the one before.
	TimestampMillis int64
	Info            *protocol.CommitInfo // nil where the commit has none
	Actions         []protocol.Action    // Table.Commits only; commitInfo is not among them
}

// History gives the newest versions first, at most limit of them (0: all that the log still has).
func (t *Table) History(ctx context.Context, limit int) ([]Commit, error) {
	clock, err := t.clock(ctx)
	if err != nil {
		return nil, err
	}
	n := len(clock.commits)
	if limit > 0 {
		n = min(n, limit)
	}
	files := clock.commits[len(clock.commits)-n:]
	infos, err := t.readInfos(ctx, files)
	if err != nil {
		return nil, t.explain(err)
	}
	history := make([]Commit, n)
	for i, file := range files {
		at := n - 1 - i
		history[at] = Commit{Version: file.Version, Info: infos[i]}
		if history[at].TimestampMillis, err = clock.time(len(clock.commits)-n+i, infos[i]); err != nil {
			return nil, t.explain(err)
		}
	}
	return history, nil
}

// Commits gives the versions from one to another, both included, oldest first, with all their actions.
// Errors: DELTA_VERSION_NOT_FOUND where the log does not have them all; the iteration ends at the first error.
func (t *Table) Commits(ctx context.Context, from, to int64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		clock, err := t.clock(ctx)
		var files []logFile
		var first int
		if err == nil {
			first, files, err = clock.between(from, to)
		}
		if err != nil {
			yield(Commit{}, t.explain(err))
			return
		}
		at := 0
		for c, err := range readCommits(ctx, t.store, files) {
			var out Commit
			if err == nil {
				out = Commit{Version: c.version, Actions: c.actions}
				out.Info, out.Actions = c.takeInfo()
				out.TimestampMillis, err = clock.time(first+at, out.Info)
			}
			at++
			if err != nil {
				yield(Commit{}, t.explain(err))
				return
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// takeInfo separates commitInfo from the other actions.
func (c *commit) takeInfo() (*protocol.CommitInfo, []protocol.Action) {
	var info *protocol.CommitInfo
	rest := slices.DeleteFunc(c.actions, func(action protocol.Action) bool {
		if action.CommitInfo != nil {
			info = action.CommitInfo
		}
		return action.CommitInfo != nil
	})
	return info, rest
}

// readInfos reads the commitInfo of commits, several at a time.
func (t *Table) readInfos(ctx context.Context, files []logFile) ([]*protocol.CommitInfo, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	infos := make([]*protocol.CommitInfo, len(files))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(readers, len(files)) {
		group.Go(func() {
			for i := range next {
				info, err := t.readInfo(ctx, files[i])
				if err != nil {
					cancel(err)
				}
				infos[i] = info
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return infos, context.Cause(ctx)
}

// readInfo reads the commitInfo of one commit, nil if it has none. It looks at the first lines before it reads the whole.
func (t *Table) readInfo(ctx context.Context, file logFile) (*protocol.CommitInfo, error) {
	head, err := t.store.ReadRange(ctx, file.Name, 0, infoBytes)
	if err != nil {
		return nil, storageError(file.Name, err)
	}
	whole := int64(len(head)) == file.Size
	for len(head) > 0 {
		line, rest, complete := bytes.Cut(head, []byte("\n"))
		if complete || whole {
			if bytes.HasPrefix(bytes.TrimSpace(line), []byte(`{"commitInfo"`)) {
				action, err := protocol.ParseAction(line)
				if err == nil && action.CommitInfo != nil {
					return action.CommitInfo, nil
				}
			}
		}
		head = rest
	}
	c, err := readActions(ctx, t.store, file.Name, file.Size)
	if err != nil {
		return nil, err
	}
	info, _ := c.takeInfo()
	return info, nil
}
