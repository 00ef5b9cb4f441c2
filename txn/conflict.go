package txn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// The rules of this file say what a commit that came first means for one that wants the version after it: a conflict, or
// what must change in the loser (protocol digest, "Concurrency and conflict detection"). They are functions of the two
// commits and do no I/O; the golden file of their verdicts is testdata/conflicts.txt.
//
// Three things differ from the reference, each because the reference refuses what is sound:
//
//   - A winner's files with dataChange false hold rows that were there before. They do not matter to who read those rows,
//     only to who removes or commits again the same files.
//   - What a transaction read is compared with the statistics of the winner's files, not only with their partition values.
//   - Of two commits for one application's transaction the later is no conflict but already done.

// winner is a commit that came first, sorted by what the rules ask.
type winner struct {
	version   int64
	millis    int64
	operation string
	blind     bool
	tags      map[string]string
	protocol  *protocol.Protocol
	metadata  *protocol.Metadata
	txns      []protocol.SetTransaction
	domains   map[string]protocol.DomainMetadata
	adds      []*protocol.AddFile
	removes   []*protocol.RemoveFile
	added     map[string]*protocol.AddFile // by canonical path
	removed   map[string]*protocol.RemoveFile
}

func winnerOf(c log.Commit) winner {
	w := winner{
		version: c.Version, millis: c.TimestampMillis, operation: c.Info.Operation(), tags: c.Info.Tags(),
		domains: map[string]protocol.DomainMetadata{}, added: map[string]*protocol.AddFile{}, removed: map[string]*protocol.RemoveFile{},
	}
	w.blind, _ = c.Info.IsBlindAppend()
	if millis, ok := c.Info.InCommitTimestamp(); ok {
		w.millis = millis
	}
	for i := range c.Actions {
		switch a := &c.Actions[i]; {
		case a.Protocol != nil:
			w.protocol = a.Protocol
		case a.Metadata != nil:
			w.metadata = a.Metadata
		case a.Txn != nil:
			w.txns = append(w.txns, *a.Txn)
		case a.Domain != nil:
			w.domains[a.Domain.Domain] = *a.Domain
		case a.Add != nil:
			w.adds = append(w.adds, a.Add)
			w.added[protocol.PathKey(a.Add.Path)] = a.Add
		case a.Remove != nil:
			w.removes = append(w.removes, a.Remove)
			w.removed[protocol.PathKey(a.Remove.Path)] = a.Remove
		}
	}
	return w
}

// after gives the contender for the version behind a winner, or the conflict. The order of the checks is canonical: of
// several reasons the first is reported.
func (c contender) after(w winner) (contender, error) {
	if c.base == nil {
		return c, c.lost(w, "DELTA_PROTOCOL_CHANGED", "the table was made by another writer at the same time").
			hint("use the table that is there")
	}
	for _, rule := range []func(*contender, *winner) error{
		(*contender).checkProtocol, (*contender).checkMetadata, (*contender).checkDomains, (*contender).checkTransactions,
		(*contender).takeBackfill, (*contender).takeRowMark, (*contender).checkAppends, (*contender).checkRemovedReads, (*contender).checkRemoved,
	} {
		if err := rule(&c, &w); err != nil || c.applied {
			return c, err
		}
	}
	c.lastMillis = max(c.lastMillis, w.millis)
	c.version = w.version + 1
	return c, nil
}

// lost is the conflict with a winner.
func (c *contender) lost(w winner, class protocol.Class, format string, args ...any) *Conflict {
	by := ""
	if w.operation != "" {
		by = " (" + w.operation + ")"
	}
	err := protocol.NewError(class, "%s of the table %s lost to version %d%s: %s", c.op.Name, c.table, w.version, by, fmt.Sprintf(format, args...)).
		WithTable(c.table).WithHint("run the statement again")
	return &Conflict{Winner: w.version, Operation: w.operation, err: err}
}

func (c *Conflict) hint(text string) *Conflict {
	_ = c.err.WithHint("%s", text)
	return c
}

// checkProtocol: the winner's protocol must be one that this product writes, is taken over, and must neither meet another
// change of the protocol nor take a feature away. A commit that drops a feature itself asks whether it still may.
func (c *contender) checkProtocol(w *winner) error {
	if w.protocol != nil {
		if err := checkWritable(*w.protocol, c.table); err != nil {
			return err
		}
		if c.protocol != nil {
			return c.lost(*w, "DELTA_PROTOCOL_CHANGED", "both change the protocol")
		}
		if dropped := missing(c.was.Protocol, *w.protocol); len(dropped) > 0 {
			return c.lost(*w, "DELTA_PROTOCOL_CHANGED", "it drops %s", strings.Join(dropped, ", "))
		}
		was, err := protocol.NewTableConfig(*w.protocol, c.was.Metadata)
		if err != nil {
			return err
		}
		c.was = was
		config, err := c.config()
		if err != nil {
			return err
		}
		if duty, owed := c.owes(config); owed {
			return c.lost(*w, "DELTA_PROTOCOL_CHANGED", "files that were written before it lack what it asks for: %s", duty)
		}
	}
	if c.protocol == nil {
		return nil
	}
	dropped := missing(c.base.Protocol, *c.protocol)
	switch {
	case len(dropped) == 0:
		return nil
	case slices.Contains(dropped, "rowTracking"):
		c.withoutRowIDs(w)
		return nil
	case c.op.Revalidate == nil:
		return c.lost(*w, "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "%s cannot be dropped from what it left", strings.Join(dropped, ", "))
	}
	if err := c.op.Revalidate(w.version); err != nil {
		conflict := c.lost(*w, "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "%s cannot be dropped from what it left", strings.Join(dropped, ", "))
		_ = conflict.err.WithCause(err)
		return conflict
	}
	return nil
}

// missing are the features of one protocol that another has not.
func missing(was, is protocol.Protocol) []string {
	return slices.DeleteFunc(was.Features(), is.Supports)
}

// checkMetadata takes over what the winner did to the metadata where that asks nothing of files that are written already.
func (c *contender) checkMetadata(w *winner) error {
	if w.metadata == nil {
		return nil
	}
	is, err := protocol.NewTableConfig(c.was.Protocol, *w.metadata)
	if err != nil {
		return err
	}
	identityOnly := w.tags[tagIdentity] == "true" || sameButIdentity(c.was, is)
	if c.metadata != nil {
		conflict := c.lost(*w, "DELTA_METADATA_CHANGED", "both change the metadata")
		if identityOnly && c.movesIdentityOnly() {
			conflict = c.lost(*w, "DELTA_METADATA_CHANGED", "both generate values of an identity column")
			conflict.Rerun = true
		}
		return conflict
	}
	if !identityOnly {
		if reason := incompatible(c.was, is); reason != "" {
			return c.lost(*w, "DELTA_METADATA_CHANGED", "%s", reason)
		}
		if turnedOn(c.was, is, "delta.enableRowTracking") {
			c.tracking = "false"
		}
	}
	if duty, owed := c.owes(is); owed {
		return c.lost(*w, "DELTA_METADATA_CHANGED", "files that were written before it lack what it asks for: %s", duty)
	}
	c.was = is
	return nil
}

// owes tells whether new files owe a duty by the winner's configuration that they did not owe when they were written.
// Files written before column mapping by name began are right: their names are the physical names.
func (c *contender) owes(is *protocol.TableConfig) (Duty, bool) {
	if len(c.fresh) == 0 {
		return Duty{}, false
	}
	owed := slices.DeleteFunc(is.Duties(), func(d Duty) bool { return d.Kind == PhysicalNames })
	return undone(owed, c.done)
}

// checkDomains: no domain may be written by both, but for the row ids, whose mark is always made anew. A replacement of the
// table takes the clustering with it that the winner brought.
func (c *contender) checkDomains(w *winner) error {
	for _, d := range c.domains {
		if _, both := w.domains[d.Domain]; both && d.Domain != protocol.DomainRowTracking {
			return c.lost(*w, "DELTA_CONCURRENT_TRANSACTION", "both write the domain %s", d.Domain)
		}
	}
	if clustering, ok := w.domains[protocol.DomainClustering]; ok && !clustering.Removed && strings.Contains(c.op.Name, "REPLACE TABLE") {
		clustering.Removed = true
		c.domains = append(slices.Clone(c.domains), clustering)
	}
	return nil
}

// checkTransactions: an application's transaction that the winner wrote is a conflict if it was read, and leaves nothing to
// do if it is ours.
func (c *contender) checkTransactions(w *winner) error {
	for _, theirs := range w.txns {
		for _, ours := range c.txns {
			if ours.AppID == theirs.AppID && theirs.Version >= ours.Version {
				c.applied = true
				return nil
			}
		}
	}
	for _, theirs := range w.txns {
		if c.reads.apps[theirs.AppID] {
			return c.lost(*w, "DELTA_CONCURRENT_TRANSACTION", "it wrote the transaction %d of the application %q", theirs.Version, theirs.AppID)
		}
	}
	return nil
}

// takeBackfill reconciles commits that give row ids to files, or take them away, with others about the same files.
func (c *contender) takeBackfill(w *winner) error {
	if !c.was.Supports("rowTracking") {
		return nil
	}
	switch {
	case c.op.Name == OperationBackfill:
		c.leave(func(path string) bool { return w.added[path] != nil || w.removed[path] != nil })
	case c.op.Name == OperationUnbackfill && w.operation == OperationBackfill:
		conflict := c.lost(*w, "DELTA_ROW_TRACKING_BACKFILL_RUNNING_CONCURRENTLY_WITH_UNBACKFILL", "row ids are given and taken at the same time")
		return conflict
	case c.op.Name == OperationUnbackfill:
		c.withoutRowIDs(w)
	}
	if w.operation == OperationBackfill {
		c.files = slices.Clone(c.files)
		for i := range c.files {
			if add := c.files[i].Add; add != nil {
				if theirs := w.added[protocol.PathKey(add.Path)]; theirs != nil {
					copied := *add
					copied.BaseRowID, copied.DefaultRowCommitVersion = theirs.BaseRowID, theirs.DefaultRowCommitVersion
					c.files[i].Add = &copied
				}
			}
			if remove := c.files[i].Remove; remove != nil {
				if theirs := w.added[protocol.PathKey(remove.Path)]; theirs != nil {
					copied := *remove
					copied.BaseRowID, copied.DefaultRowCommitVersion = theirs.BaseRowID, theirs.DefaultRowCommitVersion
					c.files[i].Remove = &copied
				}
			}
		}
	}
	return nil
}

// leave drops added files, and no longer counts them as read.
func (c *contender) leave(drop func(path string) bool) {
	c.files = slices.DeleteFunc(slices.Clone(c.files), func(a protocol.Action) bool { return a.Add != nil && drop(protocol.PathKey(a.Add.Path)) })
	c.reads = c.reads.clone()
	maps.DeleteFunc(c.reads.files, func(path string, _ bool) bool { return drop(path) })
}

// withoutRowIDs lets a commit that takes row ids away take those of the winner's files too.
func (c *contender) withoutRowIDs(w *winner) {
	c.leave(func(path string) bool { return w.added[path] != nil || w.removed[path] != nil })
	for _, add := range w.adds {
		if add.BaseRowID == nil && add.DefaultRowCommitVersion == nil {
			continue
		}
		copied := *add
		copied.DataChange, copied.BaseRowID, copied.DefaultRowCommitVersion = false, nil, nil
		c.files = append(c.files, protocol.Action{Add: &copied})
	}
}

// takeRowMark takes over which row ids the winner gave out (R1). A mark never falls, whatever a winner says.
func (c *contender) takeRowMark(w *winner) error {
	domain, ok := w.domains[protocol.DomainRowTracking]
	if !ok || domain.Removed {
		return nil
	}
	mark, err := protocol.RowIDHighWaterMark(domain.Configuration)
	if err != nil {
		return err
	}
	c.mark = max(c.mark, mark)
	return nil
}

// rearranges tells pairs of which one only gives row ids to files, or takes them away: no rows come or go.
func rearranges(operation string) bool {
	return operation == OperationBackfill || operation == OperationUnbackfill
}

// checkAppends: rows that the winner added and that the loser would have read, or that lack what its metadata come to ask.
func (c *contender) checkAppends(w *winner) error {
	if add, duty, err := c.unprepared(w); err != nil {
		return err
	} else if add != nil {
		return c.lost(*w, "DELTA_CONCURRENT_APPEND", "it added rows without what the table is to ask of them, %s (file %s)", duty, add.Path)
	}
	switch {
	case c.blind, rearranges(c.op.Name), rearranges(w.operation), c.level == SnapshotIsolation:
		return nil
	case c.level == WriteSerializable && c.metadata == nil && w.blind:
		return nil // as if the append came later
	}
	var added []protocol.AddFile
	for _, add := range w.adds {
		if add.DataChange {
			added = append(added, *add)
		}
	}
	if i := c.reads.matching(c.base, added); i >= 0 {
		return c.lost(*w, "DELTA_CONCURRENT_APPEND", "it added rows %sthat the statement would have read (file %s)", c.partition(added[i].PartitionValues), added[i].Path)
	}
	return nil
}

// checkRemovedReads: rows that the winner removed or changed and that the loser read.
func (c *contender) checkRemovedReads(w *winner) error {
	if len(w.removes) == 0 {
		return nil
	}
	// Whoever commits a file again must not bring back what the winner removed, whether or not that changed data.
	again := map[string]bool{}
	for i := range c.files {
		if add := c.files[i].Add; add != nil && !c.fresh[protocol.PathKey(add.Path)] {
			again[protocol.PathKey(add.Path)] = true
		}
	}
	var removed []protocol.AddFile
	for _, remove := range w.removes {
		if !remove.DataChange && !again[protocol.PathKey(remove.Path)] {
			continue
		}
		if c.reads.files[protocol.PathKey(remove.Path)] {
			return c.lost(*w, "DELTA_CONCURRENT_DELETE_READ", "it removed rows %sthat the statement read (file %s)", c.partition(remove.PartitionValues), remove.Path)
		}
		if remove.DataChange {
			removed = append(removed, removedFile(remove))
		}
	}
	if rearranges(c.op.Name) {
		return nil
	}
	if i := c.reads.matching(c.base, removed); i >= 0 {
		return c.lost(*w, "DELTA_CONCURRENT_DELETE_READ", "it removed rows %sthat the statement read (file %s)", c.partition(removed[i].PartitionValues), removed[i].Path)
	}
	return nil
}

// removedFile is what a remove says of its file.
func removedFile(r *protocol.RemoveFile) protocol.AddFile {
	return protocol.AddFile{Path: r.Path, PartitionValues: r.PartitionValues, Stats: r.Stats, DeletionVector: r.DeletionVector}
}

// checkRemoved: one file that both remove, or that both bring into the table.
func (c *contender) checkRemoved(w *winner) error {
	for i := range c.files {
		if remove := c.files[i].Remove; remove != nil && w.removed[protocol.PathKey(remove.Path)] != nil {
			return c.lost(*w, "DELTA_CONCURRENT_DELETE_DELETE", "both remove rows %sof one file (%s)", c.partition(remove.PartitionValues), remove.Path)
		}
		if add := c.files[i].Add; add != nil && c.fresh[protocol.PathKey(add.Path)] && w.added[protocol.PathKey(add.Path)] != nil {
			return c.lost(*w, "DELTA_CONCURRENT_WRITE", "both add the file %s", add.Path)
		}
	}
	return nil
}

// partition names a file's partition for a message: "in the partition [p=1] ", nothing for a table without partitions.
func (c *contender) partition(values map[string]*string) string {
	if c.base == nil || len(c.base.PartitionColumns) == 0 || len(values) == 0 {
		return ""
	}
	var parts []string
	for _, i := range c.base.PartitionColumns {
		text := "NULL"
		if value := values[string(c.base.PhysicalName(i))]; value != nil {
			text = *value
		}
		parts = append(parts, string(c.base.Schema.Fields[i].Name)+"="+text)
	}
	return "in the partition [" + strings.Join(parts, ", ") + "] "
}
