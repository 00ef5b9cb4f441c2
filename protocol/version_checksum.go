package protocol

// VersionChecksum is a version's .crc file (protocol, "Version Checksum File"): totals that a replay can be checked
// against. Members that are absent stay nil.
type VersionChecksum struct {
	TxnID                 *string
	TableSizeBytes        int64
	NumFiles              int64
	NumMetadata           int64
	NumProtocol           int64
	InCommitTimestamp     *int64
	SetTransactions       []SetTransaction
	DomainMetadata        []DomainMetadata
	Metadata              *Metadata
	Protocol              *Protocol
	FileSizeHistogram     *FileSizeHistogram // also read under its old name, histogramOpt
	AllFiles              []AddFile          // nil where left out
	NumDeletedRecords     *int64
	NumDeletionVectors    *int64
	DeletedRecordsByClass []int64 // deletedRecordCountsHistogramOpt, ten classes
}

// FileSizeHistogram counts the table's files by size; a bin's lower boundary belongs to it.
type FileSizeHistogram struct {
	SortedBinBoundaries []int64
	FileCounts          []int64
	TotalBytes          []int64
}

var checksumNames = []string{"txnId", "tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "inCommitTimestampOpt",
	"setTransactions", "domainMetadata", "metadata", "protocol", "fileSizeHistogram", "histogramOpt", "allFiles",
	"numDeletedRecordsOpt", "numDeletionVectorsOpt", "deletedRecordCountsHistogramOpt"}

// ParseVersionChecksum reads a .crc file. Its data are a check and never the truth, so that an error here is a warning
// to the reader of a table.
func ParseVersionChecksum(data []byte) (VersionChecksum, error) {
	var v VersionChecksum
	c := jsonCursor{data: data}
	var old *FileSizeHistogram
	err := members(&c, checksumNames, 1<<1|1<<2, func(place int) (err error) {
		switch place {
		case 0:
			return c.intoTextPtr(&v.TxnID)
		case 1:
			return c.intoInt(&v.TableSizeBytes)
		case 2:
			return c.intoInt(&v.NumFiles)
		case 3:
			return c.intoInt(&v.NumMetadata)
		case 4:
			return c.intoInt(&v.NumProtocol)
		case 5:
			return c.intoIntPtr(&v.InCommitTimestamp)
		case 6:
			v.SetTransactions = []SetTransaction{}
			return c.array(func(int) error {
				t, err := readTxn(&c)
				v.SetTransactions = append(v.SetTransactions, *t)
				return err
			})
		case 7:
			v.DomainMetadata = []DomainMetadata{}
			return c.array(func(int) error {
				d, err := readDomain(&c)
				v.DomainMetadata = append(v.DomainMetadata, *d)
				return err
			})
		case 8:
			v.Metadata, err = readMetadata(&c)
			return err
		case 9:
			v.Protocol, err = readProtocol(&c)
			return err
		case 10:
			return c.intoHistogram(&v.FileSizeHistogram)
		case 11:
			return c.intoHistogram(&old)
		case 12:
			v.AllFiles = []AddFile{}
			return c.array(func(int) error {
				f, err := readAdd(&c)
				v.AllFiles = append(v.AllFiles, *f)
				return err
			})
		case 13:
			return c.intoIntPtr(&v.NumDeletedRecords)
		case 14:
			return c.intoIntPtr(&v.NumDeletionVectors)
		}
		return members(&c, []string{"deletedRecordCounts"}, 0, func(int) error { return c.intoInts(&v.DeletedRecordsByClass) })
	})
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return VersionChecksum{}, NewError("DELTA_INVALID_LOG_FILE", "malformed checksum file").WithCause(err)
	}
	if v.FileSizeHistogram == nil {
		v.FileSizeHistogram = old
	}
	return v, nil
}

func (c *jsonCursor) intoHistogram(at **FileSizeHistogram) error {
	h := &FileSizeHistogram{}
	err := members(c, []string{"sortedBinBoundaries", "fileCounts", "totalBytes"}, 0, func(place int) error {
		switch place {
		case 0:
			return c.intoInts(&h.SortedBinBoundaries)
		case 1:
			return c.intoInts(&h.FileCounts)
		}
		return c.intoInts(&h.TotalBytes)
	})
	*at = h
	return err
}

func (c *jsonCursor) intoInts(at *[]int64) error {
	out := []int64{}
	err := c.array(func(int) error {
		v, err := c.int()
		out = append(out, v)
		return err
	})
	*at = out
	return err
}
