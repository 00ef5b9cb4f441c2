package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

const (
	kibibyte = int64(1) << 10
	mebibyte = int64(1) << 20
	gibibyte = int64(1) << 30
)

// fileSizeBoundaries are the reference's bins: fine where data files usually are, coarse above.
var fileSizeBoundaries = func() []int64 {
	bounds := []int64{0}
	for size := 8 * kibibyte; size <= 4*mebibyte; size *= 2 {
		bounds = append(bounds, size)
	}
	for _, run := range []struct{ step, last int64 }{
		{4 * mebibyte, 40 * mebibyte}, {8 * mebibyte, 120 * mebibyte}, {4 * mebibyte, 144 * mebibyte}, {16 * mebibyte, 576 * mebibyte},
		{64 * mebibyte, 1408 * mebibyte}, {128 * mebibyte, 2 * gibibyte}, {256 * mebibyte, 4 * gibibyte},
	} {
		for size := bounds[len(bounds)-1] + run.step; size <= run.last; size += run.step {
			bounds = append(bounds, size)
		}
	}
	for size := 8 * gibibyte; size <= 256*gibibyte; size *= 2 {
		bounds = append(bounds, size)
	}
	return bounds
}()

// NewFileSizeHistogram gives an empty histogram with the reference's bins.
func NewFileSizeHistogram() *FileSizeHistogram {
	n := len(fileSizeBoundaries)
	return &FileSizeHistogram{
		SortedBinBoundaries: slices.Clone(fileSizeBoundaries), FileCounts: make([]int64, n), TotalBytes: make([]int64, n),
	}
}

// Count adds files of one size, or takes them away where n is negative.
func (h *FileSizeHistogram) Count(sizeBytes, n int64) {
	at, found := slices.BinarySearch(h.SortedBinBoundaries, sizeBytes)
	if !found {
		at--
	}
	if at >= 0 {
		h.FileCounts[at] += n
		h.TotalBytes[at] += n * sizeBytes
	}
}

// DeletedRecordClasses is the number of classes of deletedRecordCountsHistogramOpt.
const DeletedRecordClasses = 10

// DeletedRecordClass is the class of a file with so many deleted rows: none, then a class for each decade, the last one
// from the largest 32-bit integer on.
func DeletedRecordClass(deleted int64) int {
	const last = 1<<31 - 1
	if deleted >= last {
		return DeletedRecordClasses - 1
	}
	class := 0
	for limit := int64(1); deleted >= limit && class < DeletedRecordClasses-2; limit *= 10 {
		class++
	}
	return class
}

// JSON is the content of a .crc file, its members in the reference's order. allFiles is left out where it is nil.
func (v *VersionChecksum) JSON() ([]byte, error) {
	e := actionEncoder{dst: []byte{'{'}}
	if v.TxnID != nil {
		e.text("txnId", *v.TxnID)
	}
	e.size("tableSizeBytes", v.TableSizeBytes)
	e.size("numFiles", v.NumFiles)
	e.optionalInt("numDeletedRecordsOpt", v.NumDeletedRecords)
	e.optionalInt("numDeletionVectorsOpt", v.NumDeletionVectors)
	e.int("numMetadata", v.NumMetadata)
	e.int("numProtocol", v.NumProtocol)
	e.optionalInt("inCommitTimestampOpt", v.InCommitTimestamp)
	if v.SetTransactions != nil {
		e.objects("setTransactions", len(v.SetTransactions), func(i int) { e.txn(&v.SetTransactions[i]) })
	}
	if v.DomainMetadata != nil {
		e.objects("domainMetadata", len(v.DomainMetadata), func(i int) { e.domain(&v.DomainMetadata[i]) })
	}
	if v.Metadata != nil {
		e.key("metadata")
		e.metadata(v.Metadata)
	}
	if v.Protocol != nil {
		e.key("protocol")
		e.protocol(v.Protocol)
	}
	if h := v.FileSizeHistogram; h != nil {
		e.key("fileSizeHistogram")
		e.dst = append(e.dst, '{')
		e.ints("sortedBinBoundaries", h.SortedBinBoundaries)
		e.ints("fileCounts", h.FileCounts)
		e.ints("totalBytes", h.TotalBytes)
		e.dst = append(e.dst, '}')
	}
	if v.DeletedRecordsByClass != nil {
		e.key("deletedRecordCountsHistogramOpt")
		e.dst = append(e.dst, '{')
		e.ints("deletedRecordCounts", v.DeletedRecordsByClass)
		e.dst = append(e.dst, '}')
	}
	if v.AllFiles != nil {
		e.objects("allFiles", len(v.AllFiles), func(i int) { e.add(&v.AllFiles[i]) })
	}
	return append(e.dst, '}'), e.err
}

// objects writes an array whose elements are written by element.
func (e *actionEncoder) objects(name string, n int, element func(i int)) {
	e.key(name)
	e.dst = append(e.dst, '[')
	for i := range n {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		element(i)
	}
	e.dst = append(e.dst, ']')
}

func (e *actionEncoder) ints(name string, values []int64) {
	e.objects(name, len(values), func(i int) { e.dst = strconv.AppendInt(e.dst, values[i], 10) })
}

const (
	// maxHintSchema is the length of checkpointSchema from which on it is left out of the hint.
	maxHintSchema = 20_000
	// maxHintList is how many non-file actions, and how many sidecars, the hint lists at most.
	maxHintList = 30
)

// JSON is the content of _last_checkpoint: version, size and parts first as the protocol asks, and the checksum of the
// rest last. What would make the hint long is left out.
func (h *LastCheckpoint) JSON() ([]byte, error) {
	e := actionEncoder{dst: []byte{'{'}}
	e.size("version", h.Version)
	e.size("size", h.Size)
	e.optionalInt("parts", h.Parts)
	e.optionalInt("sizeInBytes", h.SizeInBytes)
	e.optionalInt("numOfAddFiles", h.NumOfAddFiles)
	if len(h.CheckpointSchema) > 0 && len(h.CheckpointSchema) <= maxHintSchema {
		var compact bytes.Buffer
		if err := json.Compact(&compact, h.CheckpointSchema); err != nil {
			e.fail("checkpointSchema is no JSON")
		}
		e.key("checkpointSchema")
		e.dst = append(e.dst, compact.Bytes()...)
	}
	e.optionalTexts("tags", h.Tags)
	if v := h.V2; v != nil {
		e.key("v2Checkpoint")
		e.dst = append(e.dst, '{')
		e.path(v.Path)
		e.size("sizeInBytes", v.SizeInBytes)
		e.int("modificationTime", v.ModificationTime)
		if v.NonFileActions != nil && len(v.NonFileActions) <= maxHintList {
			e.objects("nonFileActions", len(v.NonFileActions), func(i int) { e.action(v.NonFileActions[i]) })
		}
		if v.SidecarFiles != nil && len(v.SidecarFiles) <= maxHintList {
			e.objects("sidecarFiles", len(v.SidecarFiles), func(i int) { e.sidecar(&v.SidecarFiles[i]) })
		}
		e.dst = append(e.dst, '}')
	}
	if e.err != nil {
		return nil, e.err
	}
	sum, err := JSONChecksum(append(slices.Clip(e.dst), '}'))
	if err != nil {
		return nil, err
	}
	e.text("checksum", sum)
	return append(e.dst, '}'), nil
}
