package sqlengine

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// target is what a name stands for: a Delta table (path), a view, or files that DuckDB reads (format).
type target struct {
	path           string // the table's folder, or the files' path
	format         string // "parquet", "csv", "json"; empty for a table
	view           *view
	database, name string // where the catalog has it; empty for a path
	moment         *bind.AsOf
	system         *systemRelation
	temporary      *log.Table // a temporary table's, which the catalog does not know
}

// shown is how messages call it.
func (t target) shown() string {
	switch {
	case t.view != nil:
		return t.view.qualified()
	case t.system != nil:
		return t.database + "." + t.name
	case t.format != "":
		return t.format + ".`" + t.path + "`"
	case t.name != "":
		return t.database + "." + t.name
	}
	return t.path
}

// fileFormats are the first parts of names that mean a path.
var fileFormats = map[string]bool{"delta": true, "parquet": true, "csv": true, "json": true}

// resolve finds what a name stands for. Order: format.`path`; a temporary view; a view or a table of the database.
func (st *statement) resolve(ctx context.Context, name parse.Name) (target, error) {
	t, err := st.resolveBare(ctx, name)
	return t, at(err, name)
}

func (st *statement) resolveBare(ctx context.Context, name parse.Name) (target, error) {
	if len(name) == 2 && name[1].Quoted && fileFormats[strings.ToLower(name[0].Name)] {
		return st.resolvePath(strings.ToLower(name[0].Name), name[1].Name)
	}
	database, plain, err := st.split(name)
	if err != nil {
		return target{}, err
	}
	if system, ok, err := st.systemTarget(database, plain); ok {
		return system, err
	}
	catalog := st.session.engine.catalog
	if len(name) == 1 {
		if v := st.session.temporaryView(plain); v != nil {
			return target{view: v}, nil
		}
	}
	if database, err = catalog.database(ctx, database); err != nil {
		if len(name) > 1 && bind.Missing(err) {
			return target{}, st.missing(ctx, name, "", err)
		}
		return target{}, err
	}
	found, err := st.lookUp(ctx, database, plain)
	if err != nil || found.path != "" || found.view != nil {
		return found, err
	}
	if bare, moment := cutMoment(plain); moment != nil {
		found, err := st.lookUp(ctx, database, bare)
		found.moment = moment
		if err != nil || found.path != "" || found.view != nil {
			return found, err
		}
	}
	return target{}, st.missing(ctx, name, database, nil)
}

// lookUp finds a view or a table; the empty target means there is none. A temporary table hides what the catalog has of its name,
// but not from the queries of stored views.
func (st *statement) lookUp(ctx context.Context, database, name string) (target, error) {
	if t, ok := st.session.temporaryTable(database, name); ok && !bind.InStoredView(ctx) {
		return t, nil
	}
	return st.lookUpStored(ctx, database, name)
}

// lookUpStored is lookUp for what outlives the session.
func (st *statement) lookUpStored(ctx context.Context, database, name string) (target, error) {
	catalog := st.session.engine.catalog
	path, err := catalog.find(ctx, database, name)
	if err != nil {
		return target{}, err
	}
	if path != "" {
		return target{path: path, database: database, name: tableName(path, name)}, nil
	}
	v, err := catalog.view(ctx, database, name)
	if err != nil || v == nil {
		return target{}, err
	}
	return target{view: v, database: database, name: v.Name}, nil
}

// tableName is the name as the folder has it.
func tableName(path, name string) string {
	if base := path[strings.LastIndexAny(path, `/\`)+1:]; strings.EqualFold(base, name) {
		return base
	}
	return name
}

func (st *statement) resolvePath(format, text string) (target, error) {
	path, err := st.session.engine.fencedPath(text)
	if err != nil {
		return target{}, err
	}
	if format != "delta" {
		return target{path: path, format: format}, nil
	}
	t := target{path: path}
	if isTable(path) {
		return t, nil
	}
	if bare, moment := cutMoment(text); moment != nil {
		if path, err := st.session.engine.fencedPath(bare); err == nil && isTable(path) {
			return target{path: path, moment: moment}, nil
		}
	}
	return target{}, checkTableFolder(path, text)
}

// split takes a name apart: [catalog.]database.name.
func (st *statement) split(name parse.Name) (database, plain string, err error) {
	switch len(name) {
	case 1:
		database = st.session.Database()
		if database == "" {
			return "", "", noDatabase()
		}
		return database, name[0].Name, nil
	case 2:
		return name[0].Name, name[1].Name, nil
	case 3:
		if isCatalog(name[0].Name) {
			return name[1].Name, name[2].Name, nil
		}
		return "", "", protocol.NewError("DELTA_TABLE_NOT_FOUND", "there is no catalog %s", name[0].Name).WithHint("the catalog is called %s", catalogName)
	}
	return "", "", protocol.NewError("DELTA_TABLE_NOT_FOUND", "%s has more parts than catalog.database.table", written(name))
}

// noDatabase is the error of a bare name in a session whose database has been dropped.
func noDatabase() error {
	return protocol.NewError("SCHEMA_NOT_FOUND", "no database is chosen").WithErrno(1046).WithHint("USE names one")
}

func isCatalog(name string) bool { return strings.EqualFold(name, catalogName) }

// missing is the error of a name that stands for nothing, with the nearest name as a hint.
func (st *statement) missing(ctx context.Context, name parse.Name, database string, cause error) *protocol.Error {
	err := protocol.NewError("DELTA_TABLE_NOT_FOUND", "there is no table or view %s", written(name))
	catalog := st.session.engine.catalog
	if database == "" {
		if known, ok := cause.(*protocol.Error); ok {
			err.Errno = known.MySQLNumber() // MySQL looks for the database first
			err.Message += ": " + known.Message
			err.Hint = known.Hint
		}
		return err
	}
	names, listError := catalog.tables(ctx, database)
	if listError != nil {
		return err
	}
	if views, listError := catalog.views(ctx, database); listError == nil {
		names = append(names, views...)
	}
	plain := name[len(name)-1].Name
	if near := parse.Meant(plain, names); near != "" {
		return err.WithHint("did you mean %s.%s?", database, near)
	}
	if looksLikePath(plain) {
		return err.WithHint("a table is named by its path as delta.`%s`", plain)
	}
	return err.WithHint("SHOW TABLES IN %s lists the tables", database)
}

func looksLikePath(name string) bool { return strings.ContainsAny(name, `/\`) }

// written is a name as SQL.
func written(name parse.Name) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = part.Name
		if part.Quoted {
			parts[i] = "`" + strings.ReplaceAll(part.Name, "`", "``") + "`"
		}
	}
	return strings.Join(parts, ".")
}

// at places an error at a name, unless it has a place.
func at(err error, name parse.Name) error {
	if e, ok := err.(*protocol.Error); ok && e.Line == 0 && len(name) > 0 && name[0].Pos.Line > 0 {
		return e.At(name[0].Pos.Line, name[0].Pos.Column)
	}
	return err
}

var (
	versionSuffix = regexp.MustCompile(`^(.+)@[vV](\d{1,19})$`)
	timeSuffix    = regexp.MustCompile(`^(.+)@(\d{17})$`)
)

// cutMoment splits t@v12 and t@20260131235959000 (yyyyMMddHHmmssSSS, read as UTC); moment is nil for any other name.
func cutMoment(name string) (bare string, moment *bind.AsOf) {
	if m := versionSuffix.FindStringSubmatch(name); m != nil {
		if version, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			return m[1], &bind.AsOf{Version: &version}
		}
	}
	if m := timeSuffix.FindStringSubmatch(name); m != nil {
		if t, err := time.Parse("20060102150405.000", m[2][:14]+"."+m[2][14:]); err == nil {
			micros := t.UnixMicro()
			return m[1], &bind.AsOf{Timestamp: &micros}
		}
	}
	return name, nil
}

// table is the log of a target that must be a Delta table; doing names the statement in errors.
func (st *statement) table(t target, doing string) (*log.Table, error) {
	if t.view != nil {
		return nil, protocol.NewError("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "%s expects a table but %s is a view", doing, t.view.qualified())
	}
	if t.format != "" {
		return nil, protocol.NewError("DELTA_TABLE_ONLY_OPERATION", "%s is not a Delta table; %s is only supported for Delta tables", t.shown(), doing)
	}
	if t.temporary != nil {
		return t.temporary, nil
	}
	return st.session.engine.catalog.table(t.path)
}
