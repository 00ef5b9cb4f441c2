package txn

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"deltasql/txn/log"
)

// Group commit. A commit costs two syncs of the disk, and commits of one process wait for their turn. Blind appends that wait
// together become one version: whoever's turn comes first commits for all of them, and the others find their work done.
// That is as if they had come one after another with nothing between, and each of them is told the version. Only appends are
// joined whose commitInfo, apart from sums of their metrics, would be the same. Decision 0013 has the figures.

// maxGroup bounds how many transactions become one commit, maxGroupFiles how many files they may add.
const (
	maxGroup      = 64
	maxGroupFiles = 1000
)

// waiting is a blind append that waits for its turn.
type waiting struct {
	tx    *Transaction
	c     *contender
	taken bool // by somebody who commits it, or by its own transaction
	over  chan struct{}
	// commit, attempts and err are what became of it, once over is closed; again asks it to try by itself.
	commit   log.Commit
	attempts int
	err      error
	again    bool
}

// queues hold the waiting appends by table; a table without any has no entry.
var queues = struct {
	sync.Mutex
	of map[*log.Table][]*waiting
}{of: map[*log.Table][]*waiting{}}

// joinable tells whether a transaction may be committed together with others.
func (tx *Transaction) joinable(c *contender) bool {
	if tx.options.Alone || !c.blind || c.base == nil || c.protocol != nil || c.metadata != nil || len(c.txns) > 0 || len(c.domains) > 0 ||
		len(c.op.Tags) > 0 || c.tracking != "" || len(c.reads.apps) > 0 || c.raise >= 0 || len(c.files) == 0 || len(c.files) > maxGroupFiles {
		return false
	}
	for _, m := range c.op.Metrics {
		if _, err := strconv.ParseInt(m.Value, 10, 64); err != nil || !summable[m.Key] {
			return false
		}
	}
	return len(c.fresh) == len(c.files) // none is committed again
}

// summable are the metrics of an append whose sum over several is the metric of all.
var summable = map[string]bool{"numFiles": true, "numOutputRows": true, "numOutputBytes": true}

// group commits a joinable append, with others or for others.
func (tx *Transaction) group(ctx context.Context, c *contender) (log.Commit, int, error) {
	w := &waiting{tx: tx, c: c, over: make(chan struct{})}
	queues.Lock()
	queues.of[tx.table] = append(queues.of[tx.table], w)
	queues.Unlock()
	end, err := tx.table.Turn(ctx, w.over)
	if err != nil && w.leave() {
		return log.Commit{}, 0, err
	}
	if err != nil || end == nil {
		if <-w.over; w.again {
			return tx.turn(ctx, c)
		}
		return w.result()
	}
	defer end()
	joined, others := w.gather()
	if joined == nil { // the turn came at the same time as the end
		if <-w.over; w.again {
			return tx.inTurn(ctx, c)
		}
		return w.result()
	}
	if len(others) == 0 {
		return tx.inTurn(ctx, c)
	}
	commit, attempts, err := tx.commitFor(ctx, joined, others)
	if err != nil && !errors.Is(err, errUnknown) {
		return tx.inTurn(ctx, c)
	}
	return commit, attempts, err
}

// commitFor commits for several and tells the others. Where that fails each tries by itself, for the cause may be one of
// them. The leader's statement may be cancelled; the others are not, so that its context does not end the commit.
func (tx *Transaction) commitFor(ctx context.Context, joined *contender, others []*waiting) (commit log.Commit, attempts int, err error) {
	err = errUnknown // what the others are told should this panic
	defer func() {
		for _, other := range others {
			other.commit, other.attempts, other.err = commit, attempts, err
			other.again = err != nil && !errors.Is(err, errUnknown)
			close(other.over)
		}
	}()
	return tx.inTurn(context.WithoutCancel(ctx), joined)
}

// result is what the leader made of it.
func (w *waiting) result() (log.Commit, int, error) {
	w.tx.joined = true
	return w.commit, w.attempts, w.err
}

// leave takes an append out of the queue, unless somebody is committing it.
func (w *waiting) leave() bool {
	queues.Lock()
	defer queues.Unlock()
	if w.taken {
		return false
	}
	w.taken = true
	w.remove()
	return true
}

// remove takes an append out of the queue, which is locked.
func (w *waiting) remove() {
	table := w.tx.table
	left := slices.DeleteFunc(queues.of[table], func(other *waiting) bool { return other == w })
	if len(left) == 0 {
		delete(queues.of, table)
		return
	}
	queues.of[table] = left
}

// gather takes the append and those that can be joined with it out of the queue, and gives the contender of all. Where it has
// been taken itself, whose commit is over by then, it gives nothing.
func (w *waiting) gather() (*contender, []*waiting) {
	queues.Lock()
	defer queues.Unlock()
	if w.taken {
		return nil, nil
	}
	w.taken = true
	joined, op := *w.c, *w.c.op
	joined.op = &op
	joined.files, joined.fresh = slices.Clone(w.c.files), maps.Clone(w.c.fresh)
	op.Metrics = slices.Clone(w.c.op.Metrics)
	var others []*waiting
	for _, other := range queues.of[w.tx.table] {
		if other == w || len(others)+1 == maxGroup || len(joined.files)+len(other.c.files) > maxGroupFiles || !w.joins(&joined, other) {
			continue
		}
		other.taken = true
		others = append(others, other)
		joined.add(other.c)
	}
	w.remove()
	for _, other := range others {
		other.remove()
	}
	return &joined, others
}

// joins tells whether another append can become part of a commit: it was made for the same table as that is, and would say
// the same of itself.
func (w *waiting) joins(joined *contender, other *waiting) bool {
	a, b := &w.tx.options, &other.tx.options
	if a.Engine != b.Engine || a.UserName != b.UserName || a.UserMetadata != b.UserMetadata || joined.level != other.c.level {
		return false
	}
	if joined.base != other.c.base &&
		(!joined.base.Protocol.Equal(other.c.base.Protocol) || joined.base.Metadata.SchemaString != other.c.base.Metadata.SchemaString ||
			!sameButSchema(&joined.base.Metadata, &other.c.base.Metadata) || !sameConfiguration(&joined.base.Metadata, &other.c.base.Metadata)) {
		return false
	}
	one, two := joined.op, other.c.op
	if one.Name != two.Name || one.NeverChangesData != two.NeverChangesData ||
		!slices.EqualFunc(one.Parameters, two.Parameters, func(a, b Parameter) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) }) ||
		!slices.EqualFunc(one.Metrics, two.Metrics, func(a, b Metric) bool { return a.Key == b.Key }) {
		return false
	}
	for path := range other.c.fresh {
		if joined.fresh[path] {
			return false
		}
	}
	return true
}

// add joins another append. The older of what the two have read counts: what came since is no conflict for a blind append
// unless it changes the metadata, and then both have the newer ones, or they are not joined.
func (c *contender) add(other *contender) {
	c.files = append(c.files, other.files...)
	for path := range other.fresh {
		c.fresh[path] = true
	}
	c.done = slices.DeleteFunc(slices.Clone(c.done), func(d Duty) bool { return !slices.Contains(other.done, d) })
	for i := range c.op.Metrics {
		a, _ := strconv.ParseInt(c.op.Metrics[i].Value, 10, 64)
		b, _ := strconv.ParseInt(other.op.Metrics[i].Value, 10, 64)
		c.op.Metrics[i].Value = strconv.FormatInt(a+b, 10)
	}
	if other.version < c.version {
		c.base, c.was, c.firstVersion, c.version = other.base, other.was, other.firstVersion, other.version
		c.mark, c.lastMillis = other.mark, other.lastMillis
	}
}
