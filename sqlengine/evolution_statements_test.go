package sqlengine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// The random statements of TestEvolution, with what each makes of the model.

func (e *evolving) step() {
	switch n := e.random.IntN(100); {
	case n < 35:
		e.write()
	case n < 55:
		e.upgrade()
	case n < 75:
		e.alter()
	case n < 93:
		e.dropFeature()
	case n < 96:
		e.restore()
	default:
		hours := 1 + e.random.IntN(48)
		e.clock.Add(int64(hours) * 3_600_000)
		e.script = append(e.script, fmt.Sprintf("-- %d hours pass", hours))
		e.open()
	}
}

// restore goes back to a version whose log is there; what is supported stays so.
func (e *evolving) restore() {
	versions := slices.DeleteFunc(slices.Sorted(maps.Keys(e.models)), func(version int64) bool {
		_, err := os.Stat(filepath.Join(e.folder(), protocol.LogFolder, protocol.CommitName(version)))
		return err != nil || e.short
	})
	if len(versions) == 0 {
		return
	}
	version := versions[e.random.IntN(len(versions))]
	if e.try("restore", fmt.Sprintf("RESTORE TABLE t TO VERSION AS OF %d", version)) {
		features := e.features
		e.evolved = e.models[version].copy()
		maps.Copy(e.features, features)
		e.ids = nil // rows that come back bring their ids
	}
}

// value is a random value of a column, as SQL and in the model.
func (e *evolving) value(column string) (sql string, model map[string]string) {
	n := e.random.IntN(100)
	switch e.types[column] {
	case "STRING":
		return fmt.Sprintf("'v%d'", n), map[string]string{column: fmt.Sprintf(`"v%d"`, n)}
	case "DATE":
		return fmt.Sprintf("DATE '2024-01-%02d'", n%28+1), map[string]string{column: fmt.Sprintf(`"2024-01-%02d"`, n%28+1)}
	case "STRUCT":
		model = map[string]string{column: "{}"}
		var members []string
		for _, f := range e.inner {
			sql, value := e.value(column + "." + f)
			members = append(members, "'"+f+"', "+sql)
			maps.Copy(model, value)
		}
		return "named_struct(" + strings.Join(members, ", ") + ")", model
	}
	return strconv.Itoa(n), map[string]string{column: strconv.Itoa(n)}
}

// writable are the columns whose values are given.
func (e *evolving) writable() []string {
	return slices.DeleteFunc(slices.Clone(e.columns), func(c string) bool { return c == "g" })
}

// assigned is a column, or a field of o, to assign to.
func (e *evolving) assigned() string {
	column := e.writable()[1+e.random.IntN(len(e.writable())-1)]
	if column == "o" && e.random.IntN(2) == 0 {
		return "o." + e.inner[e.random.IntN(len(e.inner))]
	}
	return column
}

// assign gives a row of the model a value; a field of a struct that is NULL makes the struct.
func assign(row, value map[string]string) {
	for key, text := range value {
		if strings.HasPrefix(key, "o.") {
			row["o"] = "{}"
		}
		row[key] = text
	}
}

func (e *evolving) write() {
	columns := e.writable()
	switch e.random.IntN(6) {
	case 0, 1:
		var rows []string
		added := map[int]map[string]string{}
		for range 1 + e.random.IntN(4) {
			k := 1 + e.random.IntN(60)
			if e.rows[k] != nil || added[k] != nil {
				continue
			}
			row, list := map[string]string{}, []string{}
			for _, c := range columns {
				sql, value := e.value(c)
				if c == "k" {
					sql, value = strconv.Itoa(k), map[string]string{c: strconv.Itoa(k)}
				}
				maps.Copy(row, value)
				list = append(list, sql)
			}
			rows, added[k] = append(rows, "("+strings.Join(list, ", ")+")"), row
		}
		if len(rows) > 0 && e.try("write", "INSERT INTO t ("+strings.Join(columns, ", ")+") VALUES "+strings.Join(rows, ", ")) {
			maps.Copy(e.rows, added)
		}
	case 2:
		m, r := 2+e.random.IntN(4), e.random.IntN(2)
		if e.try("write", fmt.Sprintf("DELETE FROM t WHERE k %% %d = %d", m, r)) {
			maps.DeleteFunc(e.rows, func(k int, _ map[string]string) bool { return k%m == r })
		}
	case 3:
		column := e.assigned()
		m, r := 2+e.random.IntN(4), e.random.IntN(2)
		sql, value := e.value(column)
		if e.try("write", fmt.Sprintf("UPDATE t SET %s = %s WHERE k %% %d = %d", column, sql, m, r)) {
			for k, row := range e.rows {
				if k%m == r {
					assign(row, value)
				}
			}
		}
	case 4:
		column := columns[1+e.random.IntN(len(columns)-1)]
		from := 1 + e.random.IntN(50)
		sql, value := e.value(column)
		if e.try("write", fmt.Sprintf("MERGE INTO t USING (SELECT CAST(id AS BIGINT) AS k, %[2]s AS v FROM range(%[3]d, %[4]d)) u ON t.k = u.k "+
			"WHEN MATCHED AND t.k %% 7 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET %[1]s = u.v WHEN NOT MATCHED AND u.k %% 2 = 0 THEN INSERT (k, %[1]s) VALUES (u.k, u.v)", column, sql, from, from+8)) {
			for k := from; k < from+8; k++ {
				switch row := e.rows[k]; {
				case row != nil && k%7 == 0:
					delete(e.rows, k)
				case row != nil:
					assign(row, value)
				case k%2 == 0:
					e.rows[k] = map[string]string{"k": strconv.Itoa(k)}
					assign(e.rows[k], value)
				}
			}
		}
	case 5:
		e.try("write", "OPTIMIZE t")
	}
}

// upgrades are properties that are set, with the features that they bring.
var upgrades = []struct {
	set    string
	brings []string
}{
	{"'delta.enableDeletionVectors' = 'true'", []string{"deletionVectors"}},
	{"'delta.enableDeletionVectors' = 'true'", []string{"deletionVectors"}},
	{"'delta.enableDeletionVectors' = 'false'", nil},
	{"'delta.enableRowTracking' = 'true'", []string{"rowTracking", "domainMetadata"}},
	{"'delta.enableRowTracking' = 'true'", []string{"rowTracking", "domainMetadata"}},
	{"'delta.enableRowTracking' = 'false'", nil},
	{"'delta.enableChangeDataFeed' = 'true'", []string{"changeDataFeed"}},
	{"'delta.enableChangeDataFeed' = 'false'", nil},
	{"'delta.columnMapping.mode' = 'name'", []string{"columnMapping"}},
	{"'delta.columnMapping.mode' = 'name'", []string{"columnMapping"}},
	{"'delta.columnMapping.mode' = 'none'", nil},
	{"'delta.enableTypeWidening' = 'true'", []string{"typeWidening"}},
	{"'delta.enableTypeWidening' = 'true'", []string{"typeWidening"}},
	{"'delta.feature.typeWidening-preview' = 'supported'", []string{"typeWidening-preview"}},
	{"'delta.enableInCommitTimestamps' = 'true'", []string{"inCommitTimestamp"}},
	{"'delta.enableInCommitTimestamps' = 'false'", nil},
	{"'delta.checkpointPolicy' = 'v2'", []string{"v2Checkpoint"}},
	{"'delta.checkpointPolicy' = 'classic'", nil},
	{"'delta.appendOnly' = 'true'", []string{"appendOnly"}},
	{"'delta.appendOnly' = 'false'", nil},
	{"'delta.appendOnly' = 'false'", nil},
	{"'delta.feature.vacuumProtocolCheck' = 'supported'", []string{"vacuumProtocolCheck"}},
	{"'DELTA.feature.TimestampNtz' = 'enabled'", []string{"timestampNtz"}},
	{"'delta.feature.identityColumns' = 'supported'", []string{"identityColumns"}},
	{"'delta.feature.variantType' = 'supported', 'mine' = '2'", []string{"variantType"}},
	{"'delta.feature.checkConstraints' = 'supported', 'delta.enableChangeDataFeed' = 'true'", []string{"checkConstraints", "changeDataFeed"}},
	{"'delta.feature.materializePartitionColumns' = 'supported'", []string{"materializePartitionColumns"}},
	{"'delta.feature.domainMetadata' = 'supported'", []string{"domainMetadata"}},
	{"'delta.enableVariantShredding' = 'true'", []string{"variantShredding-preview"}},
	{"'delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 2 hours'", nil},
	{"'delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 1 day'", nil},
	{"'user.key' = '1'", nil},
	{"'delta.dataSkippingNumIndexedCols' = '2'", nil},
}

func (e *evolving) upgrade() {
	switch n := e.random.IntN(len(upgrades) + 5); {
	case n < len(upgrades):
		u := upgrades[n]
		brings := slices.DeleteFunc(slices.Clone(u.brings), func(f string) bool { return f == "typeWidening" && e.features["typeWidening-preview"] })
		e.try("upgrade", "ALTER TABLE t SET TBLPROPERTIES ("+u.set+")", brings...)
		e.short = e.short || strings.Contains(u.set, "logRetentionDuration")
	case n == len(upgrades):
		key := []string{"delta.enableDeletionVectors", "delta.enableChangeDataFeed", "delta.enableTypeWidening", "delta.appendOnly", "user.key", "delta.feature.deletionVectors", "delta.minWriterVersion"}[e.random.IntN(7)]
		e.try("upgrade", "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('"+key+"')")
	default:
		// What the version numbers imply comes in; a reader version that is not given is the table's, and lists imply nothing.
		reader, writer := e.random.IntN(4), 1+e.random.IntN(7)
		set := fmt.Sprintf("'delta.minWriterVersion' = '%d'", writer)
		least := e.config().Protocol.MinReaderVersion
		if reader > 0 {
			set, least = fmt.Sprintf("'delta.minReaderVersion' = '%d', ", reader)+set, reader
		}
		var brings []string
		for f, versions := range legacyVersions {
			if writer < 7 && versions[0] <= least && versions[1] <= writer {
				brings = append(brings, f)
			}
		}
		e.try("upgrade", "ALTER TABLE t SET TBLPROPERTIES ("+set+")", brings...)
	}
}

func (e *evolving) alter() {
	// added are the columns that came later; s, o and k stay.
	var added []string
	for _, c := range e.columns {
		if strings.HasPrefix(c, "x") {
			added = append(added, c)
		}
	}
	if len(added) == 0 && slices.Contains(e.columns, "n") {
		added = []string{"n"}
	}
	if len(added) == 0 {
		e.alterNested()
		return
	}
	column := added[e.random.IntN(len(added))]
	at := slices.Index(e.columns, column)
	switch e.random.IntN(15) {
	case 0, 1:
		if len(e.columns) > 8 {
			return
		}
		e.names++
		name, typ := fmt.Sprintf("x%d", e.names), []string{"INT", "STRING", "DATE", "SMALLINT"}[e.random.IntN(4)]
		after := e.writable()[e.random.IntN(len(e.writable()))]
		if e.try("alter", fmt.Sprintf("ALTER TABLE t ADD COLUMN %s %s AFTER %s", name, typ, after)) {
			e.columns = slices.Insert(e.columns, slices.Index(e.columns, after)+1, name)
			e.types[name] = typ
		}
	case 2:
		if e.try("alter", "ALTER TABLE t DROP COLUMN "+column) {
			e.columns = slices.Delete(e.columns, at, at+1)
			e.forget(column)
		}
	case 3:
		e.names++
		name := fmt.Sprintf("x%d", e.names)
		if e.try("alter", "ALTER TABLE t RENAME COLUMN "+column+" TO "+name) {
			e.columns[at] = name
			e.rename(column, name)
		}
	case 4, 5:
		wider := map[string]string{"SMALLINT": "INT", "INT": "BIGINT"}[e.types[column]]
		if wider != "" && e.try("alter", fmt.Sprintf("ALTER TABLE t ALTER COLUMN %s TYPE %s", column, wider)) {
			e.types[column] = wider
		}
	case 6:
		e.try("alter", "ALTER TABLE t ADD CONSTRAINT positive CHECK (k > 0)", "checkConstraints")
	case 7:
		e.try("alter", "ALTER TABLE t DROP CONSTRAINT positive")
	case 8:
		e.try("alter", "ALTER TABLE t CLUSTER BY ("+[]string{"k", "s", "k, s"}[e.random.IntN(3)]+")", "clustering", "domainMetadata")
	case 9:
		e.try("alter", "ALTER TABLE t CLUSTER BY NONE")
	case 10:
		what := []string{"COMMENT 'a column'", "DROP NOT NULL", "SET DEFAULT NULL", "DROP DEFAULT", "SET NOT NULL"}[e.random.IntN(5)]
		var brings []string
		switch what {
		case "SET DEFAULT NULL":
			brings = append(brings, "allowColumnDefaults")
		case "SET NOT NULL":
			brings = append(brings, "invariants")
		}
		e.try("alter", "ALTER TABLE t ALTER COLUMN s "+what, brings...)
	case 11, 12, 13, 14:
		e.alterNested()
	}
}

// alterNested changes the fields of the struct o.
func (e *evolving) alterNested() {
	at := e.random.IntN(len(e.inner))
	field := e.inner[at]
	e.names++
	name := fmt.Sprintf("y%d", e.names)
	switch e.random.IntN(6) {
	case 0, 1:
		if len(e.inner) > 4 {
			return
		}
		typ := []string{"INT", "STRING", "DATE", "SMALLINT"}[e.random.IntN(4)]
		if e.try("alter", fmt.Sprintf("ALTER TABLE t ADD COLUMNS (o.%s %s AFTER %s)", name, typ, field)) {
			e.inner = slices.Insert(e.inner, at+1, name)
			e.types["o."+name] = typ
		}
	case 2:
		if e.try("alter", "ALTER TABLE t DROP COLUMN o."+field) {
			e.inner = slices.Delete(e.inner, at, at+1)
			e.forget("o." + field)
		}
	case 3:
		if e.try("alter", "ALTER TABLE t RENAME COLUMN o."+field+" TO "+name) {
			e.inner[at] = name
			e.rename("o."+field, "o."+name)
		}
	case 4:
		wider := map[string]string{"SMALLINT": "INT", "INT": "BIGINT"}[e.types["o."+field]]
		if wider != "" && e.try("alter", fmt.Sprintf("ALTER TABLE t ALTER COLUMN o.%s TYPE %s", field, wider)) {
			e.types["o."+field] = wider
		}
	case 5:
		if e.try("alter", "ALTER TABLE t ALTER COLUMN o."+field+" FIRST") {
			e.inner = slices.Insert(slices.Delete(e.inner, at, at+1), 0, field)
		}
	}
}

func (e *evolving) forget(column string) {
	delete(e.types, column)
	for _, row := range e.rows {
		delete(row, column)
	}
}

func (e *evolving) rename(column, name string) {
	e.types[name] = e.types[column]
	delete(e.types, column)
	for _, row := range e.rows {
		if v, ok := row[column]; ok {
			row[name] = v
			delete(row, column)
		}
	}
}

func (e *evolving) dropFeature() {
	features := slices.Sorted(maps.Keys(e.features))
	if len(features) == 0 {
		return
	}
	feature := features[e.random.IntN(len(features))]
	how := ""
	if e.random.IntN(3) == 0 || feature == "checkpointProtection" {
		how = " TRUNCATE HISTORY"
	}
	if e.try("drop", "ALTER TABLE t DROP FEATURE '"+feature+"'"+how) {
		delete(e.features, feature)
		if how == "" && (feature == "columnMapping" || slices.Contains(readerFeatures, feature)) {
			e.features["checkpointProtection"] = true
		}
	}
	config := e.config()
	if before, protected := config.LookupProperty("delta.requireCheckpointProtectionBeforeVersion"); protected && !config.Supports("checkpointProtection") {
		e.t.Errorf("checkpoints are protected below %q, and the protocol is %+v", before, config.Protocol)
	}
}
