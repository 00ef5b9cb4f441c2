package log

import (
	"context"
	"errors"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// Compact writes one file that stands for the commits from one version to another, both included: of each protocol, metaData,
// txn and domainMetadata the newest, and of each file the newest action, removes and domain tombstones among them, since older
// versions may hold what they take away (protocol, "Log Compaction Files"). Where the file is there already it is left alone.
func (t *Table) Compact(ctx context.Context, from, to int64) error {
	if from < 0 || to <= from {
		return protocol.NewError(protocol.ClassInternal, "the commits %d to %d cannot be compacted", from, to)
	}
	joined := &commit{version: to, file: protocol.CompactionName(from, to)}
	r := newReconciler()
	for version := from; version <= to; version++ {
		name := logFolder + protocol.CommitName(version)
		info, err := t.store.Stat(ctx, name)
		if err != nil {
			return t.explain(storageError(name, err))
		}
		c, err := readActions(ctx, t.store, name, info.Size)
		if err != nil {
			return t.explain(err)
		}
		if err := r.apply(c); err != nil {
			return t.explain(err)
		}
	}
	joined.actions = r.actions()
	if len(joined.actions) == 0 {
		return nil
	}
	data, err := protocol.EncodeCommit(joined.actions)
	if err != nil {
		return t.explain(err)
	}
	name := logFolder + joined.file
	if _, err := t.store.PutIfAbsent(ctx, name, data); err != nil && !errors.Is(err, store.ErrExists) {
		return t.explain(writeError(name, err))
	}
	return nil
}

// reconciler keeps the newest action of each key, in the order in which keys were first met.
type reconciler struct {
	protocol *protocol.Protocol
	metadata *protocol.Metadata
	txns     keyed[protocol.SetTransaction]
	domains  keyed[protocol.DomainMetadata]
	files    keyed[protocol.Action] // add or remove
}

func newReconciler() *reconciler {
	return &reconciler{
		txns: keyed[protocol.SetTransaction]{places: map[string]int{}}, domains: keyed[protocol.DomainMetadata]{places: map[string]int{}},
		files: keyed[protocol.Action]{places: map[string]int{}},
	}
}

// keyed is a map that remembers the order of its keys.
type keyed[V any] struct {
	places map[string]int
	values []V
}

func (k *keyed[V]) put(key string, value V) {
	if at, ok := k.places[key]; ok {
		k.values[at] = value
		return
	}
	k.places[key] = len(k.values)
	k.values = append(k.values, value)
}

// apply takes the actions of one commit, as state.applyCommit does.
func (r *reconciler) apply(c *commit) error {
	check := newState()
	if err := check.applySingles(c); err != nil {
		return err
	}
	if check.protocol != nil {
		r.protocol = check.protocol
	}
	if check.metadata != nil {
		r.metadata = check.metadata
	}
	for i := range c.actions {
		switch action := &c.actions[i]; {
		case action.Txn != nil:
			r.txns.put(action.Txn.AppID, *action.Txn)
		case action.Domain != nil:
			r.domains.put(action.Domain.Domain, *action.Domain)
		case action.Add != nil:
			r.files.put(textKey(action.Add.Path, action.Add.DeletionVector), protocol.Action{Add: action.Add})
		case action.Remove != nil:
			r.files.put(textKey(action.Remove.Path, action.Remove.DeletionVector), protocol.Action{Remove: action.Remove})
		}
	}
	return nil
}

func (r *reconciler) actions() []protocol.Action {
	var actions []protocol.Action
	if r.protocol != nil {
		actions = append(actions, protocol.Action{Protocol: r.protocol})
	}
	if r.metadata != nil {
		actions = append(actions, protocol.Action{Metadata: r.metadata})
	}
	for i := range r.txns.values {
		actions = append(actions, protocol.Action{Txn: &r.txns.values[i]})
	}
	for i := range r.domains.values {
		actions = append(actions, protocol.Action{Domain: &r.domains.values[i]})
	}
	return append(actions, r.files.values...)
}
