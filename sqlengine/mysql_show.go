package sqlengine

import (
	"slices"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
)

// shownToMySQL answers the SHOW statements that have a form of MySQL's own; false for all others.
func (st *statement) shownToMySQL(s *parse.Show) (meta.Table, bool, error) {
	switch s.What {
	case "DATABASES":
		table, err := st.databasesForMySQL(s)
		return table, true, err
	case "TABLES":
		table, err := st.tablesForMySQL(s)
		return table, true, err
	case "TABLE STATUS":
		table, err := st.tableStatus(s)
		return table, true, err
	case "COLUMNS":
		t, err := st.resolve(st.ctx, inDatabase(s.Table, s.In))
		if err != nil {
			return meta.Table{}, true, err
		}
		columns, err := st.columnsForMySQL(t)
		columns = slices.DeleteFunc(columns, func(c meta.MySQLColumn) bool { return !meta.MatchLike(s.Like, c.Name, true) })
		return meta.ShowMySQLColumns(columns, s.Full), true, at(err, s.Table)
	case "INDEX":
		table, err := st.showIndex(s)
		return table, true, err
	case "CREATE TABLE", "CREATE VIEW":
		return st.createForMySQL(s)
	case "CREATE DATABASE":
		table, err := st.createDatabaseForMySQL(s)
		return table, true, err
	case "STATUS":
		return meta.Pairs("Variable_name", "Value", matching(st.statusVariables(), s.Like)), true, nil
	case "GRANTS":
		user := st.session.User()
		grant := "GRANT " + strings.Join(st.privileges(), ", ") + " ON *.* TO `" + user + "`@`%`"
		return meta.Names("Grants for "+user+"@%", []string{grant}), true, nil
	}
	form, ok := serverForms[s.What]
	if !ok {
		return meta.Table{}, false, nil
	}
	var rows [][]any
	for _, row := range form.rows {
		if name, ok := row[0].(string); !ok || meta.MatchLike(s.Like, name, true) {
			rows = append(rows, row)
		}
	}
	table := meta.Rows(systemColumns(form.columns), rows)
	// Headings with blanks are written with underscores above.
	for _, name := range []string{"Default collation", "Execute at", "Interval value", "Interval field", "Time zone", "Database Collation"} {
		table = table.Renamed(strings.ReplaceAll(name, " ", "_"), name)
	}
	return table, true, nil
}

// serverForms are the statements about the server whose rows are always the same; those without rows are about what does not exist here.
var serverForms = map[string]struct {
	columns string
	rows    [][]any
}{
	"ENGINES":       {"Engine Support Comment Transactions:s? XA:s? Savepoints:s?", meta.MySQLEngines},
	"PLUGINS":       {"Name Status Type Library:s? License", meta.MySQLPlugins},
	"CHARACTER SET": {"Charset Description Default_collation Maxlen:i", meta.MySQLCharacterSets},
	"COLLATION":     {"Collation Charset Id:l Default Compiled Sortlen:i Pad_attribute", meta.MySQLCollations},
	"PRIVILEGES": {"Privilege Context Comment", [][]any{
		{"Select", "Tables", "To retrieve rows"}, {"Insert", "Tables", "To add rows"}, {"Update", "Tables", "To change rows"}, {"Delete", "Tables", "To remove rows"},
		{"Create", "Databases,Tables", "To create databases and tables"}, {"Drop", "Databases,Tables", "To drop databases, tables and views"},
		{"Alter", "Tables", "To alter tables"}, {"Create view", "Tables", "To create views"}, {"Show view", "Tables", "To see the text of views"},
	}},
	"TRIGGERS": {"Trigger Event Table Statement Timing Created:t? sql_mode Definer character_set_client collation_connection Database_Collation:s", nil},
	"EVENTS": {`Db Name Definer Time_zone Type Execute_at:t? Interval_value:s? Interval_field:s? Starts:t? Ends:t? Status Originator:i character_set_client
		collation_connection Database_Collation:s`, nil},
	"PROCEDURE STATUS": {"Db Name Type Definer Modified:t Created:t Security_type Comment character_set_client collation_connection Database_Collation:s", nil},
	"FUNCTION STATUS":  {"Db Name Type Definer Modified:t Created:t Security_type Comment character_set_client collation_connection Database_Collation:s", nil},
	"OPEN TABLES":      {"Database Table In_use:i Name_locked:i", nil},
	"MASTER STATUS":    {"File Position:l Binlog_Do_DB Binlog_Ignore_DB Executed_Gtid_Set", nil},
	"PROFILES":         {"Query_ID:i Duration:s Query:s?", nil},
}

// matching keeps the pairs whose name a pattern matches.
func matching(pairs [][2]string, pattern *string) [][2]string {
	var kept [][2]string
	for _, pair := range pairs {
		if meta.MatchLike(pattern, pair[0], true) {
			kept = append(kept, pair)
		}
	}
	return kept
}

// statusVariables are what SHOW STATUS tells of the server.
func (st *statement) statusVariables() [][2]string {
	engine := st.session.engine
	engine.processes.mu.Lock()
	connected := len(engine.processes.byID)
	engine.processes.mu.Unlock()
	engine.mu.Lock()
	sessions := engine.sessions
	engine.mu.Unlock()
	st.session.mu.Lock()
	secured := st.session.secured
	st.session.mu.Unlock()
	running := 0
	for _, p := range st.processes(false) {
		if p.Command != idle {
			running++
		}
	}
	return [][2]string{
		{"Connections", strconv.FormatInt(sessions, 10)}, {"Ssl_cipher", secured[1]}, {"Ssl_version", secured[0]},
		{"Threads_connected", strconv.Itoa(connected)}, {"Threads_running", strconv.Itoa(running)},
	}
}

func (st *statement) databasesForMySQL(s *parse.Show) (meta.Table, error) {
	names, err := st.systemSchemas(&wanted{})
	if err != nil {
		return meta.Table{}, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !meta.MatchLike(s.Like, name, true) })
	return meta.MySQLDatabases(names, s.Like), nil
}

// shownDatabase is the database that a SHOW statement is about.
func (st *statement) shownDatabase(s *parse.Show) (string, error) {
	in := s.In
	if len(in) == 2 && isCatalog(in[0].Name) {
		in = in[1:]
	}
	if len(in) == 1 && strings.EqualFold(in[0].Name, informationSchema) || len(in) == 0 && st.session.Database() == informationSchema {
		return informationSchema, nil
	}
	return st.databaseOf(s.In)
}

// entriesForMySQL are the tables and views of a database. Temporary tables are not listed, as in MySQL.
func (st *statement) entriesForMySQL(s *parse.Show) (database string, list []meta.Listed, err error) {
	if database, err = st.shownDatabase(s); err != nil {
		return database, nil, err
	}
	if list, err = st.entriesOf(database, &wanted{}); err != nil {
		return database, nil, err
	}
	list = slices.DeleteFunc(list, func(l meta.Listed) bool { return !meta.MatchLike(s.Like, l.Name, true) })
	meta.SortListed(list)
	return database, list, nil
}

func (st *statement) tablesForMySQL(s *parse.Show) (meta.Table, error) {
	database, list, err := st.entriesForMySQL(s)
	if err != nil {
		return meta.Table{}, err
	}
	return meta.MySQLTables(database, s.Like, list, s.Full), nil
}

// tableStatus is SHOW TABLE STATUS: the columns of information_schema.TABLES without the names of catalog and database.
func (st *statement) tableStatus(s *parse.Show) (meta.Table, error) {
	_, list, err := st.entriesForMySQL(s)
	if err != nil {
		return meta.Table{}, err
	}
	var rows [][]any
	for _, listed := range list {
		e := &systemEntry{Listed: listed, st: st}
		row := make([]any, 21)
		switch {
		case listed.View:
			row[20] = "VIEW"
		case listed.System:
			row[20] = ""
		default:
			row[4], row[17], row[20] = engineName, st.session.settings.get("collation_database"), ""
			e.details(row)
		}
		row[3] = listed.Name
		rows = append(rows, row[3:])
	}
	return meta.Rows(meta.StatusColumns, rows), nil
}

// columnsForMySQL describes the columns of what a name stands for.
func (st *statement) columnsForMySQL(t target) ([]meta.MySQLColumn, error) {
	switch {
	case t.view != nil:
		columns, err := st.viewColumns(t.view)
		return meta.MySQLColumns(fieldsOf(columns), nil), err
	case t.system != nil:
		return meta.MySQLColumns(fieldsOf(t.system.columns), nil), nil
	case t.format != "":
		files, err := st.filesRelation(st.ctx, t)
		if err != nil {
			return nil, err
		}
		return meta.MySQLColumns(fieldsOf(outputColumns(files.Columns)), nil), nil
	}
	subject, err := st.subject(t, nil)
	if err != nil {
		return nil, err
	}
	config := subject.Snapshot.Config()
	return meta.MySQLColumns(config.Schema.Fields, ddl.Keys(config)), nil
}

// describeToMySQL is DESCRIBE of a table, or of one of its columns. A column that is not there gives no row, as in MySQL.
func (st *statement) describeToMySQL(t target, s *parse.Describe) (*Result, error) {
	if s.AsOf != nil {
		moment, err := st.moment(s.AsOf)
		if err != nil {
			return nil, err
		}
		t.moment = moment
	}
	columns, err := st.columnsForMySQL(t)
	if err != nil {
		return nil, at(err, s.Name)
	}
	if len(s.Column) > 0 {
		name := s.Column[len(s.Column)-1].Name
		columns = slices.DeleteFunc(columns, func(c meta.MySQLColumn) bool { return !strings.EqualFold(c.Name, name) })
	}
	return st.metaResult(meta.ShowMySQLColumns(columns, false))
}

func (st *statement) showIndex(s *parse.Show) (meta.Table, error) {
	t, err := st.resolve(st.ctx, inDatabase(s.Table, s.In))
	if err != nil {
		return meta.Table{}, err
	}
	if t.view != nil || t.format != "" {
		return meta.MySQLIndexes(t.name, nil, nil), nil
	}
	subject, err := st.subject(t, nil)
	if err != nil {
		return meta.Table{}, at(err, s.Table)
	}
	config := subject.Snapshot.Config()
	return meta.MySQLIndexes(t.name, ddl.Keys(config), config.Schema.Fields), nil
}

// createForMySQL is SHOW CREATE TABLE of a table or a view.
func (st *statement) createForMySQL(s *parse.Show) (meta.Table, bool, error) {
	t, err := st.resolve(st.ctx, s.Table)
	switch {
	case err != nil:
		return meta.Table{}, true, err
	case t.view != nil:
		rows := [][]any{{t.view.Name, t.view.createStatement(), st.session.settings.get("character_set_server"), st.session.settings.get("collation_server")}}
		return meta.Rows(systemColumns("View Create_View character_set_client collation_connection"), rows).Renamed("Create_View", "Create View"), true, nil
	}
	if _, err := st.table(t, "SHOW "+s.What); err != nil {
		return meta.Table{}, true, at(err, s.Table)
	}
	subject, err := st.subject(t, nil)
	if err != nil {
		return meta.Table{}, true, at(err, s.Table)
	}
	return meta.MySQLCreateTable(subject, orderedKeys(subject.Snapshot.Config())), true, nil
}

func (st *statement) createDatabaseForMySQL(s *parse.Show) (meta.Table, error) {
	database, err := st.shownDatabase(&parse.Show{In: s.Table})
	if err != nil {
		return meta.Table{}, err
	}
	return meta.Pairs("Database", "Create Database", [][2]string{
		{database, "CREATE DATABASE `" + strings.ReplaceAll(database, "`", "``") + "` /*!40100 DEFAULT CHARACTER SET utf8mb4 */"},
	}), nil
}

// showCount is SHOW COUNT(*) WARNINGS or ERRORS, under the names that MySQL's clients know.
func (st *statement) showCount(what string) meta.Table {
	warnings, errors := st.diagnostics()
	st.keepWarnings()
	if what == "COUNT ERRORS" {
		return meta.Counts([]string{"@@session.error_count"}, errors)
	}
	return meta.Counts([]string{"@@session.warning_count"}, warnings)
}

// diagnostics counts what the statement before left: warnings with errors, and errors alone.
func (st *statement) diagnostics() (warnings, errors int64) {
	warnings = int64(st.session.WarningCount())
	if st.session.lastFailure() != nil {
		return warnings + 1, 1
	}
	return warnings, 0
}

// keepWarnings hands on what the statement before left to be shown again.
func (st *statement) keepWarnings() {
	st.warnings, st.keepsFailure = st.session.Warnings(), true
	st.dropped = int64(st.session.WarningCount() - len(st.warnings))
}

// isNote tells the warnings that MySQL has as notes: what IF EXISTS and IF NOT EXISTS pass over.
func isNote(code int) bool {
	switch code {
	case noteDatabaseExists, noteNoDatabase, noteTableExists, noteNoTable:
		return true
	}
	return false
}
