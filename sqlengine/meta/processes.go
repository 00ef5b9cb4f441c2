package meta

// Process is a line of SHOW PROCESSLIST. State and Info are NULL where they are empty.
type Process struct {
	ID                            int64
	User, Host, Database, Command string
	Seconds                       int64
	State, Info                   string
}

// Processes is SHOW PROCESSLIST with the columns of MySQL.
func Processes(list []Process) Table {
	rows := make([][]any, len(list))
	for i, p := range list {
		rows[i] = []any{p.ID, p.User, p.Host, orNull(p.Database), p.Command, p.Seconds, orNull(p.State), orNull(p.Info)}
	}
	return Table{
		Columns: []Column{
			{"Id", typeLong, false}, {"User", typeString, false}, {"Host", typeString, false}, {"db", typeString, true},
			{"Command", typeString, false}, {"Time", typeLong, false}, {"State", typeString, true}, {"Info", typeString, true},
		},
		Rows: rowsOf(rows),
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
