package sqlengine

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
)

// localPath is the absolute path that a name in delta.`...`, or a catalog, means: a path absolute or relative to the process's
// working folder, or a file: URI in any of its forms. A URI's text is taken as it stands first and percent-decoded where only
// that exists, since writers of both habits are about. Other schemes are refused by name.
func localPath(name string) (string, error) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%q is no path", name)
	}
	path := name
	if scheme, rest, ok := uriScheme(name); ok {
		if !strings.EqualFold(scheme, "file") {
			return "", protocol.NewError("DELTASQL_STORAGE", "%s: storage of scheme %s is not supported by this version", name, scheme).
				WithHint("tables are read from local folders")
		}
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			host, tail, _ := strings.Cut(after, "/")
			if host != "" && !strings.EqualFold(host, "localhost") {
				return "", protocol.NewError("DELTASQL_STORAGE", "%s: a file URI of another host cannot be read", name)
			}
			rest = "/" + tail
		}
		path = rest
		if _, err := os.Stat(path); err != nil {
			if decoded, err := url.PathUnescape(path); err == nil {
				if _, err := os.Stat(decoded); err == nil {
					path = decoded
				}
			}
		}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", protocol.NewError("DELTASQL_STORAGE", "the path %s cannot be made absolute", name).WithCause(err)
	}
	return absolute, nil
}

// uriScheme splits off a scheme of at least two letters, so that a drive letter is none.
func uriScheme(name string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(name, ":")
	if !ok || len(scheme) < 2 {
		return "", "", false
	}
	for i, r := range scheme {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')) {
			return "", "", false
		}
	}
	// s3://x and file:/x are URIs; a folder called a:b is not.
	if !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	return scheme, rest, true
}

// logFolder is the folder that makes a folder a table.
const logFolder = "_delta_log"

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isTable tells whether a folder has a log, and so is a Delta table or was to become one.
func isTable(folder string) bool { return isFolder(filepath.Join(folder, logFolder)) }

// isMade tells whether a folder is a Delta table that somebody has finished making: the log has more than the hidden files that a
// CREATE leaves which died before its commit. A name stands for a table only then.
func isMade(folder string) bool {
	log, err := os.Open(filepath.Join(folder, logFolder))
	if err != nil {
		return isTable(folder) // which can be seen and not read: whoever reads the table says why
	}
	defer log.Close()
	for {
		entries, err := log.ReadDir(16)
		for _, entry := range entries {
			if entry.Name()[0] != '.' {
				return true
			}
		}
		if err != nil {
			return err != io.EOF && isTable(folder)
		}
	}
}

// enclosingTable is the nearest folder above path that is a table, or "".
func enclosingTable(path string) string {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if isMade(folder) {
			return folder
		}
		if folder == filepath.Dir(folder) {
			return ""
		}
	}
}

// checkTableFolder explains why a path cannot be read as a Delta table; nil where it can.
func checkTableFolder(path, shown string) error {
	if isTable(path) {
		return nil
	}
	if filepath.Base(path) == logFolder && isTable(filepath.Dir(path)) {
		return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s is the log of a table, not the table", shown).
			WithHint("read delta.`%s`", filepath.Dir(path))
	}
	if root := enclosingTable(path); root != "" {
		return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s lies inside the Delta table %s and is no table itself", shown, root).
			WithHint("read delta.`%s` with a condition on its columns", root)
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%s does not exist", shown)
	case err != nil:
		return protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", shown).WithCause(err)
	case !info.IsDir():
		return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s is a file, not a Delta table", shown).WithHint("%s", fileHint(path))
	}
	return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s is a folder without a %s: it is not a Delta table", shown, logFolder).
		WithHint("files that are no Delta table are read by parquet.`path`, csv.`path` and json.`path`")
}

func fileHint(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv":
		return "read it as csv.`" + path + "`"
	case ".json", ".jsonl", ".ndjson":
		return "read it as json.`" + path + "`"
	}
	return "read it as parquet.`" + path + "`"
}
