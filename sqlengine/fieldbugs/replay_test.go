package fieldbugs_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

func TestLR01CheckpointWhoseMapChildrenAreNamedDifferently(t *testing.T) {
	for _, group := range []string{"entries", "map", "kv"} {
		t.Run(group, func(t *testing.T) {
			s := shape{fields: []string{"foo string", "p string"}, partitionBy: []string{"p"}}
			tb := newTable(t, s)
			actions := []string{s.protocolAction(), s.metadataAction()}
			for v := range 101 {
				name := fmt.Sprintf("f%d.parquet", v)
				tb.parquet(name, fmt.Sprintf("SELECT 'row%d' AS foo", v))
				add := tb.add(name, records(1), partition("p", fmt.Sprintf(`"%d"`, v%2)))
				switch {
				case v == 0:
					tb.commit(0, s.protocolAction(), s.metadataAction(), add)
				default:
					tb.commit(v, add)
				}
				if v < 100 {
					actions = append(actions, add)
				}
			}
			// As some writers' checkpoints: no remove, txn, deletionVector or tags, and another name for the group of a map.
			tb.actionsFile(checkpointName(99), []string{oldAddColumn, metadataColumn, oldProtocolColumn}, actions...)
			tb.renameInFooter(checkpointName(99), "key_value", group)
			for v := range 99 {
				tb.remove(fmt.Sprintf("_delta_log/%020d.json", v))
			}
			tb.want("SELECT count(*), count(DISTINCT foo) FROM $t", "101,101")
			tb.want("SELECT p, count(*) FROM $t GROUP BY p", `"0",51`, `"1",50`)
			tb.want("SELECT foo FROM $t WHERE p = '1' AND foo = 'row99'", `"row99"`)
		})
	}
}

func TestLR02OldCheckpointWithoutNewerOptionalFields(t *testing.T) {
	s := columns("id long")
	for name, columns := range map[string][]string{
		"no deletionVector, no feature lists": {oldAddColumn, metadataColumn, oldProtocolColumn},
		"a metaData of the first releases": {oldAddColumn, oldProtocolColumn,
			`metaData: 'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR), schemaString VARCHAR, partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR))'`},
		"no statistics": {`add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN)'`,
			metadataColumn, oldProtocolColumn},
		"columns of kinds to come": {addColumn, metadataColumn, protocolColumn, `futureThing: 'STRUCT(x INTEGER)'`, sidecarColumn},
	} {
		t.Run(name, func(t *testing.T) {
			tb := emptyFolder(t)
			tb.parquet("a.parquet", ids(1, 5))
			tb.parquet("b.parquet", ids(6, 7))
			tb.actionsFile(checkpointName(10), columns, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(5)), tb.add("b.parquet", records(2)))
			tb.commit(10, tb.add("b.parquet", records(2)))
			tb.want("SELECT count(*), sum(id) FROM $t", "7,28")
			tb.wantIDs("id > 5", 6, 7)
		})
	}
}

func TestLR04ZeroByteOrTruncatedHint(t *testing.T) {
	s := columns("id long")
	for name, hint := range map[string]string{
		"no bytes":                 "",
		"cut":                      `{"version":2`,
		"unknown key, wrong check": `{"version":251,"size":3,"hello":{"x":1},"checksum":"00000000000000000000000000000000"}`,
		"beyond every file":        `{"version":999,"size":3}`,
		"negative":                 `{"version":-1,"size":3}`,
		"not an object":            `[1]`,
		"not text":                 "\x00\xff\xfe",
		"parts that are not there": `{"version":251,"size":3,"parts":4}`,
		"an older one":             `{"version":3,"size":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, s)
			tb.parquet("a.parquet", ids(1, 3))
			for v := 1; v <= 251; v++ {
				tb.commit(v, `{"commitInfo":{"operation":"WRITE"}}`)
			}
			tb.checkpoint(251, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(3)))
			tb.write("_delta_log/_last_checkpoint", []byte(hint))
			for v := range 252 {
				tb.remove(fmt.Sprintf("_delta_log/%020d.json", v)) // so that only the checkpoint can answer
			}
			before := tb.listing()
			tb.want("SELECT id FROM $t", "1", "2", "3")
			if after := tb.listing(); after != before {
				t.Errorf("reading changed the folder:\n%s\nwas\n%s", after, before)
			}
			if !bytes.Equal(tb.read("_delta_log/_last_checkpoint"), []byte(hint)) {
				t.Error("reading changed the hint")
			}
		})
	}
}

// listing is the names and sizes of the log's files.
func (tb *table) listing() string {
	tb.t.Helper()
	entries, err := os.ReadDir(tb.path("_delta_log"))
	tb.check(err)
	var out strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		tb.check(err)
		fmt.Fprintln(&out, e.Name(), info.Size(), info.ModTime())
	}
	return out.String()
}

func TestLR05WriterKilledBetweenCheckpointAndHint(t *testing.T) {
	s := columns("id long")
	build := func(t *testing.T, hint string) *table {
		tb := newTable(t, s)
		adds := []string{s.protocolAction(), s.metadataAction()}
		for v := 1; v <= 23; v++ {
			name := fmt.Sprintf("f%d.parquet", v)
			tb.parquet(name, ids(v, v))
			tb.commit(v, tb.add(name, records(1)))
			adds = append(adds, tb.add(name, records(1)))
			if v == 10 || v == 20 {
				tb.checkpoint(v, adds...)
			}
		}
		tb.write("_delta_log/_last_checkpoint", []byte(hint))
		return tb
	}
	for _, hint := range []string{`{"version":10,"size":12}`, `{"version":20,"size":22}`} {
		t.Run("both valid", func(t *testing.T) {
			tb := build(t, hint)
			tb.want("SELECT count(*), sum(id) FROM $t", "23,276")
		})
		for name, damage := range map[string]func(data []byte) []byte{
			"no bytes":     func([]byte) []byte { return nil },
			"cut":          func(data []byte) []byte { return data[:len(data)/2] },
			"zeroed":       func(data []byte) []byte { return make([]byte, len(data)) },
			"magic alone":  func([]byte) []byte { return []byte("PAR1") },
			"footer wrong": func(data []byte) []byte { clear(data[len(data)-100 : len(data)-8]); return data },
		} {
			t.Run("the newer "+name+", hint "+hint, func(t *testing.T) {
				tb := build(t, hint)
				tb.write(checkpointName(20), damage(tb.read(checkpointName(20))))
				tb.want("SELECT count(*), sum(id) FROM $t", "23,276")
			})
		}
	}
}

func TestLR05OnlyCheckpointDamagedAndOlderCommitsGone(t *testing.T) {
	s := columns("id long")
	tb := newTable(t, s)
	tb.parquet("a.parquet", ids(1, 3))
	tb.checkpoint(3, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(3)))
	data := tb.read(checkpointName(3))
	tb.write(checkpointName(3), data[:len(data)/2])
	tb.remove("_delta_log/00000000000000000000.json")
	tb.commit(4, tb.add("a.parquet", records(3)))
	rows, err := tb.rows("SELECT * FROM $t")
	if class := protocol.ClassOf(err); !strings.HasPrefix(string(class), "DELTA_") || !strings.Contains(err.Error(), "00000000000000000003.checkpoint.parquet") {
		t.Errorf("want an error that names the checkpoint, got %v, %v", rows, err)
	}
}

func TestLR07IdentityOfAFileIsPathAndVector(t *testing.T) {
	s := shape{features: "deletionVectors", fields: []string{"id long"}}
	n := records(10)
	build := func(t *testing.T) (tb *table, one, two string) {
		tb = newTable(t, s)
		tb.parquet("f1.parquet", ids(1, 10))
		tb.commit(1, tb.add("f1.parquet", n))
		one, two = tb.vector(3), tb.vector(3, 7)
		tb.commit(2, tb.drop("f1.parquet"), tb.add("f1.parquet", n, one))
		return tb, one, two
	}
	t.Run("good log", func(t *testing.T) {
		tb, one, two := build(t)
		tb.commit(3, tb.drop("f1.parquet", one), tb.add("f1.parquet", n, two))
		tb.want("SELECT id FROM $t", "1", "2", "3", "5", "6", "7", "9", "10")
		tb.want("SELECT count(*) FROM $t", "8")
		tb.want("SELECT count(*) FROM $t VERSION AS OF 2", "9")
		tb.want("SELECT count(*) FROM $t VERSION AS OF 1", "10")
	})
	t.Run("vectors inside the log", func(t *testing.T) {
		tb, one, _ := build(t)
		tb.commit(3, tb.drop("f1.parquet", one), tb.add("f1.parquet", n, inline(t, 0, 9)))
		tb.commit(4, tb.drop("f1.parquet", inline(t, 0, 9)), tb.add("f1.parquet", n, inline(t, 0, 1, 9)))
		tb.want("SELECT count(*), min(id), max(id) FROM $t", "7,3,9")
	})
	t.Run("add before remove in one commit", func(t *testing.T) {
		tb, one, two := build(t)
		tb.commit(3, tb.add("f1.parquet", n, two), tb.drop("f1.parquet", one))
		tb.want("SELECT count(*) FROM $t", "8")
	})
	t.Run("removed with its vector", func(t *testing.T) {
		tb, one, _ := build(t)
		tb.commit(3, tb.drop("f1.parquet", one))
		tb.want("SELECT count(*) FROM $t", "0")
	})
	// An invalid log: the newest entry per logical file stays, as the protocol's reconciliation says and as Spark answers.
	t.Run("remove without the vector", func(t *testing.T) {
		tb, _, two := build(t)
		tb.commit(3, tb.drop("f1.parquet"), tb.add("f1.parquet", n, two))
		tb.want("SELECT count(*) FROM $t", "17")
	})
}

func TestLR08VectorsCountWhenThePropertyIsOff(t *testing.T) {
	s := shape{features: "deletionVectors", fields: []string{"id long"}, config: map[string]string{"delta.enableDeletionVectors": "true"}}
	off := s
	off.config = map[string]string{"delta.enableDeletionVectors": "false"}
	for _, inCheckpoint := range []bool{false, true} {
		t.Run(fmt.Sprintf("checkpoint %t", inCheckpoint), func(t *testing.T) {
			tb := newTable(t, s)
			tb.parquet("f1.parquet", ids(1, 5))
			vector := tb.vector(1)
			tb.commit(1, tb.add("f1.parquet", records(5), vector))
			if inCheckpoint {
				tb.checkpoint(1, s.protocolAction(), s.metadataAction(), tb.add("f1.parquet", records(5), vector))
				tb.remove("_delta_log/00000000000000000000.json")
			}
			tb.commit(2, off.metadataAction())
			tb.want("SELECT id FROM $t", "1", "3", "4", "5")
			tb.want("SELECT count(*) FROM $t", "4")
			tb.parquet("f2.parquet", "SELECT unnest([1, 3, 4, 5])::BIGINT AS id")
			tb.commit(3, tb.drop("f1.parquet", vector, `"dataChange":false`), tb.add("f2.parquet", records(4), `"dataChange":false`))
			tb.want("SELECT id FROM $t", "1", "3", "4", "5")
			tb.want("SELECT count(*) FROM $t", "4")
		})
	}
}

func TestLR10TableFeaturesInTheCheckpoint(t *testing.T) {
	t.Run("lists are read from it", func(t *testing.T) {
		s := shape{features: "deletionVectors appendOnly checkConstraints", fields: []string{"id long"}}
		tb := emptyFolder(t)
		tb.parquet("a.parquet", ids(1, 3))
		tb.checkpoint(4, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(3), tb.vector(0)))
		tb.want("SELECT id FROM $t", "2", "3")
		detail, err := tb.linesOf("DESCRIBE DETAIL $t")
		tb.check(err)
		for _, name := range []string{"deletionVectors", "appendOnly", "checkConstraints"} {
			if !strings.Contains(detail, `"`+name+`"`) {
				t.Errorf("DESCRIBE DETAIL does not list %s: %s", name, detail)
			}
		}
	})
	t.Run("an unknown one refuses", func(t *testing.T) {
		s := shape{features: "someFutureFeature", fields: []string{"id long"}}
		tb := emptyFolder(t)
		tb.parquet("a.parquet", ids(1, 3))
		tb.checkpoint(4, s.protocolAction(), s.metadataAction(), tb.add("a.parquet", records(3)))
		tb.refuse("SELECT * FROM $t", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "someFutureFeature", "$dir")
	})
}

func TestLR11LogCompactionFiles(t *testing.T) {
	s := columns("id long")
	for _, with := range []string{"a compaction", "compactions and malformed names", "a damaged compaction"} {
		t.Run(with, func(t *testing.T) {
			tb := newTable(t, s)
			for v := 1; v <= 8; v++ {
				name := fmt.Sprintf("f%d.parquet", v)
				tb.parquet(name, ids(v, v))
				actions := []string{tb.add(name, records(1))}
				if v == 4 || v == 6 || v == 8 {
					actions = append(actions, tb.drop(fmt.Sprintf("f%d.parquet", v-2)))
				}
				tb.commit(v, actions...)
			}
			compacted := strings.Join([]string{tb.add("f3.parquet", records(1)), tb.add("f5.parquet", records(1)), tb.add("f6.parquet", records(1)),
				tb.drop("f2.parquet"), tb.drop("f4.parquet")}, "\n") + "\n"
			if with == "a damaged compaction" {
				compacted = compacted[:len(compacted)/2]
			}
			tb.write("_delta_log/00000000000000000003.00000000000000000006.compacted.json", []byte(compacted))
			if strings.Contains(with, "malformed") {
				tb.write("_delta_log/00000000000000000005.00000000000000000005.compacted.json", []byte("{garbage"))
				tb.write("_delta_log/00000000000000000006.00000000000000000003.compacted.json", []byte("{garbage"))
				tb.write("_delta_log/3.6.compacted.json", []byte("{garbage"))
				tb.write("_delta_log/00000000000000000007.tmp", []byte("{garbage"))
				tb.write("_delta_log/.00000000000000000009.json.crc", []byte("crc"))
				tb.write("_delta_log/9.json", []byte("{garbage"))
				tb.write("_delta_log/00000000000000000009.json.tmp", []byte("{garbage"))
				tb.check(os.Mkdir(tb.path("_delta_log/00000000000000000010"), 0o755))
			}
			tb.want("SELECT id FROM $t", "1", "3", "5", "7", "8")
			for version, rows := range map[int][]string{0: {}, 2: {"1", "2"}, 3: {"1", "2", "3"}, 5: {"1", "3", "4", "5"}, 6: {"1", "3", "5", "6"}, 8: {"1", "3", "5", "7", "8"}} {
				tb.want(fmt.Sprintf("SELECT id FROM $t VERSION AS OF %d", version), rows...)
			}
		})
	}
}

func TestLR13V2Checkpoint(t *testing.T) {
	const id = "80a083e8-7026-4e79-81be-64bd76c43a11"
	s := shape{features: "v2Checkpoint", fields: []string{"id long"}, config: map[string]string{"delta.checkpointPolicy": "v2"}}
	for _, kind := range []string{"json", "parquet"} {
		for _, paths := range []string{"bare names", "URIs"} {
			build := func(t *testing.T) *table {
				tb := emptyFolder(t)
				for i := 1; i <= 3; i++ {
					tb.parquet(fmt.Sprintf("f%d.parquet", i), ids(i, i))
				}
				one, two := "one file.parquet", "two.parquet"
				tb.actionsFile("_delta_log/_sidecars/"+one, []string{addColumn, removeColumn}, tb.add("f1.parquet", records(1)), tb.add("f2.parquet", records(1)))
				tb.actionsFile("_delta_log/_sidecars/"+two, []string{addColumn, removeColumn}, tb.drop("f0.parquet"), tb.add("f3.parquet", records(1)))
				sidecar := func(path, name string) string {
					return fmt.Sprintf(`{"sidecar":{"path":%s,"sizeInBytes":%d,"modificationTime":1}}`, asJSON(path), len(tb.read("_delta_log/_sidecars/"+name)))
				}
				prefix := ""
				if paths == "URIs" {
					prefix = "file://" + tb.dir + "/_delta_log/_sidecars/"
				}
				manifest := []string{`{"checkpointMetadata":{"version":5}}`, s.protocolAction(), s.metadataAction(),
					`{"txn":{"appId":"job","version":7,"lastUpdated":1}}`, sidecar(prefix+"one%20file.parquet", one), sidecar(prefix+two, two)}
				name := "_delta_log/00000000000000000005.checkpoint." + id + "." + kind
				if kind == "json" {
					tb.write(name, []byte(strings.Join(manifest, "\n")+"\n"))
				} else {
					tb.actionsFile(name, []string{manifestColumn, protocolColumn, metadataColumn, txnColumn, sidecarColumn}, manifest...)
				}
				return tb
			}
			t.Run(kind+" manifest, "+paths, func(t *testing.T) {
				tb := build(t)
				tb.want("SELECT id FROM $t", "1", "2", "3")
				tb.want("SELECT count(*) FROM $t", "3")
				tb.commit(6, tb.drop("f3.parquet"))
				tb.want("SELECT id FROM $t", "1", "2")
			})
			t.Run(kind+" manifest, "+paths+", a sidecar absent", func(t *testing.T) {
				tb := build(t)
				tb.remove("_delta_log/_sidecars/two.parquet")
				rows, err := tb.rows("SELECT * FROM $t")
				if class := protocol.ClassOf(err); !strings.HasPrefix(string(class), "DELTA_") || !strings.Contains(err.Error(), "two.parquet") {
					t.Errorf("want an error that names the sidecar, got %v, %v", rows, err)
				}
			})
		}
	}
}

func TestLR14UnknownActionOrField(t *testing.T) {
	tb := newTable(t, shape{features: "domainMetadata", fields: []string{"id long"}})
	tb.parquet("a.parquet", ids(1, 3))
	tb.commit(1, `{"domainMetadata":{"domain":"app","configuration":"{}","removed":false}}`)
	tb.commit(2, `{"futureThing":{"x":1}}`)
	tb.commit(3, tb.add("a.parquet", records(3), `"zzz":true`, `"yyy":{"a":[1,{"b":null}]}`))
	tb.commit(4, `{"commitInfo":{"timestamp":1,"operation":"FUTURE OPERATION","operationParameters":{"deep":{"x":[1]}},"newKey":1}}`)
	tb.commit(5, `{"checkpointMetadata":{"version":1}}`, `{"sidecar":{"path":"x","sizeInBytes":1,"modificationTime":1}}`)
	tb.commit(6, `{"add":null,"remove":null,"futureThing":{"add":{"path":"trap"}}}`)
	tb.want("SELECT id FROM $t", "1", "2", "3")
	if history, err := tb.rows("DESCRIBE HISTORY $t"); err != nil || len(history) != 7 {
		t.Errorf("DESCRIBE HISTORY gives %v, %v", history, err)
	}
}

func TestLR16TableDroppedAndCreatedAnew(t *testing.T) {
	for _, last := range []int{2, 5, 7} {
		t.Run(fmt.Sprintf("new table at version %d", last), func(t *testing.T) {
			tb := newTable(t, columns("id long"))
			tb.parquet("a.parquet", ids(1, 3))
			for v := 1; v <= 5; v++ {
				tb.commit(v, tb.add("a.parquet", records(3)))
			}
			tb.want("SELECT id FROM $t", "1", "2", "3")
			tb.remove("_delta_log")
			tb.remove("a.parquet")
			tb.moved = time.Hour
			other := columns("name string")
			other.id = "0f1e2d3c-0000-4000-8000-000000000001"
			tb.parquet("b.parquet", "SELECT 'new' AS name")
			tb.commit(0, other.protocolAction(), other.metadataAction())
			for v := 1; v <= last; v++ {
				tb.commit(v, tb.add("b.parquet", records(1)))
			}
			tb.want("SELECT * FROM $t", `"new"`)
			tb.want("SELECT count(*) FROM $t", "1")
			tb.refuse("SELECT id FROM $t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "id")
		})
	}
	t.Run("dropped and gone", func(t *testing.T) {
		tb := newTable(t, columns("id long"))
		tb.want("SELECT id FROM $t")
		tb.remove("_delta_log")
		tb.refuse("SELECT id FROM $t", "DELTA_TABLE_ONLY_OPERATION", "$dir")
	})
}

func TestLR17DamagedVector(t *testing.T) {
	s := shape{features: "deletionVectors", fields: []string{"id long"}}
	bitmap := bitmapBytes(t, 1)
	size := len(bitmap)
	build := func(t *testing.T, member func(f *vectorFile) string) *table {
		tb := newTable(t, s)
		tb.parquet("a.parquet", ids(1, 10))
		f := tb.newVectorFile()
		vector := member(f)
		if f.data != nil {
			f.save()
		}
		tb.commit(1, tb.add("a.parquet", records(10), vector))
		return tb
	}
	const everything = "SELECT id FROM $t"
	for name, member := range map[string]func(f *vectorFile) string{
		"first of its file":  func(f *vectorFile) string { return f.descriptor(f.put(bitmap), size, 1) },
		"second of its file": func(f *vectorFile) string { f.put(bitmapBytes(t, 5, 6)); return f.descriptor(f.put(bitmap), size, 1) },
		"absolute path":      func(f *vectorFile) string { return f.absoluteDescriptor(f.put(bitmap), size, 1) },
		"inline":             func(f *vectorFile) string { f.data = nil; return inline(t, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			build(t, member).want(everything, "1", "3", "4", "5", "6", "7", "8", "9", "10")
		})
	}
	for name, c := range map[string]struct {
		class  protocol.Class
		member func(f *vectorFile) string
	}{
		"cardinality": {"DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", func(f *vectorFile) string { return f.descriptor(f.put(bitmap), size, 2) }},
		"CRC": {"DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", func(f *vectorFile) string {
			at := f.put(bitmap)
			f.data[len(f.data)-1] ^= 1
			return f.descriptor(at, size, 1)
		}},
		"a bit of the bitmap": {"DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", func(f *vectorFile) string {
			at := f.put(bitmap)
			f.data[len(f.data)-6] ^= 1
			return f.descriptor(at, size, 1)
		}},
		"size":              {"DELTA_DELETION_VECTOR_SIZE_MISMATCH", func(f *vectorFile) string { return f.descriptor(f.put(bitmap), size-4, 1) }},
		"row of no file":    {"DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", func(f *vectorFile) string { b := bitmapBytes(t, 10); return f.descriptor(f.put(b), len(b), 1) }},
		"row beyond 32 bit": {"DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", func(f *vectorFile) string { b := bitmapBytes(t, 1<<40); return f.descriptor(f.put(b), len(b), 1) }},
		"inline cardinality": {"DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", func(f *vectorFile) string {
			f.data = nil
			return strings.Replace(inline(t, 1), `"cardinality":1`, `"cardinality":3`, 1)
		}},
	} {
		t.Run("wrong "+name, func(t *testing.T) {
			tb := build(t, c.member)
			tb.refuse(everything, c.class, "$dir", "a.parquet")
			tb.refuse("SELECT count(*) FROM $t WHERE id > 3", c.class, "$dir")
		})
	}
	for name, member := range map[string]func(f *vectorFile) string{
		"no bytes":       func(f *vectorFile) string { f.put(bitmap); f.data = []byte{}; return f.descriptor(1, size, 1) },
		"cut":            func(f *vectorFile) string { f.put(bitmap); f.data = f.data[:12]; return f.descriptor(1, size, 1) },
		"not there":      func(f *vectorFile) string { f.data = nil; return f.descriptor(1, size, 1) },
		"another magic":  func(f *vectorFile) string { b := bytes.Clone(bitmap); b[0]++; return f.descriptor(f.put(b), size, 1) },
		"another format": func(f *vectorFile) string { at := f.put(bitmap); f.data[0] = 2; return f.descriptor(at, size, 1) },
		"offset beyond":  func(f *vectorFile) string { f.put(bitmap); return f.descriptor(4000, size, 1) },
		"bad base 85": func(f *vectorFile) string {
			f.data = nil
			return `"deletionVector":{"storageType":"i","pathOrInlineDv":"~~~~~","sizeInBytes":4,"cardinality":1}`
		},
		"unknown storage": func(f *vectorFile) string {
			f.data = nil
			return `"deletionVector":{"storageType":"x","pathOrInlineDv":"abc","sizeInBytes":4,"cardinality":1}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			tb := build(t, member)
			rows, err := tb.rows(everything)
			if !strings.HasPrefix(string(protocol.ClassOf(err)), "DELTA_") {
				t.Fatalf("want an error of a DELTA_ class, got %v, %v", rows, err)
			}
			tb.refuse(everything, protocol.ClassOf(err), "$dir", "a.parquet")
		})
	}
}

func TestLR19TimestampLaterThanTheLastCommit(t *testing.T) {
	tb := newTable(t, columns("id long")) // version v is of 10:0v
	tb.parquet("a.parquet", ids(1, 1))
	tb.parquet("b.parquet", ids(2, 2))
	tb.commit(1, tb.add("a.parquet", records(1)))
	tb.commit(2, tb.add("b.parquet", records(1)))
	const at = "SELECT id FROM $t TIMESTAMP AS OF "
	tb.want(at+"'2024-05-01 10:02:00'", "1", "2")
	tb.want(at+"'2024-05-01 10:01:59.999'", "1")
	tb.want(at+"'2024-05-01 10:01:00'", "1")
	tb.want(at + "'2024-05-01 10:00:00'")
	tb.want(at+"TIMESTAMP '2024-05-01 12:01:30+02:00'", "1")
	for _, late := range []string{"'2024-05-01 10:02:01'", "'2024-05-01 10:02:00.001'", "'2099-01-01'"} {
		tb.refuse(at+late, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "2024-05-01 10:02:00")
	}
	tb.refuse(at+"'2024-05-01 09:59:59'", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "2024-05-01 10:00:00", "2024-05-01 09:59:59")
	tb.refuse(at+"'yesterday noon'", "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT", "yesterday noon")
	tb.refuse("SELECT id FROM $t VERSION AS OF 3", "DELTA_VERSION_NOT_FOUND", "3", "0", "2")
	tb.refuse("SELECT id FROM $t VERSION AS OF -1", "PARSE_SYNTAX_ERROR")
}
