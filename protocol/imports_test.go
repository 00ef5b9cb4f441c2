package protocol

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers is the package map (docs: the architecture's section on packages): an import may only point to a lower number.
// A package that is not listed takes the layer of its nearest listed ancestor.
var layers = map[string]int{
	"cmd":                   200,
	"bench":                 200,
	"sqlengine/wire":        190,
	"sqlengine/sqllogic":    185, // runs scripts through the library; the port is given to it as a function
	"sqlengine":             180,
	"sqlengine/render":      170,
	"sqlengine/check":       165,
	"sqlengine/mysqlcompat": 160,
	"sqlengine/meta":        150,
	"sqlengine/duckgen":     140,
	"sqlengine/change":      135,
	"sqlengine/bind":        130,
	"sqlengine/expr":        120,
	"sqlengine/parse":       110,
	"ddl":                   100,
	"txn/rewrite":           90,
	"scan":                  80,
	"scan/duck":             70,
	"txn":                   60,
	"txn/log":               50,
	"txn/store":             40,
	"stats":                 30,
	"filetype":              30,
	"protocol":              10,
}

// fences say which packages alone may import a module.
var fences = map[string][]string{
	"github.com/duckdb/duckdb-go":          {"scan/duck"},
	"github.com/duckdb/duckdb-go-bindings": {"scan/duck"},
	"go.duckdb.org":                        {"scan/duck"},
	"github.com/marcboeker/go-duckdb":      {"scan/duck"},
	"github.com/dolthub/go-mysql-server":   {"sqlengine/mysqlcompat"},
	"github.com/RoaringBitmap/roaring":     {"protocol", "scan", "scan/duck", "txn/log", "txn/rewrite"},
}

var bannedPackages = []string{"util", "utils", "common", "helpers", "misc", "base", "types", "models"}

var bannedFiles = []string{"utils.go", "helpers.go", "util.go", "helper.go"}

type listedPackage struct {
	ImportPath, Name, Dir string
	GoFiles, CgoFiles     []string
	TestGoFiles           []string
	Imports               []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,TestGoFiles,Imports", "./...")
	command.Dir = ".."
	out, err := command.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	var all []listedPackage
	for {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

const module = "deltasql/"

// layerOf finds the listed package that a path belongs to.
func layerOf(name string) (string, int) {
	for p := name; p != "." && p != "/"; p = path.Dir(p) {
		if n, ok := layers[p]; ok {
			return p, n
		}
	}
	return "", 0
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		owner, layer := layerOf(name)
		if layer == 0 {
			t.Errorf("%s is not in the package map", name)
			continue
		}
		if slices.Contains(bannedPackages, p.Name) || slices.Contains(bannedPackages, path.Base(name)) {
			t.Errorf("%s: the name says nothing about what it is for", name)
		}
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles) {
			if slices.Contains(bannedFiles, file) {
				t.Errorf("%s/%s: the name says nothing about what it is for", name, file)
			}
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module) {
				target, below := layerOf(strings.TrimPrefix(imported, module))
				// Packages below one listed name are one area; Go itself keeps them free of cycles.
				if below >= layer && target != owner {
					t.Errorf("%s imports %s, which is not below it", name, imported)
				}
				continue
			}
			for fence, allowed := range fences {
				if (imported == fence || strings.HasPrefix(imported, fence+"/")) && !slices.Contains(allowed, owner) {
					t.Errorf("%s imports %s; only %s may", name, imported, strings.Join(allowed, ", "))
				}
			}
		}
	}
}
