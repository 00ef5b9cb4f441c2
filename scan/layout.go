package scan

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"deltasql/scan/duck"
)

// layout is what a Parquet file says of its columns: as much as telling whether they fit the table's, and reading nested and
// binary ones right, needs. Files with equal layouts share one.
type layout struct {
	columns []layoutColumn
	hasIDs  bool // some column has a field id
}

type layoutColumn struct {
	name string
	id   int64 // Parquet field id, -1 where there is none
	text string
	typ  duck.Type
}

// byName finds a column as DuckDB does: exactly, else ignoring case.
func (l *layout) byName(name string) *layoutColumn {
	var folded *layoutColumn
	for i := range l.columns {
		if l.columns[i].name == name {
			return &l.columns[i]
		}
		if folded == nil && strings.EqualFold(l.columns[i].name, name) {
			folded = &l.columns[i]
		}
	}
	return folded
}

func (l *layout) byID(id int) *layoutColumn {
	for i := range l.columns {
		if l.columns[i].id == int64(id) {
			return &l.columns[i]
		}
	}
	return nil
}

// layouts remembers the layouts of files by path, size and time: data files never change, so nothing here goes stale.
// It is shared by all instances and bounded by throwing everything away.
var layouts = layoutCache{byFile: map[layoutKey]*layout{}, bySignature: map[string]*layout{}, bySchema: map[string]*layout{}}

type layoutKey struct {
	path          string
	size, modTime int64
}

type layoutCache struct {
	mu          sync.Mutex
	bytes       int // of everything, roughly
	byFile      map[layoutKey]*layout
	bySignature map[string]*layout // by what parquet_schema says, see footer
	bySchema    map[string]*layout // by the schema's bytes, see readSchemas
}

const (
	// maxCachedLayoutBytes is enough for the layouts of some hundred thousand files of a few hundred schemas.
	maxCachedLayoutBytes = 128 << 20
	// layoutsPerQuery bounds the files of one look into footers.
	layoutsPerQuery = 5_000
)

func (c *layoutCache) get(key layoutKey) *layout {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byFile[key]
}

// put remembers the layout of a file, and that files of its signature have it.
func (c *layoutCache) put(key layoutKey, signature string, l *layout) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(c.bySignature, signature, l)
	c.byFile[key] = l
}

// putSchema remembers the layout of a file, and that files of its schema have it.
func (c *layoutCache) putSchema(key layoutKey, schema string, l *layout) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(c.bySchema, schema, l)
	c.byFile[key] = l
}

// enter makes room for a file, and for its text where that is new. The caller holds the lock.
func (c *layoutCache) enter(byText map[string]*layout, text string, l *layout) {
	const file, column = 300, 200 // bytes of an entry with its path, and of a column with its names and type, roughly
	size := file
	if byText[text] == nil {
		size += len(text) + column*len(l.columns)
	}
	if c.bytes += size; c.bytes > maxCachedLayoutBytes {
		clear(c.byFile)
		clear(c.bySignature)
		clear(c.bySchema)
		c.bytes = size
	}
	byText[text] = l
}

func (c *layoutCache) withSchema(schema string) *layout {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bySchema[schema]
}

func (c *layoutCache) known(signature string) *layout {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bySignature[signature]
}

func (f *dataFile) layoutKey() layoutKey { return layoutKey{f.local, f.size, f.modTime} }

// findLayouts sets the layout of each file, reading the footers of those that were not met before. Files that are not there
// keep none, unless all are needed: the statement will find them missing, if it comes to read them.
func findLayouts(ctx context.Context, in *duck.Instance, files []*dataFile, needed bool) error {
	var unknown []*dataFile
	for _, f := range files {
		if f.layout = layouts.get(f.layoutKey()); f.layout == nil {
			unknown = append(unknown, f)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	schemas, err := readSchemas(ctx, unknown)
	if err != nil {
		return err
	}
	// DuckDB is asked for one file of each schema, and for the files whose schema was not found.
	examples, asked := map[string]*dataFile{}, []*dataFile{}
	for i, f := range unknown {
		schema := schemas[i].bytes
		if schemas[i].missing && !needed {
			continue
		}
		if schema != "" && examples[schema] != nil {
			continue
		}
		if schema != "" {
			examples[schema] = f
			if f.layout = layouts.withSchema(schema); f.layout != nil {
				continue
			}
		}
		asked = append(asked, f)
	}
	if err := askLayouts(ctx, in, asked); err != nil {
		return err
	}
	for i, f := range unknown {
		if schema := schemas[i].bytes; schema != "" {
			f.layout = examples[schema].layout
			layouts.putSchema(f.layoutKey(), schema, f.layout)
		}
	}
	return nil
}

// askLayouts sets the layouts by DuckDB's account of the files.
func askLayouts(ctx context.Context, in *duck.Instance, unknown []*dataFile) error {
	for len(unknown) > 0 {
		n := min(len(unknown), layoutsPerQuery)
		if err := readLayouts(ctx, in, unknown[:n]); err != nil {
			return err
		}
		unknown = unknown[n:]
	}
	return nil
}

// footer is one file's schema as parquet_schema lists it, top level only.
type footer struct {
	signature strings.Builder
	columns   []layoutColumn
	skip      []int64 // children still to come, level by level; the first is the root's
}

// readLayouts reads the schemas of the files in one statement. parquet_schema gives the elements of a file in preorder.
func readLayouts(ctx context.Context, in *duck.Instance, files []*dataFile) error {
	stream, err := in.Query(ctx, `SELECT file_name, name, coalesce(num_children, 0), coalesce(field_id, -1), coalesce(duckdb_type, '')
		FROM parquet_schema($1) ORDER BY file_name, column_id`, globPaths(files))
	if err != nil {
		return err
	}
	defer stream.Close()
	footers := map[string]*footer{}
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for row := range batch.Len() {
			name := batch.Vector(0).Text(row)
			f := footers[name]
			if f == nil {
				f = &footer{}
				footers[name] = f
			}
			f.add(batch.Vector(1).Text(row), batch.Vector(2).Int64(row), batch.Vector(3).Int64(row), batch.Vector(4).Text(row))
		}
	}
	for _, f := range files {
		found := footers[f.local]
		if found == nil {
			return missingFile(f)
		}
		signature := found.signature.String()
		l := layouts.known(signature)
		if l == nil {
			if l, err = found.layout(ctx, in, f); err != nil {
				return err
			}
		}
		layouts.put(f.layoutKey(), signature, l)
		f.layout = l
	}
	return nil
}

func (f *footer) add(name string, children, id int64, text string) {
	if f.skip == nil {
		f.skip = []int64{children} // the root
		return
	}
	for len(f.skip) > 1 && f.skip[len(f.skip)-1] == 0 {
		f.skip = f.skip[:len(f.skip)-1]
	}
	if len(f.skip) == 1 {
		f.columns = append(f.columns, layoutColumn{name: name, id: id, text: text})
		for _, part := range []string{name, text, strconv.FormatInt(id, 10)} {
			f.signature.WriteString(part)
			f.signature.WriteByte(0)
		}
	}
	f.skip[len(f.skip)-1]--
	if children > 0 {
		f.skip = append(f.skip, children)
	}
}

// layout completes a footer by the columns' types, which DuckDB tells best by itself.
func (f *footer) layout(ctx context.Context, in *duck.Instance, example *dataFile) (*layout, error) {
	stream, err := in.Query(ctx, "SELECT * FROM read_parquet($1, hive_partitioning = false) LIMIT 0", globPaths([]*dataFile{example}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	columns := stream.Columns()
	l := &layout{columns: f.columns}
	if len(columns) != len(l.columns) {
		return nil, damagedFile(example, "its footer cannot be understood")
	}
	for i := range l.columns {
		l.columns[i].typ = columns[i].Type
		l.hasIDs = l.hasIDs || l.columns[i].id >= 0
	}
	return l, nil
}
