package protocol

import (
	"slices"
	"strings"
	"testing"
)

func schemaOf(fields ...string) string {
	return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
}

func column(name, typeJSON, metadata string) string {
	return `{"name":"` + name + `","type":` + typeJSON + `,"nullable":true,"metadata":{` + metadata + `}}`
}

func mapped(id, physical string) string {
	return `"delta.columnMapping.id":` + id + `,"delta.columnMapping.physicalName":"` + physical + `"`
}

func config(t *testing.T, p Protocol, m Metadata) *TableConfig {
	t.Helper()
	c, err := NewTableConfig(p, m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTableConfigJoins(t *testing.T) {
	c := config(t, plain(2, 5), Metadata{
		SchemaString:     schemaOf(column("Id", `"long"`, mapped("1", "col-1")), column("Day", `"date"`, mapped("2", "col-2"))),
		PartitionColumns: []string{"DAY"},
		Configuration:    map[string]string{"delta.columnMapping.mode": "name", "Delta.AppendOnly": "TRUE", "user.Key": "v", "delta.constraints.C1": "id > 0"},
	})
	if c.Mapping != MappingName || c.PhysicalName(1) != "col-2" || !slices.Equal(c.PartitionColumns, []int{1}) || !c.IsPartitionColumn(1) {
		t.Errorf("%+v", c)
	}
	if !c.Active("appendOnly") || !c.Active("columnMapping") || !c.Active("checkConstraints") || c.Active("changeDataFeed") || !c.Supports("changeDataFeed") || c.Active("deletionVectors") {
		t.Error("supported and active features are wrong")
	}
	if c.Constraints()["c1"] != "id > 0" || c.Property("USER.key") != "" || c.Property("user.Key") != "v" {
		t.Error("properties are wrong")
	}
	// Without the feature the property means nothing (protocol, "Column Mapping").
	c = config(t, plain(1, 2), Metadata{SchemaString: schemaOf(column("a", `"long"`, mapped("1", "col-1"))), Configuration: map[string]string{"delta.columnMapping.mode": "id"}})
	if c.Mapping != MappingNone || c.PhysicalName(0) != "a" {
		t.Errorf("mapping is %s, name %s", c.Mapping, c.PhysicalName(0))
	}
	// A name that differs only in case gives way to the exact one.
	c = config(t, plain(1, 2), Metadata{})
	if len(c.Schema.Fields) != 0 {
		t.Error("no schema is a schema without columns")
	}
}

func TestTableConfigRefuses(t *testing.T) {
	on := map[string]string{"delta.columnMapping.mode": "name"}
	widening := lists(3, names("typeWidening"), names("typeWidening"))
	for name, c := range map[string]struct {
		p     Protocol
		m     Metadata
		class Class
		text  string
	}{
		"no such partition column":   {plain(1, 2), Metadata{SchemaString: schemaOf(column("a", `"long"`, "")), PartitionColumns: []string{"b"}}, "DELTA_PARTITION_COLUMN_NOT_FOUND", `"b"`},
		"partition column twice":     {plain(1, 2), Metadata{SchemaString: schemaOf(column("a", `"long"`, "")), PartitionColumns: []string{"a", "A"}}, "DELTA_DUPLICATE_COLUMNS_FOUND", `"A"`},
		"mapping without id":         {plain(2, 5), Metadata{SchemaString: schemaOf(column("a", `"long"`, "")), Configuration: on}, "DELTA_INVALID_SCHEMA", `"a"`},
		"mapping without name":       {plain(2, 5), Metadata{SchemaString: schemaOf(column("a", `"long"`, `"delta.columnMapping.id":1`)), Configuration: on}, "DELTA_INVALID_SCHEMA", "physical name"},
		"id twice":                   {plain(2, 5), Metadata{SchemaString: schemaOf(column("a", `"long"`, mapped("1", "x")), column("s", schemaOf(column("b", `"long"`, mapped("1", "y"))), mapped("2", "z"))), Configuration: on}, "DELTA_INVALID_SCHEMA", "id 1"},
		"physical name twice":        {plain(2, 5), Metadata{SchemaString: schemaOf(column("a", `"long"`, mapped("1", "x")), column("b", `"long"`, mapped("2", "x"))), Configuration: on}, "DELTA_INVALID_SCHEMA", `"x"`},
		"unknown mode":               {plain(2, 5), Metadata{Configuration: map[string]string{"delta.columnMapping.mode": "both"}}, "DELTA_INVALID_SCHEMA", "both"},
		"malformed protocol":         {lists(3, nil, []string{}), Metadata{}, "DELTA_INVALID_LOG_FILE", ""},
		"a change nobody can follow": {widening, Metadata{SchemaString: schemaOf(column("a", `"integer"`, `"delta.typeChanges":[{"fromType":"string","toType":"integer"}]`))}, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "string to int"},
	} {
		_, err := NewTableConfig(c.p, c.m)
		if err == nil || ClassOf(err) != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s", name, err, c.class)
		}
	}
	// The same physical name in two structs is two paths.
	config(t, plain(2, 5), Metadata{SchemaString: schemaOf(column("a", `"long"`, mapped("1", "x")), column("s", schemaOf(column("b", `"long"`, mapped("3", "x"))), mapped("2", "z"))), Configuration: on})
	// Recorded changes count only where the feature is supported.
	config(t, plain(1, 2), Metadata{SchemaString: schemaOf(column("a", `"integer"`, `"delta.typeChanges":[{"fromType":"string","toType":"integer"}]`))})
}

func TestCanWiden(t *testing.T) {
	for pair, want := range map[string]bool{
		"byte short": true, "byte int": true, "byte long": true, "short int": true, "int long": true, "byte double": true, "short double": true, "int double": true,
		"float double": true, "date timestamp_ntz": true, "byte decimal(10,0)": true, "byte decimal(4,1)": true, "short decimal(11,1)": true, "int decimal(12,2)": true,
		"long decimal(20,0)": true, "decimal(10,2) decimal(20,5)": true, "decimal(10,2) decimal(12,2)": true, "void string": true, "int int": true,
		"long double": false, "int float": false, "long int": false, "int decimal(10,1)": false, "long decimal(18,0)": false, "decimal(10,2) decimal(10,3)": false,
		"decimal(10,2) decimal(12,1)": false, "date timestamp": false, "string int": false, "double float": false,
	} {
		from, to, _ := strings.Cut(pair, " ")
		a, err1 := ParseDataType(from)
		b, err2 := ParseDataType(to)
		if err1 != nil || err2 != nil || CanWiden(a, b) != want {
			t.Errorf("%s: want %v (%v, %v)", pair, want, err1, err2)
		}
	}
}

func TestPropertyDefaults(t *testing.T) {
	c := config(t, plain(1, 2), Metadata{Configuration: map[string]string{"delta.logRetentionDuration": "7 days", "delta.enableChangeDataCapture": "true", "delta.checkpointInterval": "ten", "delta.appendOnly": "yes"}})
	if n, set, err := c.IntProperty("delta.dataSkippingNumIndexedCols"); n != 32 || !set || err != nil {
		t.Error(n, set, err)
	}
	if ms, set, err := c.DurationProperty("delta.deletedFileRetentionDuration"); ms != 7*86400_000 || !set || err != nil {
		t.Error(ms, set, err)
	}
	if ms, _, err := c.DurationProperty("DELTA.LOGRETENTIONDURATION"); ms != 7*86400_000 || err != nil {
		t.Error(ms, err)
	}
	if _, set, err := c.DurationProperty("delta.setTransactionRetentionDuration"); set || err != nil {
		t.Error("must not be set", err)
	}
	if on, err := c.BoolProperty("delta.enableChangeDataFeed"); !on || err != nil {
		t.Error("the old alias must count", err)
	}
	if on, err := c.BoolProperty("delta.enableExpiredLogCleanup"); !on || err != nil {
		t.Error(on, err)
	}
	for _, f := range []func() error{
		func() error { _, _, err := c.IntProperty("delta.checkpointInterval"); return err },
		func() error { _, err := c.BoolProperty("delta.appendOnly"); return err },
	} {
		if err := f(); ClassOf(err) != "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED" {
			t.Error(err)
		}
	}
}

func TestParseIntervalMillis(t *testing.T) {
	for text, want := range map[string]int64{
		"interval 7 days": 7 * 86400_000, "1 week": 7 * 86400_000, "INTERVAL 1 day 2 hours": 26 * 3600_000, "interval 0 seconds": 0, "1.5 seconds": 1500,
		"interval 100000 days": 100000 * 86400_000, "1500 microseconds": 1, "interval 2 hours -30 minutes": 5400_000,
	} {
		if got, err := ParseIntervalMillis(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]Class{
		"": "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY", "interval": "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY", "1 month": "DELTA_INVALID_INTERVAL", "interval 1 year": "DELTA_INVALID_INTERVAL",
		"7": "DELTA_INVALID_INTERVAL", "seven days": "DELTA_INVALID_INTERVAL", "-1 days": "DELTA_INVALID_INTERVAL", "1 fortnight": "DELTA_INVALID_INTERVAL",
		"9223372036854775807 weeks": "DELTA_INVALID_INTERVAL", "100000000 days 100000000 days": "DELTA_INVALID_INTERVAL", "1.5 days": "DELTA_INVALID_INTERVAL",
	} {
		if got, err := ParseIntervalMillis(text); ClassOf(err) != want {
			t.Errorf("%q: %d, %v; want %s", text, got, err, want)
		}
	}
}

func TestStatisticsLeaves(t *testing.T) {
	schema := schemaOf(column("p", `"string"`, ""), column("a", `"long"`, ""), column("f", `"file"`, ""), column("s", schemaOf(column("x", `"long"`, ""), column("odd.name", `"string"`, "")), ""), column("l", `{"type":"array","elementType":"long","containsNull":true}`, ""), column("v", `"variant"`, ""))
	paths := func(properties map[string]string) string {
		c := config(t, plain(1, 2), Metadata{SchemaString: schema, PartitionColumns: []string{"p"}, Configuration: properties})
		leaves, err := c.StatisticsLeaves()
		if err != nil {
			return string(ClassOf(err))
		}
		var out []string
		for _, leaf := range leaves {
			var parts []string
			for _, name := range leaf.Physical {
				parts = append(parts, string(name))
			}
			out = append(out, strings.Join(parts, "/"))
		}
		return strings.Join(out, " ")
	}
	all := "a f/uri f/offset f/size f/content_type f/checksum s/x s/odd.name l v"
	for _, c := range []struct {
		properties map[string]string
		want       string
	}{
		{nil, all},
		{map[string]string{"delta.dataSkippingNumIndexedCols": "-1"}, all},
		{map[string]string{"delta.dataSkippingNumIndexedCols": "0"}, ""},
		{map[string]string{"delta.dataSkippingNumIndexedCols": "3"}, "a f/uri f/offset"},
		{map[string]string{"delta.dataSkippingNumIndexedCols": "-2"}, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{map[string]string{"delta.dataSkippingStatsColumns": "s, A", "delta.dataSkippingNumIndexedCols": "0"}, "a s/x s/odd.name"},
		{map[string]string{"delta.dataSkippingStatsColumns": "s.`odd.name`,f.size,gone,p"}, "f/size s/odd.name"},
		{map[string]string{"delta.dataSkippingStatsColumns": ""}, ""},
		{map[string]string{"delta.dataSkippingStatsColumns": "a,"}, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
		{map[string]string{"delta.dataSkippingStatsColumns": "`a"}, "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"},
	} {
		if got := paths(c.properties); got != c.want {
			t.Errorf("%v: %q, want %q", c.properties, got, c.want)
		}
	}
}
