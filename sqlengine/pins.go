package sqlengine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// snapshot is the version of a table that this statement reads at a moment: asOf, the name's own suffix, the session's pin, or
// the latest. Every mention of the same table and moment gives the same snapshot (Q1).
func (st *statement) snapshot(ctx context.Context, t target, asOf *bind.AsOf) (*log.Snapshot, error) {
	table, err := st.table(t, "SELECT")
	if err != nil {
		return nil, err
	}
	moment := asOf
	if t.moment != nil {
		if asOf != nil {
			return nil, protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
				"the name of %s already says which version to read, and a clause says so again", t.shown()).At(asOf.Pos.Line, asOf.Pos.Column)
		}
		moment = t.moment
	}
	if moment == nil {
		if moment, err = st.sessionMoment(ctx); err != nil {
			return nil, err
		}
	}
	key := pinKey(t.path, moment)
	if pinned, ok := st.pins[key]; ok {
		return pinned, nil
	}
	snapshot, err := st.snapshotAt(ctx, table, t, moment)
	if err != nil {
		return nil, err
	}
	st.pins[key] = snapshot
	for _, text := range snapshot.Warnings() {
		st.warn(warningLog, "%s: %s", t.shown(), text)
	}
	return snapshot, nil
}

// warningLog is the number of warnings about a log that breaks rules without being unreadable (MySQL: unknown error).
const warningLog = 1105

// pin makes a snapshot the one that this statement reads of the table at the path.
func (st *statement) pin(path string, s *log.Snapshot) { st.pins[pinKey(path, nil)] = s }

// identity is what tells one table from another, whatever path or link leads to it: two names of a table in one statement, or in one
// transaction, are reads of one version and one dependence.
func identity(path string) string { return withoutLinks(path) }

// pinKey is a table at a moment; nil is the latest.
func pinKey(path string, moment *bind.AsOf) string {
	path = identity(path) + "\x00"
	switch {
	case moment == nil:
		return path + "latest"
	case moment.Version != nil:
		return path + "v" + strconv.FormatInt(*moment.Version, 10)
	default:
		return path + "t" + strconv.FormatInt(*moment.Timestamp, 10)
	}
}

func (st *statement) snapshotAt(ctx context.Context, table *log.Table, t target, moment *bind.AsOf) (*log.Snapshot, error) {
	if moment == nil && st.inspects {
		return st.inspect(ctx, table)
	}
	if moment == nil {
		return st.newest(ctx, table, t)
	}
	version := int64(0)
	if moment.Version != nil {
		version = *moment.Version
	} else {
		lookup := log.TimeLookup{ClampNewest: st.session.settings.on("deltasql_clamp_timestamps")}
		var err error
		if version, err = table.VersionAt(ctx, floorMillis(*moment.Timestamp), lookup); err != nil {
			return nil, err
		}
	}
	snapshot, err := table.SnapshotAt(ctx, version)
	if err != nil {
		return nil, err
	}
	return snapshot, st.guard(ctx, table, snapshot, t)
}

// inspect gives the newest snapshot of a table that need not be readable, with a warning where it is not.
func (st *statement) inspect(ctx context.Context, table *log.Table) (*log.Snapshot, error) {
	snapshot, err := table.Inspect(ctx)
	if err == nil && snapshot.Unreadable() != nil {
		st.warn(warningLog, "%s", snapshot.Unreadable())
	}
	return snapshot, err
}

// floorMillis turns microseconds into milliseconds, down.
func floorMillis(micros int64) int64 {
	millis := micros / 1000
	if micros%1000 < 0 {
		millis--
	}
	return millis
}

// guard refuses a version whose removed files VACUUM may have deleted (V4), but never the latest one. Where the session does not
// say, it does so for tables that set their retention themselves: the default of a week must not close the old versions of a
// table whose files are all there.
func (st *statement) guard(ctx context.Context, table *log.Table, snapshot *log.Snapshot, t target) error {
	switch mode := strings.ToLower(st.session.settings.get("deltasql_time_travel_guard")); mode {
	case "off", "false":
		return nil
	case "auto":
		if _, set := snapshot.Config().LookupProperty(retentionProperty); !set {
			return nil
		}
	}
	retention, set, err := snapshot.Config().DurationProperty(retentionProperty)
	if err != nil || !set {
		return err
	}
	age := st.now.UnixMilli() - snapshot.TimestampMillis()
	if age <= retention {
		return nil
	}
	latest, err := table.Snapshot(ctx)
	if err != nil || latest.Version() == snapshot.Version() {
		return err
	}
	return protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
		"version %d of %s is %s old, beyond the table's %s of %s", snapshot.Version(), t.shown(), roundAge(age), retentionProperty, roundAge(retention)).
		WithHint("SET deltasql_time_travel_guard = off reads it as long as its files are there")
}

const retentionProperty = "delta.deletedFileRetentionDuration"

func roundAge(millis int64) time.Duration {
	return (time.Duration(millis) * time.Millisecond).Round(time.Second)
}

// sessionMoment is what deltasql_as_of says: a version number or a time; nil where it is empty.
func (st *statement) sessionMoment(ctx context.Context) (*bind.AsOf, error) {
	text := strings.TrimSpace(st.session.settings.get("deltasql_as_of"))
	if text == "" {
		return nil, nil
	}
	if version, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &bind.AsOf{Version: &version}, nil
	}
	moment, err := bind.Moment(ctx, &parse.AsOf{Timestamp: &parse.Literal{Kind: parse.StringLiteral, Text: text}}, st.bindOptions())
	if err != nil {
		return nil, protocol.NewError("DELTA_TIMESTAMP_INVALID", "deltasql_as_of is %q, which is neither a version nor a time", text).WithCause(err)
	}
	return moment, nil
}
