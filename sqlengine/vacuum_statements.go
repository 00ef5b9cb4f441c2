package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
	"deltasql/txn/store"
)

const (
	// vacuumShown is how many files a dry run lists.
	vacuumShown = 1000
	// lastVacuumName is the file in the log's folder that says up to which version VACUUM has seen to the files.
	lastVacuumName = protocol.LogFolder + "/_last_vacuum_info"
	// maxLastVacuum bounds it.
	maxLastVacuum = 64 << 10
)

// vacuum is VACUUM: files that no version inside the retention needs are deleted.
func (st *statement) vacuum(s *parse.Vacuum) (*Result, error) {
	if err := st.mayWrite("VACUUM", s.Pos); err != nil {
		return nil, err
	}
	t, err := st.named(s.Table, s.Path)
	if err != nil {
		return nil, err
	}
	table, err := st.table(t, "VACUUM")
	if err != nil {
		return nil, at(err, s.Table)
	}
	result, err := st.vacuumTable(s, t, table)
	return result, withTable(err, t)
}

func (st *statement) vacuumTable(s *parse.Vacuum, t target, table *log.Table) (*Result, error) {
	snapshot, err := table.Snapshot(st.ctx)
	if err != nil {
		return nil, err
	}
	// Whoever deletes files must know all that may refer to one: a table that may not be written is not cleaned up either.
	tx, err := txn.Begin(st.ctx, table, snapshot, st.transactionOptions())
	if err != nil {
		return nil, err
	}
	tx.Abort(st.ctx)
	r, err := st.retention(s, snapshot)
	if err != nil {
		return nil, err
	}
	before := st.session.now().UnixMilli() - r.millis
	outside, err := versionOutside(st.ctx, table, before)
	if err != nil {
		return nil, err
	}
	var garbage *rewrite.Garbage
	switch {
	case s.Inventory != nil:
		garbage, err = st.inventory(s, t, snapshot, before)
	case s.Lite:
		garbage, err = st.vacuumLite(table, snapshot, before, outside)
	default:
		garbage, err = rewrite.Unreferenced(st.ctx, snapshot, before)
	}
	if err == nil {
		err = st.spareClones(table, garbage)
	}
	if err != nil {
		return nil, err
	}
	if s.DryRun {
		var paths []string
		for _, f := range garbage.Files[:min(len(garbage.Files), vacuumShown)] {
			paths = append(paths, "file:"+filepath.ToSlash(filepath.Join(t.path, filepath.FromSlash(f.Name))))
		}
		return st.metaResult(meta.Paths(paths))
	}
	if err := st.commitAlone(table, r.start(garbage)); err != nil {
		return nil, err
	}
	newest, err := table.Snapshot(st.ctx)
	if err == nil && newest.Version() > snapshot.Version()+1 { // others have committed, too
		err = garbage.Spare(st.ctx, newest, before)
	}
	if err == nil {
		err = st.spareClones(table, garbage) // made since then
	}
	if err != nil {
		return nil, err
	}
	var done func(int)
	if report := st.session.options.Progress; report != nil && len(garbage.Files) > 0 {
		done = func(n int) { report(float64(n) / float64(len(garbage.Files))) }
	}
	deleted, err := garbage.Delete(st.ctx, table, done)
	status := "COMPLETED"
	if err != nil {
		status = "FAILED"
	}
	ended := txn.Operation{Name: "VACUUM END", AllowEmpty: true, NeverChangesData: true,
		Parameters: []txn.Parameter{{Key: "status", Value: protocol.JSONText(status)}}}
	ended.Metrics = []txn.Metric{{Key: "numDeletedFiles", Value: strconv.Itoa(deleted)}, {Key: "numVacuumedDirectories", Value: strconv.Itoa(garbage.Folders)}}
	ctx := st.ctx
	st.ctx = context.WithoutCancel(ctx) // history tells of what is gone, also where the statement was cancelled
	ending := st.commitAlone(table, ended)
	st.ctx = ctx
	if err = errors.Join(err, ending); err != nil {
		return nil, err
	}
	if s.Inventory == nil && outside >= 0 {
		text, _ := json.Marshal(map[string]int64{"latestCommitVersionOutsideOfRetentionWindow": outside})
		if err := table.Store().Put(st.ctx, lastVacuumName, text); err != nil {
			st.warn(warningLog, "%s could not be written, so that a later VACUUM LITE may have to look further back: %v", lastVacuumName, err)
		}
	}
	return st.metaResult(meta.Paths([]string{"file:" + t.path}))
}

// commitAlone makes a commit that changes nothing but the history.
func (st *statement) commitAlone(table *log.Table, operation txn.Operation) error {
	read, err := table.Snapshot(st.ctx)
	if err != nil {
		return err
	}
	tx, err := txn.Begin(st.ctx, table, read, st.transactionOptions())
	if err != nil {
		return err
	}
	committed, err := tx.Commit(st.ctx, operation)
	for _, text := range committed.Warnings {
		st.warn(warningLog, "%s", text)
	}
	return err
}

// retention is how long removed files are kept.
type retention struct {
	millis, own int64
	given       *int64
	checked     bool
}

// retention works out RETAIN. The table's own retention is the least, so that no reader and no time travel that the table promises is cut
// off; only RETAIN 0 HOURS goes below it, and only where the session has switched the check off.
func (st *statement) retention(s *parse.Vacuum, snapshot *log.Snapshot) (retention, error) {
	r := retention{checked: st.session.settings.on("deltasql_retention_check")}
	own, set, err := snapshot.Config().DurationProperty(retentionProperty)
	if err != nil {
		return r, err
	}
	if !set {
		own = (7 * 24 * time.Hour).Milliseconds()
	}
	r.own, r.millis = own, own
	if s.Retain == nil {
		return r, nil
	}
	hours, err := st.hours(s.Retain)
	if err != nil {
		return r, err
	}
	place := func(err *protocol.Error) error { return err.At(s.Retain.At().Line, s.Retain.At().Column) }
	given := int64(math.Round(hours * float64(time.Hour.Milliseconds())))
	r.given = &given
	switch {
	case hours < 0:
		return r, place(protocol.NewError("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE", "VACUUM cannot retain files for %v hours", hours))
	case given == 0 && r.checked && own > 0:
		return r, place(protocol.NewError("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "RETAIN 0 HOURS deletes files that running statements still write or read, and all older versions with them; the table keeps removed files for %s", roundAge(own)).
			WithHint("if nothing else is at work on the table: SET spark.databricks.delta.retentionDurationCheck.enabled = false"))
	case given == 0:
		r.millis = 0
	case given < own:
		st.warn(warnIgnored, "the table keeps removed files for %s (%s); RETAIN %v HOURS does not shorten that", roundAge(own), retentionProperty, hours)
	default:
		r.millis = given
	}
	return r, nil
}

func (st *statement) hours(e parse.Expr) (float64, error) {
	c, err := st.constant(e)
	if err != nil {
		return 0, err
	}
	text := c.value.Text()
	if hours, err := strconv.ParseFloat(text, 64); err == nil && !c.value.Null && !math.IsNaN(hours) && math.Abs(hours) < 1e9 {
		return hours, nil
	}
	return 0, placed(protocol.NewError("INVALID_PARAMETER_VALUE", "RETAIN takes a number of hours"), e.At())
}

// start is the entry in the history that is made before anything is deleted.
func (r retention) start(g *rewrite.Garbage) txn.Operation {
	o := txn.Operation{Name: "VACUUM START", AllowEmpty: true, NeverChangesData: true, Parameters: []txn.Parameter{
		{Key: "retentionCheckEnabled", Value: json.RawMessage(strconv.FormatBool(r.checked))},
		{Key: "defaultRetentionMillis", Value: json.RawMessage(strconv.FormatInt(r.own, 10))},
	}}
	if r.given != nil {
		o.Parameters = append(o.Parameters, txn.Parameter{Key: "specifiedRetentionMillis", Value: json.RawMessage(strconv.FormatInt(*r.given, 10))})
	}
	o.Metrics = []txn.Metric{{Key: "numFilesToDelete", Value: strconv.Itoa(len(g.Files))}, {Key: "sizeOfDataToDelete", Value: strconv.FormatInt(g.Bytes(), 10)}}
	return o
}

// versionOutside is the newest version that was committed before a time; -1 for none.
func versionOutside(ctx context.Context, table *log.Table, beforeMillis int64) (int64, error) {
	version, err := table.VersionAt(ctx, beforeMillis, log.TimeLookup{ClampNewest: true, AnyCommit: true})
	if protocol.ClassOf(err) == "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION" {
		return -1, nil
	}
	return version, err
}

// vacuumLite looks for candidates in the log alone: what commits outside of the retention have removed since the last VACUUM. It needs
// all these commits.
func (st *statement) vacuumLite(table *log.Table, snapshot *log.Snapshot, before, outside int64) (*rewrite.Garbage, error) {
	if outside < 0 {
		return &rewrite.Garbage{Folders: 1}, nil
	}
	extent, err := table.Extent(st.ctx)
	if err != nil {
		return nil, err
	}
	seen := int64(-1)
	data, err := table.Store().Read(st.ctx, lastVacuumName, maxLastVacuum)
	if err == nil {
		var last struct {
			Version *int64 `json:"latestCommitVersionOutsideOfRetentionWindow"`
		}
		if json.Unmarshal(data, &last) == nil && last.Version != nil {
			seen = *last.Version
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, protocol.NewError("DELTASQL_STORAGE", "%s cannot be read", lastVacuumName).WithCause(err)
	}
	if extent.Commit != 0 && seen < extent.Commit {
		return nil, protocol.NewError("DELTA_CANNOT_VACUUM_LITE", "VACUUM LITE needs all commits since the last VACUUM, and the log was cleaned up to version %d since then", extent.Commit).
			WithHint("VACUUM ... FULL looks through the table's folder instead")
	}
	first := max(seen+1, extent.Commit)
	if first > outside {
		return &rewrite.Garbage{Folders: 1}, nil
	}
	return rewrite.UnreferencedOf(st.ctx, snapshot, before, func(yield func(string, bool) error) error {
		note := func(uri string, dv *protocol.DeletionVector) error {
			decoded, absolute, err := protocol.DecodePath(uri)
			if err == nil {
				err = yield(decoded, absolute)
			}
			if err != nil || dv == nil || dv.StorageType == protocol.VectorInline {
				return err
			}
			if decoded, absolute, err = dv.Path(); err != nil {
				return err
			}
			return yield(decoded, absolute)
		}
		for commit, err := range table.Commits(st.ctx, first, outside) {
			if err != nil {
				return err
			}
			for i := range commit.Actions {
				switch a := &commit.Actions[i]; {
				case a.Remove != nil:
					err = note(a.Remove.Path, a.Remove.DeletionVector)
				case a.CDC != nil:
					err = note(a.CDC.Path, nil)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inventoryColumns are those of USING INVENTORY.
var inventoryColumns = []struct {
	name string
	kind protocol.Kind
}{{"path", protocol.KindString}, {"length", protocol.KindLong}, {"isDir", protocol.KindBoolean}, {"modificationTime", protocol.KindLong}}

// inventory takes the files of the table's folder from a query.
func (st *statement) inventory(s *parse.Vacuum, t target, snapshot *log.Snapshot, before int64) (*rewrite.Garbage, error) {
	result, err := st.query(s.Inventory)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	places := make([]int, len(inventoryColumns))
	for i, wanted := range inventoryColumns {
		places[i] = -1
		for k, c := range result.Columns {
			if strings.EqualFold(c.Name, wanted.name) && c.Type.Kind == wanted.kind {
				places[i] = k
			}
		}
		if places[i] < 0 {
			return nil, protocol.NewError("DELTA_INVALID_INVENTORY_SCHEMA", "an inventory has the columns path STRING, length BIGINT, isDir BOOLEAN and modificationTime BIGINT; this one lacks %s", wanted.name).At(s.Pos.Line, s.Pos.Column)
		}
	}
	return rewrite.UnreferencedOf(st.ctx, snapshot, before, func(yield func(string, bool) error) error {
		return result.each(st.ctx, func(batch *duck.Batch, row int) error {
			path, folder, modified := batch.Vector(places[0]), batch.Vector(places[2]), batch.Vector(places[3])
			if !path.Valid(row) || !folder.Valid(row) || folder.Bool(row) || !modified.Valid(row) || modified.Int64(row) >= before {
				return nil
			}
			local, err := localPath(path.Text(row))
			if err != nil {
				return nil // elsewhere
			}
			return yield(filepath.ToSlash(local), true)
		})
	})
}
