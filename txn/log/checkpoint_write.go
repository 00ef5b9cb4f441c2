package log

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"deltasql/protocol"
)

// sidecarActions is how many file actions go into one sidecar by default, as the reference has it.
const sidecarActions = 50_000

// Checkpoint writes a checkpoint of a snapshot and then the hint to it, which only moves forward. It is a V2 checkpoint where
// the table supports them and its policy asks for them, else one classic file; multi-part ones are not written.
//
// It holds what replay of the commits gives (L2), but for what has expired: tombstones after the table's
// delta.deletedFileRetentionDuration, transaction identifiers after delta.setTransactionRetentionDuration if that is set.
//
// Errors: DELTA_UNSUPPORTED_FEATURES_FOR_WRITE for tables of whose features this product knows too little to write their
// state, DELTA_CHECKPOINT_SNAPSHOT_MISMATCH where not every file was written, and what the store says.
func (t *Table) Checkpoint(ctx context.Context, s *Snapshot, o Upkeep) (*protocol.LastCheckpoint, error) {
	v2 := s.config.Supports("v2Checkpoint") && strings.EqualFold(s.config.Property("delta.checkpointPolicy"), "v2")
	hint, err := t.checkpoint(ctx, s, o, v2)
	if err != nil {
		return nil, t.explain(err)
	}
	return hint, t.explain(t.writeHint(ctx, hint))
}

// checkpoint is Checkpoint in one of the two forms, without the hint.
func (t *Table) checkpoint(ctx context.Context, s *Snapshot, o Upkeep, v2 bool) (*protocol.LastCheckpoint, error) {
	w, err := newCheckpointWriter(t, s, o)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(w.unexpired(ctx))
	defer stop()
	w.removes = next
	hint := &protocol.LastCheckpoint{Version: s.version}
	if v2 {
		err = w.writeV2(ctx, hint)
	} else {
		err = w.writeClassic(ctx, hint)
	}
	if err != nil {
		return nil, err
	}
	if w.adds != s.files.Len() {
		return nil, protocol.NewError("DELTA_CHECKPOINT_SNAPSHOT_MISMATCH", "the checkpoint of version %d has %d files, the snapshot %d",
			s.version, w.adds, s.files.Len())
	}
	added := int64(w.adds)
	hint.NumOfAddFiles, hint.Size = &added, w.actions
	return hint, nil
}

// checkpointWriter writes the actions of one snapshot.
type checkpointWriter struct {
	table    *Table
	snapshot *Snapshot
	upkeep   Upkeep
	form     *statsForm
	singles  []protocol.Action // neither files nor of V2 checkpoints only
	removes  func() (protocol.RemoveFile, error, bool)
	next     *protocol.RemoveFile // what removes gave and has not been written yet
	// retained is the time before which a tombstone's deletion is expired, in milliseconds since 1970.
	retained int64

	adds    int // written so far
	actions int64
}

func newCheckpointWriter(t *Table, s *Snapshot, o Upkeep) (*checkpointWriter, error) {
	if s.overlay {
		return nil, protocol.NewError(protocol.ClassInternal, "a checkpoint of an open transaction was asked for")
	}
	if err := checkpointable(s); err != nil {
		return nil, err
	}
	form, err := newStatsForm(s)
	if err != nil {
		return nil, err
	}
	form.settle(s.files)
	retention, _, err := s.config.DurationProperty("delta.deletedFileRetentionDuration")
	if err != nil {
		return nil, err
	}
	now := o.Now().UnixMilli()
	w := &checkpointWriter{table: t, snapshot: s, upkeep: o, form: form, retained: now - retention}
	proto, metadata := s.config.Protocol, s.config.Metadata
	w.singles = []protocol.Action{{Protocol: &proto}, {Metadata: &metadata}}
	lifetime, expires, err := s.config.DurationProperty("delta.setTransactionRetentionDuration")
	if err != nil {
		return nil, err
	}
	for _, txn := range sortedValues(s.state.txns) {
		if !expires || txn.LastUpdated != nil && *txn.LastUpdated > now-lifetime {
			w.singles = append(w.singles, protocol.Action{Txn: &txn})
		}
	}
	for _, domain := range sortedValues(s.state.domains) {
		w.singles = append(w.singles, protocol.Action{Domain: &domain})
	}
	return w, nil
}

// checkpointable refuses tables with features whose state may have parts that this product does not know; and below the
// version that checkpoint protection names, where the commits may be gone for good, tables that it cannot write in full
// (protocol, "Checkpoint Protection").
func checkpointable(s *Snapshot) error {
	for _, name := range s.config.Protocol.Features() {
		if _, known := protocol.LookupFeature(name); !known {
			return protocol.NewError("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "no checkpoint of the table %s is written: its feature %s is not known", s.table.name, name)
		}
	}
	protected, err := protectedVersion(s.config)
	if err != nil || s.version >= protected {
		return err
	}
	return protocol.CheckWritable(s.config.Protocol, s.table.name)
}

// protectedVersion is the version before which checkpoint protection holds; 0 for nowhere.
func protectedVersion(c *protocol.TableConfig) (int64, error) {
	if !c.Supports("checkpointProtection") {
		return 0, nil
	}
	version, _, err := c.IntProperty("delta.requireCheckpointProtectionBeforeVersion")
	return version, err
}

// unexpired are the tombstones that a checkpoint keeps. One without a time counts as expired.
func (w *checkpointWriter) unexpired(ctx context.Context) iter.Seq2[protocol.RemoveFile, error] {
	return func(yield func(protocol.RemoveFile, error) bool) {
		for remove, err := range w.snapshot.Tombstones(ctx) {
			if err == nil && (remove.DeletionTimestamp == nil || *remove.DeletionTimestamp < w.retained) {
				continue
			}
			if !yield(remove, err) || err != nil {
				return
			}
		}
	}
}

// writeClassic writes everything into one file.
func (w *checkpointWriter) writeClassic(ctx context.Context, hint *protocol.LastCheckpoint) error {
	name := logFolder + protocol.CheckpointName(w.snapshot.version)
	fields := append(singleStructs(false), addStruct(w.form.text != textForNone, w.form.fields()...), removeStruct())
	size, err := w.put(ctx, name, fields, func(f *actionFile) error {
		for _, action := range w.singles {
			if err := f.single(action); err != nil {
				return err
			}
		}
		_, err := w.writeFiles(ctx, f, -1)
		return err
	})
	hint.SizeInBytes = &size
	return err
}

// put writes one Parquet file and gives its size.
func (w *checkpointWriter) put(ctx context.Context, name string, fields []parquet.Field, write func(*actionFile) error) (int64, error) {
	var inner error // an error of ours keeps its class
	counted := &countingWriter{ctx: ctx}
	err := w.table.store.PutFrom(ctx, name, func(out io.Writer) error {
		counted.out = out
		f := newActionFile(counted, fields)
		if inner = write(f); inner != nil {
			return inner
		}
		err := f.close()
		w.actions += f.rows
		return err
	})
	switch {
	case inner != nil:
		return 0, inner
	case err != nil:
		return 0, writeError(name, err)
	}
	return counted.size, nil
}

// countingWriter counts bytes and stops with its context.
type countingWriter struct {
	ctx  context.Context
	out  io.Writer
	size int64
}

func (c *countingWriter) Write(data []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.out.Write(data)
	c.size += int64(n)
	return n, err
}

// writeFiles writes file actions, adds first, as many as the limit allows (-1: all); more tells that some are left.
func (w *checkpointWriter) writeFiles(ctx context.Context, f *actionFile, limit int) (more bool, err error) {
	files := w.snapshot.files
	adds := newAddWriter(f, w.form)
	for ; w.adds < files.Len(); w.adds++ {
		if limit == 0 {
			return true, nil
		}
		if w.adds%rowsPerBatch == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err := adds.enter(files, w.adds); err != nil {
			return false, err
		}
		limit--
	}
	removes := newRemoveWriter(f)
	for {
		if w.next == nil {
			remove, err, ok := w.removes()
			if !ok || err != nil {
				return false, err
			}
			w.next = &remove
		}
		if limit == 0 {
			return true, nil
		}
		if err := removes.enter(w.next); err != nil {
			return false, err
		}
		w.next = nil
		limit--
	}
}

// writeV2 writes the sidecars, then the file that names them.
func (w *checkpointWriter) writeV2(ctx context.Context, hint *protocol.LastCheckpoint) error {
	version := w.snapshot.version
	limit := w.upkeep.SidecarActions
	if limit <= 0 {
		limit = sidecarActions
	}
	fields := []parquet.Field{addStruct(w.form.text != textForNone, w.form.fields()...), removeStruct()}
	var sidecars []protocol.Sidecar
	var sidecarBytes int64
	for more := true; more; {
		base := protocol.VersionName(version) + ".checkpoint." + strconv.Itoa(len(sidecars)+1) + "." + w.upkeep.NewID() + ".parquet"
		name := logFolder + protocol.SidecarFolder + "/" + base
		size, err := w.put(ctx, name, fields, func(f *actionFile) (err error) {
			more, err = w.writeFiles(ctx, f, limit)
			return err
		})
		if err != nil {
			return err
		}
		info, err := w.table.store.Stat(ctx, name)
		if err != nil {
			return writeError(name, err)
		}
		sidecars = append(sidecars, protocol.Sidecar{Path: base, SizeInBytes: size, ModificationTime: info.ModTimeMillis})
		sidecarBytes += size
	}
	metadata := protocol.CheckpointMetadata{Version: version, Tags: map[string]string{
		"sidecarNumActions": strconv.FormatInt(w.actions, 10), "sidecarSizeInBytes": strconv.FormatInt(sidecarBytes, 10),
		"numOfAddFiles": strconv.Itoa(w.adds),
	}}
	top := append([]protocol.Action{{CheckpointMetadata: &metadata}}, w.singles...)
	others := top
	for i := range sidecars {
		top = append(top, protocol.Action{Sidecar: &sidecars[i]})
	}
	name, size, err := w.writeManifest(ctx, top)
	if err != nil {
		return err
	}
	info, err := w.table.store.Stat(ctx, logFolder+name)
	if err != nil {
		return writeError(name, err)
	}
	total := size + sidecarBytes
	hint.SizeInBytes = &total
	hint.V2 = &protocol.V2CheckpointHint{Path: name, SizeInBytes: size, ModificationTime: info.ModTimeMillis, NonFileActions: others, SidecarFiles: sidecars}
	return nil
}

// writeManifest writes the top-level file of a V2 checkpoint, and gives its name and size.
func (w *checkpointWriter) writeManifest(ctx context.Context, actions []protocol.Action) (name string, size int64, err error) {
	id, version := w.upkeep.NewID(), w.snapshot.version
	if !w.upkeep.ManifestJSON {
		name = protocol.UUIDCheckpointName(version, id, "parquet")
		fields := append(singleStructs(true), addStruct(true), removeStruct())
		size, err = w.put(ctx, logFolder+name, fields, func(f *actionFile) error {
			for _, action := range actions {
				if err := f.single(action); err != nil {
					return err
				}
			}
			return nil
		})
		return name, size, err
	}
	name = protocol.UUIDCheckpointName(version, id, "json")
	data, err := protocol.EncodeCommit(actions)
	if err != nil {
		return "", 0, err
	}
	if err := w.table.store.Put(ctx, logFolder+name, data); err != nil {
		return "", 0, writeError(name, err)
	}
	w.actions += int64(len(actions))
	return name, int64(len(data)), nil
}

// writeHint puts the hint where it leads further than the one that is there. Two writers may still race; a hint that leads
// to an older checkpoint costs a longer listing and nothing else.
func (t *Table) writeHint(ctx context.Context, hint *protocol.LastCheckpoint) error {
	if t.hint(ctx, latestVersion) > hint.Version {
		return nil
	}
	data, err := hint.JSON()
	if err != nil {
		return err
	}
	name := logFolder + protocol.LastCheckpointName
	if err := t.store.Put(ctx, name, data); err != nil {
		return writeError(name, err)
	}
	return nil
}
