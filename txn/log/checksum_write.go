package log

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// maxChecksumList is how many transaction identifiers, and how many domains, a checksum lists at most; with more of them
// the member is left out, which says nothing about them.
const maxChecksumList = 100

// WriteChecksum writes a version's .crc file, and leaves one alone that is there (protocol, "Version Checksum File").
func (t *Table) WriteChecksum(ctx context.Context, s *Snapshot) error {
	checksum := s.Checksum()
	data, err := checksum.JSON()
	if err != nil {
		return err
	}
	name := logFolder + protocol.ChecksumName(s.version)
	if _, err := t.store.PutIfAbsent(ctx, name, data); err != nil && !errors.Is(err, store.ErrExists) {
		return writeError(name, err)
	}
	return nil
}

// Checksum is what the version's .crc file says of a snapshot whose commit was read.
func (s *Snapshot) Checksum() protocol.VersionChecksum {
	totals := s.state.totals
	if totals == nil {
		totals = s.files.totals()
	}
	metadata, proto := s.config.Metadata, s.config.Protocol
	checksum := protocol.VersionChecksum{
		TableSizeBytes: s.files.SizeBytes(), NumFiles: int64(s.files.Len()), NumMetadata: 1, NumProtocol: 1,
		Metadata: &metadata, Protocol: &proto, FileSizeHistogram: totals.sizes,
	}
	if id, ok := s.state.commitInfo.TxnID(); ok {
		checksum.TxnID = &id
	}
	if s.config.Active("inCommitTimestamp") {
		if millis, ok := s.state.commitInfo.InCommitTimestamp(); ok {
			checksum.InCommitTimestamp = &millis
		}
	}
	if s.config.Supports("deletionVectors") {
		vectors, deleted := int64(s.files.NumDeletionVectors()), s.files.TotalDeletedRows()
		checksum.NumDeletionVectors, checksum.NumDeletedRecords = &vectors, &deleted
		checksum.DeletedRecordsByClass = totals.deleted[:]
	}
	if len(s.state.txns) <= maxChecksumList {
		checksum.SetTransactions = sortedValues(s.state.txns)
	}
	if len(s.state.domains) <= maxChecksumList {
		checksum.DomainMetadata = sortedValues(s.state.domains)
	}
	return checksum
}

// sortedNames are a map's keys in ascending order.
func sortedNames[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// sortedValues are a map's values in the order of their keys; never nil.
func sortedValues[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, key := range sortedNames(m) {
		values = append(values, m[key])
	}
	return values
}
