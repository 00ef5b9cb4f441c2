package protocol

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// decodeAny reads a value the way the standard library would, but through the cursor.
func decodeAny(c *jsonCursor) (any, error) {
	switch b := c.peek(); {
	case b == '{':
		m := map[string]any{}
		err := c.object(func(name []byte) error {
			key := string(name)
			v, err := decodeAny(c)
			m[key] = v
			return err
		})
		return m, err
	case b == '[':
		l := []any{}
		err := c.array(func(int) error {
			v, err := decodeAny(c)
			l = append(l, v)
			return err
		})
		return l, err
	case b == '"':
		return c.str()
	case b == 't' || b == 'f':
		return c.bool()
	case b == 'n':
		return nil, c.skip()
	}
	text, err := c.number()
	return json.Number(text), err
}

// FuzzJSONCursor holds the cursor against the standard library: the same texts are valid and mean the same.
func FuzzJSONCursor(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,"x\ud83d\ude00\u00e9\ud800",true,false,null,{}]}`, `"\/\b\f\n\r\t\"\\"`, `[01]`, `{"a":1,}`, "\"\xff\xfe\"", `-`, `1.`, ` [ ] `, `{"a":1,"a":2}`, `nul`, `"\u12"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := jsonCursor{data: data}
		got, err := decodeAny(&c)
		if err == nil {
			err = c.end()
		}
		if valid := json.Valid(data); valid != (err == nil) {
			if c.depth > maxJSONDepth {
				return
			}
			t.Fatalf("%q: valid is %v, the cursor says %v", data, valid, err)
		}
		if err != nil {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", data, got, want)
		}
		if s, ok := got.(string); ok {
			var back string
			if err := json.Unmarshal(appendJSONString(nil, s), &back); err != nil || back != s {
				t.Fatalf("%q is written as %s: %v", s, appendJSONString(nil, s), err)
			}
		}
	})
}

// FuzzParseActions: no panic, errors have the class, and an add agrees with what the standard library reads.
func FuzzParseActions(f *testing.F) {
	for _, seed := range []string{
		`{"add":{"path":"a","partitionValues":{"p":null},"size":1,"modificationTime":2,"dataChange":true,"stats":"{}","tags":{"a":"b"},"deletionVector":{"storageType":"i","pathOrInlineDv":"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":40,"cardinality":6},"baseRowId":1}}`,
		`{"commitInfo":{"timestamp":1}}{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["a"],"writerFeatures":["a"]}}`,
		`{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{}","partitionColumns":[],"configuration":{"a":"b"},"createdTime":1}}` + "\n" + `{"txn":{"appId":"a","version":1}}`,
		`{"remove":{"path":"a","deletionTimestamp":1,"dataChange":true,"extendedFileMetadata":true,"size":1}}{"cdc":{"path":"c","size":1}}{"domainMetadata":{"domain":"d","configuration":"","removed":false}}`,
		`{"sidecar":{"path":"a","sizeInBytes":1,"modificationTime":1}}{"checkpointMetadata":{"version":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for a, err := range ParseActions(data) {
			if err != nil {
				if ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
					t.Fatal(err)
				}
				continue
			}
			if a.CommitInfo != nil {
				a.CommitInfo.Timestamp()
				a.CommitInfo.OperationParameters()
			}
			if a.Add != nil {
				if key, err := CanonicalPath(a.Add.Path); err == nil && key == "" {
					t.Fatalf("%q has an empty key", a.Add.Path)
				}
				if d := a.Add.DeletionVector; d != nil {
					d.UniqueID()
					_, _, _ = d.Path()
					_, _ = d.DecodeInline()
				}
			}
			if a.Protocol != nil {
				p := a.Protocol.Normalize()
				if !reflect.DeepEqual(p.Normalize(), p) {
					t.Fatalf("%+v does not stay normal", p)
				}
				_ = CheckReadable(*a.Protocol, "t")
			}
			if a.Metadata != nil && a.Protocol == nil {
				_, _ = NewTableConfig(plain(2, 5), *a.Metadata)
			}
		}
		// One action, exactly: the standard library must agree about the add.
		a, err := ParseAction(data)
		if err != nil || a.Add == nil {
			return
		}
		var want struct {
			Add map[string]json.RawMessage `json:"add"`
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: accepted, but the standard library says %v", data, err)
		}
		var path, stats string
		_ = json.Unmarshal(want.Add["path"], &path)
		_ = json.Unmarshal(want.Add["stats"], &stats)
		if want.Add != nil && (path != a.Add.Path || stats != a.Add.Stats) {
			t.Fatalf("%q: %+v", data, a.Add)
		}
	})
}

// FuzzParseSchema: no panic, and what is printed reads back as the same type.
func FuzzParseSchema(f *testing.F) {
	for _, seed := range []string{
		"", `{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":1,"comment":"x"}}]}`,
		`{"type":"struct","fields":[{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"decimal(10,2)","containsNull":true},"valueContainsNull":false},"nullable":false,"metadata":{"__COLLATIONS":{"m.key":"icu.UNICODE"}}}]}`,
		`{"type":"struct","fields":[{"name":"g","type":"geometry(OGC:CRS84)","nullable":true,"metadata":{}},{"name":"i","type":"interval day to hour","nullable":true,"metadata":{}},{"name":"c","type":"char(3)"}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		schema, err := ParseSchema(text)
		if err != nil {
			return
		}
		printed := schema.JSON()
		again, err := ParseSchema(printed)
		if err != nil {
			t.Fatalf("%s does not read back: %v", printed, err)
		}
		if second := again.JSON(); second != printed {
			t.Fatalf("%s\n%s", printed, second)
		}
		if !schema.Equal(again) || schema.String() != again.String() {
			t.Fatalf("%s\n%s", schema, again)
		}
		_, _ = ParseDataType(schema.String())
		c, err := NewTableConfig(plain(1, 2), Metadata{SchemaString: text})
		if err != nil {
			return
		}
		_, _ = c.StatisticsLeaves()
		for _, f := range features {
			c.Active(f.Name)
		}
	})
}

// FuzzDeletionVector: no panic and no allocation beyond the input; what decodes reads back after encoding.
func FuzzDeletionVector(f *testing.F) {
	for _, bitmap := range []*roaring64.Bitmap{roaring64.BitmapOf(), roaring64.BitmapOf(1, 5, 1<<33), func() *roaring64.Bitmap { b := roaring64.New(); b.AddRange(5, 70_000); return b }()} {
		data, err := EncodeBitmap(bitmap)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0xd0, 0xd3, 0x39, 0x64, 1, 0, 0, 0, 8, 0, 0, 0, 0x3a, 0x30, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		bitmap, err := DecodeBitmap(data)
		if err != nil {
			return
		}
		words := make([]uint64, 16)
		_ = FillBitset(bitmap, words)
		want := bitmap.GetCardinality()
		again, err := EncodeBitmap(bitmap)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeBitmap(again)
		if err != nil || back.GetCardinality() != want || !back.Equals(bitmap) {
			t.Fatalf("%x does not come back: %v", data, err)
		}
	})
}

// FuzzDecodePath: no panic; a relative name comes back through EncodePath, and keys are stable.
func FuzzDecodePath(f *testing.F) {
	for _, seed := range []string{"a%20b/c", "file:///x//y", "s3://b/k", "p=%253A", "../x", "a:b", "%", "./a", "/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, absolute, err := DecodePath(uri)
		if err != nil {
			if ClassOf(err) != "DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI" {
				t.Fatal(err)
			}
			return
		}
		if !absolute {
			if back, _, err := DecodePath(EncodePath(path)); err != nil || back != path {
				t.Fatalf("%q becomes %q: %v", path, back, err)
			}
		}
		key, err := CanonicalPath(uri)
		if err != nil || key == "" {
			t.Fatalf("%q: key %q, %v", uri, key, err)
		}
	})
}

// FuzzLastCheckpoint: no panic; a checksum, where there is one, has been verified.
func FuzzLastCheckpoint(f *testing.F) {
	f.Add([]byte(`{"version":3,"size":4,"parts":2,"tags":{"a":"b"},"v2Checkpoint":{"path":"p","nonFileActions":[{"txn":{"appId":"a","version":1}}],"sidecarFiles":[{"path":"s"}]}}`))
	f.Add([]byte(`{"version":3,"size":4,"checksum":"6a92d155a59bf2eecbd4b4ec7fd1f875"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseLastCheckpoint(data)
		if err == nil && h.Version < 0 {
			t.Fatal("negative version")
		}
		_, _ = JSONChecksum(data)
		_, _ = ParseVersionChecksum(data)
	})
}

// FuzzPartitionValue: no panic, and a value's text reads back as an equal value.
func FuzzPartitionValue(f *testing.F) {
	types := []string{"boolean", "tinyint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,38)", "string", "binary", "date", "timestamp", "timestamp_ntz", "interval year to month", "interval day to second"}
	for i, seed := range []string{"true", "1", "-5", "99", "0.1", "NaN", "1.50", "1e-38", "x", "\x01", "1969-12-31", "1969-12-31 23:59:59.9", "2000-01-01T00:00:00Z", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-1 02:03:04.5' DAY TO SECOND"} {
		f.Add(uint8(i), seed)
	}
	zone := time.FixedZone("z", 3600)
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		dt, err := ParseDataType(types[int(kind)%len(types)])
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodePartitionValue(dt, text, false, zone)
		if err != nil {
			if ClassOf(err) != "DELTA_INVALID_PARTITION_VALUE" {
				t.Fatal(err)
			}
			return
		}
		if v.Null {
			return
		}
		v.SQL()
		if !json.Valid(v.AppendJSON(nil)) && dt.Kind != KindString {
			t.Fatalf("%s", v.AppendJSON(nil))
		}
		again, err := DecodePartitionValue(dt, v.Text(), false, nil)
		if err != nil || again.Compare(v) != 0 {
			t.Fatalf("%s %q: %q reads back as %q, %v", dt, text, v.Text(), again.Text(), err)
		}
	})
}
