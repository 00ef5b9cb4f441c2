package ddl

import (
	"maps"
	"strings"
	"testing"

	"deltasql/protocol"
)

func TestSetAndUnsetProperties(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"a": "1", "delta.appendOnly": "true"}})
	c, err := Alter(s, []Action{SetProperties{Properties: props{"b": "x", "a": "2", "DELTA.checkpointinterval": "5"}}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := inHistory(c.Operation); got != `SET TBLPROPERTIES
properties={"a":"2","b":"x","delta.checkpointInterval":"5"}` {
		t.Error(got)
	}
	s = after(t, s, c)
	c, err = Alter(s, []Action{UnsetProperties{Keys: []string{"a", "B", "delta.APPENDONLY"}}}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := inHistory(c.Operation); got != `UNSET TBLPROPERTIES
properties=["a","B","delta.appendOnly"]
ifExists=false` {
		t.Error(got)
	}
	s = after(t, s, c)
	if got := s.Config.Metadata.Configuration; !maps.Equal(got, props{"b": "x", "delta.checkpointInterval": "5"}) {
		t.Errorf("%v", got)
	}
	s = must(t, s, Dependencies{}, SetProperties{Properties: props{"comment": "about t"}})
	if d := s.Config.Metadata.Description; d == nil || *d != "about t" || len(s.Config.Metadata.Configuration) != 2 {
		t.Errorf("%v %v", d, s.Config.Metadata.Configuration)
	}
	c, err = Alter(s, []Action{SetComment{Text: text("other")}}, Dependencies{}, freshEnv())
	if err != nil || inHistory(c.Operation) != `SET TBLPROPERTIES
properties={"comment":"other"}` {
		t.Errorf("%v %s", err, inHistory(c.Operation))
	}
	if s = must(t, s, Dependencies{}, UnsetProperties{Keys: []string{"comment"}}); s.Config.Metadata.Description != nil {
		t.Error("the comment stays")
	}
}

func TestPropertiesRefused(t *testing.T) {
	s := created(t, CreateSpec{Schema: columns(t, "id int")})
	m := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: mapped})
	byID := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.columnMapping.mode": "id"}})
	suspended := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.feature.rowTracking": "supported", "delta.rowTrackingSuspended": "true"}})
	ice := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "name"}})
	const bad = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"
	for _, c := range []struct {
		state      State
		name, text string
		class      protocol.Class
	}{
		{s, "delta.constraints.c", "id > 0", "DELTA_ADD_CONSTRAINTS"},
		{s, "Delta.Constraints.c", "id > 0", "DELTA_ADD_CONSTRAINTS"},
		{s, "location", "/tmp/x", "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"},
		{s, "provider", "parquet", "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"},
		{s, "external", "true", "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"},
		{s, "delta.foo", "1", "DELTA_UNKNOWN_CONFIGURATION"},
		{s, "delta.feature.clustering", "supported", "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"},
		{s, "delta.feature.typeWidening", "yes", "DELTA_UNSUPPORTED_FEATURE_STATUS"},
		{s, "delta.feature.noSuchFeature", "supported", "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"},
		{s, "delta.feature.catalogManaged", "supported", "DELTA_OPERATION_NOT_ALLOWED"},
		{s, "clusteringColumns", "id", "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"},
		{s, "delta.columnMapping.maxColumnId", "9", "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"},
		{s, "delta.requireCheckpointProtectionBeforeVersion", "9", "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"},
		{s, "delta.columnMapping.mode", "sideways", bad},
		{s, "delta.columnMapping.mode", "id", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{m, "delta.columnMapping.mode", "id", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{byID, "delta.columnMapping.mode", "name", "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"},
		{s, "delta.checkpointPolicy", "v3", bad},
		{s, "delta.isolationLevel", "SnapshotIsolation", bad},
		{s, "delta.dataSkippingNumIndexedCols", "-2", bad},
		{s, "delta.minWriterVersion", "8", bad},
		{s, "delta.minReaderVersion", "0", bad},
		{s, "delta.logRetentionDuration", "interval 1 day", bad},
		{suspended, "delta.enableRowTracking", "true", "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"},
		{ice, "delta.columnMapping.mode", "none", "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
	} {
		_, err := Alter(c.state, []Action{SetProperties{Properties: props{c.name: c.text}}}, Dependencies{}, freshEnv())
		t.Run(c.name+"="+c.text, func(t *testing.T) { wantClass(t, err, c.class) })
	}
	_, err := Alter(m, []Action{UnsetProperties{Keys: []string{"delta.columnMapping.maxColumnId"}}}, Dependencies{}, freshEnv())
	wantClass(t, err, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY")
	spaced := must(t, m, Dependencies{}, RenameColumn{Column: path("id"), To: "a b"})
	for _, action := range []Action{SetProperties{Properties: props{"delta.columnMapping.mode": "none"}}, UnsetProperties{Keys: []string{"delta.columnMapping.mode"}}} {
		_, err = Alter(spaced, []Action{action}, Dependencies{}, freshEnv())
		wantClass(t, err, "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING")
	}
}

// TestUpgradeByProperty holds the recorded protocols of tables whose properties were set, and the worked examples of the
// protocol algebra that an ALTER can reach.
func TestUpgradeByProperty(t *testing.T) {
	type p = protocol.Protocol
	legacy := func(r, w int) p { return p{MinReaderVersion: r, MinWriterVersion: w} }
	lists := func(r int, readers, writers string) p {
		out := p{MinReaderVersion: r, MinWriterVersion: 7, WriterFeatures: strings.Fields(writers)}
		if r == 3 {
			out.ReaderFeatures = strings.Fields(readers)
		}
		return out
	}
	for _, c := range []struct {
		name      string
		from, set props
		want      p
	}{
		{"change feed", nil, props{"delta.enableChangeDataFeed": "true"}, lists(1, "", "appendOnly changeDataFeed invariants")},
		{"deletion vectors", nil, props{"delta.enableDeletionVectors": "true"}, lists(3, "deletionVectors", "appendOnly deletionVectors invariants")},
		{"mapping on (1,2)", nil, mapped, lists(2, "", "appendOnly columnMapping invariants")},
		{"mapping on (1,4)", props{"delta.minWriterVersion": "4"}, mapped, legacy(2, 5)},
		{"vectors on (2,5)", props{"delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}, props{"delta.enableDeletionVectors": "true"},
			lists(3, "columnMapping deletionVectors", "appendOnly changeDataFeed checkConstraints columnMapping deletionVectors generatedColumns invariants")},
		{"version 3 over one listed feature", props{"delta.ignoreProtocolDefaults": "true", "delta.feature.checkConstraints": "supported"}, props{"delta.minWriterVersion": "3"}, legacy(1, 3)},
		{"versions of lists without a feature", nil, props{"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"}, legacy(1, 2)},
		{"writer 5 alone", nil, props{"delta.minWriterVersion": "5"}, legacy(1, 4)},
		{"2 and 6", nil, props{"delta.minReaderVersion": "2", "delta.minWriterVersion": "6"}, legacy(2, 6)},
		{"lower", props{"delta.minWriterVersion": "4"}, props{"delta.minWriterVersion": "2"}, legacy(1, 4)},
		{"two at once", nil, props{"delta.enableTypeWidening": "true", "delta.checkpointPolicy": "v2"}, lists(3, "typeWidening v2Checkpoint", "appendOnly invariants typeWidening v2Checkpoint")},
		{"by name, in any case", nil, props{"DELTA.FEATURE.CheckConstraints": "SUPPORTED"}, legacy(1, 3)},
		{"the old word", nil, props{"delta.feature.v2Checkpoint": "enabled"}, lists(3, "v2Checkpoint", "appendOnly invariants v2Checkpoint")},
		{"in-commit timestamps", nil, props{"delta.enableInCommitTimestamps": "true"}, lists(1, "", "appendOnly inCommitTimestamp invariants")},
		{"row tracking", nil, props{"delta.enableRowTracking": "true"}, lists(1, "", "appendOnly domainMetadata invariants rowTracking")},
	} {
		s := created(t, CreateSpec{Schema: columns(t, "id int"), Properties: c.from})
		change, err := Alter(s, []Action{SetProperties{Properties: c.set}}, Dependencies{}, freshEnv())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := after(t, s, change)
		if !got.Config.Protocol.Equal(c.want) {
			t.Errorf("%s: %s, want %s", c.name, shown(got.Config.Protocol), shown(c.want))
		}
		if change.Protocol != nil && change.Metadata == nil {
			t.Errorf("%s: a protocol without metadata", c.name)
		}
		for key := range got.Config.Metadata.Configuration {
			if isProtocolProperty(key) {
				t.Errorf("%s: %s is stored", c.name, key)
			}
		}
		// Switching off again, or taking the property away, keeps the feature.
		keys := []string{}
		for key := range c.set {
			if key != "delta.columnMapping.mode" {
				keys = append(keys, key)
			}
		}
		if off := must(t, got, Dependencies{}, UnsetProperties{Keys: keys}); !off.Config.Protocol.Equal(got.Config.Protocol) {
			t.Errorf("%s: a feature went with its property: %s", c.name, shown(off.Config.Protocol))
		}
	}
}

// TestColumnMappingMode holds the recorded way of a table into column mapping and out of it.
func TestColumnMappingMode(t *testing.T) {
	s := withRows(created(t, CreateSpec{Schema: columns(t, "id int,s struct<x:int>")}))
	plain := s.Config.Schema.JSON()
	s = must(t, s, Dependencies{}, SetProperties{Properties: mapped})
	if id, _ := s.Config.Schema.Fields[1].Type.Fields[0].ColumnID(); id != 3 || s.Config.Property("delta.columnMapping.maxColumnId") != "3" || s.Config.PhysicalName(1) != "s" {
		t.Error(s.Config.Schema.JSON())
	}
	for _, c := range []struct {
		action Action
		want   props
	}{
		{SetProperties{Properties: props{"delta.columnMapping.mode": "none"}}, props{"delta.columnMapping.mode": "none"}},
		{SetProperties{Properties: props{"delta.columnMapping.mode": "NONE", "k": "v"}}, props{"delta.columnMapping.mode": "NONE", "k": "v"}},
		{UnsetProperties{Keys: []string{"delta.columnMapping.mode"}}, nil},
	} {
		change, err := Alter(s, []Action{c.action}, Dependencies{}, freshEnv())
		if err != nil {
			t.Fatal(err)
		}
		if change.Rewrite != FilesAll || change.Operation.Name != "REMOVE COLUMN MAPPING" || change.Protocol != nil {
			t.Errorf("%+v", change)
		}
		got := after(t, s, change)
		if got.Config.Schema.JSON() != plain || !maps.Equal(got.Config.Metadata.Configuration, c.want) || !got.Config.Supports("columnMapping") {
			t.Error(got.Config.Schema.JSON(), got.Config.Metadata.Configuration)
		}
		again := must(t, got, Dependencies{}, SetProperties{Properties: mapped})
		if again.Config.Mapping != protocol.MappingName {
			t.Error("mapping cannot come back")
		}
	}
}

// TestEnableRowTracking holds the three commits of enabling row tracking on a table with rows.
func TestEnableRowTracking(t *testing.T) {
	s := withRows(created(t, CreateSpec{Schema: columns(t, "id int")}))
	set := SetProperties{Properties: props{"delta.enableRowTracking": "true"}}
	c, err := Alter(s, []Action{set}, Dependencies{}, freshEnv())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Before) != 2 || c.Before[0].Operation.Name != "UPGRADE PROTOCOL" || c.Before[1].Operation.Name != "ROW TRACKING BACKFILL" || c.Before[1].BatchFiles != 22000 ||
		c.Before[1].Files != FilesWithoutRowID || c.Operation.Name != "SET TBLPROPERTIES" || c.Operation.Tags["rowTrackingEnablementOnly"] != "true" {
		t.Errorf("%+v", c)
	}
	if got := inHistory(c.Before[0].Operation); got != "UPGRADE PROTOCOL\nnewProtocol={\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"appendOnly\",\"domainMetadata\",\"invariants\",\"rowTracking\"]}" {
		t.Error(got)
	}
	if got := inHistory(c.Before[1].Batch(3)); got != "ROW TRACKING BACKFILL\nbatchId=3" {
		t.Error(got)
	}
	first, err := c.Before[0].Change(s, freshEnv())
	if err != nil || first.Protocol == nil || first.Metadata != nil {
		t.Errorf("%v %+v", err, first)
	}
	// The property's own commit is made on the table as it is by then, and a rerun begins with what is left.
	upgraded := after(t, s, first)
	if c, err = Alter(upgraded, []Action{set}, Dependencies{}, freshEnv()); err != nil || len(c.Before) != 1 {
		t.Fatalf("%v %+v", err, c)
	}
	upgraded.Tracked = true
	c, err = Alter(upgraded, []Action{set}, Dependencies{}, freshEnv())
	if err != nil || len(c.Before) != 0 || c.Protocol != nil || c.Metadata == nil || c.Operation.Tags["rowTrackingEnablementOnly"] != "true" {
		t.Fatalf("%v %+v", err, c)
	}
	done := after(t, upgraded, c)
	if !done.Config.Active("rowTracking") || done.Config.Property("delta.rowTracking.materializedRowIdColumnName") == "" {
		t.Error(done.Config.Metadata.Configuration)
	}
	if c, err = Alter(done, []Action{set}, Dependencies{}, freshEnv()); err != nil || !c.Empty() {
		t.Errorf("%v %+v", err, c)
	}
	suspended := withRows(created(t, CreateSpec{Schema: columns(t, "id int"), Properties: props{"delta.feature.rowTracking": "supported", "delta.rowTrackingSuspended": "true"}}))
	c, err = Alter(suspended, []Action{SetProperties{Properties: props{"delta.enableRowTracking": "true", "delta.rowTrackingSuspended": "false"}}}, Dependencies{}, freshEnv())
	if err != nil || len(c.Before) != 2 || c.Before[0].Set["delta.rowTrackingSuspended"] != "false" || c.Before[1].Files != FilesWithoutRowID || c.Operation.Tags != nil {
		t.Errorf("%v %+v", err, c)
	}
	if steps, err := PlanBackfill(State{Config: done.Config}); err != nil || len(steps) != 0 {
		t.Errorf("an empty table with the feature needs nothing: %v %v", err, steps)
	}
}

// TestUnmappingRenamesTheClustering: the domain knows columns by physical names, and when column mapping goes these are the logical ones,
// whether a property takes it away or the drop of the feature.
func TestUnmappingRenamesTheClustering(t *testing.T) {
	c, err := Create(CreateSpec{Schema: columns(t, "a int, s struct<x:int>"), Properties: props{"delta.columnMapping.mode": "name"}, ClusterBy: [][]string{{"s", "x"}, {"a"}}}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	config, err := protocol.NewTableConfig(*c.Protocol, *c.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	now := State{Config: config, Domains: map[string]protocol.DomainMetadata{protocol.DomainClustering: c.Domains[0]}, NumFiles: 2}
	const want = `{"clusteringColumns":[["s","y"],["a"]],"domainName":"delta.clustering"}`
	check := func(what string, domains []protocol.DomainMetadata, err error) {
		t.Helper()
		if err != nil || len(domains) != 1 || domains[0].Configuration != want {
			t.Errorf("%s: %v, %v", what, domains, err)
		}
	}
	renamed, err := Alter(now, []Action{RenameColumn{Column: Path{"s", "x"}, To: "y"}}, Dependencies{}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if now.Config, err = protocol.NewTableConfig(*c.Protocol, *renamed.Metadata); err != nil {
		t.Fatal(err)
	}
	made, err := Alter(now, []Action{SetProperties{Properties: props{"delta.columnMapping.mode": "none"}}}, Dependencies{}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	check("mode none", made.Domains, err)
	plan, err := PlanDropFeature(DropState{State: now}, "columnMapping", DropOptions{}, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	made, err = plan.Steps[0].Change(now, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	check("drop", made.Domains, err)
	// What the statement clusters by itself comes once.
	made, err = Alter(now, []Action{SetProperties{Properties: props{"delta.columnMapping.mode": "none"}}, SetClustering{Columns: []Path{{"a"}}}}, Dependencies{}, testEnv())
	if err != nil || len(made.Domains) != 1 || made.Domains[0].Configuration != `{"clusteringColumns":[["a"]],"domainName":"delta.clustering"}` {
		t.Errorf("%v, %v", made, err)
	}
}
