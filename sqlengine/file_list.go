package sqlengine

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"deltasql/filetype"
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// fileRoots are the folders whose files a session may list, without links: those of deltasql_file_roots, or the catalog's own.
func (st *statement) fileRoots() ([]string, error) {
	roots := []string{st.session.engine.catalog.root}
	if text := strings.TrimSpace(st.session.settings.get("deltasql_file_roots")); text != "" {
		roots = strings.Split(text, ",")
	}
	for i, name := range roots {
		local, err := st.session.engine.fencedPath(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if roots[i], err = filepath.EvalSymlinks(local); err != nil {
			return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "deltasql_file_roots names the folder %s, which cannot be opened", name).WithCause(err)
		}
	}
	return roots, nil
}

// fileFolder is the folder that a statement names, without links; it must lie in one of the roots.
func (st *statement) fileFolder(name string) (string, error) {
	local, err := st.session.engine.fencedPath(name)
	if err != nil {
		return "", err
	}
	roots, err := st.fileRoots()
	if err != nil {
		return "", err
	}
	// A folder outside is refused before it is looked for, so that nobody learns what is there.
	real := withoutLinks(local)
	inside := false
	for _, root := range roots {
		inside = inside || real == root || strings.HasPrefix(real, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	}
	if !inside {
		return "", protocol.NewError("DELTASQL_PATH_FENCED", "%s lies outside of the folders whose files may be used", name).
			WithHint("deltasql_file_roots lists these folders; it is %s", strings.Join(roots, ", "))
	}
	switch info, err := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
		return "", protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "%s does not exist", name)
	case err != nil:
		return "", protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", name).WithCause(err)
	case !info.IsDir():
		return "", protocol.NewError("INVALID_PARAMETER_VALUE", "%s is no folder", name)
	}
	return real, nil
}

// listFiles is list_files(path [, pattern]): a row for each regular file below a folder, at any depth. Links are not followed, and what is
// neither a folder nor a regular file is left out. A pattern is about the name, or with a / in it about the path below the folder.
func (st *statement) listFiles(ctx context.Context, args []bind.Constant) (*bind.SQLTable, error) {
	for i, arg := range args {
		if arg.Name != "" {
			return nil, placed(protocol.NewError("NAMED_PARAMETERS_NOT_SUPPORTED", "list_files takes no named arguments"), arg.Pos)
		}
		if arg.Type.Kind != protocol.KindString || arg.Value.Null {
			return nil, placed(protocol.NewError("INVALID_PARAMETER_VALUE", "argument %d of list_files must be a text", i+1), arg.Pos)
		}
	}
	pattern := "*"
	if len(args) > 1 {
		pattern = args[1].Value.Str
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, placed(protocol.NewError("INVALID_PARAMETER_VALUE.PATTERN", "%q is no pattern of names: * stands for any text, ? for a character, [a-z] for one of some", pattern), args[1].Pos)
		}
	}
	folder, err := st.fileFolder(args[0].Value.Str)
	if err != nil {
		return nil, placedAt(err, args[0].Pos)
	}
	staged, err := st.stageText(5)
	if err != nil {
		return nil, err
	}
	if err := listInto(ctx, staged, folder, pattern); err != nil {
		return nil, placedAt(err, args[0].Pos)
	}
	rows, err := staged.relation()
	if err != nil {
		return nil, err
	}
	rows.SQL = `(SELECT c0, CAST(c1 AS BIGINT) AS c1, CAST(make_timestamp(CAST(c2 AS BIGINT)) AS TIMESTAMPTZ) AS c2, ` +
		`struct_pack(uri := c3, "offset" := NULL::BIGINT, "size" := CAST(c1 AS BIGINT), content_type := c4, checksum := NULL::VARCHAR, inline := NULL::BLOB) AS c3 FROM ` + rows.SQL + `)`
	rows.Columns = []expr.OutputColumn{
		{Name: "path", Out: "c0", Type: protocol.DataType{Kind: protocol.KindString}}, {Name: "size", Out: "c1", Type: protocol.DataType{Kind: protocol.KindLong}},
		{Name: "modification_time", Out: "c2", Type: protocol.DataType{Kind: protocol.KindTimestamp}}, {Name: "file", Out: "c3", Type: protocol.DataType{Kind: protocol.KindFile}},
	}
	return &rows, nil
}

// listInto stages path, size, time, URI and content type of the files. The folder is opened as a root, so that a link that is put into the
// way meanwhile cannot lead out of it.
func listInto(ctx context.Context, staged *stagedText, folder, pattern string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", folder).WithCause(err)
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went while the folder was read
		}
		if err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", filepath.Join(folder, name)).WithCause(err)
		}
		against := path.Base(name)
		if strings.Contains(pattern, "/") {
			against = name
		}
		if matched, _ := path.Match(pattern, against); !entry.Type().IsRegular() || !matched {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", filepath.Join(folder, name)).WithCause(err)
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		local := filepath.Join(folder, filepath.FromSlash(name))
		if !utf8.ValidString(local) {
			return protocol.NewError("UNSUPPORTED_FEATURE", "the name of the file %q is no text in UTF-8", local).WithHint("rename the file, or leave it out by a pattern")
		}
		uri := url.URL{Scheme: "file", Path: filepath.ToSlash(local)}
		row := [][]byte{[]byte(local), strconv.AppendInt(nil, info.Size(), 10), strconv.AppendInt(nil, info.ModTime().UnixMicro(), 10), []byte(uri.String()), nil}
		if kind := filetype.ContentType(name); kind != "" {
			row[4] = []byte(kind)
		}
		return staged.add(row)
	})
}
