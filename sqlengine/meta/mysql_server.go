package meta

// What a MySQL client asks about the server itself. All of it says what is true of this one.

// MySQLEngines are the rows of SHOW ENGINES.
var MySQLEngines = [][]any{
	{"Delta", "DEFAULT", "Tables of the Delta Lake protocol", "YES", "NO", "YES"},
}

// MySQLPlugins are name, status, type, library and licence of what MySQL has as plugins.
var MySQLPlugins = [][]any{
	{"caching_sha2_password", "ACTIVE", "AUTHENTICATION", nil, "Apache-2.0"},
	{"mysql_native_password", "ACTIVE", "AUTHENTICATION", nil, "Apache-2.0"},
	{"Delta", "ACTIVE", "STORAGE ENGINE", nil, "Apache-2.0"},
}

// MySQLCharacterSets are name, description, default collation and bytes of a character.
var MySQLCharacterSets = [][]any{
	{"binary", "Binary pseudo charset", "binary", int64(1)},
	{"utf8mb3", "UTF-8 Unicode", "utf8mb3_general_ci", int64(3)},
	{"utf8mb4", "UTF-8 Unicode", "utf8mb4_bin", int64(4)},
}

// MySQLCollations are the collations that COLLATE takes: name, character set, MySQL's number, whether it is the default, whether it is
// compiled in, its sort length and what it does with blanks at the end.
var MySQLCollations = [][]any{
	{"binary", "binary", int64(63), "Yes", "Yes", int64(1), "NO PAD"},
	{"utf8mb3_general_ci", "utf8mb3", int64(33), "Yes", "Yes", int64(1), "PAD SPACE"},
	{"utf8mb4_0900_ai_ci", "utf8mb4", int64(255), "", "Yes", int64(0), "NO PAD"},
	{"utf8mb4_0900_bin", "utf8mb4", int64(309), "", "Yes", int64(1), "NO PAD"},
	{"utf8mb4_bin", "utf8mb4", int64(46), "Yes", "Yes", int64(1), "NO PAD"},
	{"utf8mb4_general_ci", "utf8mb4", int64(45), "", "Yes", int64(1), "PAD SPACE"},
	{"utf8mb4_unicode_ci", "utf8mb4", int64(224), "", "Yes", int64(8), "PAD SPACE"},
}

// Rows is an answer of ready rows.
func Rows(columns []Column, rows [][]any) Table { return Table{Columns: columns, Rows: rowsOf(rows)} }

// StatusColumns are the columns of SHOW TABLE STATUS.
var StatusColumns = []Column{
	{"Name", typeString, false}, {"Engine", typeString, true}, {"Version", typeInteger, true}, {"Row_format", typeString, true}, {"Rows", typeLong, true},
	{"Avg_row_length", typeLong, true}, {"Data_length", typeLong, true}, {"Max_data_length", typeLong, true}, {"Index_length", typeLong, true},
	{"Data_free", typeLong, true}, {"Auto_increment", typeLong, true}, {"Create_time", typeWallClock, true}, {"Update_time", typeWallClock, true},
	{"Check_time", typeWallClock, true}, {"Collation", typeString, true}, {"Checksum", typeLong, true}, {"Create_options", typeString, true}, {"Comment", typeString, true},
}

// Renamed is the answer with another heading for a column.
func (t Table) Renamed(from, to string) Table {
	for i, c := range t.Columns {
		if c.Name == from {
			t.Columns[i].Name = to
		}
	}
	return t
}
