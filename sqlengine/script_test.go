package sqlengine_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
	"deltasql/sqlengine/sqllogic"
)

var rewrite = flag.Bool("rewrite", false, "put the rows that are seen into the scripts of testdata/slt")

// testdata is the project's own, from this package's folder.
const testdata = "../testdata"

// TestScripts runs testdata/slt through the library.
func TestScripts(t *testing.T) {
	root := filepath.Join(testdata, "slt")
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".slt") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no scripts below %s", root)
	}
	for _, path := range paths {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			sqllogic.RunFile(t, path, sqllogic.Options{Open: openLibrary, Rewrite: *rewrite})
		})
	}
}

// TestScriptReadme runs the part of the specification that stands between ~~~ lines.
func TestScriptReadme(t *testing.T) {
	path := filepath.Join(testdata, "slt", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n~~~\n")
	if len(parts) != 3 {
		t.Fatalf("%s: one part between ~~~ lines is wanted, found %d", path, len(parts)-2)
	}
	sqllogic.RunText(t, path, parts[1], sqllogic.Options{Open: openLibrary})
}

// libraryDatabase serves scripts through the Go library.
type libraryDatabase struct{ engine *sqlengine.Engine }

func openLibrary(t testing.TB, catalog string) sqllogic.Database {
	t.Helper()
	folder := t.TempDir()
	if catalog != "" && catalog != "none" {
		folder = filepath.Join(testdata, catalog)
	}
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: folder, Memory: "1GB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return libraryDatabase{engine}
}

func (d libraryDatabase) Close() { d.engine.Close() }

func (d libraryDatabase) Connect(t testing.TB) sqllogic.Connection {
	t.Helper()
	session, err := d.engine.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return libraryConnection{session}
}

type libraryConnection struct{ session *sqlengine.Session }

func (c libraryConnection) Run(sql string) (columns []sqllogic.Column, rows [][]string, err error) {
	ctx := context.Background()
	result, err := c.session.Execute(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	defer result.Close()
	for _, column := range result.Columns {
		columns = append(columns, sqllogic.Column{Name: column.Name, Letter: typeLetter(column.Type.Kind)})
	}
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return columns, rows, nil
		}
		if err != nil {
			return nil, nil, err
		}
		for row := range batch.Len() {
			values := make([]string, len(result.Columns))
			for i := range values {
				values[i] = string(render.AppendText(nil, batch.Vector(i), row, &result.Columns[i].Type))
			}
			rows = append(rows, values)
		}
	}
}

// typeLetter is the script language's letter of a type.
func typeLetter(kind protocol.Kind) byte {
	switch kind {
	case protocol.KindBoolean:
		return 'B'
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return 'I'
	case protocol.KindFloat, protocol.KindDouble, protocol.KindDecimal:
		return 'R'
	case protocol.KindString, protocol.KindBinary, protocol.KindVoid, protocol.KindFile:
		return 'T'
	case protocol.KindDate:
		return 'D'
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		return 'P'
	default:
		return 'V'
	}
}
