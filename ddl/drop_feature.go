package ddl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/txn"
)

// DropState is what DROP FEATURE looks at. The counts are of live files; the engine takes them from the snapshot, and those
// of FilesOfOldTypes and FilesShredded from the footers where the log cannot say.
type DropState struct {
	State
	FilesWithRowIDs int // files whose action has a baseRowId or a defaultRowCommitVersion
	FilesOfOldTypes int // files whose Parquet types differ from the schema's; counted only where delta.typeChanges is in the schema
	FilesShredded   int // files that may hold shredded variants
	FilesClustered  int // files whose action names a clusteringProvider
	FilesCollated   int // files whose statistics have statsWithCollation
	V2Checkpoint    bool
	Unpublished     int // commits that a coordinator has and _delta_log has not

	EarliestCheckpoint int64 // version of the earliest complete checkpoint after which no commit is missing; -1 for none
	EarliestCommit     int64 // lowest version of which there is a commit file; -1 for none
}

// DropOptions choose how a feature is dropped.
type DropOptions struct {
	Truncate bool // TRUNCATE HISTORY
	Slow     bool // without TRUNCATE HISTORY, wait for the log's own retention instead of protecting checkpoints
	Force    bool // drop icebergCompatV3, which the reference never switches off
}

// Plan is what DROP FEATURE does, in order. It is a function of the table as it is: after an interruption, a new plan begins
// with what is left.
type Plan struct {
	Feature string
	Steps   []Step
}

// Lines are the steps as EXPLAIN prints them.
func (p *Plan) Lines() []string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, s)
	}
	return lines
}

// Barriers is how many checkpoints the fast way writes between the clean-up and the downgrade: one more than a reader that
// does not know checkpointProtection goes back when checkpoints are missing.
const Barriers = 3

// barrierAttempts is how often a barrier is tried.
const barrierAttempts = 3

// PlanDropFeature decides whether a feature may be dropped and how. There are two ways for a feature that readers must know,
// because versions before the drop still need it:
//
//   - the fast one takes its traces out of the current version, writes checkpoints that readers without the feature can start
//     from, and leaves the history readable for those who have it: checkpointProtection keeps anybody from cleaning up so that
//     these would be lost;
//   - TRUNCATE HISTORY takes its traces out and stops; run again after the retention period it deletes the history and
//     leaves the lowest protocol.
//
// Other features need neither. The refusals come in the order of the reference: of the name, of the options, of other
// features that need this one, then of what in the table uses it.
func PlanDropFeature(state DropState, feature string, options DropOptions, env Env) (*Plan, error) {
	row, err := lookUpDrop(state.State, feature, options)
	if err != nil {
		return nil, err
	}
	if row.refuse != nil {
		if err := row.refuse(&state); err != nil {
			return nil, err
		}
	}
	d := dropping{state: &state, row: row, options: options, env: env}
	d.plan.Feature = feature
	if err := d.clean(); err != nil {
		return nil, err
	}
	switch {
	case row.name == "checkpointProtection":
		d.downgrade(false)
	case !row.protected:
		d.downgrade(false)
	case options.Truncate || options.Slow:
		d.truncate()
	default:
		for range Barriers {
			d.barrier()
		}
		d.downgrade(true)
		d.add(Step{Kind: StepCheckpoint})
	}
	return &d.plan, nil
}

// dropping is a plan in the making.
type dropping struct {
	state   *DropState
	row     *dropRow
	options DropOptions
	env     Env
	plan    Plan
	changed bool // the clean-up has traces to take out
}

func (d *dropping) add(s Step) {
	s.Feature, s.Count = d.row.name, d.state.count(s.Files)
	s.Truncate = d.options.Truncate
	d.plan.Steps = append(d.plan.Steps, s)
}

// clean adds the feature's own steps.
func (d *dropping) clean() error {
	if d.row.name == "checkpointProtection" {
		return d.cleanProtection()
	}
	if d.row.clean == nil {
		return nil
	}
	for _, s := range d.row.clean(d.state) {
		d.changed = d.changed || s.Kind != StepTombstones
		d.add(s)
	}
	return nil
}

func (d *dropping) barrier() {
	d.add(Step{Kind: StepBarrier, Operation: emptyCommit(),
		Refusal: protocol.NewError("DELTA_FEATURE_DROP_CHECKPOINT_FAILED", "the table feature %s cannot be dropped: no checkpoint could be written in %d attempts", d.row.name, barrierAttempts).
			WithHint("nothing is lost; run the statement again")})
}

func emptyCommit() txn.Operation { return txn.Operation{Name: "Empty Commit", AllowEmpty: true} }

// retention is how much of the log a clean-up leaves, and how exact it is about it.
func (d *dropping) retention() (millis int64, granularity Granularity, property string) {
	property, granularity = "delta.logRetentionDuration", GranularityDay
	if d.options.Truncate {
		property, granularity = "delta.dropFeatureTruncateHistory.retentionDuration", GranularityMinute
	}
	millis, _, err := d.state.Config.DurationProperty(property)
	if err != nil {
		// A value that cannot be read leaves what the built-in default would.
		millis = map[string]int64{"delta.logRetentionDuration": 30 * 24 * 3_600_000}[property]
		if millis == 0 {
			millis = 24 * 3_600_000
		}
	}
	return millis, granularity, property
}

// again is the earliest time at which running the statement once more can go further: when what is committed now has left
// the retention, rounded up to where the clean-up's cutoff falls.
func (d *dropping) again() string {
	millis, granularity, _ := d.retention()
	unit := int64(60_000)
	if granularity == GranularityDay {
		unit = 24 * 3_600_000
	}
	at := (d.env.NowMillis + millis + unit) / unit * unit
	return time.UnixMilli(at).UTC().Format("2006-01-02 15:04 UTC")
}

// truncate is the way without protection: a checkpoint behind the clean-up, then the wait, or the end of the history.
func (d *dropping) truncate() {
	millis, granularity, property := d.retention()
	d.barrier()
	if d.changed {
		d.add(Step{Kind: StepStop, Refusal: protocol.NewError("DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
			"the table no longer uses %s, but versions in its history do, and the feature stays in the protocol until they have expired (%s, %s)",
			d.row.name, property, time.Duration(millis)*time.Millisecond).
			WithHint("run the statement again after %s, or without TRUNCATE HISTORY to keep the history and drop the feature at once", d.again())})
		return
	}
	d.add(Step{Kind: StepCleanUp, RetentionMillis: millis, Granularity: granularity})
	d.add(Step{Kind: StepHistory, Refusal: protocol.NewError("DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST",
		"versions in the history of the table use %s, and the feature stays in the protocol until they have expired (%s, %s)",
		d.row.name, property, time.Duration(millis)*time.Millisecond).
		WithHint("run the statement again when the last version that used it is older than that, at the latest after %s, or without TRUNCATE HISTORY to keep the history and drop the feature at once", d.again())})
	d.downgrade(false)
}

// cleanProtection: checkpoints need no protection any more when the history that they guard is gone.
func (d *dropping) cleanProtection() error {
	before, _, err := d.state.Config.IntProperty(propProtectedBefore)
	if err != nil {
		return err
	}
	if !d.state.truncatedBefore(before) {
		millis, granularity, property := d.retention()
		d.barrier()
		d.add(Step{Kind: StepCleanUp, RetentionMillis: millis, Granularity: granularity})
		d.add(Step{Kind: StepTruncated, Before: before, Refusal: protocol.NewError("DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
			"checkpointProtection stays until the versions below %d, which used features that were dropped, have expired (%s, %s)", before, property, time.Duration(millis)*time.Millisecond).
			WithHint("run the statement again after %s", d.again())})
	}
	if _, ok := d.state.Config.LookupProperty(propProtectedBefore); ok {
		d.add(Step{Kind: StepCommit, Unset: []string{propProtectedBefore}, Operation: unsetOperation(propProtectedBefore)})
	}
	return nil
}

// count is how many live files are of the set.
func (s *DropState) count(files FileSet) int {
	switch files {
	case FilesAll:
		return s.NumFiles
	case FilesWithVectors:
		return s.NumVectors
	case FilesOfOldTypes:
		return s.FilesOfOldTypes
	case FilesShredded:
		return s.FilesShredded
	case FilesWithRowIDs:
		return s.FilesWithRowIDs
	case FilesClustered:
		return s.FilesClustered
	case FilesCollated:
		return s.FilesCollated
	}
	return 0
}

// truncatedBefore says that no version below the given one can be read any more.
func (s *DropState) truncatedBefore(version int64) bool {
	return s.EarliestCheckpoint >= version && (s.EarliestCommit < 0 || s.EarliestCommit >= version)
}

// downgrade is the commit that drops the feature.
func (d *dropping) downgrade(protect bool) {
	d.add(Step{Kind: StepDowngrade, Protect: protect, Unset: d.row.unset, Tombstones: d.row.domains,
		Operation: operation("DROP FEATURE", textParameter("featureName", d.plan.Feature),
			protocol.Parameter{Key: "truncateHistory", Value: jsonText(d.options.Truncate)})})
}

// Revalidate asks on a newer snapshot whether what a drop rests on still holds: the feature is there, nothing needs it, and
// nothing in the table uses it. It is asked by the downgrade, and again for every commit that the downgrade loses to.
func (s *DropState) Revalidate(feature string) error {
	row, ok := dropRows[feature]
	if !ok {
		return protocol.NewError(protocol.ClassInternal, "%s is no feature that can be dropped", feature)
	}
	left := ""
	if !s.Config.Supports(feature) {
		left = "the feature is gone already"
	} else if row.left != nil {
		left = row.left(s)
	}
	if left == "" {
		return nil
	}
	return protocol.NewError("DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL", "the table feature %s cannot be dropped because of a concurrent change: %s", feature, left).
		WithHint("run the statement again")
}

// DropRefusal says why a feature cannot be dropped now by its name and the features beside it, or by what in the table uses
// it; nil where it can be. SHOW FEATURES asks it.
func DropRefusal(state DropState, feature string) error {
	row, err := lookUpDrop(state.State, feature, DropOptions{Truncate: feature == "checkpointProtection"})
	if err != nil || row.refuse == nil {
		return err
	}
	return row.refuse(&state)
}

// lookUpDrop is the validation of the arguments, in the reference's order.
func lookUpDrop(state State, feature string, options DropOptions) (*dropRow, error) {
	p := state.Config.Protocol
	present := slices.Contains(p.Features(), feature) || p.Supports(feature)
	_, known := protocol.FeatureByProperty(feature)
	if !present && strings.HasPrefix(strings.ToLower(feature), "delta.") {
		name, _ := protocol.CanonicalProperty(feature)
		if slices.Contains(protocol.PropertyNames(), name) {
			return nil, protocol.NewError("DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY", "%s is a table property, not a table feature", feature).
				WithHint("a property is taken away by ALTER TABLE ... UNSET TBLPROPERTIES")
		}
	}
	if known && !present {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "the table does not have the feature %s", feature).
			WithHint("its features are: %s (case counts)", strings.Join(p.Features(), ", "))
	}
	if !known {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE", "the table feature %s is not known", feature)
	}
	row, removable := dropRows[feature]
	if removable && row.unsupported != "" {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE", "the table feature %s cannot be dropped: %s", feature, row.unsupported)
	}
	if !removable || row.forced && !options.Force {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", "the table feature %s cannot be dropped", feature)
	}
	protection := row.name == "checkpointProtection"
	if options.Truncate && !row.protected && !protection {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", "dropping %s does not need the history to be truncated", feature).
			WithHint("leave out TRUNCATE HISTORY")
	}
	if protection && !options.Truncate {
		return nil, protocol.NewError("DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION", "checkpointProtection can only be dropped together with the history that it protects").
			WithHint("ALTER TABLE ... DROP FEATURE checkpointProtection TRUNCATE HISTORY")
	}
	if dependants := requiredBy(p, feature); len(dependants) > 0 {
		return nil, protocol.NewError("DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "the table feature %s cannot be dropped: %s of this table needs it", feature, strings.Join(dependants, ", ")).
			WithHint("drop %s first", strings.Join(dependants, ", "))
	}
	return row, nil
}

// requiredBy are the table's features that need the given one. A feature that stands under two names, as a preview and as
// itself, is needed only until the last of them goes.
func requiredBy(p protocol.Protocol, feature string) []string {
	if p.Supports(otherName(feature)) {
		return nil
	}
	var out []string
	for _, name := range p.Features() {
		f, ok := protocol.LookupFeature(name)
		if !ok {
			continue
		}
		requires := f.Requires
		if name == "variantShredding-preview" {
			requires = []string{"variantType"} // the reference lists it alone; the values it shreds are variants all the same
		}
		if slices.Contains(requires, feature) || slices.Contains(requires, strings.TrimSuffix(feature, "-preview")) {
			out = append(out, name)
		}
	}
	return out
}

func operation(name string, parameters ...protocol.Parameter) txn.Operation {
	return txn.Operation{Name: name, Parameters: parameters}
}

func setOperation(properties map[string]string) txn.Operation {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		members = append(members, string(member(name, properties[name])))
	}
	return operation("SET TBLPROPERTIES", textParameter("properties", "{"+strings.Join(members, ",")+"}"))
}

func unsetOperation(properties ...string) txn.Operation {
	return operation("UNSET TBLPROPERTIES", textParameter("properties", string(jsonText(properties))), protocol.Parameter{Key: "ifExists", Value: jsonText(true)})
}

// backfill is one batch of giving row ids to files, or of taking them away.
func backfill(name string) txn.Operation {
	return txn.Operation{Name: name, Parameters: []protocol.Parameter{textParameter("batchId", "0")}, NeverChangesData: true}
}

// Batch is the operation of the n-th commit of a step that makes several, counted from 0.
func (s Step) Batch(n int) txn.Operation {
	o := s.Operation
	o.Parameters = slices.Clone(o.Parameters)
	for i, p := range o.Parameters {
		if p.Key == "batchId" {
			o.Parameters[i] = textParameter("batchId", fmt.Sprint(n))
		}
	}
	return o
}

func reorg() txn.Operation {
	return txn.Operation{Name: "REORG", NeverChangesData: true, Parameters: []protocol.Parameter{
		textParameter("predicate", "[]"), {Key: "applyPurge", Value: jsonText(true)}}}
}
