package parse

import "strings"

// Verb names a statement by its first words, upper case: INSERT, CREATE TABLE, REORG TABLE.
func Verb(statement Statement) string {
	switch s := statement.(type) {
	case *QueryStatement:
		return "SELECT"
	case *Do:
		return "DO"
	case *Explain:
		return "EXPLAIN"
	case *Use:
		return "USE"
	case *Describe:
		return "DESCRIBE"
	case *Show:
		return "SHOW " + s.What
	case *Set:
		return "SET"
	case *Reset:
		return "RESET"
	case *Kill:
		return "KILL"
	case *Refresh:
		return "REFRESH TABLE"
	case *CreateView:
		return "CREATE VIEW"
	case *DropView:
		return "DROP VIEW"
	case *AlterView:
		return "ALTER VIEW"
	case *CreateTable:
		if s.Mode == Replace {
			return "REPLACE TABLE"
		}
		return "CREATE TABLE"
	case *DropTable:
		return "DROP TABLE"
	case *CreateDatabase:
		return "CREATE DATABASE"
	case *DropDatabase:
		return "DROP DATABASE"
	case *AlterTable:
		return "ALTER TABLE"
	case *Several:
		return "RENAME TABLE"
	case *CommentOn:
		return "COMMENT ON " + s.What
	case *Unsupported:
		return s.Verb
	}
	return changeVerb(statement)
}

// changeVerb names a statement that changes rows, keeps tables or runs a transaction.
func changeVerb(statement Statement) string {
	switch s := statement.(type) {
	case *Insert:
		if s.Mode == InsertReplaceInto {
			return "REPLACE"
		}
		return "INSERT"
	case *Update:
		return "UPDATE"
	case *Delete:
		return "DELETE"
	case *Truncate:
		return "TRUNCATE TABLE"
	case *Merge:
		return "MERGE"
	case *CopyInto:
		return "COPY INTO"
	case *CopyTo:
		return "COPY"
	case *LoadData:
		return "LOAD DATA"
	case *Optimize:
		return "OPTIMIZE"
	case *Reorg:
		return "REORG TABLE"
	case *Vacuum:
		return "VACUUM"
	case *Restore:
		return "RESTORE TABLE"
	case *Convert:
		return "CONVERT TO DELTA"
	case *Maintain:
		return s.Verb
	case *Transaction:
		return strings.TrimSuffix(s.Verb, " TO")
	case *Prepare:
		return "PREPARE"
	case *Execute:
		return "EXECUTE"
	case *Deallocate:
		return "DEALLOCATE PREPARE"
	}
	return ""
}
