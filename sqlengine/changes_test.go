package sqlengine

import (
	"testing"
)

func TestTableChanges(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "SELECT id, v, _change_type, _commit_version FROM table_changes('feed', 2, 3) ORDER BY 4, 3, 1",
		`[2,"B","update_postimage",2]`, `[2,"b","update_preimage",2]`, `[3,"c","delete",3]`)
	want(t, s, "SELECT count(*) FROM table_changes('default.feed', 1, 100)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('"+root+"/default/feed', 1 + 0)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes_by_path('"+root+"/default/feed', 1)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('delta.`"+root+"/default/feed`', 1)", `[9]`)
	want(t, s, "SELECT count(*) FROM table_changes('feed', '2000-01-01')", `[9]`)
	refuse(t, s, "SELECT * FROM table_changes('feed', '2099-01-01')", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
	refuse(t, s, "SELECT * FROM table_changes('feed', 2, 1)", "DELTA_INVALID_CDC_RANGE")
	refuse(t, s, "SELECT * FROM table_changes('feed', 99)", "DELTA_CDC_START_VERSION_AFTER_LATEST")
	refuse(t, s, "SELECT * FROM table_changes('feed', 99, 100)", "DELTA_CDC_START_VERSION_AFTER_LATEST")
	refuse(t, s, "SELECT * FROM table_changes('feed', NULL)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY")
	refuse(t, s, "SELECT * FROM table_changes('feed')", "INCORRECT_NUMBER_OF_ARGUMENTS")
	refuse(t, s, "SELECT * FROM table_changes('feed', 0, 1, 2)", "INCORRECT_NUMBER_OF_ARGUMENTS")
	refuse(t, s, "SELECT * FROM table_changes('nope', 0)", "TABLE_OR_VIEW_NOT_FOUND")
	refuse(t, s, "SELECT * FROM table_changes('feed', true)", "DELTA_TIMESTAMP_INVALID")
	refuse(t, s, "SELECT * FROM table_changes('feed', 'soon')", "DELTA_TIMESTAMP_INVALID")
	refuse(t, s, "SELECT * FROM table_changes('people', 0)", "DELTA_MISSING_CHANGE_DATA")
	refuse(t, s, "SELECT c.* FROM people p, table_changes('feed', p.id) c", "DELTA_CDC_NON_CONSTANT_ARGUMENT")
	want(t, s, "SET deltasql_changes_out_of_range = on")
	want(t, s, "SELECT id, _commit_version FROM table_changes('feed', 99)")
	want(t, s, "SELECT count(*) FROM table_changes('feed', '2099-01-01')", `[0]`)
}
