package sqlengine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"sort"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// What the catalog keeps beside the folders of its tables are small JSON files below _deltasql, one an object: an external
// table's place, a database's comment. Files of views are in views.go.
const (
	entryFormat    = 1
	catalogFolder  = "_deltasql"
	entryMaxBytes  = 1 << 20
	tableFolder    = catalogFolder + "/tables/"
	databaseFolder = catalogFolder + "/databases/"
)

// externalTable is a name for a table that lies elsewhere. Dropping it leaves the table alone.
type externalTable struct {
	Format   int    `json:"format"`
	Name     string `json:"name"`
	Database string `json:"database"`
	Location string `json:"location"` // an absolute path
	Created  int64  `json:"createdMillis"`
	// Reserved is set until the table's first commit is made. A CREATE that dies before leaves a name that stands for nothing.
	Reserved bool `json:"reserved,omitempty"`
}

// standsFor tells whether the name stands for a table.
func (t *externalTable) standsFor() bool { return !t.Reserved || isMade(t.Location) }

// databaseEntry is what CREATE DATABASE said beyond the name.
type databaseEntry struct {
	Format     int         `json:"format"`
	Name       string      `json:"name"`
	Comment    string      `json:"comment,omitempty"`
	Location   string      `json:"location,omitempty"` // where its tables lie, if not in the catalog's folder
	Properties [][2]string `json:"properties,omitempty"`
	Created    int64       `json:"createdMillis"`
}

// Names match in any case, hence the lower case in the names of files.
func tableFile(database, name string) string {
	return tableFolder + url.PathEscape(strings.ToLower(database)) + "/" + url.PathEscape(strings.ToLower(name)) + ".json"
}

func databaseFile(name string) string {
	return databaseFolder + url.PathEscape(strings.ToLower(name)) + ".json"
}

// readEntry reads a file into out; false where there is none.
func (c *catalog) readEntry(ctx context.Context, file, what string, out any) (bool, error) {
	data, err := c.files.Read(ctx, file, entryMaxBytes)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, protocol.NewError("DELTASQL_STORAGE", "the catalog's entry of %s cannot be read", what).WithCause(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return false, protocol.NewError("DELTASQL_STORAGE", "the catalog's entry of %s in %s is damaged", what, file).WithCause(err)
	}
	return true, nil
}

// putEntry writes an entry; where one is there it answers store.ErrExists unless it may replace it.
func (c *catalog) putEntry(ctx context.Context, file, what string, entry any, replace bool) error {
	data, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return err
	}
	if replace {
		err = c.files.Put(ctx, file, data)
	} else {
		err = c.createEntry(ctx, file, data)
	}
	if err != nil && !errors.Is(err, store.ErrExists) {
		return protocol.NewError("DELTASQL_STORAGE", "the catalog's entry of %s cannot be stored", what).WithCause(err)
	}
	return err
}

// entryTries is how often an entry is written whose store does not answer.
const entryTries = 3

// createEntry writes a new entry. Where it is not known whether it was written, reading it back tells.
func (c *catalog) createEntry(ctx context.Context, file string, data []byte) error {
	_, err := c.files.PutIfAbsent(ctx, file, data)
	if !errors.Is(err, store.ErrOutcomeUnknown) {
		return err
	}
	for range entryTries { // once there is doubt, an equal entry is this one
		there, missing := c.files.Read(ctx, file, entryMaxBytes)
		switch {
		case missing == nil && bytes.Equal(there, data):
			return nil
		case missing == nil:
			return store.ErrExists
		case !errors.Is(missing, store.ErrNotFound):
			return err
		}
		if _, err = c.files.PutIfAbsent(ctx, file, data); err == nil || !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	return err
}

func (c *catalog) dropEntry(ctx context.Context, file, what string) error {
	if err := c.files.Delete(ctx, file); err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "the catalog's entry of %s cannot be removed", what).WithCause(err)
	}
	return nil
}

// entryNames are the names that the files of a folder are for, in lower case; a folder that is not there has none.
func (c *catalog) entryNames(ctx context.Context, folder string) ([]string, error) {
	var names []string
	for info, err := range c.files.List(ctx, folder, "") {
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, protocol.NewError("DELTASQL_STORAGE", "the catalog's folder %s cannot be listed", folder).WithCause(err)
		}
		escaped, ok := strings.CutSuffix(strings.TrimPrefix(info.Name, folder), ".json")
		if !ok {
			continue
		}
		if name, err := url.PathUnescape(escaped); err == nil {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// external finds an external table; nil where there is none.
func (c *catalog) external(ctx context.Context, database, name string) (*externalTable, error) {
	t, err := c.externalEntry(ctx, database, name)
	if err != nil || t == nil || !t.standsFor() {
		return nil, err
	}
	return t, nil
}

// externalEntry is external for names that may stand for nothing.
func (c *catalog) externalEntry(ctx context.Context, database, name string) (*externalTable, error) {
	if name == "" {
		return nil, nil
	}
	t := &externalTable{}
	found, err := c.readEntry(ctx, tableFile(database, name), "table "+database+"."+name, t)
	if err != nil || !found {
		return nil, err
	}
	if t.Format > entryFormat {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "table %s.%s was registered by a newer version of deltasql (format %d)", database, name, t.Format)
	}
	return t, nil
}

// putExternal registers an external table.
func (c *catalog) putExternal(ctx context.Context, t *externalTable, replace bool) error {
	t.Format = entryFormat
	return c.putEntry(ctx, tableFile(t.Database, t.Name), "table "+t.Database+"."+t.Name, t, replace)
}

func (c *catalog) dropExternal(ctx context.Context, database, name string) error {
	return c.dropEntry(ctx, tableFile(database, name), "table "+database+"."+name)
}

// externals lists the external tables of a database.
func (c *catalog) externals(ctx context.Context, database string) ([]string, error) {
	names, err := c.entryNames(ctx, tableFolder+url.PathEscape(strings.ToLower(database))+"/")
	shown := names[:0]
	for _, name := range names {
		switch t, err := c.externalEntry(ctx, database, name); {
		case err == nil && t == nil, err == nil && !t.standsFor():
		case err == nil:
			shown = append(shown, t.Name)
		default:
			shown = append(shown, name) // which whoever names it is told
		}
	}
	return shown, err
}

// reserve writes the name of an external table before the table is made; one that stands for nothing is taken over. The caller holds
// the name's lock. It answers store.ErrExists where the name stands for a table.
func (c *catalog) reserve(ctx context.Context, t *externalTable) error {
	there, err := c.externalEntry(ctx, t.Database, t.Name)
	switch {
	case err != nil:
		return err
	case there != nil && there.standsFor():
		return store.ErrExists
	}
	t.Reserved = true
	return c.putExternal(ctx, t, there != nil)
}

// confirm says that the table of a reserved name is made.
func (c *catalog) confirm(ctx context.Context, t *externalTable) error {
	t.Reserved = false
	return c.putExternal(ctx, t, true)
}

// databaseEntry is what is kept of a database; nil where nothing is.
func (c *catalog) databaseEntry(ctx context.Context, name string) (*databaseEntry, error) {
	d := &databaseEntry{}
	found, err := c.readEntry(ctx, databaseFile(name), "database "+name, d)
	if err != nil || !found {
		return nil, err
	}
	if d.Format > entryFormat {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "database %s was made by a newer version of deltasql (format %d)", name, d.Format)
	}
	return d, nil
}
