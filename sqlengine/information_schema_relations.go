package sqlengine

import (
	"strings"

	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
)

// everySystemRelation lists them. Columns are MySQL's; relations without rows are of things that do not exist here.
func everySystemRelation() []systemRelation {
	return []systemRelation{
		{informationSchema, "SCHEMATA", systemColumns("CATALOG_NAME SCHEMA_NAME DEFAULT_CHARACTER_SET_NAME DEFAULT_COLLATION_NAME SQL_PATH:s? DEFAULT_ENCRYPTION"), schemataRows},
		{informationSchema, "TABLES", systemColumns(`TABLE_CATALOG TABLE_SCHEMA TABLE_NAME TABLE_TYPE ENGINE:s? VERSION:i? ROW_FORMAT:s? TABLE_ROWS:l? AVG_ROW_LENGTH:l?
		DATA_LENGTH:l? MAX_DATA_LENGTH:l? INDEX_LENGTH:l? DATA_FREE:l? AUTO_INCREMENT:l? CREATE_TIME:t? UPDATE_TIME:t? CHECK_TIME:t? TABLE_COLLATION:s? CHECKSUM:l?
		CREATE_OPTIONS:s? TABLE_COMMENT:s?`), tablesRows},
		{informationSchema, "COLUMNS", systemColumns(`TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION:i COLUMN_DEFAULT:s? IS_NULLABLE DATA_TYPE
		CHARACTER_MAXIMUM_LENGTH:l? CHARACTER_OCTET_LENGTH:l? NUMERIC_PRECISION:l? NUMERIC_SCALE:l? DATETIME_PRECISION:i? CHARACTER_SET_NAME:s? COLLATION_NAME:s?
		COLUMN_TYPE COLUMN_KEY EXTRA PRIVILEGES COLUMN_COMMENT GENERATION_EXPRESSION SRS_ID:i?`), columnsRows},
		{informationSchema, "VIEWS", systemColumns(`TABLE_CATALOG TABLE_SCHEMA TABLE_NAME VIEW_DEFINITION:s? CHECK_OPTION IS_UPDATABLE DEFINER SECURITY_TYPE
		CHARACTER_SET_CLIENT COLLATION_CONNECTION`), viewsRows},
		{informationSchema, "TABLE_CONSTRAINTS", systemColumns("CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_SCHEMA TABLE_NAME CONSTRAINT_TYPE ENFORCED"), constraintsRows},
		{informationSchema, "TABLE_CONSTRAINTS_EXTENSIONS", systemColumns(`CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_NAME ENGINE_ATTRIBUTE:s?
		SECONDARY_ENGINE_ATTRIBUTE:s?`), nil},
		{informationSchema, "CHECK_CONSTRAINTS", systemColumns("CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME CHECK_CLAUSE"), checksRows},
		{informationSchema, "KEY_COLUMN_USAGE", systemColumns(`CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME
		ORDINAL_POSITION:i POSITION_IN_UNIQUE_CONSTRAINT:i? REFERENCED_TABLE_SCHEMA:s? REFERENCED_TABLE_NAME:s? REFERENCED_COLUMN_NAME:s?`), keyColumnsRows},
		{informationSchema, "REFERENTIAL_CONSTRAINTS", systemColumns(`CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME UNIQUE_CONSTRAINT_CATALOG
		UNIQUE_CONSTRAINT_SCHEMA:s? UNIQUE_CONSTRAINT_NAME:s? MATCH_OPTION UPDATE_RULE DELETE_RULE TABLE_NAME REFERENCED_TABLE_NAME:s?`), referencesRows},
		{informationSchema, "STATISTICS", systemColumns(`TABLE_CATALOG TABLE_SCHEMA TABLE_NAME NON_UNIQUE:i INDEX_SCHEMA INDEX_NAME SEQ_IN_INDEX:i COLUMN_NAME:s? COLLATION:s?
		CARDINALITY:l? SUB_PART:l? PACKED:s? NULLABLE INDEX_TYPE COMMENT INDEX_COMMENT IS_VISIBLE EXPRESSION:s?`), statisticsRows},
		{informationSchema, "PARTITIONS", systemColumns(`TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PARTITION_NAME:s? SUBPARTITION_NAME:s? PARTITION_ORDINAL_POSITION:i?
		SUBPARTITION_ORDINAL_POSITION:i? PARTITION_METHOD:s? SUBPARTITION_METHOD:s? PARTITION_EXPRESSION:s? SUBPARTITION_EXPRESSION:s? PARTITION_DESCRIPTION:s?
		TABLE_ROWS:l? AVG_ROW_LENGTH:l? DATA_LENGTH:l? MAX_DATA_LENGTH:l? INDEX_LENGTH:l? DATA_FREE:l? CREATE_TIME:t? UPDATE_TIME:t? CHECK_TIME:t? CHECKSUM:l?
		PARTITION_COMMENT NODEGROUP:s? TABLESPACE_NAME:s?`), partitionsRows},
		{informationSchema, "ROUTINES", systemColumns(`SPECIFIC_NAME ROUTINE_CATALOG ROUTINE_SCHEMA ROUTINE_NAME ROUTINE_TYPE DATA_TYPE CHARACTER_MAXIMUM_LENGTH:l?
		CHARACTER_OCTET_LENGTH:l? NUMERIC_PRECISION:i? NUMERIC_SCALE:i? DATETIME_PRECISION:i? CHARACTER_SET_NAME:s? COLLATION_NAME:s? DTD_IDENTIFIER:s? ROUTINE_BODY
		ROUTINE_DEFINITION:s? EXTERNAL_NAME:s? EXTERNAL_LANGUAGE PARAMETER_STYLE IS_DETERMINISTIC SQL_DATA_ACCESS SQL_PATH:s? SECURITY_TYPE CREATED:t LAST_ALTERED:t
		SQL_MODE ROUTINE_COMMENT DEFINER CHARACTER_SET_CLIENT COLLATION_CONNECTION DATABASE_COLLATION`), nil},
		{informationSchema, "PARAMETERS", systemColumns(`SPECIFIC_CATALOG SPECIFIC_SCHEMA SPECIFIC_NAME ORDINAL_POSITION:i PARAMETER_MODE:s? PARAMETER_NAME:s? DATA_TYPE
		CHARACTER_MAXIMUM_LENGTH:l? CHARACTER_OCTET_LENGTH:l? NUMERIC_PRECISION:i? NUMERIC_SCALE:i? DATETIME_PRECISION:i? CHARACTER_SET_NAME:s? COLLATION_NAME:s?
		DTD_IDENTIFIER ROUTINE_TYPE`), nil},
		{informationSchema, "TRIGGERS", systemColumns(`TRIGGER_CATALOG TRIGGER_SCHEMA TRIGGER_NAME EVENT_MANIPULATION EVENT_OBJECT_CATALOG EVENT_OBJECT_SCHEMA
		EVENT_OBJECT_TABLE ACTION_ORDER:i ACTION_CONDITION:s? ACTION_STATEMENT ACTION_ORIENTATION ACTION_TIMING ACTION_REFERENCE_OLD_TABLE:s?
		ACTION_REFERENCE_NEW_TABLE:s? ACTION_REFERENCE_OLD_ROW ACTION_REFERENCE_NEW_ROW CREATED:t? SQL_MODE DEFINER CHARACTER_SET_CLIENT COLLATION_CONNECTION
		DATABASE_COLLATION`), nil},
		{informationSchema, "EVENTS", systemColumns(`EVENT_CATALOG EVENT_SCHEMA EVENT_NAME DEFINER TIME_ZONE EVENT_BODY EVENT_DEFINITION EVENT_TYPE EXECUTE_AT:t? INTERVAL_VALUE:s?
		INTERVAL_FIELD:s? SQL_MODE STARTS:t? ENDS:t? STATUS ON_COMPLETION CREATED:t LAST_ALTERED:t LAST_EXECUTED:t? EVENT_COMMENT ORIGINATOR:i CHARACTER_SET_CLIENT
		COLLATION_CONNECTION DATABASE_COLLATION`), nil},
		{informationSchema, "ENGINES", systemColumns("ENGINE SUPPORT COMMENT TRANSACTIONS:s? XA:s? SAVEPOINTS:s?"), fixedRows(meta.MySQLEngines)},
		{informationSchema, "PLUGINS", systemColumns(`PLUGIN_NAME PLUGIN_VERSION PLUGIN_STATUS PLUGIN_TYPE PLUGIN_TYPE_VERSION PLUGIN_LIBRARY:s? PLUGIN_LIBRARY_VERSION:s?
		PLUGIN_AUTHOR:s? PLUGIN_DESCRIPTION:s? PLUGIN_LICENSE:s? LOAD_OPTION`), pluginsRows},
		{informationSchema, "CHARACTER_SETS", systemColumns("CHARACTER_SET_NAME DEFAULT_COLLATE_NAME DESCRIPTION MAXLEN:i"), charactersRows},
		{informationSchema, "COLLATIONS", systemColumns("COLLATION_NAME CHARACTER_SET_NAME ID:l IS_DEFAULT IS_COMPILED SORTLEN:i PAD_ATTRIBUTE"), fixedRows(meta.MySQLCollations)},
		{informationSchema, "COLLATION_CHARACTER_SET_APPLICABILITY", systemColumns("COLLATION_NAME CHARACTER_SET_NAME"), fixedRows(meta.MySQLCollations)},
		{informationSchema, "PROCESSLIST", systemColumns("ID:l USER HOST DB:s? COMMAND TIME:l STATE:s? INFO:s?"), processRows},
		{informationSchema, "KEYWORDS", systemColumns("WORD RESERVED:i"), keywordsRows},
		{informationSchema, "USER_PRIVILEGES", systemColumns("GRANTEE TABLE_CATALOG PRIVILEGE_TYPE IS_GRANTABLE"), privilegesRows},
		{informationSchema, "SCHEMA_PRIVILEGES", systemColumns("GRANTEE TABLE_CATALOG TABLE_SCHEMA PRIVILEGE_TYPE IS_GRANTABLE"), nil},
		{informationSchema, "TABLE_PRIVILEGES", systemColumns("GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PRIVILEGE_TYPE IS_GRANTABLE"), nil},
		{informationSchema, "COLUMN_PRIVILEGES", systemColumns("GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME PRIVILEGE_TYPE IS_GRANTABLE"), nil},
		{informationSchema, "COLUMN_STATISTICS", systemColumns("SCHEMA_NAME TABLE_NAME COLUMN_NAME HISTOGRAM"), nil},
		{informationSchema, "FILES", systemColumns("FILE_ID:l? FILE_NAME:s? FILE_TYPE:s? TABLESPACE_NAME:s? TABLE_CATALOG TABLE_SCHEMA:s? TABLE_NAME:s? LOGFILE_GROUP_NAME:s? ENGINE EXTRA:s?"), nil},
		{informationSchema, "ENABLED_ROLES", systemColumns("ROLE_NAME:s? ROLE_HOST:s? IS_DEFAULT:s? IS_MANDATORY"), nil},
		{informationSchema, "APPLICABLE_ROLES", systemColumns("USER:s? HOST:s? GRANTEE:s? GRANTEE_HOST:s? ROLE_NAME:s? ROLE_HOST:s? IS_GRANTABLE IS_DEFAULT:s? IS_MANDATORY"), nil},
		{informationSchema, "RESOURCE_GROUPS", systemColumns("RESOURCE_GROUP_NAME RESOURCE_GROUP_TYPE RESOURCE_GROUP_ENABLED:i VCPU_IDS:s? THREAD_PRIORITY:i"), nil},
		{informationSchema, "PROFILING", systemColumns("QUERY_ID:i SEQ:i STATE"), nil},

		{"mysql", "user", systemColumns("Host User plugin authentication_string:s? account_locked"), usersRows},
		{"mysql", "db", systemColumns("Host Db User"), nil},
		{"mysql", "tables_priv", systemColumns("Host Db User Table_name"), nil},
		{"mysql", "columns_priv", systemColumns("Host Db User Table_name Column_name"), nil},
		{"mysql", "proc", systemColumns("db name type specific_name comment"), nil},
		{"mysql", "time_zone_name", systemColumns("Name Time_zone_id:i"), nil},
		{"performance_schema", "session_variables", systemColumns("VARIABLE_NAME VARIABLE_VALUE:s?"), variablesRows},
		{"performance_schema", "global_variables", systemColumns("VARIABLE_NAME VARIABLE_VALUE:s?"), variablesRows},
		{"performance_schema", "session_status", systemColumns("VARIABLE_NAME VARIABLE_VALUE:s?"), statusRows},
		{"performance_schema", "global_status", systemColumns("VARIABLE_NAME VARIABLE_VALUE:s?"), statusRows},
		{"performance_schema", "threads", systemColumns(`THREAD_ID:l NAME TYPE PROCESSLIST_ID:l? PROCESSLIST_USER:s? PROCESSLIST_HOST:s? PROCESSLIST_DB:s? PROCESSLIST_COMMAND:s?
		PROCESSLIST_TIME:l? PROCESSLIST_STATE:s? PROCESSLIST_INFO:s?`), threadsRows},
		{"performance_schema", "processlist", systemColumns("ID:l USER HOST DB:s? COMMAND TIME:l STATE:s? INFO:s?"), processRows},
		{"performance_schema", "events_statements_current", systemColumns("THREAD_ID:l EVENT_ID:l END_EVENT_ID:l? EVENT_NAME SQL_TEXT:s? CURRENT_SCHEMA:s?"), nil},
		{"sys", "version", systemColumns("sys_version mysql_version"), versionRows},
		{"sys", "processlist", systemColumns("thd_id:l conn_id:l? user:s? db:s? command:s? state:s? time:l? current_statement:s?"), sysProcessRows},
	}
}

// systemCatalog is the name that MySQL gives its one catalog.
const systemCatalog = "def"

// fixedRows yields rows that are always the same.
func fixedRows(rows [][]any) func(*statement, *wanted, func(...any)) error {
	return func(_ *statement, _ *wanted, yield func(...any)) error {
		for _, row := range rows {
			yield(row...)
		}
		return nil
	}
}

func schemataRows(st *statement, w *wanted, yield func(...any)) error {
	names, err := st.systemSchemas(w)
	for _, name := range names {
		yield(systemCatalog, name, st.session.settings.get("character_set_server"), st.session.settings.get("collation_server"), nil, "NO")
	}
	return err
}

func tablesRows(st *statement, w *wanted, yield func(...any)) error {
	logs := w.uses("TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "CREATE_TIME", "UPDATE_TIME", "CREATE_OPTIONS", "TABLE_COMMENT", "DATA_FREE", "INDEX_LENGTH")
	return st.systemEntries(w, func(e *systemEntry) error {
		row := make([]any, 21)
		row[0], row[1], row[2], row[3] = systemCatalog, e.Namespace, e.Name, e.MySQLType()
		switch {
		case e.View:
			row[20] = "VIEW"
		case e.System:
			row[20] = ""
		default:
			row[4], row[17], row[20] = engineName, st.session.settings.get("collation_database"), ""
			if logs {
				e.details(row)
			}
		}
		yield(row...)
		return nil
	})
}

const engineName = "Delta"

// details fills in what the log tells of a table.
func (e *systemEntry) details(row []any) {
	snapshot, ok := e.read()
	if !ok {
		row[20] = "cannot be opened, see SHOW WARNINGS"
		return
	}
	config := snapshot.Config()
	row[5], row[6] = int64(config.Protocol.MinWriterVersion), "Dynamic"
	row[7], row[8], row[9] = sizesOf(snapshot)
	row[11], row[12] = int64(0), int64(0)
	if made := config.Metadata.CreatedTime; made != nil {
		row[14] = e.st.wallMicros(*made)
	}
	row[15] = e.st.wallMicros(snapshot.TimestampMillis())
	row[19] = ""
	if len(config.PartitionColumns) > 0 {
		row[19] = "partitioned"
	}
	if text := config.Metadata.Description; text != nil {
		row[20] = *text
	}
}

func columnsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		fields := e.fields()
		if len(fields) == 0 {
			return nil
		}
		for i, c := range meta.MySQLColumns(fields, e.keys()) {
			yield(systemCatalog, e.Namespace, e.Name, c.Name, int64(i+1), c.Default, yesOrNo(c.Nullable), c.DataType, c.Characters, c.Octets, c.Precision, c.Scale, c.Fraction,
				c.CharacterSet, c.Collation, c.ColumnType, c.Key, c.Extra, meta.ColumnPrivileges, c.Comment, c.Generation, nil)
		}
		return nil
	})
}

func yesOrNo(yes bool) string {
	if yes {
		return "YES"
	}
	return "NO"
}

func viewsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		if !e.View {
			return nil
		}
		if err := e.open(); err != nil || e.target.view == nil {
			if err != nil {
				e.warn(err)
			}
			return nil
		}
		yield(systemCatalog, e.Namespace, e.Name, e.target.view.Query, "NONE", "NO", st.session.User()+"@%", "INVOKER",
			st.session.settings.get("character_set_server"), st.session.settings.get("collation_server"))
		return nil
	})
}

func constraintsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		for _, key := range e.keys() {
			yield(systemCatalog, e.Namespace, keyName(key), e.Namespace, e.Name, key.Kind, "NO")
		}
		if snapshot, ok := e.read(); ok {
			for _, check := range meta.Checks(snapshot.Config()) {
				yield(systemCatalog, e.Namespace, check[0], e.Namespace, e.Name, "CHECK", "YES")
			}
		}
		return nil
	})
}

func checksRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		if snapshot, ok := e.read(); ok {
			for _, check := range meta.Checks(snapshot.Config()) {
				yield(systemCatalog, e.Namespace, check[0], check[1])
			}
		}
		return nil
	})
}

func keyColumnsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		for _, key := range e.keys() {
			database, table := e.referred(key)
			for i, name := range key.Columns {
				row := []any{systemCatalog, e.Namespace, keyName(key), systemCatalog, e.Namespace, e.Name, name, int64(i + 1), nil, database, table, nil}
				if i < len(key.Target) {
					row[8], row[11] = int64(i+1), key.Target[i]
				}
				yield(row...)
			}
		}
		return nil
	})
}

func referencesRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		for _, key := range e.keys() {
			if database, table := e.referred(key); table != nil {
				yield(systemCatalog, e.Namespace, keyName(key), systemCatalog, database, "PRIMARY", "NONE", "NO ACTION", "NO ACTION", e.Name, table)
			}
		}
		return nil
	})
}

func statisticsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		for _, key := range e.keys() {
			if key.Kind != "PRIMARY KEY" {
				continue
			}
			fields := e.fields()
			for i, name := range key.Columns {
				nullable := ""
				for _, field := range fields {
					if strings.EqualFold(string(field.Name), name) && field.Nullable {
						nullable = "YES"
					}
				}
				yield(systemCatalog, e.Namespace, e.Name, int64(0), e.Namespace, "PRIMARY", int64(i+1), name, "A", nil, nil, nil, nullable, "INFORMATIONAL", "", meta.KeyComment, "YES", nil)
			}
		}
		return nil
	})
}

// partitionsRows has a row a table, as MySQL has for one that it did not partition: partitions of Delta tables are values, see SHOW PARTITIONS.
func partitionsRows(st *statement, w *wanted, yield func(...any)) error {
	return st.systemEntries(w, func(e *systemEntry) error {
		if e.View || e.System {
			return nil
		}
		row := make([]any, 25)
		row[0], row[1], row[2], row[22] = systemCatalog, e.Namespace, e.Name, ""
		if w.uses("TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH") {
			if snapshot, ok := e.read(); ok {
				row[12], row[13], row[14] = sizesOf(snapshot)
			}
		}
		yield(row...)
		return nil
	})
}

func processRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, p := range st.processes(true) {
		yield(p.ID, p.User, p.Host, orNull(p.Database), p.Command, p.Seconds, orNull(p.State), orNull(p.Info))
	}
	return nil
}

func threadsRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, p := range st.processes(true) {
		yield(p.ID, "thread/sql/one_connection", "FOREGROUND", p.ID, p.User, p.Host, orNull(p.Database), p.Command, p.Seconds, orNull(p.State), orNull(p.Info))
	}
	return nil
}

func sysProcessRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, p := range st.processes(true) {
		yield(p.ID, p.ID, p.User+"@"+p.Host, orNull(p.Database), p.Command, orNull(p.State), p.Seconds, orNull(p.Info))
	}
	return nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func keywordsRows(_ *statement, _ *wanted, yield func(...any)) error {
	for _, word := range parse.Keywords() {
		reserved := int64(0)
		if parse.MustQuote(word) {
			reserved = 1
		}
		yield(word, reserved)
	}
	return nil
}

func charactersRows(_ *statement, _ *wanted, yield func(...any)) error {
	for _, c := range meta.MySQLCharacterSets {
		yield(c[0], c[2], c[1], c[3])
	}
	return nil
}

func pluginsRows(_ *statement, _ *wanted, yield func(...any)) error {
	for _, p := range meta.MySQLPlugins {
		yield(p[0], "1.0", p[1], p[2], "", p[3], nil, nil, nil, p[4], "FORCE")
	}
	return nil
}

// privilegesRows are the current user's: there are no grants, so everyone may do what the server lets any session do.
func privilegesRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, privilege := range st.privileges() {
		yield("'"+st.session.User()+"'@'%'", systemCatalog, privilege, "NO")
	}
	return nil
}

// privileges are what a session may do to every table.
func (st *statement) privileges() []string {
	if st.session.options.ReadOnly {
		return []string{"SELECT", "SHOW VIEW"}
	}
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "CREATE TEMPORARY TABLES", "CREATE VIEW", "SHOW VIEW"}
}

// usersRows tells of the session's own user alone, and nothing that is secret.
func usersRows(st *statement, _ *wanted, yield func(...any)) error {
	yield("%", st.session.User(), "caching_sha2_password", nil, "N")
	return nil
}

func variablesRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, pair := range st.session.settings.all() {
		yield(pair[0], pair[1])
	}
	return nil
}

func statusRows(st *statement, _ *wanted, yield func(...any)) error {
	for _, pair := range st.statusVariables() {
		yield(pair[0], pair[1])
	}
	return nil
}

func versionRows(_ *statement, _ *wanted, yield func(...any)) error {
	yield("2.1.3", serverVersion)
	return nil
}
