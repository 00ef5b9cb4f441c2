package meta

// Paths is an answer of one column of file names.
func Paths(paths []string) Table {
	rows := make([][]any, len(paths))
	for i, path := range paths {
		rows[i] = []any{path}
	}
	return Table{Columns: []Column{{"path", typeString, true}}, Rows: rowsOf(rows)}
}

// TableMessage is a row of what MySQL answers to OPTIMIZE, ANALYZE, CHECK and REPAIR TABLE.
type TableMessage struct{ Table, Op, Type, Text string }

// TableMessages is MySQL's answer.
func TableMessages(messages []TableMessage) Table {
	rows := make([][]any, len(messages))
	for i, m := range messages {
		rows[i] = []any{m.Table, m.Op, m.Type, m.Text}
	}
	return Table{Columns: []Column{{"Table", typeString, true}, {"Op", typeString, true}, {"Msg_type", typeString, true}, {"Msg_text", typeString, true}}, Rows: rowsOf(rows)}
}

// Damaged is a row of FSCK REPAIR TABLE ... DRY RUN.
type Damaged struct {
	Path          string
	Missing       bool
	Vector        string // "" without one
	VectorMissing bool
}

// DamagedFiles is the answer of FSCK REPAIR TABLE ... DRY RUN.
func DamagedFiles(files []Damaged) Table {
	rows := make([][]any, len(files))
	for i, f := range files {
		var vector any
		if f.Vector != "" {
			vector = f.Vector
		}
		rows[i] = []any{f.Path, f.Missing, vector, f.VectorMissing}
	}
	return Table{Columns: []Column{{"dataFilePath", typeString, true}, {"dataFileMissing", typeBoolean, true}, {"deletionVectorPath", typeString, true}, {"deletionVectorFileMissing", typeBoolean, true}}, Rows: rowsOf(rows)}
}
