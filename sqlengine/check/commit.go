package check

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"deltasql/protocol"
)

// checkCommit checks a commit's actions by the protocol's rules; before is the state that the commit changes, nil where that is not
// known, and then only what the commit says by itself is checked.
func (c *checker) checkCommit(file string, version int64, actions []protocol.Action, before *replayedState) {
	counts := map[string]int{}
	adds, removes := map[string]fileIdentity{}, map[string]fileIdentity{}
	removed := map[fileIdentity]bool{}
	config := c.configAfter(actions, before)
	for i := range actions {
		switch a := &actions[i]; {
		case a.Protocol != nil:
			counts["protocol"]++
		case a.Metadata != nil:
			counts["metaData"]++
		case a.Txn != nil:
			if counts["txn of application "+a.Txn.AppID]++; counts["txn of application "+a.Txn.AppID] == 2 {
				c.fault(file, "it has several txn actions of application %s", a.Txn.AppID)
			}
		case a.Domain != nil:
			if counts["domain "+a.Domain.Domain]++; counts["domain "+a.Domain.Domain] == 2 {
				c.fault(file, "it has several actions of domain %s", a.Domain.Domain)
			}
		case a.CDC != nil && a.CDC.DataChange:
			c.fault(file, "the change file %s says dataChange", a.CDC.Path)
		case a.Sidecar != nil, a.CheckpointMetadata != nil:
			c.fault(file, "it has an action that belongs into checkpoints")
		case a.Remove != nil:
			id := identityOf(a.Remove.Path, a.Remove.DeletionVector)
			if _, twice := removes[id.path]; twice {
				c.fault(file, "it removes the file %s more than once", a.Remove.Path)
			}
			removes[id.path], removed[id] = id, true
			if config != nil && config.Active("appendOnly") && a.Remove.DataChange {
				c.fault(file, "it removes the data of %s from a table that is append-only", a.Remove.Path)
			}
			c.checkRemoved(file, a.Remove, id, before)
		}
	}
	for _, action := range []string{"protocol", "metaData"} {
		if counts[action] > 1 {
			c.fault(file, "it has %d %s actions", counts[action], action)
		}
		if version == 0 && counts[action] == 0 {
			c.fault(file, "version 0 has no %s action", action)
		}
	}
	for i := range actions {
		if add := actions[i].Add; add != nil {
			id := identityOf(add.Path, add.DeletionVector)
			if _, twice := adds[id.path]; twice {
				c.fault(file, "it adds the file %s more than once", add.Path)
			}
			adds[id.path] = id
			if removed[id] {
				c.fault(file, "it both adds and removes the file %s", add.Path)
			}
			c.checkAdded(file, add, config)
			if before != nil {
				vector, live := before.vectors[id.path]
				if live && vector != id.vector && !removed[fileIdentity{id.path, vector}] {
					c.fault(file, "it adds the file %s with another deletion vector and does not remove the old one: its rows count twice", add.Path)
				}
			}
		}
	}
	c.checkCommitTime(file, version, actions, config, before)
}

// configAfter is the table's configuration as the commit leaves it.
func (c *checker) configAfter(actions []protocol.Action, before *replayedState) *protocol.TableConfig {
	if before == nil {
		return nil
	}
	p, m := before.protocol, before.metadata
	changed := false
	for i := range actions {
		if actions[i].Protocol != nil {
			p, changed = actions[i].Protocol, true
		}
		if actions[i].Metadata != nil {
			m, changed = actions[i].Metadata, true
		}
	}
	if !changed {
		return before.config
	}
	if p == nil || m == nil {
		return nil
	}
	config, err := protocol.NewTableConfig(*p, *m)
	if err != nil {
		return nil // reported where the state is made
	}
	return config
}

// checkRemoved: a removal names the vector under which the file is live.
func (c *checker) checkRemoved(file string, remove *protocol.RemoveFile, id fileIdentity, before *replayedState) {
	if before == nil {
		return
	}
	if vector, live := before.vectors[id.path]; live && vector != id.vector {
		c.fault(file, "it removes the file %s with another deletion vector than the one it has: the file stays", remove.Path)
	}
}

// checkAdded checks an add action by itself.
func (c *checker) checkAdded(file string, add *protocol.AddFile, config *protocol.TableConfig) {
	if _, _, err := protocol.DecodePath(add.Path); err != nil {
		c.fault(file, "the path of a file: %v", err)
	}
	if add.Size <= 0 {
		c.fault(file, "the file %s has the size %d", add.Path, add.Size)
	}
	if config == nil {
		return
	}
	var wanted []string
	for _, column := range config.PartitionColumns {
		wanted = append(wanted, string(config.PhysicalName(column)))
	}
	slices.Sort(wanted)
	if got := slices.Sorted(maps.Keys(add.PartitionValues)); !slices.Equal(got, wanted) {
		c.fault(file, "the file %s has partition values of %q, the partition columns are %q", add.Path, got, wanted)
	}
	if add.DeletionVector == nil {
		return
	}
	if !config.Supports("deletionVectors") {
		c.fault(file, "the file %s has a deletion vector, which the protocol does not allow", add.Path)
	}
	var stats struct {
		NumRecords  *int64 `json:"numRecords"`
		TightBounds *bool  `json:"tightBounds"`
	}
	if err := json.Unmarshal([]byte(add.Stats), &stats); err != nil || stats.NumRecords == nil {
		c.fault(file, "the file %s has a deletion vector and no numRecords", add.Path)
	} else if stats.TightBounds == nil || *stats.TightBounds {
		c.fault(file, "the file %s has a deletion vector and bounds that are called tight", add.Path)
	}
}

// checkCommitTime: with in-commit timestamps, commitInfo comes first and the times rise.
func (c *checker) checkCommitTime(file string, version int64, actions []protocol.Action, config *protocol.TableConfig, before *replayedState) {
	if before == nil || config == nil || !config.Active("inCommitTimestamp") {
		return
	}
	var info *protocol.CommitInfo
	if len(actions) > 0 {
		info = actions[0].CommitInfo
	}
	if info == nil {
		c.fault(file, "its first action is not the commitInfo, though in-commit timestamps are on")
		return
	}
	at, ok := info.InCommitTimestamp()
	switch {
	case !ok:
		c.fault(file, "it has no inCommitTimestamp, though they are on")
		return
	case at <= before.time:
		c.fault(file, "its inCommitTimestamp %d is not after that of version %d, %d", at, version-1, before.time)
	}
	before.time = at
}

// checkCompaction compares a compaction file with its commits, where they are all there: it must hold the newest action of each
// key, once.
func (c *checker) checkCompaction(ctx context.Context, file logFileName) error {
	actions, err := ReadActions(ctx, c.target.Files, file.name)
	if err != nil {
		return c.failed(ctx, file.name, err)
	}
	compacted, twice := newestActions(actions, nil)
	if twice != "" {
		c.fault(file.name, "it is not reconciled, so that readers must not use it: it has several actions of %s", twice)
		return nil
	}
	var newest map[string]string
	for v := file.Version; v <= file.EndVersion; v++ {
		commit, ok := c.listed.commits[v]
		if !ok {
			return nil
		}
		actions, err := ReadActions(ctx, c.target.Files, commit)
		if err != nil {
			return ctx.Err() // reported with the commit
		}
		newest, _ = newestActions(actions, newest)
	}
	if !maps.Equal(newest, compacted) {
		c.fault(file.name, "it differs from the replay of commits %d to %d", file.Version, file.EndVersion)
	}
	return nil
}

// newestActions adds a commit's actions to the newest ones by key; twice is a key that the commit has more than once.
func newestActions(actions []protocol.Action, newest map[string]string) (all map[string]string, twice string) {
	if newest == nil {
		newest = map[string]string{}
	}
	own := map[string]bool{}
	put := func(key, value string) {
		if own[key] {
			twice = key
		}
		own[key] = true
		newest[key] = value
	}
	for i := range actions {
		switch a := &actions[i]; {
		case a.Remove != nil:
			id := identityOf(a.Remove.Path, a.Remove.DeletionVector)
			put("the file "+id.path+" "+id.vector, "remove")
		case a.Protocol != nil:
			put("the protocol", "")
		case a.Metadata != nil:
			put("the metaData", a.Metadata.ID)
		case a.Txn != nil:
			put("the application "+a.Txn.AppID, jsonText(a.Txn.Version))
		case a.Domain != nil:
			put("the domain "+a.Domain.Domain, a.Domain.Configuration)
		}
	}
	for i := range actions {
		if add := actions[i].Add; add != nil {
			id := identityOf(add.Path, add.DeletionVector)
			put("the file "+id.path+" "+id.vector, "add")
		}
	}
	return newest, twice
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
