package fieldbugs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"deltasql/protocol"
)

// damagedTable has three rows in two files, after versions 0 to 2.
func damagedTable(t *testing.T) *table {
	t.Helper()
	tb := newTable(t, columns("id long", "name string"))
	tb.parquet("a.parquet", "SELECT range AS id, 'n' || range AS name FROM range(1, 3)")
	tb.parquet("b.parquet", "SELECT 3::BIGINT AS id, 'n3' AS name")
	tb.commit(1, tb.add("a.parquet", bounds(2, "id", "1", "2", 0)))
	tb.commit(2, tb.add("b.parquet", bounds(1, "id", "3", "3", 0)))
	return tb
}

func TestDamagedCommits(t *testing.T) {
	const name = "00000000000000000002.json"
	for what, c := range map[string]struct {
		class  protocol.Class
		says   string
		damage func(data []byte) []byte
	}{
		"no bytes":        {"DELTA_INVALID_LOG_FILE", "empty", func([]byte) []byte { return nil }},
		"cut in a line":   {"DELTA_INVALID_LOG_FILE", "line 1", func(data []byte) []byte { return data[:len(data)/2] }},
		"zeroed":          {"DELTA_INVALID_LOG_FILE", "line 1", func(data []byte) []byte { return make([]byte, len(data)) }},
		"not JSON":        {"DELTA_INVALID_LOG_FILE", "line 2", func(data []byte) []byte { return append(data, "hello\n"...) }},
		"an array":        {"DELTA_INVALID_LOG_FILE", "line 1", func([]byte) []byte { return []byte("[1]\n") }},
		"wrong type":      {"DELTA_INVALID_LOG_FILE", "path", func([]byte) []byte { return []byte(`{"add":{"path":5}}` + "\n") }},
		"no path":         {"DELTA_INVALID_LOG_FILE", "path", func([]byte) []byte { return []byte(`{"add":{"size":5}}` + "\n") }},
		"UTF-16":          {"DELTA_INVALID_LOG_FILE", "line 1", func([]byte) []byte { return []byte("\xff\xfe{\x00}\x00") }},
		"deep nesting":    {"DELTA_INVALID_LOG_FILE", "line 1", func([]byte) []byte { return []byte(`{"future":` + strings.Repeat("[", 200000) + "\n") }},
		"two adds of one": {"DELTA_DUPLICATE_ACTIONS_FOUND", "b.parquet", func(data []byte) []byte { return append(data, data...) }},
		"Windows lines": {"", "", func(data []byte) []byte {
			return []byte("\xEF\xBB\xBF" + strings.ReplaceAll(string(data), "\n", "\r\n") + "\r\n\r\n")
		}},
		"no last newline": {"", "", func(data []byte) []byte { return data[:len(data)-1] }},
	} {
		t.Run(what, func(t *testing.T) {
			tb := damagedTable(t)
			tb.write("_delta_log/"+name, c.damage(tb.read("_delta_log/"+name)))
			if c.class == "" {
				tb.want("SELECT id FROM $t", "1", "2", "3")
				return
			}
			tb.refuse("SELECT * FROM $t", c.class, "$dir", name, c.says)
			tb.refuse("SELECT count(*) FROM $t", c.class, "$dir", name)
			tb.want("SELECT id FROM $t VERSION AS OF 1", "1", "2")
		})
	}
}

func TestCommitThatGrowsAfterARead(t *testing.T) {
	tb := damagedTable(t)
	tb.want("SELECT count(*) FROM $t", "3")
	tb.write("_delta_log/00000000000000000003.json", []byte(`{"add":{"path":"c.parquet"`)) // another's write, half done
	tb.refuse("SELECT count(*) FROM $t", "DELTA_INVALID_LOG_FILE", "00000000000000000003.json", "$dir")
	tb.parquet("c.parquet", "SELECT 4::BIGINT AS id, 'n4' AS name")
	tb.commit(3, tb.add("c.parquet", records(1)))
	tb.want("SELECT count(*) FROM $t", "4")
}

func TestLineOfTwoHundredMegabytes(t *testing.T) {
	tb := damagedTable(t)
	name := tb.path("_delta_log/00000000000000000003.json")
	tb.write("_delta_log/00000000000000000003.json", []byte(`{"add":{"path":"`))
	tb.check(os.Truncate(name, 200<<20)) // sparse: the rest reads as zeros
	tb.refuse("SELECT * FROM $t", "DELTA_LOG_FILE_TOO_LARGE", "00000000000000000003.json", "line 1", "$dir", "limit")
	tb.want("SELECT id FROM $t VERSION AS OF 2", "1", "2", "3")
	tb.remove("_delta_log/00000000000000000003.json")
	// A large commit of lines of a lawful size is no fault.
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"commitInfo":{"timestamp":%d,"operation":"X","padding":"%s"}}`, i, strings.Repeat("x", 1<<20)))
	}
	tb.commit(3, append(lines[:20], append([]string{tb.drop("a.parquet")}, lines[20:]...)...)...)
	tb.want("SELECT id FROM $t", "3")
}

func TestGapsInTheLog(t *testing.T) {
	t.Run("a commit in the middle", func(t *testing.T) {
		tb := damagedTable(t)
		tb.remove("_delta_log/00000000000000000001.json")
		tb.refuse("SELECT * FROM $t", "DELTA_VERSIONS_NOT_CONTIGUOUS", "$dir", "1")
	})
	t.Run("the first commit", func(t *testing.T) {
		tb := damagedTable(t)
		tb.remove("_delta_log/00000000000000000000.json")
		tb.refuse("SELECT * FROM $t", "DELTA_TRUNCATED_TRANSACTION_LOG", "$dir")
	})
	t.Run("between checkpoint and commits", func(t *testing.T) {
		s := columns("id long", "name string")
		tb := damagedTable(t)
		tb.checkpoint(1, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(2)))
		tb.commit(3, tb.drop("b.parquet"))
		tb.remove("_delta_log/00000000000000000000.json")
		tb.remove("_delta_log/00000000000000000002.json")
		tb.refuse("SELECT * FROM $t", "DELTA_VERSIONS_NOT_CONTIGUOUS", "$dir", "2")
		tb.want("SELECT id FROM $t VERSION AS OF 1", "1", "2")
	})
	t.Run("no protocol", func(t *testing.T) {
		tb := emptyFolder(t)
		tb.commit(0, columns("id long").metadataAction())
		tb.refuse("SELECT * FROM $t", "DELTA_STATE_RECOVER_ERROR", "$dir", "protocol")
	})
	t.Run("no metadata", func(t *testing.T) {
		tb := emptyFolder(t)
		tb.commit(0, columns("id long").protocolAction())
		tb.refuse("SELECT * FROM $t", "DELTA_STATE_RECOVER_ERROR", "$dir", "metadata")
	})
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("a part of a checkpoint, first commit lost %t", lost), func(t *testing.T) {
			s := columns("id long", "name string")
			tb := damagedTable(t)
			tb.actionsFile("_delta_log/00000000000000000001.checkpoint.0000000001.0000000002.parquet", checkpointColumns, s.protocolAction(), s.metadataAction())
			if !lost {
				tb.want("SELECT id FROM $t", "1", "2", "3")
				return
			}
			tb.remove("_delta_log/00000000000000000000.json")
			tb.refuse("SELECT id FROM $t", "DELTA_TRUNCATED_TRANSACTION_LOG", "$dir")
		})
	}
}

func TestDamagedSchemas(t *testing.T) {
	for what, schema := range map[string]string{
		"not JSON":      `{"type":"struct","fields":[`,
		"no struct":     `"long"`,
		"unknown type":  `{"type":"struct","fields":[{"name":"id","type":"hologram","nullable":true,"metadata":{}}]}`,
		"deep":          strings.Repeat(`{"type":"array","containsNull":true,"elementType":`, 5000) + `"long"` + strings.Repeat("}", 5000),
		"huge decimal":  `{"type":"struct","fields":[{"name":"id","type":"decimal(99,2)","nullable":true,"metadata":{}}]}`,
		"no field name": `{"type":"struct","fields":[{"type":"long","nullable":true,"metadata":{}}]}`,
	} {
		t.Run(what, func(t *testing.T) {
			tb := emptyFolder(t)
			tb.commit(0, columns().protocolAction(), `{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":`+asJSON(schema)+`,"partitionColumns":[],"configuration":{}}}`)
			rows, err := tb.rows("SELECT * FROM $t")
			if !strings.HasPrefix(string(protocol.ClassOf(err)), "DELTA_") {
				t.Fatalf("want an error of a DELTA_ class, got %v, %v", rows, err)
			}
			tb.refuse("SELECT * FROM $t", protocol.ClassOf(err), "$dir")
		})
	}
	t.Run("a partition column that is none", func(t *testing.T) {
		tb := newTable(t, shape{fields: []string{"id long"}, partitionBy: []string{"nope"}})
		rows, err := tb.rows("SELECT * FROM $t")
		if !strings.HasPrefix(string(protocol.ClassOf(err)), "DELTA_") || !strings.Contains(err.Error(), "nope") {
			t.Errorf("got %v, %v", rows, err)
		}
	})
}

func TestDamagedDataFiles(t *testing.T) {
	for what, c := range map[string]struct {
		class  protocol.Class
		damage func(tb *table)
	}{
		"missing":  {"DELTA_FILE_NOT_FOUND_DETAILED", func(tb *table) { tb.remove("b.parquet") }},
		"no bytes": {"DELTA_FAILED_TO_READ_FILE", func(tb *table) { tb.write("b.parquet", nil) }},
		"cut":      {"DELTA_FAILED_TO_READ_FILE", func(tb *table) { data := tb.read("b.parquet"); tb.write("b.parquet", data[:len(data)/2]) }},
		"wrong magic": {"DELTA_FAILED_TO_READ_FILE", func(tb *table) {
			data := tb.read("b.parquet")
			tb.write("b.parquet", append([]byte("XXXX"), append(data[4:len(data)-4], "XXXX"...)...))
		}},
		"zeroed": {"DELTA_FAILED_TO_READ_FILE", func(tb *table) { tb.write("b.parquet", make([]byte, len(tb.read("b.parquet")))) }},
		"footer": {"DELTA_FAILED_TO_READ_FILE", func(tb *table) {
			data := tb.read("b.parquet")
			clear(data[len(data)-300 : len(data)-8])
			tb.write("b.parquet", data)
		}},
		"text":              {"DELTA_FAILED_TO_READ_FILE", func(tb *table) { tb.write("b.parquet", []byte("id,name\n3,n3\n")) }},
		"a folder":          {"DELTA_FILE_NOT_FOUND_DETAILED", func(tb *table) { tb.remove("b.parquet"); tb.check(os.Mkdir(tb.path("b.parquet"), 0o755)) }},
		"text for a number": {"DELTA_FAILED_TO_READ_FILE", func(tb *table) { tb.parquet("b.parquet", "SELECT 'three' AS id, 'n3' AS name") }},
	} {
		t.Run(what, func(t *testing.T) {
			tb := damagedTable(t)
			c.damage(tb)
			tb.refuse("SELECT * FROM $t", c.class, "$dir", "b.parquet")
			tb.refuse("SELECT sum(id + length(name)) FROM $t WHERE id + length(name) > 4", c.class, "$dir", "b.parquet")
			if _, err := tb.rows("SELECT * FROM $t"); err != nil {
				message, _, _ := strings.Cut(err.Error(), "  ")
				if strings.Contains(strings.TrimSpace(message), "\n") {
					t.Errorf("the message is not one line: %s", err)
				}
			}
			if what != "a folder" {
				tb.want("SELECT * FROM $t VERSION AS OF 1", `1,"n1"`, `2,"n2"`)
			}
			rows, err := tb.rows("SELECT id FROM $t WHERE id < 3") // skips the damaged file
			if err != nil || len(rows) != 2 {
				t.Errorf("the other file gives %v, %v", rows, err)
			}
		})
	}
	t.Run("MT-12 the file of an old version", func(t *testing.T) {
		tb := damagedTable(t)
		tb.commit(3, tb.drop("a.parquet"))
		tb.commit(4, `{"commitInfo":{"timestamp":1,"operation":"VACUUM END","operationParameters":{"status":"COMPLETED"},"operationMetrics":{"numDeletedFiles":"1"}}}`)
		tb.remove("a.parquet")
		tb.want("SELECT id FROM $t", "3")
		tb.refuse("SELECT * FROM $t VERSION AS OF 2", "DELTA_FILE_NOT_FOUND_DETAILED", "a.parquet", "$dir", "VACUUM")
	})
}

func TestDamagedPages(t *testing.T) {
	for _, codec := range []string{"snappy", "gzip", "lz4"} {
		for what, at := range map[string]int{"header": 4, "values": 1000} {
			t.Run(codec+" "+what, func(t *testing.T) {
				tb := damagedTable(t)
				tb.parquet("c.parquet", "SELECT range AS id, 'n' || range AS name FROM range(10, 5000)", "COMPRESSION "+codec)
				data := tb.read("c.parquet")
				for i := range 40 {
					data[at+i] ^= 0x55
				}
				tb.write("c.parquet", data)
				tb.commit(3, tb.add("c.parquet", bounds(4990, "id", "10", "4999", 0)))
				tb.refuse("SELECT sum(id), max(length(name)) FROM $t", "DELTA_FAILED_TO_READ_FILE", "$dir", "c.parquet")
				tb.want("SELECT name FROM $t WHERE id = 2", `"n2"`)
			})
		}
	}
}

func TestFilePathsThatMustNotBeRead(t *testing.T) {
	for what, path := range map[string]string{
		"outside the table": "../../../etc/passwd", "encoded": "%2e%2e/%2e%2e/etc/passwd", "another store": "s3://bucket/x.parquet",
		"opaque": "mailto:x@example.org", "bad encoding": "a%zz.parquet",
	} {
		t.Run(what, func(t *testing.T) {
			tb := damagedTable(t)
			tb.commit(3, tb.add(path, records(1)))
			rows, err := tb.rows("SELECT * FROM $t")
			if err == nil || protocol.ClassOf(err) == protocol.ClassInternal {
				t.Fatalf("gave %v, %v", rows, err)
			}
			tb.refuse("SELECT * FROM $t", protocol.ClassOf(err), "$dir")
			tb.want("SELECT count(*) FROM $t VERSION AS OF 2", "3")
		})
	}
}

func TestPartitionValuesThatDoNotFit(t *testing.T) {
	for typ, value := range map[string]string{"integer": "seven", "date": "2024-13-45", "timestamp": "noon", "boolean": "perhaps", "byte": "300", "decimal(4,2)": "12345.6", "double": "x"} {
		t.Run(typ, func(t *testing.T) {
			tb := newTable(t, shape{fields: []string{"id long", "p " + typ}, partitionBy: []string{"p"}})
			tb.parquet("a.parquet", ids(1, 1))
			tb.commit(1, tb.add("a.parquet", partition("p", asJSON(value))))
			tb.refuse("SELECT * FROM $t", "DELTA_INVALID_PARTITION_VALUE", "$dir", "p", value, "a.parquet")
			tb.want("SELECT id FROM $t", "1")
		})
	}
}

func TestStatisticsThatAreNone(t *testing.T) {
	for what, text := range map[string]string{
		"not JSON": "{{", "empty": "", "array": "[]", "null": "null", "wrong types": `{"numRecords":"many","minValues":7,"maxValues":[],"nullCount":"x"}`,
		"nested wrong": `{"numRecords":2,"minValues":{"id":{"x":1}},"maxValues":{"id":[1]},"nullCount":{"id":{}}}`,
		"negative":     `{"numRecords":-5,"nullCount":{"id":-1}}`, "fraction": `{"numRecords":2.5}`, "huge": `{"numRecords":99999999999999999999999}`,
		"bounds reversed of null": `{"numRecords":2,"minValues":{"id":null},"maxValues":{"id":null}}`,
		"text bounds":             `{"numRecords":2,"minValues":{"id":"a"},"maxValues":{"id":"b"},"nullCount":{"id":0}}`,
		"deep":                    strings.Repeat(`{"minValues":`, 3000),
	} {
		t.Run(what, func(t *testing.T) {
			tb := newTable(t, columns("id long"))
			tb.parquet("a.parquet", ids(1, 2))
			tb.commit(1, tb.add("a.parquet", stats(text)))
			tb.want("SELECT id FROM $t", "1", "2")
			tb.want("SELECT count(*), count(id), min(id), max(id) FROM $t", "2,2,1,2")
			tb.wantIDs("id > 1", 2)
			tb.wantIDs("id IS NULL")
			tb.wantIDs("id IS NOT NULL", 1, 2)
		})
	}
}

func TestChecksumFiles(t *testing.T) {
	crc := func(files int, more string) string {
		return fmt.Sprintf(`{"tableSizeBytes":1,"numFiles":%d,"numMetadata":1,"numProtocol":1%s}`, files, more)
	}
	// The file is a check and never the truth: the rows are the log's, with a warning.
	t.Run("wrong number of files", func(t *testing.T) {
		tb := damagedTable(t)
		tb.write("_delta_log/00000000000000000002.crc", []byte(crc(7, "")))
		tb.want("SELECT id FROM $t", "1", "2", "3")
		warnings := fmt.Sprint(tb.plain.Warnings())
		if !strings.Contains(warnings, "DELTASQL_CHECKSUM_MISMATCH") || !strings.Contains(warnings, "00000000000000000002.crc") || !strings.Contains(warnings, "numFiles is 7 there and 2 here") {
			t.Errorf("no warning of the checksum: %s", warnings)
		}
	})
	for what, text := range map[string]string{"no bytes": "", "cut": `{"tableSizeBytes":`, "not JSON": "\x00\x01"} {
		t.Run(what, func(t *testing.T) {
			tb := damagedTable(t)
			tb.write("_delta_log/00000000000000000002.crc", []byte(text))
			tb.want("SELECT id FROM $t", "1", "2", "3")
		})
	}
}

func TestBrokenSQL(t *testing.T) {
	tb := damagedTable(t)
	for _, sql := range []string{"SELEC 1", "SELECT 1 +", "SELECT (1", "SELECT 'x", "SELECT * FROM", "SELECT * FROM $t WHERE", "SELECT 1 2 3", "\x00", "SELECT /* x", "SELECT `id FROM $t",
		strings.Repeat("(", 100000), "SELECT " + strings.Repeat("(", 100000) + "1", "SELECT " + strings.Repeat("NOT ", 100000) + "true", "SELECT 1" + strings.Repeat(" + 1", 200000)} {
		rows, err := tb.rows(sql)
		class := protocol.ClassOf(err)
		if err == nil || class == protocol.ClassInternal {
			t.Errorf("%.40s gives %v, %.300v", sql, rows, err)
			continue
		}
		if class == "PARSE_SYNTAX_ERROR" && !strings.Contains(err.Error(), "line 1, column ") {
			t.Errorf("%.40s: the error has no place: %v", sql, err)
		}
	}
	tb.want("SELECT id FROM $t", "1", "2", "3")
}

func TestUnknownNames(t *testing.T) {
	tb := damagedTable(t)
	tb.refuse("SELECT nmae FROM $t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nmae", "name", "line 1, column 8")
	tb.refuse("SELECT id FROM $t WHERE ID2 = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "ID2", "id")
	tb.refuse("SELECT t.nmae FROM $t t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nmae", "name")
	tb.refuse("SELECT * FROM nothing", "DELTA_TABLE_NOT_FOUND", "nothing")
	tb.refuse("SELECT * FROM nowhere.nothing", "DELTA_TABLE_NOT_FOUND", "nothing")
	tb.refuse("SELECT no_such_function(id) FROM $t", "UNRESOLVED_ROUTINE", "no_such_function")
	tb.refuse("SELECT @@no_such_variable", "UNRESOLVED_VARIABLE", "no_such_variable")
}

func TestFoldersThatAreNoTables(t *testing.T) {
	tb := damagedTable(t)
	plain := t.TempDir()
	tb.check(os.WriteFile(plain+"/x.csv", []byte("a\n1\n"), 0o644))
	tb.refuse("SELECT * FROM delta.`"+plain+"`", "DELTA_TABLE_ONLY_OPERATION", plain)
	tb.refuse("SELECT * FROM delta.`"+plain+"/x.csv`", "DELTA_TABLE_ONLY_OPERATION", "x.csv")
	tb.refuse("SELECT * FROM delta.`"+plain+"/none`", "DELTA_PATH_DOES_NOT_EXIST", plain+"/none")
	tb.refuse("SELECT * FROM delta.`$dir/_delta_log`", "DELTA_TABLE_ONLY_OPERATION", "$dir")
	tb.refuse("SELECT * FROM delta.`$dir/a.parquet`", "DELTA_TABLE_ONLY_OPERATION", "$dir")
	tb.refuse("SELECT * FROM delta.`s3://bucket/t`", "DELTASQL_STORAGE", "s3://bucket/t")
	empty := emptyFolder(t)
	empty.refuse("SELECT * FROM $t", "DELTA_TABLE_ONLY_OPERATION", "$dir")
	empty.write("_delta_log/readme.txt", []byte("nothing"))
	empty.refuse("SELECT * FROM $t", "DELTA_TABLE_ONLY_OPERATION", "$dir")
	tb.want("SELECT count(*) FROM $t", "3")
}
