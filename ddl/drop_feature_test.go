package ddl

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

var rewriteGoldens = flag.Bool("rewrite", false, "write testdata/drop_feature.txt anew")

// tableWith is a table whose protocol has the features and their requirements beside appendOnly and invariants, and that
// uses nothing of them.
func tableWith(t testing.TB, schema protocol.DataType, configuration props, features ...string) State {
	t.Helper()
	p, err := protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}.WithFeatures(features...)
	if err != nil {
		t.Fatal(err)
	}
	config, err := protocol.NewTableConfig(p, protocol.Metadata{ID: "t", Provider: "parquet", SchemaString: schema.JSON(), Configuration: configuration})
	if err != nil {
		t.Fatal(err)
	}
	return State{Config: config, Domains: map[string]protocol.DomainMetadata{}, NumFiles: 3, Version: 9}
}

// usedBy is a table that uses the feature as much as it can and still may drop it.
func usedBy(t testing.TB, feature string) DropState {
	t.Helper()
	schema := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "id", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true}}}
	field := &schema.Fields[0]
	configuration := props{}
	s := DropState{EarliestCheckpoint: 5, EarliestCommit: 0}
	domains := map[string]protocol.DomainMetadata{}
	vectors := 0
	switch feature {
	case "appendOnly":
		configuration["delta.appendOnly"] = "true"
	case "changeDataFeed":
		configuration["delta.enableChangeDataFeed"] = "true"
	case "columnMapping":
		configuration["delta.columnMapping.mode"], configuration["delta.columnMapping.maxColumnId"] = "name", "1"
		setMeta(field, "delta.columnMapping.id", 1)
		setMeta(field, "delta.columnMapping.physicalName", "col-1")
	case "deletionVectors":
		configuration["delta.enableDeletionVectors"] = "true"
		vectors = 2
	case "v2Checkpoint":
		configuration["delta.checkpointPolicy"], s.V2Checkpoint = "v2", true
	case "typeWidening", "typeWidening-preview":
		configuration["delta.enableTypeWidening"], s.FilesOfOldTypes = "true", 1
		if err := recordChange(field, protocol.DataType{Kind: protocol.KindInteger}, field.Type, "", -1); err != nil {
			t.Fatal(err)
		}
	case "inCommitTimestamp":
		maps.Copy(configuration, props{"delta.enableInCommitTimestamps": "true", "delta.inCommitTimestampEnablementVersion": "2", "delta.inCommitTimestampEnablementTimestamp": "1700000000000"})
	case "rowTracking":
		maps.Copy(configuration, props{"delta.enableRowTracking": "true", propRowIDColumn: "_row-id-col-1", propRowVersionColumn: "_row-commit-version-col-1"})
		s.FilesWithRowIDs = 3
		domains[protocol.DomainRowTracking] = protocol.DomainMetadata{Domain: protocol.DomainRowTracking, Configuration: `{"rowIdHighWaterMark":7}`}
	case "domainMetadata":
		domains["leaked"] = protocol.DomainMetadata{Domain: "leaked", Configuration: "{}"}
		domains["another"] = protocol.DomainMetadata{Domain: "another", Configuration: "{}"}
	case "materializePartitionColumns":
		configuration["delta.enableMaterializePartitionColumnsFeature"] = "true"
	case "checkpointProtection":
		configuration[propProtectedBefore] = "7"
	case "coordinatedCommits-preview":
		configuration["delta.coordinatedCommits.commitCoordinator-preview"] = "nobody"
	case "redirectReaderWriter-preview", "redirectWriterOnly-preview":
		configuration["delta."+feature] = "{}"
	case "variantShredding", "variantShredding-preview":
		configuration["delta.enableVariantShredding"], s.FilesShredded = "true", 3
	case "icebergCompatV1", "icebergCompatV2", "icebergCompatV3":
		configuration["delta.enableI"+feature[1:]] = "true"
		configuration["delta.universalFormat.enabledFormats"] = "iceberg"
	case "icebergWriterCompatV1":
		configuration["delta.enableIcebergWriterCompatV1"] = "true"
	case "clustering":
		s.FilesClustered = 1
		domains[protocol.DomainClustering] = protocol.DomainMetadata{Domain: protocol.DomainClustering, Configuration: `{"clusteringColumns":[["id"]]}`}
	case "collations", "collations-preview":
		s.FilesCollated = 1
	}
	s.State = tableWith(t, schema, configuration, feature)
	s.Domains, s.NumVectors = domains, vectors
	return s
}

// TestPlans holds the steps of every feature, dropped both ways, from a table that uses it and from one that does not.
func TestPlans(t *testing.T) {
	var out strings.Builder
	for _, feature := range slices.Sorted(maps.Keys(dropRows)) {
		for _, truncate := range []bool{false, true} {
			for _, used := range []bool{true, false} {
				s := DropState{State: tableWith(t, protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "id", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true}}}, nil, feature), EarliestCheckpoint: 8, EarliestCommit: 8}
				if used {
					s = usedBy(t, feature)
				}
				fmt.Fprintf(&out, "%s", feature)
				if truncate {
					out.WriteString(" TRUNCATE HISTORY")
				}
				if !used {
					out.WriteString(" (unused)")
				}
				out.WriteByte('\n')
				plan, err := PlanDropFeature(s, feature, DropOptions{Truncate: truncate}, testEnv())
				if err != nil {
					fmt.Fprintf(&out, "    %s\n", protocol.ClassOf(err))
					continue
				}
				for _, line := range plan.Lines() {
					fmt.Fprintf(&out, "    %s\n", line)
				}
			}
		}
	}
	const golden = "testdata/drop_feature.txt"
	if *rewriteGoldens {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		t.Errorf("the plans are not those of %s (write it anew with -rewrite):\n%s", golden, got)
	}
}

// run executes a plan on values: every step's change is applied, and what steps do to files is done to the counts. It gives
// the operations that history then shows, and the step that stopped it.
func run(t checker, s DropState, plan *Plan) (DropState, []string, *protocol.Error) {
	t.Helper()
	var history []string
	commit := func(step Step) {
		c, err := step.Change(s.State, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		s.State = after(t, s.State, c)
		if !c.Empty() || step.Operation.AllowEmpty || step.Files != FilesNone {
			history = append(history, step.Operation.Name)
		}
	}
	for _, step := range plan.Steps {
		switch step.Kind {
		case StepCommit, StepDowngrade:
			if step.Kind == StepDowngrade {
				if err := s.Revalidate(plan.Feature); err != nil {
					t.Fatal(err)
				}
			}
			commit(step)
		case StepRewrite, StepRecommit:
			switch step.Files {
			case FilesWithVectors:
				if s.NumVectors == 0 {
					continue
				}
				s.NumVectors = 0
			case FilesOfOldTypes:
				s.FilesOfOldTypes = 0
			case FilesShredded:
				s.FilesShredded = 0
			case FilesWithRowIDs:
				s.FilesWithRowIDs = 0
			case FilesClustered:
				s.FilesClustered = 0
			case FilesCollated:
				s.FilesCollated = 0
			case FilesAll:
				s.NumVectors = 0
			}
			commit(step)
		case StepTombstones:
			commit(step)
		case StepBarrier:
			commit(step)
			s.V2Checkpoint = false
		case StepCleanUp:
			s.EarliestCheckpoint, s.EarliestCommit = s.Version, s.Version
		case StepTruncated:
			if !s.truncatedBefore(step.Before) {
				return s, history, step.Refusal
			}
		case StepStop:
			return s, history, step.Refusal
		}
	}
	return s, history, nil
}

// TestDropsAreComplete: after the steps of a plan nothing is left of the feature, the protocol is the lowest, only what was
// to go went, and a plan that is interrupted anywhere ends the same way when it is made anew.
func TestDropsAreComplete(t *testing.T) {
	for _, feature := range slices.Sorted(maps.Keys(dropRows)) {
		row := dropRows[feature]
		if row.unsupported != "" {
			continue
		}
		for _, truncate := range []bool{false, true} {
			if truncate && !row.protected && feature != "checkpointProtection" || !truncate && feature == "checkpointProtection" {
				continue
			}
			options := DropOptions{Truncate: truncate, Force: true}
			for cut := 0; cut < 12; cut++ {
				s := usedBy(t, feature)
				before := s.Config.Protocol
				plan, err := PlanDropFeature(s, feature, options, testEnv())
				if err != nil {
					t.Fatalf("%s: %v", feature, err)
				}
				if last := slices.IndexFunc(plan.Steps, func(s Step) bool { return s.Kind == StepDowngrade }); cut <= last || last < 0 && cut < len(plan.Steps) {
					// The process ends here, and somebody runs the statement again.
					interrupted := &Plan{Feature: feature, Steps: plan.Steps[:cut]}
					s, _, _ = run(t, s, interrupted)
				}
				var stop *protocol.Error
				for range 3 {
					if plan, err = PlanDropFeature(s, feature, options, testEnv()); err != nil {
						t.Fatalf("%s after %d steps: %v", feature, cut, err)
					}
					if s, _, stop = run(t, s, plan); stop == nil {
						break
					}
				}
				if stop != nil {
					t.Fatalf("%s never ends: %v", feature, stop)
				}
				p := s.Config.Protocol
				protected := p.Supports("checkpointProtection") && feature != "checkpointProtection"
				if s.Config.Supports(feature) || protected != (row.protected && !truncate) || !before.CanDowngradeTo(p, feature) || !p.Normalize().Equal(p) {
					t.Errorf("%s, cut at %d: %s became %s", feature, cut, shown(before), shown(p))
				}
				if protected && s.Config.Property(propProtectedBefore) != fmt.Sprint(s.Version) {
					t.Errorf("%s: checkpoints are protected below %s, the downgrade is %d", feature, s.Config.Property(propProtectedBefore), s.Version)
				}
				if got := s.Config.Schema.JSON(); strings.Contains(got, "delta.") {
					t.Errorf("%s: the schema keeps %s", feature, got)
				}
				_, err = PlanDropFeature(s, feature, options, testEnv())
				wantClass(t, err, "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT")
			}
		}
	}
}

// TestDropHistory holds the recorded operations of drops.
func TestDropHistory(t *testing.T) {
	barriers := []string{"Empty Commit", "Empty Commit", "Empty Commit", "DROP FEATURE"}
	for feature, want := range map[string][]string{
		"columnMapping":               append([]string{"REMOVE COLUMN MAPPING"}, barriers...),
		"deletionVectors":             append([]string{"UNSET TBLPROPERTIES", "REORG", "Deletion Vector Tombstones"}, barriers...),
		"v2Checkpoint":                append([]string{"SET TBLPROPERTIES"}, barriers...),
		"typeWidening":                append([]string{"UNSET TBLPROPERTIES", "REORG", "DROP FEATURE"}, barriers...),
		"vacuumProtocolCheck":         barriers,
		"inCommitTimestamp":           {"UNSET TBLPROPERTIES", "DROP FEATURE"},
		"rowTracking":                 {"SET TBLPROPERTIES", "ROW TRACKING UNBACKFILL", "DROP FEATURE"},
		"domainMetadata":              {"DOMAIN METADATA CLEANUP", "DROP FEATURE"},
		"materializePartitionColumns": {"DROP FEATURE"},
		"checkConstraints":            {"DROP FEATURE"},
	} {
		s := usedBy(t, feature)
		plan, err := PlanDropFeature(s, feature, DropOptions{}, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := run(t, s, plan); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", feature, got, want)
		}
	}
}

// TestDropLeaves holds the recorded tables after a drop.
func TestDropLeaves(t *testing.T) {
	for feature, want := range map[string]struct{ features, configuration string }{
		"columnMapping":               {"appendOnly checkpointProtection invariants", "map[delta.requireCheckpointProtectionBeforeVersion:*]"},
		"deletionVectors":             {"appendOnly checkpointProtection invariants", "map[delta.requireCheckpointProtectionBeforeVersion:*]"},
		"v2Checkpoint":                {"appendOnly checkpointProtection invariants", "map[delta.checkpointPolicy:classic delta.requireCheckpointProtectionBeforeVersion:*]"},
		"typeWidening":                {"appendOnly checkpointProtection invariants", "map[delta.requireCheckpointProtectionBeforeVersion:*]"},
		"inCommitTimestamp":           {"appendOnly invariants", "map[delta.enableInCommitTimestamps:false]"},
		"rowTracking":                 {"appendOnly domainMetadata invariants", "map[]"},
		"domainMetadata":              {"appendOnly invariants", "map[]"},
		"materializePartitionColumns": {"appendOnly invariants", "map[]"},
		"checkConstraints":            {"appendOnly invariants", "map[]"},
	} {
		s := usedBy(t, feature)
		plan, err := PlanDropFeature(s, feature, DropOptions{}, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		s, _, _ = run(t, s, plan)
		configuration := maps.Clone(s.Config.Metadata.Configuration)
		if _, ok := configuration[propProtectedBefore]; ok {
			configuration[propProtectedBefore] = "*"
		}
		if got := strings.Join(s.Config.Protocol.Features(), " "); got != want.features || fmt.Sprint(configuration) != want.configuration || len(s.Domains) > 0 {
			t.Errorf("%s: %s %v %v", feature, got, configuration, s.Domains)
		}
	}
}

// TestDropArguments holds the refusals of names and options, in the reference's order.
func TestDropArguments(t *testing.T) {
	id := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "id", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true}}}
	with := func(features ...string) State { return tableWith(t, id, nil, features...) }
	constrained := tableWith(t, id, props{"delta.constraints.pos": "id > 0"}, "checkConstraints")
	named := tableWith(t, protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "a b", Nullable: true, Type: protocol.DataType{Kind: protocol.KindLong},
		Metadata: protocol.FieldMetadata{"delta.columnMapping.id": jsonText(1), "delta.columnMapping.physicalName": jsonText("c")}}}}, mapped, "columnMapping")
	typed := func(kind protocol.Kind, features ...string) State {
		schema := copyType(id)
		schema.Fields[0].Type = protocol.DataType{Kind: protocol.KindArray, Element: &protocol.DataType{Kind: kind}, ContainsNull: true}
		return tableWith(t, schema, nil, features...)
	}
	carrying := func(key string, value any, features ...string) State {
		schema := copyType(id)
		setMeta(&schema.Fields[0], key, value)
		return tableWith(t, schema, nil, features...)
	}
	strict := copyType(id)
	strict.Fields[0].Nullable = false
	for _, c := range []struct {
		state    State
		feature  string
		truncate bool
		class    protocol.Class
	}{
		{with(), "deletionVectors", false, "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"},
		{with(), "delta.appendOnly", false, "DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY"},
		{with(), "Delta.EnableDeletionVectors", true, "DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY"},
		{with(), "delta.nothing", false, "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"},
		{with(), "noSuchFeature", false, "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"},
		{with("checkConstraints"), "CHECKCONSTRAINTS", false, "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"},
		{with(), "checkconstraints", true, "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"},
		{constrained, "checkConstraints", false, "DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE"},
		{constrained, "checkConstraints", true, "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"},
		{with("rowTracking"), "rowTracking", true, "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"},
		{with("rowTracking"), "domainMetadata", false, "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"},
		{with("clustering"), "domainMetadata", false, "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"},
		{with("icebergCompatV2"), "columnMapping", false, "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"},
		{with("variantShredding"), "variantType", false, "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"},
		{with("variantShredding-preview", "variantType-preview"), "variantType-preview", false, "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"},
		{with("checkpointProtection"), "checkpointProtection", false, "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"},
		{with("icebergCompatV3"), "icebergCompatV3", false, "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"},
		{with("columnMappingUsageTracking"), "columnMappingUsageTracking", false, "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"},
		{with("catalogManaged"), "catalogManaged", false, "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"},
		{named, "columnMapping", false, "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING"},
		{typed(protocol.KindVariant, "variantType"), "variantType", false, "DELTASQL_FEATURE_IN_USE"},
		{typed(protocol.KindTimestampNTZ, "timestampNtz"), "timestampNtz", true, "DELTASQL_FEATURE_IN_USE"},
		{typed(protocol.KindFile, "fileType"), "fileType", false, "DELTASQL_FEATURE_IN_USE"},
		{typed(protocol.KindGeometry, "geospatial"), "geospatial", false, "DELTA_CANNOT_DROP_GEOSPATIAL_FEATURE"},
		{tableWith(t, strict, nil), "invariants", false, "DELTASQL_FEATURE_IN_USE"},
		{carrying("delta.generationExpression", "1", "generatedColumns"), "generatedColumns", false, "DELTASQL_FEATURE_IN_USE"},
		{carrying("delta.identity.start", 1, "identityColumns"), "identityColumns", false, "DELTASQL_FEATURE_IN_USE"},
		{carrying("EXISTS_DEFAULT", "1", "allowColumnDefaults"), "allowColumnDefaults", false, "DELTASQL_FEATURE_IN_USE"},
		{carrying("__COLLATIONS", map[string]string{"id": "ICU.de"}, "collations"), "collations", false, "DELTASQL_FEATURE_IN_USE"},
	} {
		t.Run(c.feature+" "+string(c.class), func(t *testing.T) {
			_, err := PlanDropFeature(DropState{State: c.state}, c.feature, DropOptions{Truncate: c.truncate}, testEnv())
			wantClass(t, err, c.class)
		})
	}
	// Of two names of one feature either may go while the other stays, whatever the columns are.
	for _, feature := range []string{"variantType", "variantType-preview"} {
		if err := DropRefusal(DropState{State: typed(protocol.KindVariant, "variantType", "variantType-preview")}, feature); err != nil {
			t.Error(err)
		}
	}
}

// TestDropProtocols holds the worked examples of the protocol algebra that are drops.
func TestDropProtocols(t *testing.T) {
	id := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "id", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true}}}
	for _, c := range []struct {
		from     protocol.Protocol
		feature  string
		truncate bool
		want     protocol.Protocol
	}{
		{protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}, "checkConstraints", false, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		{protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 4}, "checkConstraints", false, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: strings.Fields("appendOnly changeDataFeed generatedColumns invariants")}},
		{protocol.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, "columnMapping", false, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: strings.Fields("appendOnly changeDataFeed checkConstraints checkpointProtection generatedColumns invariants")}},
		{protocol.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, "columnMapping", true, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 4}},
		{protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: strings.Fields("appendOnly deletionVectors invariants")}, "deletionVectors", true, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		{protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: strings.Fields("appendOnly deletionVectors invariants")}, "deletionVectors", false,
			protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: strings.Fields("appendOnly checkpointProtection invariants")}},
		{protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, "appendOnly", false, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"invariants"}}},
		{protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"invariants"}}, "invariants", false, protocol.Protocol{MinReaderVersion: 1, MinWriterVersion: 1}},
	} {
		config, err := protocol.NewTableConfig(c.from, protocol.Metadata{ID: "t", SchemaString: id.JSON()})
		if err != nil {
			t.Fatal(err)
		}
		s := DropState{State: State{Config: config, NumFiles: 1}}
		plan, err := PlanDropFeature(s, c.feature, DropOptions{Truncate: c.truncate}, testEnv())
		if err != nil {
			t.Fatal(err)
		}
		if s, _, stop := run(t, s, plan); stop != nil || !s.Config.Protocol.Equal(c.want) {
			t.Errorf("%s without %s: %s, want %s (%v)", shown(c.from), c.feature, shown(s.Config.Protocol), shown(c.want), stop)
		}
	}
}

// TestDropWaits: the first run with TRUNCATE HISTORY says when the second may come.
func TestDropWaits(t *testing.T) {
	s := usedBy(t, "deletionVectors")
	env := Env{NowMillis: 1_700_000_030_000} // 2023-11-14 22:13:50
	plan, err := PlanDropFeature(s, "deletionVectors", DropOptions{Truncate: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	_, history, stop := run(t, s, plan)
	if stop == nil || stop.Class != "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD" || !strings.Contains(stop.Hint, "2023-11-15 22:14 UTC") || history[len(history)-1] != "Empty Commit" {
		t.Errorf("%+v %v", stop, history)
	}
	// The same without TRUNCATE HISTORY where the fast way is switched off, by the day.
	plan, err = PlanDropFeature(s, "deletionVectors", DropOptions{Slow: true}, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, stop = run(t, s, plan); stop == nil || !strings.Contains(stop.Hint, "2023-12-15 00:00 UTC") {
		t.Errorf("%+v", stop)
	}
	protected := usedBy(t, "checkpointProtection")
	protected.EarliestCommit = 3
	plan, err = PlanDropFeature(protected, "checkpointProtection", DropOptions{Truncate: true}, env)
	if err != nil || len(plan.Steps) < 4 || plan.Steps[2].Kind != StepTruncated || plan.Steps[2].Refusal.Class != "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD" {
		t.Errorf("%v %v", err, plan.Lines())
	}
}

// TestDropRevalidates: a concurrent commit that uses the feature again keeps it from being dropped.
func TestDropRevalidates(t *testing.T) {
	for _, feature := range []string{"deletionVectors", "rowTracking", "typeWidening", "columnMapping", "v2Checkpoint", "clustering", "domainMetadata", "checkpointProtection"} {
		s := usedBy(t, feature)
		wantClass(t, s.Revalidate(feature), "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL")
		clean := DropState{State: tableWith(t, s.Config.Schema, nil, "appendOnly")}
		wantClass(t, clean.Revalidate(feature), "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL") // somebody else has dropped it
	}
}

func TestHistoryTrace(t *testing.T) {
	vector := &protocol.DeletionVector{}
	metadata := func(configuration props, schema string) protocol.Action {
		return protocol.Action{Metadata: &protocol.Metadata{Configuration: configuration, SchemaString: schema}}
	}
	for _, c := range []struct {
		feature string
		action  protocol.Action
		want    bool
	}{
		{"deletionVectors", protocol.Action{Add: &protocol.AddFile{DeletionVector: vector}}, true},
		{"deletionVectors", protocol.Action{Remove: &protocol.RemoveFile{DeletionVector: vector}}, true},
		{"deletionVectors", protocol.Action{Add: &protocol.AddFile{}}, false},
		{"deletionVectors", metadata(props{"delta.enableDeletionVectors": "true"}, ""), true},
		{"deletionVectors", protocol.Action{Protocol: &protocol.Protocol{WriterFeatures: []string{"deletionVectors"}}}, false},
		{"columnMapping", metadata(mapped, ""), true},
		{"columnMapping", metadata(props{"delta.columnMapping.mode": "none"}, ""), false},
		{"v2Checkpoint", protocol.Action{Sidecar: &protocol.Sidecar{}}, true},
		{"v2Checkpoint", protocol.Action{CheckpointMetadata: &protocol.CheckpointMetadata{}}, true},
		{"v2Checkpoint", metadata(props{"delta.checkpointPolicy": "classic"}, ""), false},
		{"typeWidening", metadata(nil, `{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.typeChanges":[{"toType":"long","fromType":"integer"}]}}]}`), true},
		{"typeWidening", metadata(widening, ""), false},
		{"variantType", metadata(nil, `{"type":"struct","fields":[{"name":"a","type":"variant","nullable":true,"metadata":{}}]}`), true},
		{"vacuumProtocolCheck", metadata(nil, ""), false},
		{"rowTracking", metadata(props{"delta.enableRowTracking": "true"}, ""), false},
	} {
		if got := HistoryTrace(c.feature, c.action); got != c.want {
			t.Errorf("%s: %v for %+v", c.feature, got, c.action)
		}
	}
}
