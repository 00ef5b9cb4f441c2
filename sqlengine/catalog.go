package sqlengine

import (
	"container/list"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

const (
	// catalogName is the first part of a full table name. Spark's name for its built-in catalog is kept, since scripts spell it out.
	catalogName = "spark_catalog"
	// defaultDatabase is current when a session starts. It is there even where no folder stands for it (Q4), and the tables
	// that lie directly in the catalog's folder are seen in it.
	defaultDatabase = "default"
	// openTables is how many tables are kept open; the least recently used one is forgotten first.
	openTables = 256
)

// catalog is a folder of databases, which are folders of tables. Nothing about names is cached: a name is looked up on disk at
// every use, so what other programs create and drop is seen at once. Open tables are kept, since their snapshots are dear.
type catalog struct {
	root    string
	files   store.Store // over root, for what the catalog itself keeps
	parquet log.Parquet
	wrap    func(folder string, files store.Store) store.Store // Options.Store; nil for none

	mu     sync.Mutex // guards what follows
	open   map[string]*list.Element
	recent *list.List // of *openTable, most recently used first
}

type openTable struct {
	path  string
	table *log.Table
}

func newCatalog(root string, parquet log.Parquet, wrap func(string, store.Store) store.Store) (*catalog, error) {
	c := &catalog{root: root, parquet: parquet, wrap: wrap, open: map[string]*list.Element{}, recent: list.New()}
	var err error
	if c.files, err = c.store(root); err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the catalog folder %s cannot be opened", root).WithCause(err)
	}
	return c, nil
}

// store opens a folder.
func (c *catalog) store(folder string) (store.Store, error) {
	files, err := store.NewLocal(folder)
	if err != nil || c.wrap == nil {
		return files, err
	}
	return c.wrap(folder, files), nil
}

// table gives the table in a folder, opened lazily: nothing is read here.
func (c *catalog) table(path string) (*log.Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.open[path]; ok {
		c.recent.MoveToFront(element)
		return element.Value.(*openTable).table, nil
	}
	files, err := c.store(path)
	if err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be opened", path).WithCause(err)
	}
	table := log.OpenTable(files, c.display(path), c.parquet)
	c.open[path] = c.recent.PushFront(&openTable{path, table})
	for c.recent.Len() > openTables {
		last := c.recent.Back()
		delete(c.open, last.Value.(*openTable).path)
		c.recent.Remove(last)
	}
	return table, nil
}

// forget drops what is known of a table (REFRESH TABLE).
func (c *catalog) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.open[path]; ok {
		delete(c.open, path)
		c.recent.Remove(element)
	}
}

// display is how messages call the table in a folder: database.table inside the catalog, its path elsewhere.
func (c *catalog) display(path string) string {
	inside, err := filepath.Rel(c.root, path)
	if err != nil || strings.HasPrefix(inside, "..") {
		return path
	}
	switch parts := strings.Split(filepath.ToSlash(inside), "/"); {
	case len(parts) == 1 && parts[0] != ".":
		return defaultDatabase + "." + parts[0]
	case len(parts) == 2:
		return parts[0] + "." + parts[1]
	}
	return path
}

// hidden tells folders that are never databases or tables.
func hidden(name string) bool { return name == "" || name[0] == '_' || name[0] == '.' }

// folders lists the sub-folders of a folder; a folder that is not there has none.
func folders(ctx context.Context, path string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, cancelled(ctx)
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be listed", path).WithCause(err)
	}
	var names []string
	for _, entry := range entries {
		if hidden(entry.Name()) {
			continue
		}
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 && isFolder(filepath.Join(path, entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// databases lists the databases, sorted; default is always among them.
func (c *catalog) databases(ctx context.Context) ([]string, error) {
	names, err := folders(ctx, c.root)
	if err != nil {
		return nil, err
	}
	out := []string{defaultDatabase}
	for _, name := range names {
		if !strings.EqualFold(name, defaultDatabase) && !isTable(filepath.Join(c.root, name)) {
			out = append(out, name)
		}
	}
	entries, err := c.entryNames(ctx, databaseFolder)
	if err != nil {
		return nil, err
	}
	for _, lower := range entries {
		entry, err := c.databaseEntry(ctx, lower)
		if err == nil && entry != nil && entry.Location != "" && !slices.ContainsFunc(out, func(known string) bool { return strings.EqualFold(known, lower) }) {
			out = append(out, entry.Name)
		}
	}
	sort.Strings(out)
	return out, nil
}

// database finds a database by its name in any case and gives the name as it is written on disk.
func (c *catalog) database(ctx context.Context, name string) (string, error) {
	if strings.EqualFold(name, defaultDatabase) {
		return defaultDatabase, nil
	}
	if plainName(name) && isFolder(filepath.Join(c.root, name)) && !isTable(filepath.Join(c.root, name)) {
		if exact, err := pickName(ctx, c.root, name); err != nil || exact != "" {
			return exact, err
		}
	}
	if plainName(name) {
		if entry, err := c.databaseEntry(ctx, name); err != nil || entry != nil && entry.Location != "" {
			if err != nil {
				return "", err
			}
			return entry.Name, nil
		}
	}
	all, err := c.databases(ctx)
	if err != nil {
		return "", err
	}
	for _, known := range all {
		if strings.EqualFold(known, name) {
			return known, nil
		}
	}
	missing := protocol.NewError("SCHEMA_NOT_FOUND", "there is no database %s in %s", name, c.root)
	if near := parse.Meant(name, all); near != "" {
		return "", missing.WithHint("did you mean %s?", near)
	}
	return "", missing.WithHint("SHOW DATABASES lists the databases")
}

// plainName tells whether a name can be the name of one folder.
func plainName(name string) bool {
	return !hidden(name) && !strings.ContainsAny(name, "/\\\x00") && name != "." && name != ".."
}

// pickName finds the sub-folder that a name means: the one written alike, else the only one that differs by case. It is "" where
// there is none, and an error where several differ by case alone.
func pickName(ctx context.Context, folder, name string) (string, error) {
	names, err := folders(ctx, folder)
	if err != nil {
		return "", err
	}
	var alike []string
	for _, candidate := range names {
		if candidate == name {
			return name, nil
		}
		if strings.EqualFold(candidate, name) {
			alike = append(alike, candidate)
		}
	}
	switch len(alike) {
	case 0:
		return "", nil
	case 1:
		return alike[0], nil
	}
	return "", protocol.NewError("AMBIGUOUS_REFERENCE", "%s means any of %s", name, strings.Join(alike, ", ")).WithHint("write the name in its own case")
}

// places are the folders in which a database's tables lie, in the order in which they are searched.
func (c *catalog) places(ctx context.Context, database string) ([]string, error) {
	if database != defaultDatabase {
		own := filepath.Join(c.root, database)
		if isFolder(own) {
			return []string{own}, nil
		}
		if entry, err := c.databaseEntry(ctx, database); err != nil || entry != nil && entry.Location != "" {
			if err != nil {
				return nil, err
			}
			return []string{entry.Location}, nil
		}
		return []string{own}, nil
	}
	own, err := pickName(ctx, c.root, defaultDatabase)
	if err != nil {
		return nil, err
	}
	if own == "" || isTable(filepath.Join(c.root, own)) {
		return []string{c.root}, nil
	}
	return []string{filepath.Join(c.root, own), c.root}, nil
}

// find gives the folder of a table, "" where there is none. The database is named as database gave it.
func (c *catalog) find(ctx context.Context, database, name string) (string, error) {
	if !plainName(name) {
		return "", nil
	}
	places, err := c.places(ctx, database)
	if err != nil {
		return "", err
	}
	for _, place := range places {
		if path := filepath.Join(place, name); isMade(path) {
			return path, nil
		}
	}
	for _, place := range places {
		exact, err := pickName(ctx, place, name)
		if err != nil {
			return "", err
		}
		if path := filepath.Join(place, exact); exact != "" && isMade(path) {
			return path, nil
		}
	}
	if t, err := c.external(ctx, database, name); err != nil || t != nil {
		if err != nil {
			return "", err
		}
		return t.Location, nil
	}
	if database == defaultDatabase && strings.EqualFold(name, filepath.Base(c.root)) && isTable(c.root) {
		return c.root, nil
	}
	return "", nil
}

// tables lists the tables of a database by name, sorted.
func (c *catalog) tables(ctx context.Context, database string) ([]string, error) {
	places, err := c.places(ctx, database)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if !seen[strings.ToLower(name)] {
			seen[strings.ToLower(name)] = true
			out = append(out, name)
		}
	}
	for _, place := range places {
		names, err := folders(ctx, place)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if isMade(filepath.Join(place, name)) {
				add(name)
			}
		}
	}
	externals, err := c.externals(ctx, database)
	if err != nil {
		return nil, err
	}
	for _, name := range externals {
		add(name)
	}
	if database == defaultDatabase && isTable(c.root) {
		add(filepath.Base(c.root))
	}
	sort.Strings(out)
	return out, nil
}
