package sqlengine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// copyFile is a file that COPY INTO may load. Its identity is what it was when the statement looked: the same path with another
// time of change or size is another file.
type copyFile struct {
	path     string // absolute, without links
	size     int64
	modified time.Time
}

// copyAppPrefix begins the application ids under which tables remember loaded files (docs/decisions/0015).
const copyAppPrefix = "deltasql.copyInto:"

// appID is how a table remembers that the file has been loaded.
func (f copyFile) appID() string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%d\x00%d", filepath.ToSlash(f.path), f.modified.UnixNano(), f.size)))
	return copyAppPrefix + hex.EncodeToString(sum[:16])
}

// copyFiles are the files that a COPY INTO names, sorted by path: one file, those of a folder and below it, or of these the ones in
// FILES or that PATTERN matches. Names that begin with _ or . are no data.
func (st *statement) copyFiles(s *parse.CopyInto) ([]copyFile, error) {
	base, err := st.session.engine.fencedPath(s.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%s does not exist", s.Path)
	case err != nil:
		return nil, protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", s.Path).WithCause(err)
	}
	if isTable(base) || enclosingTable(base) != "" {
		return nil, protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s belongs to a Delta table, whose files may hold rows that are no longer in it", s.Path).
			WithHint("INSERT INTO ... SELECT reads the table")
	}
	if !info.IsDir() {
		if s.Files != nil || s.Pattern != "" {
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "FILES and PATTERN choose from a folder, and %s is a file", s.Path)
		}
		return st.oneFile(nil, base)
	}
	if s.Files != nil {
		return st.namedFiles(base, s.Files)
	}
	matches := func(string) bool { return true }
	if s.Pattern != "" {
		pattern, err := globPattern(s.Pattern)
		if err != nil {
			return nil, err
		}
		matches = pattern.MatchString
	}
	return st.filesOf(base, s.Path, matches)
}

func (st *statement) namedFiles(base string, names []string) (files []copyFile, err error) {
	for _, name := range names {
		path := filepath.Join(base, filepath.FromSlash(name))
		if inside, err := filepath.Rel(base, path); err != nil || !filepath.IsLocal(inside) || filepath.IsAbs(name) {
			return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "FILES names %s, which does not lie in the folder", name)
		}
		if files, err = st.oneFile(files, path); err != nil {
			return nil, err
		}
	}
	return sortedFiles(files), nil
}

func (st *statement) filesOf(base, shown string, matches func(string) bool) (files []copyFile, err error) {
	err = filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case st.ctx.Err() != nil:
			return cancelled(st.ctx)
		case path == base:
			return nil
		case hidden(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if isTable(path) {
				return protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s in the folder %s is a Delta table, whose files may hold rows that are no longer in it", path, shown)
			}
			return nil
		}
		inside, err := filepath.Rel(base, path)
		if err != nil || !matches(filepath.ToSlash(inside)) {
			return err
		}
		if files, err = st.oneFile(files, path); err == nil && len(files) > maxForeignFiles {
			return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the folder %s has more than %d files", shown, maxForeignFiles).WithHint("load a part of it by a PATTERN")
		}
		return err
	})
	var known *protocol.Error
	switch {
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		return nil, protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be read", shown).WithCause(err)
	}
	return sortedFiles(files), nil
}

// oneFile appends a file, which must lie where the session may read also after its links have been followed.
func (st *statement) oneFile(files []copyFile, path string) ([]copyFile, error) {
	if _, err := st.session.engine.fencedPath(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no file %s", path)
	case err != nil:
		return nil, protocol.NewError("DELTASQL_STORAGE", "the file %s cannot be read", path).WithCause(err)
	case !info.Mode().IsRegular():
		return nil, protocol.NewError("DELTASQL_STORAGE", "%s is no file", path)
	}
	return append(files, copyFile{path: withoutLinks(path), size: info.Size(), modified: info.ModTime()}), nil
}

// sortedFiles orders files by path; one that was reached in two ways counts once.
func sortedFiles(files []copyFile) []copyFile {
	slices.SortFunc(files, func(a, b copyFile) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(files, func(a, b copyFile) bool { return a.path == b.path })
}

// globPattern reads a pattern over paths inside the folder: ? and * stay within a name, ** goes through folders, [a-z] and [^a-z] are one
// character, {a,b} is either, a backslash takes the next character as it is.
func globPattern(text string) (*regexp.Regexp, error) {
	wrong := func(what string) error {
		return protocol.NewError("INVALID_PARAMETER_VALUE", "PATTERN = '%s' %s", text, what)
	}
	var out strings.Builder
	out.WriteString(`^(?s:`)
	alternatives := 0
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			if i+1 < len(runes) && runes[i+1] == '*' {
				i++
				if i+1 < len(runes) && runes[i+1] == '/' {
					i++
					out.WriteString(`(.*/)?`)
				} else {
					out.WriteString(`.*`)
				}
				continue
			}
			out.WriteString(`[^/]*`)
		case '?':
			out.WriteString(`[^/]`)
		case '{':
			alternatives++
			out.WriteString(`(?:`)
		case '}':
			if alternatives == 0 {
				return nil, wrong("closes a { that is not open")
			}
			alternatives--
			out.WriteByte(')')
		case ',':
			if alternatives > 0 {
				out.WriteByte('|')
			} else {
				out.WriteByte(',')
			}
		case '[':
			end := i + 1
			if end < len(runes) && (runes[end] == '^' || runes[end] == '!') {
				end++
			}
			for first := end; end < len(runes) && (runes[end] != ']' || end == first); end++ {
				if runes[end] == '\\' {
					end++
				}
			}
			if end >= len(runes) {
				return nil, wrong("has a [ that is not closed")
			}
			class := strings.ReplaceAll(string(runes[i+1:end]), "[", `\[`)
			if strings.HasPrefix(class, "!") {
				class = "^" + class[1:]
			}
			out.WriteString("[" + class + "]")
			i = end
		case '\\':
			if i++; i == len(runes) {
				return nil, wrong("ends with a backslash")
			}
			out.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if alternatives > 0 {
		return nil, wrong("has a { that is not closed")
	}
	out.WriteString(`)$`)
	pattern, err := regexp.Compile(out.String())
	if err != nil {
		return nil, wrong("cannot be read: " + err.Error())
	}
	return pattern, nil
}
