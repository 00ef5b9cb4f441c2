package ddl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/txn"
)

// FileSet is a choice of the table's live files.
type FileSet uint8

// The choices.
const (
	FilesNone         FileSet = iota
	FilesAll                  // every file
	FilesWithVectors          // files with a deletion vector
	FilesOfOldTypes           // files whose Parquet types differ from the schema's
	FilesShredded             // files that may hold shredded variants
	FilesWithRowIDs           // files whose action has a baseRowId or a defaultRowCommitVersion
	FilesWithoutRowID         // files whose action lacks one of the two
	FilesClustered            // files whose action names a clusteringProvider
	FilesCollated             // files whose statistics have statsWithCollation
)

var fileSetNames = [...]string{FilesNone: "no file", FilesAll: "every file", FilesWithVectors: "files with a deletion vector", FilesOfOldTypes: "files of narrower types",
	FilesShredded: "files that may hold shredded variants", FilesWithRowIDs: "files with row ids", FilesWithoutRowID: "files without row ids",
	FilesClustered: "files with a clustering provider", FilesCollated: "files with collated statistics"}

// String says which files.
func (f FileSet) String() string { return fileSetNames[f] }

// StepKind tells what the engine does in a step.
type StepKind uint8

// The kinds.
const (
	// StepCommit commits Step.Change: protocol, metadata, domains. It is left out where that is empty.
	StepCommit StepKind = iota + 1
	// StepRewrite writes Step.Files anew with the rows they have (dataChange false, row ids preserved), and commits them
	// together with Step.Change. For FilesAll a file is replaced by one file, under the names of the changed schema.
	// Without a file to rewrite and without a change there is no commit.
	StepRewrite
	// StepRecommit commits the actions of Step.Files again with another description of the same file (dataChange false), in
	// commits of BatchFiles files: FilesWithRowIDs and FilesClustered and FilesCollated lose what they are chosen for,
	// FilesWithoutRowID get ids. A file that a concurrent writer adds in between is taken along; there is no commit without files.
	StepRecommit
	// StepTombstones commits a remove (dataChange false, without metadata) for each file of deletion vectors that a remove
	// within the retention of tombstones refers to, so that writers that do not know vectors keep these files when they
	// clean up. The commit is made even where nothing is listed.
	StepTombstones
	// StepBarrier commits nothing (`Empty Commit`) and writes a checkpoint at that version or later, reads it back, and tries
	// three times; else Step.Refusal.
	StepBarrier
	// StepCleanUp deletes the part of the log that is older than RetentionMillis, the cutoff rounded down to the Granularity.
	StepCleanUp
	// StepHistory looks for traces of the feature in what is left of the log, by HistoryTrace: the earliest reliable
	// checkpoint without its removes, and every commit from there back to 0 and on to the newest. A trace is Step.Refusal.
	StepHistory
	// StepTruncated makes sure that the log begins with a checkpoint at version Before or later, and that no commit below it
	// is left; else Step.Refusal.
	StepTruncated
	// StepDowngrade commits Step.Change with the lower protocol. What the drop rests on is looked at again on the snapshot it
	// reads (DropState.Revalidate), and on that of every commit that it loses to.
	StepDowngrade
	// StepCheckpoint writes a checkpoint at or after the downgrade; its failure is a warning.
	StepCheckpoint
	// StepStop ends the statement with Step.Refusal: what came before stands, and the statement is to be run again later.
	StepStop
)

// Granularity is what the cutoff of a clean-up is rounded down to.
type Granularity uint8

// The granularities.
const (
	GranularityDay Granularity = iota
	GranularityMinute
)

// Step is one thing to do, as a value: the engine executes it, EXPLAIN prints it. Step.Change gives what it commits when
// its turn has come, from the table as it is then, so that what a concurrent writer changed is not undone.
type Step struct {
	Kind      StepKind
	Feature   string
	Operation txn.Operation // of every commit of the step

	Set         map[string]string // properties
	Unset       []string          // properties
	StripSchema string            // "column mapping" or "type changes": what goes out of the schema
	Tombstones  []string          // domains
	Add         []string          // features

	Files           FileSet
	Count           int // of Files when the plan was made, for EXPLAIN; there can be more by the time the step runs
	BatchFiles      int // at most, a commit; 0 for all in one
	RetentionMillis int64
	Granularity     Granularity
	Before          int64 // StepTruncated
	Truncate        bool  // the statement has TRUNCATE HISTORY
	Protect         bool  // StepDowngrade: checkpoints below its version are protected from then on

	Refusal *protocol.Error
}

// Change is what the step commits beside files, from the table as it is now. The version that a downgrade protects
// checkpoints below is the one that its commit gets: a commit that is tried again at a higher version needs a new Change.
func (s Step) Change(now State, env Env) (*Change, error) {
	config := now.Config
	m := config.Metadata
	m.Configuration = maps.Clone(m.Configuration)
	if m.Configuration == nil {
		m.Configuration = map[string]string{}
	}
	for _, name := range s.Unset {
		maps.DeleteFunc(m.Configuration, func(key, _ string) bool { return sameProperty(key, name) })
	}
	for name, value := range s.Set {
		maps.DeleteFunc(m.Configuration, func(key, _ string) bool { return sameProperty(key, name) })
		m.Configuration[name] = value
	}
	p := config.Protocol
	if s.Kind == StepDowngrade {
		if s.Protect {
			var err error
			if p, err = p.WithFeatures("checkpointProtection"); err != nil {
				return nil, err
			}
			m.Configuration[propProtectedBefore] = strconv.FormatInt(now.Version+1, 10)
		}
		p = p.WithoutFeature(s.Feature)
		if !config.Protocol.CanDowngradeTo(p, s.Feature) {
			return nil, protocol.NewError(protocol.ClassInternal, "dropping %s would lose other features", s.Feature)
		}
	}
	if len(s.Add) > 0 {
		var err error
		if p, err = p.WithFeatures(s.Add...); err != nil {
			return nil, err
		}
	}
	switch s.StripSchema {
	case stripColumnMapping:
		schema := copyType(config.Schema)
		stripMapping(&schema)
		m.SchemaString = schema.JSON()
	case stripTypeChanges:
		schema := copyType(config.Schema)
		stripMeta(&schema, metaKeyTypeChanges)
		m.SchemaString = schema.JSON()
	}
	after, err := protocol.NewTableConfig(p, m)
	if err != nil {
		return nil, err
	}
	change := &Change{Operation: s.Operation}
	if s.StripSchema == stripTypeChanges {
		change.Operation.Parameters = []protocol.Parameter{strippedColumns(config.Schema)}
	}
	if !p.Equal(config.Protocol) {
		change.Protocol = &p
	}
	if s.Kind == StepDowngrade || !sameMetadata(m, config.Metadata, after.Schema, config.Schema) {
		change.Metadata = &m
	}
	if s.StripSchema == stripColumnMapping {
		domain, changed, err := unmappedClustering(&config.Schema, now)
		if err != nil {
			return nil, err
		}
		if changed {
			change.Domains = append(change.Domains, domain)
		}
	}
	for _, name := range s.Tombstones {
		if d, live := now.Domains[name]; live {
			d.Removed = true
			change.Domains = append(change.Domains, d)
		}
	}
	return change, nil
}

const (
	stripColumnMapping = "column mapping"
	stripTypeChanges   = "type changes"
)

// strippedColumns are the columns whose record of type changes goes, as the reference lists them.
func strippedColumns(schema protocol.DataType) protocol.Parameter {
	var texts []string
	_ = walk(&schema, func(path Path, f *protocol.Field) error {
		if _, ok := f.Metadata[metaKeyTypeChanges]; ok {
			texts = append(texts, columnJSON(path, *f))
		}
		return nil
	})
	return textParameter("columns", "["+strings.Join(texts, ",")+"]")
}

// stripMapping takes ids and physical names out of a schema.
func stripMapping(t *protocol.DataType) { stripMeta(t, mappingKeys...) }

func stripMeta(t *protocol.DataType, keys ...string) {
	_ = walk(t, func(_ Path, f *protocol.Field) error {
		for _, key := range keys {
			delete(f.Metadata, key)
		}
		return nil
	})
}

// String is the step in a line, as EXPLAIN shows it.
func (s Step) String() string {
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format, args...) }
	switch s.Kind {
	case StepCommit:
		say("commit `%s`", s.Operation.Name)
	case StepRewrite:
		say("rewrite %s (%d now) and commit `%s`", s.Files, s.Count, s.Operation.Name)
	case StepRecommit:
		say("commit the actions of %s (%d now) again, %d a commit `%s`", s.Files, s.Count, s.BatchFiles, s.Operation.Name)
	case StepTombstones:
		say("commit `%s`: a tombstone for every file of deletion vectors that time travel still needs", s.Operation.Name)
	case StepBarrier:
		say("commit `%s` and write a checkpoint, read back", s.Operation.Name)
	case StepCleanUp:
		say("delete the log that is older than %s", time.Duration(s.RetentionMillis)*time.Millisecond)
		if s.Granularity == GranularityMinute {
			say(", by the minute")
		} else {
			say(", by the day")
		}
	case StepHistory:
		say("look for traces of %s in the history", s.Feature)
	case StepTruncated:
		say("make sure that no version below %d is left", s.Before)
	case StepDowngrade:
		say("commit `%s`: the protocol without %s", s.Operation.Name, s.Feature)
		if s.Protect {
			say(" and with checkpointProtection")
		}
	case StepCheckpoint:
		say("write a checkpoint")
	case StepStop:
		say("stop")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		say("; set %s = %s", name, s.Set[name])
	}
	if len(s.Unset) > 0 {
		say("; unset %s", strings.Join(s.Unset, ", "))
	}
	if s.StripSchema != "" {
		say("; take %s out of the schema", s.StripSchema)
	}
	if len(s.Tombstones) > 0 {
		say("; remove the domains %s", strings.Join(s.Tombstones, ", "))
	}
	if len(s.Add) > 0 {
		say("; add %s", strings.Join(s.Add, ", "))
	}
	if s.Refusal != nil {
		say("; else %s", s.Refusal.Class)
		if s.Kind == StepStop {
			text.Reset()
			say("stop: %s", s.Refusal.Class)
		}
	}
	return text.String()
}
