package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sort"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn/store"
)

// view is a stored query. Columns are the names that users see, Outputs the query's own names when the view was made: a view
// keeps its columns when a table below SELECT * grows.
type view struct {
	Format     int          `json:"format"`
	Name       string       `json:"name"`
	Database   string       `json:"database"` // in which the view is; empty for a temporary one
	Query      string       `json:"query"`
	Current    string       `json:"currentDatabase"` // in which the query's names are looked up
	Dialect    string       `json:"dialect"`
	SQLMode    string       `json:"sqlMode,omitempty"` // under which a query of the MySQL dialect was written
	Columns    []viewColumn `json:"columns"`
	Outputs    []string     `json:"outputs"`
	Comment    string       `json:"comment,omitempty"`
	Properties [][2]string  `json:"properties,omitempty"`
	Created    int64        `json:"createdMillis"`
	// SessionNames is set for a temporary view whose query reads another one: its names are the session's.
	SessionNames bool `json:"-"`
}

type viewColumn struct {
	Name    string  `json:"name"`
	Comment *string `json:"comment,omitempty"`
}

const (
	viewFormat   = 1
	viewFolder   = catalogFolder + "/views/"
	viewMaxBytes = 16 << 20
)

// viewFile is where a view is kept, below the catalog's root. Names match in any case, hence the lower case.
func viewFile(database, name string) string {
	return viewFolder + url.PathEscape(strings.ToLower(database)) + "/" + url.PathEscape(strings.ToLower(name)) + ".json"
}

// view finds a stored view; nil where there is none.
func (c *catalog) view(ctx context.Context, database, name string) (*view, error) {
	if name == "" {
		return nil, nil
	}
	file := viewFile(database, name)
	data, err := c.files.Read(ctx, file, viewMaxBytes)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "view %s.%s cannot be read", database, name).WithCause(err)
	}
	v := &view{}
	if err = json.Unmarshal(data, v); err == nil && v.Format <= viewFormat {
		err = v.check(database, name)
	}
	if err != nil {
		return nil, protocol.NewError("DELTASQL_STORAGE", "the definition of view %s.%s in %s is damaged", database, name, file).WithCause(err).
			WithHint("CREATE OR REPLACE VIEW writes it anew")
	}
	if v.Format > viewFormat {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "view %s.%s was written by a newer version of deltasql (format %d)", database, name, v.Format)
	}
	return v, nil
}

// check tells whether a definition that was read can be the one of the view asked for.
func (v *view) check(database, name string) error {
	switch {
	case v.Format < 1:
		return errors.New("it has no format")
	case !strings.EqualFold(v.Database, database) || !strings.EqualFold(v.Name, name):
		return fmt.Errorf("it defines %s.%s", v.Database, v.Name)
	case strings.TrimSpace(v.Query) == "" || len(v.Columns) != len(v.Outputs):
		return errors.New("its query or its columns are missing")
	case v.Dialect != "spark" && v.Dialect != "mysql":
		return fmt.Errorf("its dialect is %q", v.Dialect)
	}
	return isSQLMode(v.SQLMode)
}

// views lists the stored views of a database, sorted by name.
func (c *catalog) views(ctx context.Context, database string) ([]string, error) {
	names, err := c.entryNames(ctx, viewFolder+url.PathEscape(strings.ToLower(database))+"/")
	if err != nil {
		return nil, err
	}
	for i, lower := range names {
		if v, err := c.view(ctx, database, lower); err == nil && v != nil {
			names[i] = v.Name
		}
	}
	sort.Strings(names)
	return names, nil
}

// putView stores a view; where one is there, it answers store.ErrExists unless it may replace it.
func (c *catalog) putView(ctx context.Context, v *view, replace bool) error {
	return c.putEntry(ctx, viewFile(v.Database, v.Name), "view "+v.Database+"."+v.Name, v, replace)
}

func (c *catalog) dropView(ctx context.Context, database, name string) error {
	return c.dropEntry(ctx, viewFile(database, name), "view "+database+"."+name)
}

// qualified is the view's name for messages, and unique among views.
func (v *view) qualified() string {
	if v.Database == "" {
		return v.Name
	}
	return catalogName + "." + v.Database + "." + v.Name
}

func (v *view) dialect() expr.Dialect {
	if v.Dialect == "mysql" {
		return expr.MySQL
	}
	return expr.Spark
}

// namesIn is the database in which the query's bare names are looked up; "" for those of the session. A temporary view that reads
// stored tables alone may so have the name of one of them.
func (v *view) namesIn() string {
	if v.SessionNames {
		return ""
	}
	return v.Current
}

// parsed is the view's query, cut to the columns that it had when it was made.
func (v *view) parsed() (*parse.Query, error) {
	query, err := v.parsedText()
	if err != nil {
		var known *protocol.Error
		if errors.As(err, &known) {
			return nil, known.WithTable(v.qualified())
		}
		return nil, err
	}
	if len(v.Outputs) == 0 || !distinctFold(v.Outputs) {
		return query, nil
	}
	block := &parse.Select{From: &parse.DerivedTable{Query: query, Alias: &parse.Alias{Name: parse.Ident{Name: "__view", Quoted: true}}}}
	for _, output := range v.Outputs {
		block.Items = append(block.Items, parse.SelectItem{
			Expr: &parse.Column{Name: parse.Name{{Name: output, Quoted: true}}}, Text: output,
		})
	}
	return &parse.Query{Body: block}, nil
}

func (v *view) columnNames() []string {
	names := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		names[i] = c.Name
	}
	return names
}

func distinctFold(names []string) bool {
	seen := map[string]bool{}
	for _, name := range names {
		lower := strings.ToLower(name)
		if seen[lower] {
			return false
		}
		seen[lower] = true
	}
	return true
}

// parsedText reads the view's text as it was read when the view was made.
func (v *view) parsedText() (*parse.Query, error) {
	mode, err := parseSQLMode(v.SQLMode)
	if err != nil {
		return nil, err
	}
	parsed, err := parse.Parse(v.Query, parseOptions(v.dialect(), mode))
	if err != nil {
		return nil, err
	}
	query, ok := parsed.(*parse.QueryStatement)
	if !ok {
		return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "the text is no query")
	}
	return query.Query, nil
}
