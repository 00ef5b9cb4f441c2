package log

import (
	"deltasql/protocol"
)

// addWriter are the columns of add actions in a file.
type addWriter struct {
	file                                 *actionFile
	kind                                 *actionKind
	path, size, modification, dataChange *leafColumn
	baseRowID, rowCommitVersion          *leafColumn
	provider                             *leafColumn
	partitionValues, tags                mapColumns
	vector                               vectorColumns
	stats                                *statsColumns
}

func newAddWriter(f *actionFile, form *statsForm) *addWriter {
	k := f.kinds["add"]
	return &addWriter{
		file: f, kind: k, path: k.leaf("path"), size: k.leaf("size"), modification: k.leaf("modificationTime"), dataChange: k.leaf("dataChange"),
		baseRowID: k.leaf("baseRowId"), rowCommitVersion: k.leaf("defaultRowCommitVersion"), provider: k.leaf("clusteringProvider"),
		partitionValues: k.textMap("partitionValues"), tags: k.textMap("tags"), vector: k.vector(), stats: form.bind(k),
	}
}

// enter writes file i as a row. dataChange says nothing in a checkpoint; the reference writes false.
func (c *addWriter) enter(files *Files, i int) error {
	if err := c.file.begin(c.kind); err != nil {
		return err
	}
	k, at := files.at(i)
	c.path.bytes(k.path.at(at))
	c.size.int(k.size[at])
	c.modification.int(k.modification[at])
	c.dataChange.bool(false)
	files.columns.tuples.values[k.tuple[at]].enter(c.partitionValues)
	c.tags.optionalTexts(files.Tags(i))
	enterSparse(c.baseRowID, sparse(k.baseRowID, at, absent))
	enterSparse(c.rowCommitVersion, sparse(k.rowCommitVersion, at, absent))
	if code := sparse(k.provider, at, 0); code > 0 {
		c.provider.text(files.columns.providers[code-1])
	} else {
		c.provider.absent(0)
	}
	if err := c.vector.enter(sparse(k.vectors, at, nil)); err != nil {
		return err
	}
	c.stats.enter(files, i)
	return nil
}

func enterSparse(column *leafColumn, n int64) {
	if n == absent {
		column.absent(0)
	} else {
		column.int(n)
	}
}

// enter writes partition values as a map, sorted by name.
func (t partitionTuple) enter(m mapColumns) {
	if len(t) == 0 {
		m.empty()
		return
	}
	first := true
	for _, name := range sortedNames(t) {
		m.entry(first, string(name), t[name])
		first = false
	}
}

// removeWriter are the columns of remove actions in a file.
type removeWriter struct {
	file                                     *actionFile
	kind                                     *actionKind
	path, deletionTime, dataChange, extended *leafColumn
	size, baseRowID, rowCommitVersion        *leafColumn
	partitionValues                          mapColumns
	vector                                   vectorColumns
}

func newRemoveWriter(f *actionFile) *removeWriter {
	k := f.kinds["remove"]
	return &removeWriter{
		file: f, kind: k, path: k.leaf("path"), deletionTime: k.leaf("deletionTimestamp"), dataChange: k.leaf("dataChange"),
		extended: k.leaf("extendedFileMetadata"), size: k.leaf("size"), baseRowID: k.leaf("baseRowId"),
		rowCommitVersion: k.leaf("defaultRowCommitVersion"), partitionValues: k.textMap("partitionValues"), vector: k.vector(),
	}
}

func (c *removeWriter) enter(r *protocol.RemoveFile) error {
	if err := c.file.begin(c.kind); err != nil {
		return err
	}
	c.path.text(r.Path)
	c.deletionTime.optionalInt(r.DeletionTimestamp)
	c.dataChange.bool(r.DataChange)
	if r.ExtendedFileMetadata != nil {
		c.extended.bool(*r.ExtendedFileMetadata)
	} else {
		c.extended.absent(0)
	}
	if len(r.PartitionValues) > 0 || r.ExtendedFileMetadata != nil && *r.ExtendedFileMetadata {
		tuple := make(partitionTuple, len(r.PartitionValues))
		for name, value := range r.PartitionValues {
			tuple[protocol.PhysicalName(name)] = value
		}
		tuple.enter(c.partitionValues)
	} else {
		c.partitionValues.absent()
	}
	c.size.optionalInt(r.Size)
	c.baseRowID.optionalInt(r.BaseRowID)
	c.rowCommitVersion.optionalInt(r.DefaultRowCommitVersion)
	return c.vector.enter(r.DeletionVector)
}

// single writes an action that is no file as a row.
func (f *actionFile) single(a protocol.Action) error {
	name := ""
	switch {
	case a.Protocol != nil:
		name = "protocol"
	case a.Metadata != nil:
		name = "metaData"
	case a.Txn != nil:
		name = "txn"
	case a.Domain != nil:
		name = "domainMetadata"
	case a.CheckpointMetadata != nil:
		name = "checkpointMetadata"
	case a.Sidecar != nil:
		name = "sidecar"
	}
	k := f.kinds[name]
	if k == nil {
		return protocol.NewError(protocol.ClassInternal, "an action has no place in this file of a checkpoint")
	}
	if err := f.begin(k); err != nil {
		return err
	}
	switch name {
	case "protocol":
		k.leaf("minReaderVersion").int32(int64(a.Protocol.MinReaderVersion))
		k.leaf("minWriterVersion").int32(int64(a.Protocol.MinWriterVersion))
		k.leaf("readerFeatures", "list", "element").list(a.Protocol.ReaderFeatures)
		k.leaf("writerFeatures", "list", "element").list(a.Protocol.WriterFeatures)
	case "metaData":
		m := a.Metadata
		k.leaf("id").text(m.ID)
		k.leaf("name").optionalText(m.Name)
		k.leaf("description").optionalText(m.Description)
		k.leaf("format", "provider").text(m.Provider)
		k.textMap("format", "options").texts(m.FormatOptions)
		k.leaf("schemaString").text(m.SchemaString)
		columns := m.PartitionColumns
		if columns == nil {
			columns = []string{}
		}
		k.leaf("partitionColumns", "list", "element").list(columns)
		k.textMap("configuration").texts(m.Configuration)
		k.leaf("createdTime").optionalInt(m.CreatedTime)
	case "txn":
		k.leaf("appId").text(a.Txn.AppID)
		k.leaf("version").int(a.Txn.Version)
		k.leaf("lastUpdated").optionalInt(a.Txn.LastUpdated)
	case "domainMetadata":
		k.leaf("domain").text(a.Domain.Domain)
		k.leaf("configuration").text(a.Domain.Configuration)
		k.leaf("removed").bool(a.Domain.Removed)
	case "checkpointMetadata":
		k.leaf("version").int(a.CheckpointMetadata.Version)
		k.textMap("tags").optionalTexts(a.CheckpointMetadata.Tags)
	case "sidecar":
		k.leaf("path").text(a.Sidecar.Path)
		k.leaf("sizeInBytes").int(a.Sidecar.SizeInBytes)
		k.leaf("modificationTime").int(a.Sidecar.ModificationTime)
		k.textMap("tags").optionalTexts(a.Sidecar.Tags)
	}
	return nil
}
