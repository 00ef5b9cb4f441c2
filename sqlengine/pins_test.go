package sqlengine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"deltasql/protocol"
)

func TestTimeTravel(t *testing.T) {
	s, root := openWarehouse(t)
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 0", `[0]`)
	refuse(t, s, "SELECT * FROM people VERSION AS OF 99", "DELTA_VERSION_NOT_FOUND")
	refuse(t, s, "SELECT * FROM people TIMESTAMP AS OF '2099-01-01'", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
	refuse(t, s, "SELECT * FROM people TIMESTAMP AS OF '1999-01-01'", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION")
	want(t, s, "SET deltasql_clamp_timestamps = on")
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2099-01-01'", `[4]`)

	for i, at := range []string{"2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z", "2024-05-03T10:00:00Z", "2024-05-04T10:00:00Z"} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(root, "default", "people", protocol.LogFolder, protocol.CommitName(int64(i)))
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	s = openSession(t, openEngine(t, Options{Catalog: root}), SessionOptions{})
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 10:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 09:59:59'", `[0]`)
	want(t, s, "SELECT count(*) FROM people FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-03 00:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF DATE '2024-05-03' + INTERVAL 1 DAY", `[4]`)
	want(t, s, "SELECT count(*) FROM people@20240502100000000", `[2]`)
	want(t, s, "SET deltasql_as_of = '2024-05-02 12:00:00'")
	want(t, s, "SELECT count(*) FROM people", `[2]`)
	want(t, s, "SET deltasql_as_of = 0")
	want(t, s, "SELECT count(*) FROM people", `[0]`)
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 1", `[2]`)
	want(t, s, "SET deltasql_as_of = 'soon'")
	refuse(t, s, "SELECT count(*) FROM people", "DELTA_TIMESTAMP_INVALID")
	want(t, s, "RESET deltasql_as_of")
	want(t, s, "SET deltasql_time_travel_guard = on")
	refuse(t, s, "SELECT count(*) FROM people VERSION AS OF 1", "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION")
	want(t, s, "SELECT count(*) FROM people VERSION AS OF 3", `[4]`)
	want(t, s, "SET time_zone = '+02:00'")
	want(t, s, "SET deltasql_time_travel_guard = auto")
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 12:00:00'", `[2]`)
	want(t, s, "SELECT count(*) FROM people TIMESTAMP AS OF '2024-05-02 11:59:59'", `[0]`)
}
