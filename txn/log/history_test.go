package log

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
)

// at sets the time of the next files and writes one commit.
func (d *logDir) commitAt(version int64, millis int64, content string) {
	d.t.Helper()
	d.now = time.UnixMilli(millis)
	if err := d.Put(context.Background(), logFolder+protocol.CommitName(version), []byte(d.expand(content))); err != nil {
		d.t.Fatal(err)
	}
}

func TestVersionAtFileTimes(t *testing.T) {
	dir := newLog(t, "")
	for version, millis := range []int64{1000, 3000, 2000, 2500, 9000} { // the clock goes back: 3001 and 3002 are meant
		content := "add a" + fmt.Sprint(version) + "\n"
		if version == 0 {
			content = "table\n" + content
		}
		dir.commitAt(int64(version), millis, content)
	}
	table := dir.open()
	for _, c := range []struct {
		millis int64
		lookup TimeLookup
		want   int64
		class  protocol.Class
	}{
		{1000, TimeLookup{}, 0, ""},
		{2999, TimeLookup{}, 0, ""},
		{3000, TimeLookup{}, 1, ""},
		{3001, TimeLookup{}, 2, ""},
		{3002, TimeLookup{}, 3, ""},
		{8999, TimeLookup{}, 3, ""},
		{9000, TimeLookup{}, 4, ""},
		{9001, TimeLookup{}, 0, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"},
		{9001, TimeLookup{ClampNewest: true}, 4, ""},
		{999, TimeLookup{}, 0, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"},
		{999, TimeLookup{ClampOldest: true}, 0, ""},
	} {
		version, err := table.VersionAt(context.Background(), c.millis, c.lookup)
		if c.class != "" {
			if protocol.ClassOf(err) != c.class || !strings.Contains(err.Error(), "1970-01-01 00:00:0") || !strings.Contains(err.Error(), "UTC") {
				t.Errorf("at %d: %v", c.millis, err)
			}
		} else if err != nil || version != c.want {
			t.Errorf("at %d: version %d, %v; want %d", c.millis, version, err, c.want)
		}
	}
	for _, c := range []struct{ millis, want int64 }{{0, 0}, {1000, 0}, {1001, 1}, {3002, 3}, {3003, 4}, {9000, 4}} {
		if version, err := table.VersionFrom(context.Background(), c.millis); err != nil || version != c.want {
			t.Errorf("from %d: version %d, %v; want %d", c.millis, version, err, c.want)
		}
	}
	if _, err := table.VersionFrom(context.Background(), 9001); protocol.ClassOf(err) != "DELTA_TIMESTAMP_GREATER_THAN_COMMIT" {
		t.Errorf("from after the end: %v", err)
	}
}

func inCommit(millis int64) string {
	return fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d,"operation":"WRITE"}}`+"\n", millis)
}

// In-commit timestamps enabled at version 2: file times count before it, the recorded ones from it on.
func TestVersionAtInCommitTimestamps(t *testing.T) {
	dir := newLog(t, "")
	dir.commitAt(0, 1000, "table\n")
	dir.commitAt(1, 2000, "add a\n")
	dir.commitAt(2, 99_000, inCommit(3000)+metadataLine("one", map[string]string{
		"delta.enableInCommitTimestamps":             "true",
		"delta.inCommitTimestampEnablementVersion":   "2",
		"delta.inCommitTimestampEnablementTimestamp": "3000",
	})+"\n")
	dir.commitAt(3, 98_000, inCommit(5000)+"add b\n")
	table := dir.open()
	for millis, want := range map[int64]int64{1000: 0, 1999: 0, 2000: 1, 2999: 1, 3000: 2, 4999: 2, 5000: 3} {
		if version, err := table.VersionAt(context.Background(), millis, TimeLookup{}); err != nil || version != want {
			t.Errorf("at %d: version %d, %v; want %d", millis, version, err, want)
		}
	}
	if _, err := table.VersionAt(context.Background(), 5001, TimeLookup{}); protocol.ClassOf(err) != "DELTA_TIMESTAMP_GREATER_THAN_COMMIT" {
		t.Error(err)
	}
	for millis, want := range map[int64]int64{2000: 1, 2001: 2, 3001: 3} {
		if version, err := table.VersionFrom(context.Background(), millis); err != nil || version != want {
			t.Errorf("from %d: version %d, %v; want %d", millis, version, err, want)
		}
	}
	if snapshot := mustSnapshot(t, table); snapshot.TimestampMillis() != 5000 {
		t.Errorf("snapshot at %d", snapshot.TimestampMillis())
	}
	history, err := table.History(context.Background(), 0)
	if err != nil || len(history) != 4 {
		t.Fatal(history, err)
	}
	for i, want := range []int64{5000, 3000, 2000, 1000} {
		if history[i].TimestampMillis != want || history[i].Version != int64(3-i) {
			t.Errorf("history %d: version %d at %d", i, history[i].Version, history[i].TimestampMillis)
		}
	}
	dir.commitAt(4, 99_999, "add c\n")
	snapshot := mustSnapshot(t, table)
	if len(snapshot.Warnings()) != 1 || live(snapshot) != "a b c" {
		t.Errorf("without a time: %q", snapshot.Warnings())
	}
	if _, err := table.History(context.Background(), 1); protocol.ClassOf(err) != "DELTA_MISSING_COMMIT_INFO" {
		t.Errorf("history without a time: %v", err)
	}
	dir.commitAt(4, 99_999, `{"commitInfo":{"operation":"WRITE"}}`+"\n")
	if _, err := table.VersionAt(context.Background(), 6000, TimeLookup{}); protocol.ClassOf(err) != "DELTA_MISSING_COMMIT_TIMESTAMP" {
		t.Errorf("lookup without a time: %v", err)
	}
}

func TestHistoryIsNewestFirst(t *testing.T) {
	var log strings.Builder
	for version := range 40 {
		fmt.Fprintf(&log, "-- %d.json --\n", version)
		switch {
		case version == 0:
			log.WriteString("table\n")
		case version == 7: // commitInfo beyond what is looked at first
			for i := range 2000 {
				fmt.Fprintf(&log, "add a%d\n", i)
			}
		}
		if version != 5 {
			fmt.Fprintf(&log, `{"commitInfo":{"operation":"OP %d"}}`+"\n", version)
		}
	}
	dir := newLog(t, log.String())
	if err := dir.Put(context.Background(), logFolder+protocol.CommitName(5), []byte("{\"txn\":{\"appId\":\"a\",\"version\":1}}\n")); err != nil {
		t.Fatal(err)
	}
	table := dir.open()
	history, err := table.History(context.Background(), 0)
	if err != nil || len(history) != 40 {
		t.Fatal(len(history), err)
	}
	for i, commit := range history {
		version := 39 - i
		want := fmt.Sprintf("OP %d", version)
		if version == 5 {
			want = ""
		}
		if commit.Version != int64(version) || commit.Info.Operation() != want || (commit.Info == nil) != (version == 5) {
			t.Errorf("entry %d: version %d, %q", i, commit.Version, commit.Info.Operation())
		}
	}
	if history, err := table.History(context.Background(), 3); err != nil || len(history) != 3 || history[2].Version != 37 {
		t.Errorf("limited: %v %v", history, err)
	}
}

func TestCommitsGiveActions(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\n{\"commitInfo\":{\"operation\":\"X\"}}\nremove a\nadd b\n-- 2.json --\nadd c\n")
	table := dir.open()
	var seen []string
	for commit, err := range table.Commits(context.Background(), 1, 2) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprintf("%d %s %d", commit.Version, commit.Info.Operation(), len(commit.Actions)))
	}
	if got := strings.Join(seen, "; "); got != "1 X 2; 2  1" {
		t.Errorf("commits %q", got)
	}
	for _, c := range [][2]int64{{-1, 1}, {1, 3}, {2, 1}} {
		for _, err := range table.Commits(context.Background(), c[0], c[1]) {
			if protocol.ClassOf(err) != "DELTA_VERSION_NOT_FOUND" {
				t.Errorf("range %v: %v", c, err)
			}
		}
	}
}
