package rewrite

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"deltasql/protocol"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

func TestWriteVectors(t *testing.T) {
	in := openInstance(t)
	random := rand.New(rand.NewPCG(1, 2))
	sparse := func(rows int) *roaring64.Bitmap {
		b := roaring64.New()
		for range rows {
			b.Add(random.Uint64N(1 << 40))
		}
		return b
	}
	for _, test := range []struct {
		name    string
		bitmaps []*roaring64.Bitmap
		prefix  string
		files   int
	}{
		{"none", nil, "", 0},
		{"small ones share a file", []*roaring64.Bitmap{roaring64.BitmapOf(0), roaring64.BitmapOf(5, 1<<33), sparse(1000)}, "", 1},
		{"large ones do not", []*roaring64.Bitmap{sparse(150_000), sparse(150_000), roaring64.BitmapOf(3)}, "", 2},
		{"a random folder", []*roaring64.Bitmap{roaring64.BitmapOf(1)}, "5", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			configuration := map[string]string{"delta.enableDeletionVectors": "true"}
			if test.prefix != "" {
				configuration["delta.randomizeFilePrefixes"], configuration["delta.randomPrefixLength"] = "true", test.prefix
			}
			tt := newTable(t, in, field("id", `"long"`), nil, configuration)
			tx := tt.begin()
			vectors, names, err := WriteVectors(context.Background(), tx, test.bitmaps)
			if err != nil || len(vectors) != len(test.bitmaps) || len(names) != test.files || len(tt.dataFiles()) != test.files {
				t.Fatalf("%d vectors in %q: %v; there is %q", len(vectors), names, err, tt.dataFiles())
			}
			next := map[string]int64{}
			for i := range vectors {
				path, _, err := vectors[i].Path()
				if err != nil {
					t.Fatal(err)
				}
				pattern := `^deletion_vector_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.bin$`
				if test.prefix != "" {
					pattern = `^[0-9A-Za-z]{` + test.prefix + `}/` + pattern[1:]
				}
				if !regexp.MustCompile(pattern).MatchString(path) {
					t.Errorf("the file is called %s", path)
				}
				data, err := os.ReadFile(filepath.Join(tt.dir, filepath.FromSlash(path)))
				if err != nil {
					t.Fatal(err)
				}
				if err := protocol.CheckVectorFileVersion(data[0]); err != nil {
					t.Error(err)
				}
				offset, length, err := vectors[i].Span()
				if want := max(next[path], 1); err != nil || offset != want || vectors[i].StorageType != protocol.VectorByUUID {
					t.Errorf("vector %d begins at %d, not %d (%v)", i, offset, want, err)
				}
				next[path] = offset + length
				got, err := vectors[i].DecodeSection(data[offset : offset+length])
				if err != nil || !got.Equals(test.bitmaps[i]) {
					t.Errorf("vector %d reads back otherwise: %v", i, err)
				}
			}
			tx.Abort(context.Background())
			if files := tt.dataFiles(); len(files) > 0 {
				t.Errorf("an aborted transaction left %q", files)
			}
		})
	}
}

func TestWideStatistics(t *testing.T) {
	for _, test := range []struct {
		text            string
		records, before int64
		want            string
	}{
		{"", 3, 0, `{"numRecords":3,"tightBounds":false}`},
		{`{"numRecords":3}`, 3, 0, `{"numRecords":3,"tightBounds":false}`},
		{`{"minValues":{"a":1}}`, 3, 0, `{"minValues":{"a":1},"numRecords":3,"tightBounds":false}`},
		{`{"numRecords":6,"minValues":{"d":1.50,"s":"<ü\u0001>"},"maxValues":{"d":1E2},"nullCount":{"a":0,"b":6,"c":2},"tightBounds":true}`, 6, 0,
			`{"numRecords":6,"minValues":{"d":1.50,"s":"<ü\u0001>"},"maxValues":{"d":1E2},"nullCount":{"a":0,"b":6,"c":2},"tightBounds":false}`},
		{`{"tightBounds":false,"numRecords":6,"nullCount":{"a":4,"b":6}}`, 6, 2, `{"numRecords":6,"nullCount":{"a":4,"b":6},"tightBounds":false}`},
		// Tight counts beside a vector are those of the live rows.
		{`{"numRecords":6,"nullCount":{"a":0,"s":{"b":4,"c":3}, "d\"<":4},"tightBounds":true}`, 6, 2, `{"numRecords":6,"nullCount":{"a":0,"s":{"b":6,"c":3},"d\"<":6},"tightBounds":false}`},
		{`{"numRecords":6,"nullCount":{"a":4}}`, 6, 2, `{"numRecords":6,"nullCount":{"a":6},"tightBounds":false}`},
	} {
		got, err := wideStatistics(test.text, test.records, test.before)
		if err != nil || got != test.want {
			t.Errorf("%s becomes\n%s, want\n%s (%v)", test.text, got, test.want, err)
		}
	}
	for _, bad := range []string{"[]", `{"numRecords":`, `{"nullCount":5,"numRecords":3}`} {
		if got, err := wideStatistics(bad, 3, 1); protocol.ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
			t.Errorf("%s becomes %s (%v)", bad, got, err)
		}
	}
}
