package fieldbugs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPF01ReaderWithoutAFeatureRefuses(t *testing.T) {
	t.Run("vectors are applied", func(t *testing.T) {
		tb := newTable(t, shape{features: "deletionVectors", fields: []string{"id long"}})
		tb.parquet("a.parquet", ids(1, 155))
		tb.parquet("b.parquet", ids(156, 310))
		deleted := make([]uint64, 50)
		for i := range deleted {
			deleted[i] = uint64(3 * i)
		}
		tb.commit(1, tb.add("a.parquet", records(155)), tb.add("b.parquet", records(155)))
		tb.commit(2, tb.drop("a.parquet"), tb.add("a.parquet", records(155), tb.vector(deleted...)))
		tb.want("SELECT count(*) FROM $t", "260")
		tb.want("SELECT count(id) FROM $t WHERE id > 0", "260")
	})
	t.Run("unknown feature", func(t *testing.T) {
		plain := columns("id long")
		tb := newTable(t, plain)
		tb.parquet("a.parquet", ids(1, 3))
		tb.commit(1, tb.add("a.parquet", records(3)))
		tb.want("SELECT count(*) FROM $t", "3") // so that a snapshot is cached
		tb.commit(2, shape{features: "someFutureFeature deletionVectors"}.protocolAction())
		for _, sql := range []string{"SELECT * FROM $t", "SELECT count(*) FROM $t", "SELECT max(id) FROM $t", "EXPLAIN SELECT * FROM $t",
			"SELECT 1 FROM $t LIMIT 0", "SELECT * FROM $t WHERE 1 = 0", "WITH x AS (SELECT * FROM $t) SELECT count(*) FROM x", "SHOW COLUMNS IN $t"} {
			tb.refuse(sql, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "someFutureFeature", "$dir")
		}
		tb.want("SELECT count(*) FROM $t VERSION AS OF 1", "3")
	})
	t.Run("unknown reader version", func(t *testing.T) {
		tb := newTable(t, shape{protocol: `{"minReaderVersion":4,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":[]}`, fields: []string{"id long"}})
		tb.refuse("SELECT * FROM $t", "DELTA_INVALID_PROTOCOL_VERSION", "4", "$dir")
	})
}

func TestPF02UnknownWriterFeatureDoesNotBlockReading(t *testing.T) {
	for name, protocol := range map[string]string{
		"writer version 7 alone":          `{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["futureWriterOnly"]}`,
		"empty reader list":               `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["allowColumnDefaults"]}`,
		"a reader list of known features": `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","futureWriterOnly"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, shape{protocol: protocol, fields: []string{"id long"}})
			tb.parquet("a.parquet", ids(1, 3))
			tb.commit(1, tb.add("a.parquet", records(3)))
			tb.want("SELECT id FROM $t", "1", "2", "3")
			for _, sql := range []string{"DESCRIBE $t", "DESCRIBE EXTENDED $t", "DESCRIBE HISTORY $t", "DESCRIBE DETAIL $t", "SHOW TBLPROPERTIES $t"} {
				if rows, err := tb.rows(sql); err != nil || len(rows) == 0 {
					t.Errorf("%s gives %v, %v", sql, rows, err)
				}
			}
		})
	}
}

func TestPF02DetailsOfATableThatCannotBeRead(t *testing.T) {
	tb := newTable(t, shape{features: "someFutureFeature futureWriterOnly appendOnly", fields: []string{"id long"}})
	for range 2 { // also as the snapshot that is known
		tb.refuse("SELECT * FROM $t", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "someFutureFeature", "$dir")
		tb.refuse("SELECT count(*) FROM $t", "DELTA_UNSUPPORTED_FEATURES_FOR_READ")
		tb.refuse("SELECT * FROM $t VERSION AS OF 0", "DELTA_UNSUPPORTED_FEATURES_FOR_READ")
		detail, err := tb.linesOf("DESCRIBE DETAIL $t")
		if err != nil || !strings.Contains(detail, `["appendOnly","futureWriterOnly","someFutureFeature"]`) {
			t.Errorf("DESCRIBE DETAIL gives %s, %v", detail, err)
		}
		if warnings := fmt.Sprint(tb.skipping.Warnings()); !strings.Contains(warnings, "someFutureFeature") {
			t.Errorf("no warning says that the table cannot be read: %s", warnings)
		}
		features, err := tb.linesOf("SHOW FEATURES $t")
		if err != nil || !strings.Contains(features, `"someFutureFeature","reader-writer","unknown"`) {
			t.Errorf("SHOW FEATURES gives %s, %v", features, err)
		}
	}
	tb.commit(1, shape{protocol: `{"minReaderVersion":9,"minWriterVersion":9}`}.protocolAction())
	tb.refuse("SELECT * FROM $t", "DELTA_INVALID_PROTOCOL_VERSION", "9", "$dir")
	if detail, err := tb.linesOf("DESCRIBE DETAIL $t"); err != nil || !strings.Contains(detail, ",9,9,") {
		t.Errorf("DESCRIBE DETAIL of a future version gives %s, %v", detail, err)
	}
}

func TestPF08ProtocolWrittenTwiceTheNewestRules(t *testing.T) {
	tb := newTable(t, shape{features: "someFutureFeature", fields: []string{"id long"}})
	tb.parquet("a.parquet", ids(1, 3))
	tb.commit(1, tb.add("a.parquet", records(3)))
	tb.commit(2, shape{features: "deletionVectors"}.protocolAction()) // the feature was dropped
	tb.want("SELECT count(*) FROM $t", "3")
	tb.refuse("SELECT * FROM $t VERSION AS OF 1", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "someFutureFeature")
}

func TestPF11CatalogManagedTableByPath(t *testing.T) {
	// By its path such a table shows what is published: staged commits are the catalog's to ratify, and never found by listing.
	tb := newTable(t, shape{
		protocol: `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged","vacuumProtocolCheck"],"writerFeatures":["catalogManaged","inCommitTimestamp","vacuumProtocolCheck"]}`,
		fields:   []string{"id long"},
	})
	tb.parquet("a.parquet", ids(1, 3))
	tb.commit(1, tb.add("a.parquet", records(3)))
	tb.write("_delta_log/_staged_commits/00000000000000000002.80a083e8-7026-4e79-81be-64bd76c43a11.json", []byte(tb.drop("a.parquet")+"\n"))
	tb.want("SELECT id FROM $t", "1", "2", "3")
	tb.refuse("SELECT id FROM $t VERSION AS OF 2", "DELTA_VERSION_NOT_FOUND")
}

func TestPF12ColumnMappingAndPartitions(t *testing.T) {
	for _, c := range []struct{ name, mode, protocol, physical string }{
		{"name mode", "name", `{"minReaderVersion":2,"minWriterVersion":5}`, "col-1"},
		{"id mode", "id", `{"minReaderVersion":2,"minWriterVersion":5}`, "col-1"},
		{"by feature", "name", shape{features: "columnMapping"}.protocolAction()[len(`{"protocol":`) : len(shape{features: "columnMapping"}.protocolAction())-1], "col-1"},
		{"upgraded from none", "name", `{"minReaderVersion":2,"minWriterVersion":5}`, "BATCH_ID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := newTable(t, shape{
				protocol: c.protocol, partitionBy: []string{"BATCH_ID"},
				fields: []string{mapped("BATCH_ID", "integer", c.physical, 1), mapped("id", "long", "col-2", 2)},
				config: map[string]string{"delta.columnMapping.mode": c.mode, "delta.columnMapping.maxColumnId": "2"},
			})
			tb.parquet("x/a.parquet", `SELECT range AS "col-2" FROM range(5)`, `FIELD_IDS {"col-2": 2}`)
			tb.parquet("x/b.parquet", `SELECT 10 + range AS "col-2" FROM range(2)`, `FIELD_IDS {"col-2": 2}`)
			tb.commit(1, tb.add("x/a.parquet", partition(c.physical, `"7"`), bounds(5, "col-2", "0", "4", 0)),
				tb.add("x/b.parquet", partition(c.physical, "null"), bounds(2, "col-2", "10", "11", 0)))
			tb.want("SELECT DISTINCT BATCH_ID FROM $t", "7", "null")
			tb.want("SELECT count(*) FROM $t WHERE BATCH_ID = 7", "5")
			tb.want("SELECT count(*) FROM $t WHERE batch_id IS NULL", "2")
			tb.want("SELECT id, BATCH_ID FROM $t WHERE id > 3 AND id < 11", "4,7", "10,null")
			tb.want("SELECT max(id), count(BATCH_ID) FROM $t", "11,5")
			tb.wantFiles("SELECT id FROM $t WHERE BATCH_ID = 7", 1)
			tb.wantFiles("SELECT id FROM $t WHERE id > 9", 1)
		})
	}
}

func TestPF14ColumnDroppedAndAddedAgain(t *testing.T) {
	config := func(max int) map[string]string {
		return map[string]string{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": fmt.Sprint(max)}
	}
	s := shape{features: "columnMapping", config: config(5), fields: []string{mapped("a", "integer", "c1", 1), mapped("b", "integer", "c2", 2),
		mapped("s", structType(mapped("x", "integer", "c4", 4), mapped("y", "integer", "c5", 5)), "c3", 3)}}
	for _, mode := range []string{"name", "id"} {
		t.Run(mode, func(t *testing.T) {
			s.config["delta.columnMapping.mode"] = mode
			again := s
			again.config = config(7)
			again.config["delta.columnMapping.mode"] = mode
			again.fields = []string{s.fields[0], mapped("b", "integer", "c6", 6),
				mapped("s", structType(mapped("x", "integer", "c7", 7), mapped("y", "integer", "c5", 5)), "c3", 3)}
			tb := newTable(t, s)
			tb.parquet("a.parquet", `SELECT 1::INTEGER AS c1, 2::INTEGER AS c2, {'c4': 3::INTEGER, 'c5': 4::INTEGER} AS c3`,
				`FIELD_IDS {c1: 1, c2: 2, c3: {__duckdb_field_id: 3, c4: 4, c5: 5}}`)
			tb.commit(1, tb.add("a.parquet", stats(`{"numRecords":1,"minValues":{"c1":1,"c2":2},"maxValues":{"c1":1,"c2":2},"nullCount":{"c1":0,"c2":0}}`)))
			tb.want("SELECT * FROM $t", `1,2,{"x":3,"y":4}`)
			tb.commit(2, again.metadataAction())
			tb.want("SELECT * FROM $t", `1,null,{"x":null,"y":4}`)
			tb.want("SELECT count(*) FROM $t WHERE b = 2", "0")
			tb.want("SELECT count(*) FROM $t WHERE b IS NULL AND s.x IS NULL AND s.y = 4", "1")
			tb.want("SELECT max(b), count(b) FROM $t", "null,0")
			tb.want("SELECT * FROM $t VERSION AS OF 1", `1,2,{"x":3,"y":4}`)
			tb.parquet("b.parquet", `SELECT 5::INTEGER AS c1, 6::INTEGER AS c6, {'c7': 7::INTEGER, 'c5': 8::INTEGER} AS c3`,
				`FIELD_IDS {c1: 1, c6: 6, c3: {__duckdb_field_id: 3, c7: 7, c5: 5}}`)
			tb.commit(3, tb.add("b.parquet", records(1)))
			tb.want("SELECT a, b, s.x, s.y FROM $t", "1,null,null,4", "5,6,7,8")
		})
	}
}

func TestPF15NamesThatDifferOnlyByCase(t *testing.T) {
	tb := newTable(t, columns("Id long", "s "+structType("A long")))
	tb.parquet("a.parquet", `SELECT 1::BIGINT AS "Id", {'A': 2::BIGINT} AS s`)
	tb.commit(1, tb.add("a.parquet", bounds(1, "Id", "1", "1", 0)))
	tb.want("SELECT ID, id, `iD`, S.a FROM $t WHERE iD = 1 AND s.a = 2", "1,1,1,2")
	lines, err := tb.linesOf("DESCRIBE $t")
	if err != nil || !strings.Contains(lines, `"Id"`) {
		t.Errorf("the stored spelling is lost: %s, %v", lines, err)
	}
	twice := newTable(t, columns("id long", "ID long"))
	twice.refuse("SELECT * FROM $t", "DELTA_DUPLICATE_COLUMNS_FOUND", "$dir")
	nested := newTable(t, columns("s "+structType("a long", "A long")))
	nested.refuse("SELECT * FROM $t", "DELTA_DUPLICATE_COLUMNS_FOUND", "$dir")
}

func TestEM01ProtocolRefusalsNameEveryFeature(t *testing.T) {
	tb := newTable(t, shape{features: "someFutureFeature otherFutureFeature thirdFutureFeature deletionVectors", fields: []string{"id long"}})
	tb.refuse("SELECT * FROM $t", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "someFutureFeature", "otherFutureFeature", "thirdFutureFeature", "$dir")
	one := newTable(t, shape{features: "someFutureFeature", fields: []string{"id long"}})
	rows, err := one.rows("SELECT * FROM $t")
	if err == nil || strings.Contains(err.Error(), "deletionVectors") {
		t.Errorf("want a refusal that names what is missing alone, got %v, %v", rows, err)
	}
}

func TestDefaultsGenerationAndConstraintsDoNotMatterToReaders(t *testing.T) {
	// DM-12, IG-03, IG-07: what writers must know of a column does not matter to readers, whatever its text.
	tb := newTable(t, shape{
		features: "allowColumnDefaults generatedColumns checkConstraints identityColumns invariants",
		fields: []string{"a integer", field("b", "integer", true, `{"CURRENT_DEFAULT":"who knows(","EXISTS_DEFAULT":"42"}`),
			field("g", "integer", true, `{"delta.generationExpression":"future_function(a)"}`),
			field("i", "long", true, `{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":false}`),
			field("n", "integer", true, `{"delta.invariants":"{\"expression\":{\"expression\":\"what ever\"}}"}`)},
		config: map[string]string{"delta.constraints.odd": "future_function(a) > 1"},
	})
	tb.parquet("a.parquet", "SELECT 1::INTEGER AS a, 2::INTEGER AS g, 3::BIGINT AS i, NULL::INTEGER AS n")
	tb.commit(1, tb.add("a.parquet", records(1)))
	tb.want("SELECT * FROM $t", "1,null,2,3,null")
	rows, err := tb.rows("DESCRIBE DETAIL $t")
	if err != nil || !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, "allowColumnDefaults") }) {
		t.Errorf("DESCRIBE DETAIL gives %v, %v", rows, err)
	}
}
