package log

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"deltasql/protocol"
)

// A commit's time is its in-commit timestamp from the version on at which the table enabled those (recorded in its
// properties if that was not version 0), and before that the time of its file. File times may go backwards; they are
// moved so that each commit is at least a millisecond after the one before (protocol, "In-Commit Timestamps").

// TimeLookup says what VersionAt does at the ends of a table's history; the zero value refuses both.
type TimeLookup struct {
	// ClampNewest gives the newest version for a time after its commit.
	ClampNewest bool
	// ClampOldest gives the oldest version for a time before its commit.
	ClampOldest bool
	// AnyCommit counts versions whose commit is there but which cannot be rebuilt any more, as change data does.
	AnyCommit bool
}

// VersionAt gives the newest version whose commit is not later than a time, in milliseconds since 1970.
// Errors: DELTA_TIMESTAMP_GREATER_THAN_COMMIT, DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION, with the times there are.
func (t *Table) VersionAt(ctx context.Context, millis int64, lookup TimeLookup) (int64, error) {
	clock, err := t.clock(ctx)
	if err != nil {
		return 0, err
	}
	first := 0
	if !lookup.AnyCommit {
		first, _ = slices.BinarySearchFunc(clock.commits, clock.earliest, compareVersion)
	}
	if first == len(clock.commits) {
		return 0, t.explain(protocol.NewError("DELTA_TIMESTAMP_INVALID", "no version of the table %s has a commit whose time is known", t.name))
	}
	at, err := clock.search(ctx, first, func(commitTime int64) bool { return commitTime > millis })
	if err != nil {
		return 0, t.explain(err)
	}
	at-- // the last one that is not later
	if at < first {
		if lookup.ClampOldest {
			return clock.commits[first].Version, nil
		}
		oldest, err := clock.read(ctx, first)
		if err != nil {
			return 0, t.explain(err)
		}
		return 0, protocol.NewError("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
			"the time %s is before the earliest version of the table %s that can be read (version %d, %s)",
			showTime(millis), t.name, clock.commits[first].Version, showTime(oldest)).WithTable(t.name).
			WithHint("use %s or later", showTime(oldest))
	}
	if at == len(clock.commits)-1 && !lookup.ClampNewest {
		newest, err := clock.read(ctx, at)
		if err != nil {
			return 0, t.explain(err)
		}
		if newest < millis {
			return 0, t.tooLate(clock, millis, newest)
		}
	}
	return clock.commits[at].Version, nil
}

// VersionFrom gives the oldest version whose commit is not earlier than a time, in milliseconds since 1970: the start of
// a range of changes. Errors: DELTA_TIMESTAMP_GREATER_THAN_COMMIT.
func (t *Table) VersionFrom(ctx context.Context, millis int64) (int64, error) {
	clock, err := t.clock(ctx)
	if err != nil {
		return 0, err
	}
	at, err := clock.search(ctx, 0, func(commitTime int64) bool { return commitTime >= millis })
	if err != nil {
		return 0, t.explain(err)
	}
	if at < len(clock.commits) {
		return clock.commits[at].Version, nil
	}
	newest := int64(0)
	if at > 0 {
		if newest, err = clock.read(ctx, at-1); err != nil {
			return 0, t.explain(err)
		}
	}
	return 0, t.tooLate(clock, millis, newest)
}

func (t *Table) tooLate(clock *clock, millis, newest int64) error {
	return protocol.NewError("DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
		"the time %s is after the newest version of the table %s (version %d, %s)",
		showTime(millis), t.name, clock.latest, showTime(newest)).WithTable(t.name).
		WithHint("use %s or earlier", showTime(newest))
}

// showTime is a time for messages, in UTC as it says.
func showTime(millis int64) string {
	return time.UnixMilli(millis).UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// clock knows the times of a table's commits.
type clock struct {
	table    *Table
	commits  []logFile // ascending, up to the newest version
	earliest int64     // the oldest version that can be rebuilt
	latest   int64
	fileTime []int64 // the files' times, monotonic
	// inCommit is the place in commits from which on in-commit timestamps count; len(commits) for nowhere.
	inCommit int
	// enabledAt is the time of the commit that enabled them, if recorded.
	enabledAt int64
}

func compareVersion(f logFile, version int64) int { return cmp.Compare(f.Version, version) }

// clock lists the commits and finds out by which rule each has its time.
func (t *Table) clock(ctx context.Context) (*clock, error) {
	snapshot, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	l, err := list(ctx, t.store, 0)
	if err != nil {
		return nil, t.explain(err)
	}
	end, found := slices.BinarySearchFunc(l.commits, snapshot.version, compareVersion)
	if found {
		end++ // commits that came after the snapshot are for the next call
	}
	c := &clock{table: t, commits: l.commits[:end], earliest: l.earliest(), latest: snapshot.version, inCommit: end}
	c.fileTime = make([]int64, end)
	for i, file := range c.commits {
		c.fileTime[i] = file.ModTimeMillis
		if i > 0 {
			c.fileTime[i] = max(c.fileTime[i], c.fileTime[i-1]+1)
		}
	}
	if !snapshot.config.Active("inCommitTimestamp") {
		return c, nil
	}
	c.inCommit = 0
	version, err1 := strconv.ParseInt(snapshot.config.Property("delta.inCommitTimestampEnablementVersion"), 10, 64)
	enabledAt, err2 := strconv.ParseInt(snapshot.config.Property("delta.inCommitTimestampEnablementTimestamp"), 10, 64)
	if err1 == nil && err2 == nil {
		c.inCommit, _ = slices.BinarySearchFunc(c.commits, version, compareVersion)
		c.enabledAt = enabledAt
	}
	return c, nil
}

// time is the time of the commit at a place, whose commitInfo the caller has.
func (c *clock) time(at int, info *protocol.CommitInfo) (int64, error) {
	if at < c.inCommit {
		return c.fileTime[at], nil
	}
	if info == nil {
		return 0, protocol.NewError("DELTA_MISSING_COMMIT_INFO", "%s has no commitInfo, but the table records the times of commits there",
			c.commits[at].Name)
	}
	millis, ok := info.InCommitTimestamp()
	if !ok {
		return 0, protocol.NewError("DELTA_MISSING_COMMIT_TIMESTAMP", "the commitInfo of %s has no inCommitTimestamp, but the table records the times of commits there",
			c.commits[at].Name)
	}
	return millis, nil
}

// read is the time of the commit at a place; for an in-commit timestamp it reads the commit.
func (c *clock) read(ctx context.Context, at int) (int64, error) {
	if at < c.inCommit {
		return c.fileTime[at], nil
	}
	info, err := c.table.readInfo(ctx, c.commits[at])
	if err != nil {
		return 0, err
	}
	return c.time(at, info)
}

// search finds the first place from one on whose time fulfils a condition that stays true with later times. The two
// kinds of times are searched apart: file times before the enablement may lie after it.
func (c *clock) search(ctx context.Context, first int, later func(int64) bool) (int, error) {
	low, high := max(first, c.inCommit), len(c.commits)
	if first < c.inCommit && (c.inCommit == len(c.commits) || later(c.enabledAt)) {
		low, high = first, c.inCommit
	}
	for low < high {
		middle := int(uint(low+high) >> 1)
		commitTime, err := c.read(ctx, middle)
		if err != nil {
			return 0, err
		}
		if later(commitTime) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

// between gives the commits of a range of versions and the place of the first.
func (c *clock) between(from, to int64) (first int, files []logFile, err error) {
	oldest := c.latest + 1
	if len(c.commits) > 0 {
		oldest = c.commits[0].Version
	}
	if from < oldest || to > c.latest || from > to {
		return 0, nil, protocol.NewError("DELTA_VERSION_NOT_FOUND",
			"the log of the table %s does not have the commits %d to %d; it has [%d, %d]", c.table.name, from, to, oldest, c.latest)
	}
	first, _ = slices.BinarySearchFunc(c.commits, from, compareVersion)
	end, _ := slices.BinarySearchFunc(c.commits, to+1, compareVersion)
	files = c.commits[first:end]
	for i, file := range files {
		if file.Version != from+int64(i) {
			return 0, nil, missingCommit(from + int64(i))
		}
	}
	if int64(len(files)) != to-from+1 {
		return 0, nil, missingCommit(from + int64(len(files)))
	}
	return first, files, nil
}

func missingCommit(version int64) error {
	return protocol.NewError("DELTA_VERSIONS_NOT_CONTIGUOUS", "%s is missing from the log", named(protocol.CommitName(version)))
}

// takeCommitTime gives a snapshot its in-commit timestamp where the feature is active. One that is missing does not make
// the table unreadable, only its times: the file's time stands in, with a warning.
func (t *Table) takeCommitTime(ctx context.Context, s *Snapshot) error {
	if !s.config.Active("inCommitTimestamp") || s.segment.commit.Name == "" {
		return nil
	}
	if s.state.commitInfo == nil {
		info, err := t.readInfo(ctx, s.segment.commit)
		if err != nil {
			return err
		}
		s.state.commitInfo = info
	}
	if millis, ok := s.state.commitInfo.InCommitTimestamp(); ok {
		s.timestamp = millis
		return nil
	}
	s.warnings = append(s.warnings, protocol.NewError("DELTA_MISSING_COMMIT_TIMESTAMP", "%s has no in-commit timestamp", s.segment.commit.Name).Error())
	return nil
}
