package sqlengine

import (
	"path/filepath"
	"strings"

	"deltasql/protocol"
)

// fenceRoots are the folders of Options.Roots, absolute and without links.
func fenceRoots(roots []string) ([]string, error) {
	var out []string
	for _, name := range roots {
		path, err := localPath(name)
		if err != nil {
			return nil, err
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "the folder %s cannot be opened", name).WithCause(err)
		}
		out = append(out, path)
	}
	return out, nil
}

// fencedPath is localPath for a path that a statement names: it must lie in one of Options.Roots, where there are any. Every path from a
// statement's text goes through here.
func (e *Engine) fencedPath(name string) (string, error) {
	path, err := localPath(name)
	if err != nil || len(e.roots) == 0 {
		return path, err
	}
	real := withoutLinks(path)
	for _, root := range e.roots {
		if real == root || strings.HasPrefix(real, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return path, nil
		}
	}
	return "", protocol.NewError("DELTASQL_PATH_FENCED", "%s lies outside of the folders that this server may read", name).
		WithHint("name a table of the catalog; whoever starts the server can let it read more folders")
}

// withoutLinks resolves the links of the part of a path that exists; what does not exist, and what a pattern stands for, is appended
// as it is.
func withoutLinks(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
