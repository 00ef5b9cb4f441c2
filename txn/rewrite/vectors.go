package rewrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"deltasql/protocol"
	"deltasql/txn"
	"deltasql/txn/store"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
)

const (
	// vectorFileVersion is the first byte of a file of vectors.
	vectorFileVersion = 1
	// vectorFileBytes is the size at which another file of vectors is begun, as in the reference.
	vectorFileBytes = 2 << 20
)

// WriteVectors writes deletion vectors, many into one file, and gives their descriptors in the order of the bitmaps, and the names
// of the files. The files are durable, and the transaction has heard of them; where it fails none is left.
//
// Vectors are never put into the log itself, however small: the reference does not, and few readers have been tried on it.
func WriteVectors(ctx context.Context, tx *txn.Transaction, bitmaps []*roaring64.Bitmap) ([]protocol.DeletionVector, []string, error) {
	w := &vectorWriter{tx: tx, descriptors: make([]protocol.DeletionVector, 0, len(bitmaps))}
	config := tx.Config()
	randomize, err := config.BoolProperty("delta.randomizeFilePrefixes")
	if err != nil {
		return nil, nil, err
	}
	if randomize {
		if w.random, err = randomPrefixLength(config); err != nil {
			return nil, nil, err
		}
	}
	for _, bitmap := range bitmaps {
		if err = w.add(ctx, bitmap); err != nil {
			break
		}
	}
	if err == nil {
		err = w.flush(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, removeNames(ctx, tx, w.names))
	}
	return w.descriptors, w.names, nil
}

// vectorWriter collects vectors until they fill a file.
type vectorWriter struct {
	tx          *txn.Transaction
	random      int // characters of the folder's random name; 0 without one
	descriptors []protocol.DeletionVector
	names       []string

	prefix  string // of the open file: its folder
	id      [16]byte
	content []byte // nil while no file is open
}

// add puts a vector into the open file: its size, its bytes and their checksum, big-endian.
func (w *vectorWriter) add(ctx context.Context, bitmap *roaring64.Bitmap) error {
	data, err := protocol.EncodeBitmap(bitmap)
	if err != nil {
		return err
	}
	if len(w.content) > 1 && len(w.content)+len(data) > vectorFileBytes {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	if w.content == nil {
		w.content = []byte{vectorFileVersion}
		w.id = uuid.New()
		if w.prefix = ""; w.random > 0 {
			w.prefix = randomText(w.random)
		}
	}
	offset := int64(len(w.content))
	w.content = binary.BigEndian.AppendUint32(w.content, uint32(len(data)))
	w.content = append(w.content, data...)
	w.content = binary.BigEndian.AppendUint32(w.content, crc32.ChecksumIEEE(data))
	w.descriptors = append(w.descriptors, protocol.DeletionVector{
		StorageType: protocol.VectorByUUID, PathOrInline: w.prefix + protocol.EncodeZ85(w.id[:]), Offset: &offset,
		SizeInBytes: int64(len(data)), Cardinality: int64(bitmap.GetCardinality()),
	})
	return nil
}

// flush writes the open file, if there is one.
func (w *vectorWriter) flush(ctx context.Context) error {
	if w.content == nil {
		return nil
	}
	name, _, err := w.descriptors[len(w.descriptors)-1].Path()
	if err != nil {
		return err
	}
	w.names = append(w.names, name)
	w.tx.Wrote(name)
	content := w.content
	w.content = nil
	err = w.tx.Table().Store().PutFrom(store.RootStands(ctx), name, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	table := w.tx.Table().Name()
	return protocol.NewError("DELTASQL_STORAGE", "the deletion vectors of the table %s cannot be written", table).WithTable(table).WithCause(err)
}

// takesVectors tells whether rows of the table are deleted by vectors. Iceberg's second version knows none that Delta could write.
func takesVectors(config *protocol.TableConfig) bool {
	return config.Active("deletionVectors") && !config.Active("icebergCompatV1") && !config.Active("icebergCompatV2")
}

// wideStatistics are the statistics of a file once rows of it are hidden (protocol, "Per-file Statistics"): bounds stay and are said
// to be wide. Of NULLs only two counts keep their meaning: none, and all rows, which are then all that the file holds. before is
// how many rows the vector hid so far.
func wideStatistics(text string, records, before int64) (string, error) {
	if text == "" {
		return fmt.Sprintf(`{"numRecords":%d,"tightBounds":false}`, records), nil
	}
	members, err := membersOf([]byte(text))
	if err != nil {
		return "", err
	}
	tight := true
	for _, m := range members {
		if m.name == "tightBounds" {
			tight = string(m.value) != "false"
		}
	}
	hasRecords := false
	dst := []byte{'{'}
	for _, m := range members {
		switch m.name {
		case "tightBounds":
			continue
		case "numRecords":
			hasRecords = true
		case "nullCount":
			// Counts of wide statistics, and those of a file without deleted rows, already mean what they must.
			if tight && before > 0 {
				if m.value, err = widenNulls(m.value, records, records-before); err != nil {
					return "", err
				}
			}
		}
		dst = appendMember(dst, m)
	}
	if !hasRecords {
		dst = appendMember(dst, member{"numRecords", strconv.AppendInt(nil, records, 10)})
	}
	return string(append(appendMember(dst, member{"tightBounds", []byte("false")}), '}')), nil
}

// widenNulls turns counts of the live rows into wide ones.
func widenNulls(counts []byte, records, live int64) ([]byte, error) {
	members, err := membersOf(counts)
	if err != nil {
		return nil, err
	}
	dst := []byte{'{'}
	for _, m := range members {
		if bytes.HasPrefix(m.value, []byte("{")) {
			if m.value, err = widenNulls(m.value, records, live); err != nil {
				return nil, err
			}
		} else if n, err := strconv.ParseInt(string(m.value), 10, 64); err == nil && n == live && n > 0 {
			m.value = strconv.AppendInt(nil, records, 10)
		}
		dst = appendMember(dst, m)
	}
	return append(dst, '}'), nil
}

// member is a member of a JSON object, its value as it stands in the text.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf takes an object apart and keeps the order and the texts of its members.
func membersOf(object []byte) ([]member, error) {
	bad := func(err error) error {
		return protocol.NewError("DELTA_INVALID_LOG_FILE", "the statistics of a file are no JSON object: %s", object).WithCause(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, bad(err)
	}
	var members []member
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, bad(err)
		}
		m := member{name: token.(string)}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, bad(err)
		}
		members = append(members, m)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, bad(err)
	}
	return members, nil
}

func appendMember(dst []byte, m member) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	var name bytes.Buffer
	encoder := json.NewEncoder(&name)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(m.name) // a string always has a form
	dst = append(dst, bytes.TrimRight(name.Bytes(), "\n")...)
	return append(append(dst, ':'), m.value...)
}
