package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendAction writes an action as one line of a commit, without the line's end: the members in the reference's order,
// optional ones that are absent left out, maps sorted by key so that equal actions give equal bytes. partitionValues of
// adds and of change files stand there even if empty, those of removes with the extended file metadata that they belong to.
//
// What no reader could take is an error of ours: not exactly one action, text that is not UTF-8, a negative size, a
// commitInfo that is no object.
func AppendAction(dst []byte, a Action) ([]byte, error) {
	e := actionEncoder{dst: dst}
	start := len(dst)
	e.action(a)
	if e.err != nil {
		return dst[:start], e.err
	}
	if !utf8.Valid(e.dst[start:]) {
		return dst[:start], badAction("its text is not UTF-8: %q", shorten(string(bytes.ToValidUTF8(e.dst[start:], []byte("\uFFFD")))))
	}
	return e.dst, nil
}

// EncodeCommit writes a commit's content: an action a line, commitInfo first as in-commit timestamps demand (protocol,
// "In-Commit Timestamps"), the others in the order given.
func EncodeCommit(actions []Action) ([]byte, error) {
	var out []byte
	var err error
	write := func(a Action) {
		if err == nil {
			if out, err = AppendAction(out, a); err == nil {
				out = append(out, '\n')
			}
		}
	}
	infos := 0
	for _, a := range actions {
		if a.CommitInfo != nil {
			infos++
			write(a)
		}
	}
	for _, a := range actions {
		if a.CommitInfo == nil {
			write(a)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case infos > 1:
		return nil, badAction("a commit has %d commitInfo actions", infos)
	case len(out) == 0:
		return nil, badAction("a commit has no action")
	}
	return out, nil
}

func badAction(format string, args ...any) error {
	return NewError(ClassInternal, "the action cannot be written: "+format, args...)
}

// actionEncoder appends JSON and keeps the first error.
type actionEncoder struct {
	dst []byte
	err error
}

func (e *actionEncoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = badAction(format, args...)
	}
}

func (e *actionEncoder) action(a Action) {
	kinds := 0
	write := func(set bool, name string, encode func()) {
		if set {
			kinds++
			e.open(name)
			encode()
			e.dst = append(e.dst, '}')
		}
	}
	write(a.Add != nil, "add", func() { e.add(a.Add) })
	write(a.Remove != nil, "remove", func() { e.remove(a.Remove) })
	write(a.CDC != nil, "cdc", func() { e.cdc(a.CDC) })
	write(a.Metadata != nil, "metaData", func() { e.metadata(a.Metadata) })
	write(a.Protocol != nil, "protocol", func() { e.protocol(a.Protocol) })
	write(a.Txn != nil, "txn", func() { e.txn(a.Txn) })
	write(a.Domain != nil, "domainMetadata", func() { e.domain(a.Domain) })
	write(a.CommitInfo != nil, "commitInfo", func() { e.commitInfo(a.CommitInfo) })
	write(a.CheckpointMetadata != nil, "checkpointMetadata", func() { e.checkpointMetadata(a.CheckpointMetadata) })
	write(a.Sidecar != nil, "sidecar", func() { e.sidecar(a.Sidecar) })
	if kinds != 1 {
		e.fail("%d actions stand in one", kinds)
	}
}

// open starts an object with one member.
func (e *actionEncoder) open(name string) {
	e.dst = append(e.dst, '{')
	e.key(name)
}

// key writes a member's name, and a comma before it unless the object has just been opened.
func (e *actionEncoder) key(name string) {
	if last := e.dst[len(e.dst)-1]; last != '{' {
		e.dst = append(e.dst, ',')
	}
	e.dst = append(appendJSONString(e.dst, name), ':')
}

func (e *actionEncoder) text(name, value string) {
	e.key(name)
	e.dst = appendJSONString(e.dst, value)
}

func (e *actionEncoder) optionalText(name, value string) {
	if value != "" {
		e.text(name, value)
	}
}

func (e *actionEncoder) int(name string, value int64) {
	e.key(name)
	e.dst = strconv.AppendInt(e.dst, value, 10)
}

func (e *actionEncoder) optionalInt(name string, value *int64) {
	if value != nil {
		e.int(name, *value)
	}
}

func (e *actionEncoder) size(name string, value int64) {
	if value < 0 {
		e.fail("%s is %d", name, value)
	}
	e.int(name, value)
}

func (e *actionEncoder) bool(name string, value bool) {
	e.key(name)
	e.dst = appendBool(e.dst, value)
}

func (e *actionEncoder) texts(name string, values map[string]string) {
	e.key(name)
	e.dst = append(e.dst, '{')
	for _, key := range slices.Sorted(maps.Keys(values)) {
		e.text(key, values[key])
	}
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) optionalTexts(name string, values map[string]string) {
	if len(values) > 0 {
		e.texts(name, values)
	}
}

func (e *actionEncoder) list(name string, values []string) {
	e.key(name)
	e.dst = append(e.dst, '[')
	for i, value := range values {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.dst = appendJSONString(e.dst, value)
	}
	e.dst = append(e.dst, ']')
}

func (e *actionEncoder) partition(values map[string]*string) {
	e.key("partitionValues")
	e.dst = append(e.dst, '{')
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if value := values[key]; value != nil {
			e.text(key, *value)
		} else {
			e.key(key)
			e.dst = append(e.dst, "null"...)
		}
	}
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) path(value string) {
	if value == "" {
		e.fail("a path is empty")
	}
	e.text("path", value)
}

func (e *actionEncoder) vector(d *DeletionVector) {
	if d == nil {
		return
	}
	e.key("deletionVector")
	e.dst = append(e.dst, '{')
	e.text("storageType", d.StorageType)
	e.text("pathOrInlineDv", d.PathOrInline)
	e.optionalInt("offset", d.Offset)
	e.size("sizeInBytes", d.SizeInBytes)
	e.size("cardinality", d.Cardinality)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) add(f *AddFile) {
	e.dst = append(e.dst, '{')
	e.path(f.Path)
	e.partition(f.PartitionValues)
	e.size("size", f.Size)
	e.int("modificationTime", f.ModificationTime)
	e.bool("dataChange", f.DataChange)
	e.optionalText("stats", f.Stats)
	e.optionalTexts("tags", f.Tags)
	e.vector(f.DeletionVector)
	e.optionalInt("baseRowId", f.BaseRowID)
	e.optionalInt("defaultRowCommitVersion", f.DefaultRowCommitVersion)
	e.optionalText("clusteringProvider", f.ClusteringProvider)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) remove(f *RemoveFile) {
	e.dst = append(e.dst, '{')
	e.path(f.Path)
	e.optionalInt("deletionTimestamp", f.DeletionTimestamp)
	e.bool("dataChange", f.DataChange)
	extended := f.ExtendedFileMetadata
	if extended != nil {
		e.bool("extendedFileMetadata", *extended)
	}
	if len(f.PartitionValues) > 0 || extended != nil && *extended {
		e.partition(f.PartitionValues)
	}
	e.optionalInt("size", f.Size)
	e.optionalTexts("tags", f.Tags)
	e.vector(f.DeletionVector)
	e.optionalInt("baseRowId", f.BaseRowID)
	e.optionalInt("defaultRowCommitVersion", f.DefaultRowCommitVersion)
	e.optionalText("stats", f.Stats)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) cdc(f *AddCDCFile) {
	e.dst = append(e.dst, '{')
	e.path(f.Path)
	e.partition(f.PartitionValues)
	e.size("size", f.Size)
	e.bool("dataChange", f.DataChange)
	e.optionalTexts("tags", f.Tags)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) metadata(m *Metadata) {
	e.dst = append(e.dst, '{')
	e.text("id", m.ID)
	if m.Name != nil {
		e.text("name", *m.Name)
	}
	if m.Description != nil {
		e.text("description", *m.Description)
	}
	e.key("format")
	e.dst = append(e.dst, '{')
	e.text("provider", m.Provider)
	e.texts("options", m.FormatOptions)
	e.dst = append(e.dst, '}')
	e.text("schemaString", m.SchemaString)
	e.list("partitionColumns", m.PartitionColumns)
	e.texts("configuration", m.Configuration)
	e.optionalInt("createdTime", m.CreatedTime)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) protocol(p *Protocol) {
	e.dst = append(e.dst, '{')
	e.size("minReaderVersion", int64(p.MinReaderVersion))
	e.size("minWriterVersion", int64(p.MinWriterVersion))
	if p.ReaderFeatures != nil {
		e.list("readerFeatures", p.ReaderFeatures)
	}
	if p.WriterFeatures != nil {
		e.list("writerFeatures", p.WriterFeatures)
	}
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) txn(t *SetTransaction) {
	e.dst = append(e.dst, '{')
	e.text("appId", t.AppID)
	e.int("version", t.Version)
	e.optionalInt("lastUpdated", t.LastUpdated)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) domain(d *DomainMetadata) {
	e.dst = append(e.dst, '{')
	e.text("domain", d.Domain)
	e.text("configuration", d.Configuration)
	e.bool("removed", d.Removed)
	e.dst = append(e.dst, '}')
}

// commitInfo writes the object as it stands, on one line.
func (e *actionEncoder) commitInfo(c *CommitInfo) {
	if len(c.Raw) == 0 {
		e.dst = append(e.dst, "{}"...)
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.Raw); err != nil || !bytes.HasPrefix(compact.Bytes(), []byte{'{'}) {
		e.fail("commitInfo is no JSON object: %s", shorten(fmt.Sprintf("%q", c.Raw)))
		return
	}
	e.dst = append(e.dst, compact.Bytes()...)
}

func (e *actionEncoder) checkpointMetadata(m *CheckpointMetadata) {
	e.dst = append(e.dst, '{')
	e.int("version", m.Version)
	e.optionalTexts("tags", m.Tags)
	e.dst = append(e.dst, '}')
}

func (e *actionEncoder) sidecar(s *Sidecar) {
	e.dst = append(e.dst, '{')
	e.path(s.Path)
	e.size("sizeInBytes", s.SizeInBytes)
	e.int("modificationTime", s.ModificationTime)
	e.optionalTexts("tags", s.Tags)
	e.dst = append(e.dst, '}')
}
