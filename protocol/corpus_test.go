package protocol

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusFolder is where the corpus of real tables lies beside the checkout.
const corpusFolder = "../../shared/corpus"

type corpusTable struct {
	ID       string
	Path     string
	Tags     []string
	Expected struct {
		Kind  string
		Error struct{ Code string }
	}
}

func corpusTables(t *testing.T) []corpusTable {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpusFolder, "MANIFEST.json"))
	if err != nil {
		t.Skipf("the corpus is absent: %v", err)
	}
	var manifest struct{ Tables []corpusTable }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Tables
}

// TestReadCorpusLogs reads every JSON file of every log: all of it parses, and protocol and schema join.
func TestReadCorpusLogs(t *testing.T) {
	var files, actions, hints, sums int
	for _, table := range corpusTables(t) {
		t.Run(table.ID, func(t *testing.T) {
			folder := filepath.Join(corpusFolder, table.Path, LogFolder)
			entries, _ := os.ReadDir(folder)
			var p *Protocol
			var m *Metadata
			for _, entry := range entries {
				f, ok := ParseLogFile(entry.Name())
				if !ok {
					continue
				}
				if f.Kind != LogCommit && f.Kind != LogCompaction && f.Kind != LogChecksum && f.Kind != LogLastCheckpoint && !f.JSON {
					continue
				}
				data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
				if err != nil {
					t.Fatal(err)
				}
				switch f.Kind {
				case LogChecksum:
					if _, err := ParseVersionChecksum(data); err != nil {
						t.Errorf("%s: %v", entry.Name(), err)
					}
					sums++
					continue
				case LogLastCheckpoint:
					if _, err := ParseLastCheckpoint(data); err != nil && table.Expected.Kind != "negative" {
						t.Errorf("%s: %v", entry.Name(), err)
					}
					hints++
					continue
				}
				files++
				for a, err := range ParseActions(data) {
					if err != nil {
						t.Fatalf("%s: %v", entry.Name(), err)
					}
					actions++
					checkFileAction(t, a)
					if a.Protocol != nil {
						p = a.Protocol
					}
					if a.Metadata != nil {
						m = a.Metadata
						checkSchemaRoundTrip(t, m.SchemaString)
					}
				}
			}
			if p == nil || m == nil {
				return
			}
			c, err := NewTableConfig(*p, *m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.StatisticsLeaves(); err != nil {
				t.Error(err)
			}
			err = CheckReadable(*p, table.ID)
			want := ""
			switch table.Expected.Error.Code {
			case "UNSUPPORTED_READER_FEATURE":
				want = "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
			case "UNSUPPORTED_READER_VERSION":
				want = "DELTA_INVALID_PROTOCOL_VERSION"
			}
			if want == "" && err != nil {
				t.Errorf("must be readable: %v", err)
			}
			// Two tables get their protocol from a Parquet checkpoint, which is not read here.
			if want != "" && err == nil && table.ID != "delta-rs/err__table_h" && table.ID != "delta-rs/err__table_i" {
				t.Errorf("must be refused with %s", want)
			}
			if want != "" && err != nil && ClassOf(err) != Class(want) {
				t.Errorf("refused with %v, want %s", err, want)
			}
		})
	}
	t.Logf("%d files, %d actions, %d hints, %d checksums", files, actions, hints, sums)
}

func checkFileAction(t *testing.T, a Action) {
	t.Helper()
	path, vector := "", (*DeletionVector)(nil)
	switch {
	case a.Add != nil:
		path, vector = a.Add.Path, a.Add.DeletionVector
	case a.Remove != nil:
		path, vector = a.Remove.Path, a.Remove.DeletionVector
	default:
		return
	}
	// One table, which has no metaData either, names a file above its own folder; that is refused on purpose.
	if _, err := CanonicalPath(path); err != nil && !strings.HasPrefix(path, "..//Users") {
		t.Error(err)
	}
	if vector == nil {
		return
	}
	if vector.StorageType == VectorInline {
		if _, err := vector.DecodeInline(); err != nil {
			t.Errorf("%s: %v", vector.UniqueID(), err)
		}
		return
	}
	if _, _, err := vector.Path(); err != nil {
		t.Error(err)
	}
}

func checkSchemaRoundTrip(t *testing.T, schemaString string) {
	t.Helper()
	if schemaString == "" {
		return
	}
	schema, err := ParseSchema(schemaString)
	if err != nil {
		t.Error(err)
		return
	}
	printed := schema.JSON()
	if printed == schemaString {
		return
	}
	// Writers differ in the order of members, in blanks and in spelling void as null.
	var a, b any
	if json.Unmarshal([]byte(strings.ReplaceAll(schemaString, `"type":"null"`, `"type":"void"`)), &a) != nil || json.Unmarshal([]byte(printed), &b) != nil {
		t.Error("not JSON")
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if !bytes.Equal(x, y) {
		t.Errorf("schema changed:\n%s\n%s", schemaString, printed)
	}
}

// oracleFolder has the tables that Spark made while its answers were recorded.
const oracleFolder = "../../shared/oracle-tables"

// TestReadOracleLogs: whatever Spark wrote reads; its protocols are the weakest that hold their features, as ours must be.
func TestReadOracleLogs(t *testing.T) {
	commits := 0
	err := filepath.WalkDir(oracleFolder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Base(filepath.Dir(name)) != LogFolder {
			return err
		}
		f, ok := ParseLogFile(filepath.Base(name))
		if !ok || f.Kind == LogCheckpoint {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch f.Kind {
		case LogChecksum:
			_, err = ParseVersionChecksum(data)
		case LogLastCheckpoint:
			var h LastCheckpoint
			if h, err = ParseLastCheckpoint(data); h.Checksum == "" {
				t.Errorf("%s has no checksum", name)
			}
		case LogCommit:
			commits++
			var p *Protocol
			var m *Metadata
			for a, failure := range ParseActions(data) {
				err = failure
				checkFileAction(t, a)
				if a.Protocol != nil {
					p = a.Protocol
					if got := p.Normalize(); !got.Equal(*p) {
						t.Errorf("%s: %+v normalises to %+v", name, *p, got)
					}
					if err := CheckReadable(*p, name); err != nil {
						t.Error(err)
					}
				}
				if a.Metadata != nil {
					m = a.Metadata
					checkSchemaRoundTrip(t, m.SchemaString)
				}
			}
			if p != nil && m != nil && err == nil {
				_, err = NewTableConfig(*p, *m)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Skipf("the recorded tables are absent: %v", err)
	}
	t.Logf("%d commits", commits)
}

// TestReadCorpusVectors decodes every deletion vector file that an add of the corpus names.
func TestReadCorpusVectors(t *testing.T) {
	vectors := 0
	for _, table := range corpusTables(t) {
		root := filepath.Join(corpusFolder, table.Path)
		commits, _ := filepath.Glob(filepath.Join(root, LogFolder, "*.json"))
		for _, commit := range commits {
			data, err := os.ReadFile(commit)
			if err != nil {
				t.Fatal(err)
			}
			for a, err := range ParseActions(data) {
				if err != nil || a.Add == nil || a.Add.DeletionVector == nil || a.Add.DeletionVector.StorageType == VectorInline {
					continue
				}
				d := a.Add.DeletionVector
				name, absolute, err := d.Path()
				if err != nil || absolute {
					t.Errorf("%s: %s: %v", table.ID, name, err)
					continue
				}
				file, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					continue // log-only tables have no data files
				}
				if err := CheckVectorFileVersion(file[0]); err != nil {
					t.Error(err)
				}
				offset, length, err := d.Span()
				if err != nil || offset+length > int64(len(file)) {
					t.Errorf("%s: %s: %d+%d of %d: %v", table.ID, name, offset, length, len(file), err)
					continue
				}
				bitmap, err := d.DecodeSection(file[offset : offset+length])
				if err != nil {
					t.Errorf("%s: %s: %v", table.ID, name, err)
					continue
				}
				words := make([]uint64, bitmap.Maximum()/64+1)
				if err := FillBitset(bitmap, words); err != nil || countBits(words) != d.Cardinality {
					t.Errorf("%s: %s: %d bits: %v", table.ID, name, countBits(words), err)
				}
				vectors++
			}
		}
	}
	t.Logf("%d vectors", vectors)
}
