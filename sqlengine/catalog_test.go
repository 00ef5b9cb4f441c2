package sqlengine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// makeFolders makes folders below a fresh root; a name that ends in a star becomes a table.
func makeFolders(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		folder, table := strings.CutSuffix(name, "*")
		path := filepath.Join(root, folder)
		if table {
			path = filepath.Join(path, logFolder)
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if table {
			if err := os.WriteFile(filepath.Join(path, protocol.CommitName(0)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func openCatalog(t *testing.T, root string) *catalog {
	t.Helper()
	c, err := newCatalog(root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCatalogLists(t *testing.T) {
	root := makeFolders(t, "default/a*", "default/B*", "default/not_a_table", "sales/orders*", "empty", "_deltasql/x*", ".git/y*", "loose*", "a*")
	c, ctx := openCatalog(t, root), context.Background()
	databases, err := c.databases(ctx)
	if err != nil || !slices.Equal(databases, []string{"default", "empty", "sales"}) {
		t.Errorf("databases: %v, %v", databases, err)
	}
	for database, want := range map[string][]string{"default": {"B", "a", "loose"}, "sales": {"orders"}, "empty": nil} {
		tables, err := c.tables(ctx, database)
		if err != nil || !slices.Equal(tables, want) {
			t.Errorf("tables of %s: %v, want %v, %v", database, tables, want, err)
		}
	}
}

// A CREATE that died leaves a log without a commit, which is no table.
func TestUnfinishedTablesAreNone(t *testing.T) {
	root := makeFolders(t, "default/a*")
	for _, name := range []string{"default/b/" + logFolder, "default/c/" + logFolder} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "default/c", logFolder, ".00000000000000000000.json.1.1.tmp"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, ctx := openCatalog(t, root), context.Background()
	if tables, err := c.tables(ctx, defaultDatabase); err != nil || !slices.Equal(tables, []string{"a"}) {
		t.Errorf("tables: %v, %v", tables, err)
	}
	for _, name := range []string{"b", "c"} {
		if path, err := c.find(ctx, defaultDatabase, name); err != nil || path != "" {
			t.Errorf("%s: %q, %v", name, path, err)
		}
	}
}

func TestCatalogFinds(t *testing.T) {
	root := makeFolders(t, "default/Orders*", "default/twice*", "default/TWICE*", "Sales/t*", "loose*", "default/plain")
	c, ctx := openCatalog(t, root), context.Background()
	for _, test := range []struct{ database, name, want string }{
		{"default", "Orders", "default/Orders"},
		{"default", "orders", "default/Orders"},
		{"default", "loose", "loose"},
		{"default", "LOOSE", "loose"},
		{"default", "twice", "default/twice"},
		{"default", "plain", ""},
		{"default", "nope", ""},
		{"default", "../Sales/t", ""},
		{"default", "_delta_log", ""},
		{"Sales", "T", "Sales/t"},
	} {
		path, err := c.find(ctx, test.database, test.name)
		want := test.want
		if want != "" {
			want = filepath.Join(root, want)
		}
		if err != nil || path != want {
			t.Errorf("%s.%s: %q, want %q, %v", test.database, test.name, path, want, err)
		}
	}
	if _, err := c.find(ctx, "default", "Twice"); protocol.ClassOf(err) != "AMBIGUOUS_REFERENCE" {
		t.Errorf("a name that means two tables: %v", err)
	}
	for name, want := range map[string]string{"sales": "Sales", "SALES": "Sales", "DEFAULT": "default"} {
		if got, err := c.database(ctx, name); err != nil || got != want {
			t.Errorf("database %s: %q, want %q, %v", name, got, want, err)
		}
	}
	if _, err := c.database(ctx, "sale"); protocol.ClassOf(err) != "SCHEMA_NOT_FOUND" || !strings.Contains(err.(*protocol.Error).Hint, "Sales") {
		t.Errorf("a database that is not there: %v", err)
	}
}

func TestCatalogOfOneTable(t *testing.T) {
	root := makeFolders(t, "mine*")
	c, ctx := openCatalog(t, filepath.Join(root, "mine")), context.Background()
	if tables, err := c.tables(ctx, "default"); err != nil || !slices.Equal(tables, []string{"mine"}) {
		t.Errorf("tables: %v, %v", tables, err)
	}
	if path, err := c.find(ctx, "default", "mine"); err != nil || path != filepath.Join(root, "mine") {
		t.Errorf("find: %q, %v", path, err)
	}
}

func TestCatalogForgetsTheOldest(t *testing.T) {
	c := openCatalog(t, t.TempDir())
	folder := t.TempDir()
	first, err := c.table(folder)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.table(folder); again != first {
		t.Error("an open table is opened again")
	}
	for range openTables {
		if _, err := c.table(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.table(folder); again == first {
		t.Error("the least recently used table is kept for ever")
	}
}

func TestLocalPath(t *testing.T) {
	root := makeFolders(t, "a b", "c%20d")
	for _, test := range []struct{ in, want, class string }{
		{root + "/a b", root + "/a b", ""},
		{root + "/a b/", root + "/a b", ""},
		{"file:" + root + "/a b", root + "/a b", ""},
		{"file://" + root + "/a%20b", root + "/a b", ""},
		{"FILE://localhost" + root + "/a b", root + "/a b", ""},
		{"file://" + root + "/c%20d", root + "/c%20d", ""},
		{"file://elsewhere/x", "", "DELTASQL_STORAGE"},
		{"s3://bucket/x", "", "DELTASQL_STORAGE"},
		{"", "", "DELTA_PATH_DOES_NOT_EXIST"},
		{"a\x00b", "", "DELTA_PATH_DOES_NOT_EXIST"},
	} {
		got, err := localPath(test.in)
		if got != test.want || test.class != "" && string(protocol.ClassOf(err)) != test.class {
			t.Errorf("%q: %q, %v, want %q %s", test.in, got, err, test.want, test.class)
		}
	}
	if got, err := localPath("x:y"); err != nil || filepath.Base(got) != "x:y" {
		t.Errorf("a folder with a colon: %q, %v", got, err)
	}
}

func TestCheckTableFolder(t *testing.T) {
	root := makeFolders(t, "t*", "t/p=1", "plain")
	if err := os.WriteFile(filepath.Join(root, "x.csv"), []byte("a\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, class, says string }{
		{"t", "", ""},
		{"t/p=1", "DELTA_TABLE_ONLY_OPERATION", root + "/t"},
		{"t/_delta_log", "DELTA_TABLE_ONLY_OPERATION", "log of a table"},
		{"plain", "DELTA_TABLE_ONLY_OPERATION", "without a _delta_log"},
		{"x.csv", "DELTA_TABLE_ONLY_OPERATION", "is a file"},
		{"nope", "DELTA_PATH_DOES_NOT_EXIST", "does not exist"},
	} {
		err := checkTableFolder(filepath.Join(root, test.name), test.name)
		if test.class == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if string(protocol.ClassOf(err)) != test.class || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s with %q", test.name, err, test.class, test.says)
		}
	}
}

func TestViewsAreStored(t *testing.T) {
	root := makeFolders(t, "default")
	c, ctx := openCatalog(t, root), context.Background()
	v := &view{Format: viewFormat, Name: "Ä/b", Database: "default", Dialect: "spark", Query: "SELECT 1 AS x", Columns: []viewColumn{{Name: "x"}}, Outputs: []string{"x"}}
	if found, err := c.view(ctx, "default", v.Name); err != nil || found != nil {
		t.Fatalf("a view before it is made: %v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(root, "_deltasql")); !os.IsNotExist(err) {
		t.Error("reading made a folder")
	}
	if err := c.putView(ctx, v, false); err != nil {
		t.Fatal(err)
	}
	if err := c.putView(ctx, v, false); err == nil {
		t.Error("a view is made twice")
	}
	if err := c.putView(ctx, v, true); err != nil {
		t.Error(err)
	}
	found, err := c.view(ctx, "DEFAULT", "ä/B")
	if err != nil || found == nil || found.Query != v.Query {
		t.Fatalf("found %v, %v", found, err)
	}
	if names, err := c.views(ctx, "default"); err != nil || !slices.Equal(names, []string{"Ä/b"}) {
		t.Errorf("views: %v, %v", names, err)
	}
	if err := c.dropView(ctx, "default", v.Name); err != nil {
		t.Error(err)
	}
	if names, err := c.views(ctx, "default"); err != nil || len(names) != 0 {
		t.Errorf("views after drop: %v, %v", names, err)
	}
	if err := os.WriteFile(filepath.Join(root, viewFile("default", "bad")), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.view(ctx, "default", "bad"); protocol.ClassOf(err) != "DELTASQL_STORAGE" {
		t.Errorf("a damaged definition: %v", err)
	}
}
