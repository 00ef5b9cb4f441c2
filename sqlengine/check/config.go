package check

import (
	"fmt"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// checkConfig checks that protocol, metadata and schema fit together: features come with what they require, stand in the right
// lists, and what the metadata uses is supported.
func (c *checker) checkConfig(config *protocol.TableConfig) {
	p := config.Protocol
	for _, name := range p.ReaderFeatures {
		if !slices.Contains(p.WriterFeatures, name) {
			c.fault("", "the reader feature %s is not among the writer features", name)
		}
	}
	if p.MinReaderVersion >= 3 {
		for _, name := range p.WriterFeatures {
			if feature, known := protocol.LookupFeature(name); known && feature.Kind == protocol.ReaderWriterFeature && !slices.Contains(p.ReaderFeatures, name) {
				c.fault("", "the feature %s concerns readers and is not among the reader features", name)
			}
		}
	}
	for _, name := range p.Features() {
		feature, known := protocol.LookupFeature(name)
		if !known {
			continue
		}
		for _, required := range feature.Requires {
			if required == "vacuumProtocolCheck" {
				continue // implementations do not agree that catalogManaged needs it
			}
			if !supportsAny(config, required) {
				c.fault("", "the feature %s requires %s, which the protocol does not list", name, required)
			}
		}
	}
	for _, feature := range protocol.Features() {
		if feature.Active != nil && !inertMetadata[feature.Name] && feature.Active(config) && !supportsAny(config, feature.Name) {
			c.fault("", "the metadata use the feature %s, which the protocol does not list", feature.Name)
		}
	}
	for kind, feature := range map[protocol.Kind]string{
		protocol.KindTimestampNTZ: "timestampNtz", protocol.KindVariant: "variantType", protocol.KindFile: "fileType",
	} {
		if config.Schema.Holds(kind) && !supportsAny(config, feature) {
			c.fault("", "the schema uses the feature %s, which the protocol does not list", feature)
		}
	}
	c.checkColumns(config)
}

// inertMetadata are features whose marks in the schema lawfully stay where the protocol does not support them, and then mean nothing.
var inertMetadata = map[string]bool{"invariants": true, "generatedColumns": true, "identityColumns": true, "allowColumnDefaults": true}

// supportsAny also takes the name under which a feature was tried out, and no name that stands for such a trial is missed where the
// final one is there.
func supportsAny(config *protocol.TableConfig, feature string) bool {
	base := feature
	if n := len(feature) - len("-preview"); n > 0 && feature[n:] == "-preview" {
		base = feature[:n]
	}
	return config.Supports(base) || config.Supports(base+"-preview")
}

// checkColumns: partition columns are scalars, at least one column is in the files, and the highest column id is recorded.
func (c *checker) checkColumns(config *protocol.TableConfig) {
	for _, i := range config.PartitionColumns {
		switch field := config.Schema.Fields[i]; field.Type.Kind {
		case protocol.KindStruct, protocol.KindArray, protocol.KindMap, protocol.KindVariant, protocol.KindFile:
			c.fault("", "the partition column %s has the type %s", field.Name, field.Type)
		}
	}
	if config.Mapping == protocol.MappingNone {
		return
	}
	highest := 0
	var visit func(t protocol.DataType)
	visit = func(t protocol.DataType) {
		for _, part := range []*protocol.DataType{t.Element, t.Key, t.Value} {
			if part != nil {
				visit(*part)
			}
		}
		for _, field := range t.Fields {
			if id, ok := field.ColumnID(); ok {
				highest = max(highest, id)
			}
			for _, id := range field.Metadata.NestedIDs() {
				highest = max(highest, id)
			}
			visit(field.Type)
		}
	}
	visit(config.Schema)
	switch recorded, set, err := config.IntProperty("delta.columnMapping.maxColumnId"); {
	case err != nil:
		c.fault("", "%v", err)
	case !set:
		c.fault("", "column mapping is on and delta.columnMapping.maxColumnId is not set")
	case recorded < int64(highest):
		c.fault("", "delta.columnMapping.maxColumnId is %d and a column has the id %d", recorded, highest)
	}
}

// checkRowIDs: with row tracking on, every file has row ids, ids are given out once, and the high-water mark is above all (R1).
func (c *checker) checkRowIDs(s *log.Snapshot) {
	if !s.Config().Active("rowTracking") {
		return
	}
	type ids struct {
		first, last int64
		path        string
	}
	var given []ids
	files := s.Files()
	for i := range files.Len() {
		first, ok := files.BaseRowID(i)
		records, known := files.NumRecords(i)
		if !ok || !known {
			c.fault(files.Path(i), "the file has no baseRowId or no numRecords, though row tracking is on")
			continue
		}
		if _, ok := files.DefaultRowCommitVersion(i); !ok {
			c.fault(files.Path(i), "the file has no defaultRowCommitVersion, though row tracking is on")
		}
		if records > 0 {
			given = append(given, ids{first, first + records - 1, files.Path(i)})
		}
	}
	slices.SortFunc(given, func(a, b ids) int { return int(min(1, max(-1, a.first-b.first))) })
	highest := int64(-1)
	for i, span := range given {
		if i > 0 && span.first <= highest {
			c.fault(span.path, "its row ids %d to %d overlap those of another file", span.first, span.last)
		}
		highest = max(highest, span.last)
	}
	domain, ok := s.Domain(protocol.DomainRowTracking)
	if !ok {
		if highest >= 0 {
			c.fault("", "row tracking is on and the domain %s is missing", protocol.DomainRowTracking)
		}
		return
	}
	mark, err := protocol.RowIDHighWaterMark(domain.Configuration)
	if err != nil {
		c.fault("", "the domain %s: %v", protocol.DomainRowTracking, err)
	} else if mark < highest {
		c.fault("", "the high-water mark of row ids is %d and row id %d is given out", mark, highest)
	}
}

// describeLeaf is a leaf's logical name.
func describeLeaf(leaf protocol.Leaf) string {
	text := ""
	for i, name := range leaf.Logical {
		if i > 0 {
			text += "."
		}
		text += fmt.Sprint(name)
	}
	return text
}
