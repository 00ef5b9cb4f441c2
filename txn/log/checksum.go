package log

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// maxChecksumBytes is up to which size a version's .crc file is read with every snapshot; larger ones list all files.
const maxChecksumBytes = 4 << 20

// ChecksumClass is the class under which a disagreement between a .crc file and the log is reported.
const ChecksumClass protocol.Class = "DELTASQL_CHECKSUM_MISMATCH"

// verifyChecksum compares a snapshot with its version's .crc file, if there is one. The file is a check and never the
// truth: whatever is wrong with it becomes a warning (protocol, "Version Checksum File"). Only the context's end is an error.
func (t *Table) verifyChecksum(ctx context.Context, s *Snapshot) error {
	file := s.segment.checksum
	if file.Name == "" || file.Size > maxChecksumBytes {
		return nil
	}
	data, err := t.store.Read(ctx, file.Name, maxChecksumBytes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil // cleaned up since the listing
	}
	var checksum protocol.VersionChecksum
	if err == nil {
		checksum, err = protocol.ParseVersionChecksum(data)
	}
	if err != nil {
		s.checksumWarning("%s cannot be used: %v", file.Name, err)
		return nil
	}
	for _, difference := range s.differences(&checksum) {
		s.checksumWarning("%s disagrees with the log: %s", file.Name, difference)
	}
	return nil
}

func (s *Snapshot) checksumWarning(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf("[%s] ", ChecksumClass)+fmt.Sprintf(format, args...))
}

// differences says in what a checksum and the snapshot differ.
func (s *Snapshot) differences(c *protocol.VersionChecksum) []string {
	var found []string
	compare := func(what string, says, is int64) {
		if says != is {
			found = append(found, fmt.Sprintf("%s is %d there and %d here", what, says, is))
		}
	}
	compare("numFiles", c.NumFiles, int64(s.files.Len()))
	compare("tableSizeBytes", c.TableSizeBytes, s.files.SizeBytes())
	if c.NumDeletionVectors != nil {
		compare("numDeletionVectors", *c.NumDeletionVectors, int64(s.files.NumDeletionVectors()))
	}
	if c.NumDeletedRecords != nil {
		compare("numDeletedRecords", *c.NumDeletedRecords, s.files.TotalDeletedRows())
	}
	if c.Metadata != nil && !sameMetadata(c.Metadata, &s.config.Metadata) {
		found = append(found, "metadata differs")
	}
	if c.Protocol != nil && !c.Protocol.Equal(s.config.Protocol) {
		found = append(found, "protocol differs")
	}
	return found
}

func sameMetadata(a, b *protocol.Metadata) bool {
	return a.ID == b.ID && a.SchemaString == b.SchemaString && slices.Equal(a.PartitionColumns, b.PartitionColumns) &&
		maps.Equal(a.Configuration, b.Configuration)
}
