package log

import (
	"context"

	"deltasql/protocol"
)

// Extent is how far a table's log goes back.
type Extent struct {
	Commit     int64 // the oldest version of which there is a commit file; -1 for none
	Checkpoint int64 // the oldest complete checkpoint after which no commit is missing; -1 for none
	// V2 says that the newest checkpoint has a name that only V2 checkpoints have.
	V2 bool
}

// Extent lists the log. Versions older than what it says may be there but cannot be relied on.
func (t *Table) Extent(ctx context.Context) (Extent, error) {
	l, err := list(ctx, t.store, 0)
	if err != nil {
		return Extent{}, t.explain(err)
	}
	e := Extent{Commit: -1, Checkpoint: -1}
	if len(l.commits) > 0 {
		e.Commit = l.commits[0].Version
	}
	latest := l.latest()
	for _, c := range l.checkpoints {
		if _, err := l.replayed(c.version, latest, nil); err == nil {
			e.Checkpoint = c.version
			break
		}
	}
	if n := len(l.checkpoints); n > 0 {
		e.V2 = l.checkpoints[n-1].kind() == protocol.LogUUIDCheckpoint
	}
	return e, nil
}
