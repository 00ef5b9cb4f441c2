package check

import (
	"context"
	"errors"
	"slices"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// checkChecksum compares a .crc file with the state of its version.
func (c *checker) checkChecksum(ctx context.Context, name string, s *replayedState) error {
	data, err := c.target.Files.Read(ctx, name, maxChecksumBytes)
	if errors.Is(err, store.ErrTooLarge) {
		return nil
	}
	if err != nil {
		return c.failed(ctx, name, err)
	}
	sum, err := protocol.ParseVersionChecksum(data)
	if err != nil {
		return c.failed(ctx, name, err)
	}
	var bytes, vectors, deleted int64
	for _, add := range s.files {
		bytes += add.Size
		if add.DeletionVector != nil {
			vectors++
			deleted += add.DeletionVector.Cardinality
		}
	}
	compare := func(what string, says *int64, is int64) {
		if says != nil && *says != is {
			c.fault(name, "%s is %d, the commits say %d", what, *says, is)
		}
	}
	compare("numFiles", &sum.NumFiles, int64(len(s.files)))
	compare("tableSizeBytes", &sum.TableSizeBytes, bytes)
	compare("numDeletionVectors", sum.NumDeletionVectors, vectors)
	compare("numDeletedRecords", sum.NumDeletedRecords, deleted)
	if sum.InCommitTimestamp != nil && s.time != 0 {
		compare("inCommitTimestamp", sum.InCommitTimestamp, s.time)
	}
	if sum.Protocol != nil && s.protocol != nil && !sum.Protocol.Equal(*s.protocol) {
		c.fault(name, "it has another protocol than the commits")
	}
	if sum.Metadata != nil && s.metadata != nil && !sameMetadata(sum.Metadata, s.metadata) {
		c.fault(name, "it has another metaData than the commits")
	}
	compare("numMetadata", &sum.NumMetadata, 1)
	compare("numProtocol", &sum.NumProtocol, 1)
	c.checkHistograms(name, &sum, s)
	for _, txn := range sum.SetTransactions {
		if known, ok := s.txns[txn.AppID]; !ok || known.Version != txn.Version {
			c.fault(name, "the transaction of application %s differs from the commits", txn.AppID)
		}
	}
	for _, domain := range sum.DomainMetadata {
		if known, ok := s.domains[domain.Domain]; !domain.Removed && (!ok || known != domain) {
			c.fault(name, "the domain %s differs from the commits", domain.Domain)
		}
	}
	if sum.DomainMetadata != nil {
		listed := map[string]bool{}
		for _, domain := range sum.DomainMetadata {
			listed[domain.Domain] = true
		}
		for domain := range s.domains {
			if !listed[domain] {
				c.fault(name, "it lacks the domain %s of the commits", domain)
			}
		}
	}
	for _, add := range sum.AllFiles {
		if _, live := s.files[identityOf(add.Path, add.DeletionVector)]; !live {
			c.fault(name, "it lists the file %s, which the commits do not have", add.Path)
			break
		}
	}
	return nil
}

// checkHistograms counts the files again by the bins that a checksum file has; they may be any.
func (c *checker) checkHistograms(name string, sum *protocol.VersionChecksum, s *replayedState) {
	if h := sum.FileSizeHistogram; h != nil {
		bins := len(h.SortedBinBoundaries)
		if bins == 0 || h.SortedBinBoundaries[0] != 0 || !slices.IsSorted(h.SortedBinBoundaries) || len(h.FileCounts) != bins || len(h.TotalBytes) != bins {
			c.fault(name, "its histogram of file sizes is malformed")
		} else {
			own := protocol.FileSizeHistogram{SortedBinBoundaries: h.SortedBinBoundaries, FileCounts: make([]int64, bins), TotalBytes: make([]int64, bins)}
			for _, add := range s.files {
				own.Count(add.Size, 1)
			}
			if !slices.Equal(own.FileCounts, h.FileCounts) || !slices.Equal(own.TotalBytes, h.TotalBytes) {
				c.fault(name, "its histogram of file sizes differs from the commits")
			}
		}
	}
	if sum.DeletedRecordsByClass != nil {
		own := make([]int64, protocol.DeletedRecordClasses)
		for _, add := range s.files {
			deleted := int64(0)
			if add.DeletionVector != nil {
				deleted = add.DeletionVector.Cardinality
			}
			own[protocol.DeletedRecordClass(deleted)]++
		}
		if !slices.Equal(own, sum.DeletedRecordsByClass) {
			c.fault(name, "its histogram of deleted rows differs from the commits")
		}
	}
}
