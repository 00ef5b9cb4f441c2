package protocol

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

func TestZ85(t *testing.T) {
	// The test vector of the encoding's own definition (ZeroMQ RFC 32).
	plainText := []byte{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B}
	if got := EncodeZ85(plainText); got != "HelloWorld" {
		t.Error(got)
	}
	if got, err := DecodeZ85("HelloWorld"); err != nil || !bytes.Equal(got, plainText) {
		t.Errorf("%x, %v", got, err)
	}
	for _, bad := range []string{"abc", "abc d", "#####", "abcd\xff"} {
		if _, err := DecodeZ85(bad); err == nil {
			t.Errorf("%q must be refused", bad)
		}
	}
}

func TestVectorPath(t *testing.T) {
	// The protocol's own example ("Deletion Vector Descriptor Schema").
	d := DeletionVector{StorageType: "u", PathOrInline: "ab^-aqEH.-t@S}K{vb[*k^", Offset: ptr(int64(4))}
	path, absolute, err := d.Path()
	if err != nil || absolute || path != "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin" {
		t.Errorf("%s, %v, %v", path, absolute, err)
	}
	if d.UniqueID() != "uab^-aqEH.-t@S}K{vb[*k^@4" {
		t.Error(d.UniqueID())
	}
	d.PathOrInline, d.Offset = d.PathOrInline[2:], nil
	if path, _, err := d.Path(); err != nil || path != "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin" {
		t.Errorf("%s, %v", path, err)
	}
	p := DeletionVector{StorageType: "p", PathOrInline: "s3://mytable/dv%20x.bin"}
	if path, absolute, err := p.Path(); err != nil || !absolute || path != "s3://mytable/dv x.bin" {
		t.Errorf("%s, %v, %v", path, absolute, err)
	}
	for _, bad := range []DeletionVector{{StorageType: "u", PathOrInline: "short"}, {StorageType: "u", PathOrInline: "                    "}, {StorageType: "i"}, {StorageType: "r", PathOrInline: "x"}, {StorageType: "u", PathOrInline: "../" + d.PathOrInline}} {
		if _, _, err := bad.Path(); err == nil {
			t.Errorf("%+v must be refused", bad)
		}
	}
}

// section frames a bitmap as a deletion vector file holds it.
func section(data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
}

func encoded(t *testing.T, rows ...uint64) []byte {
	t.Helper()
	data, err := EncodeBitmap(roaring64.BitmapOf(rows...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeSection(t *testing.T) {
	rows := []uint64{0, 3, 4095, 1 << 20, 1<<32 + 5, 3<<32 + 7}
	data := encoded(t, rows...)
	d := &DeletionVector{StorageType: "u", SizeInBytes: int64(len(data)), Cardinality: int64(len(rows))}
	bitmap, err := d.DecodeSection(section(data))
	if err != nil || !bitmap.Equals(roaring64.BitmapOf(rows...)) {
		t.Fatalf("%v, %v", bitmap, err)
	}
	if offset, length, err := d.Span(); offset != 1 || length != int64(len(data))+8 || err != nil {
		t.Error(offset, length, err)
	}
	wrongCRC := section(data)
	wrongCRC[len(wrongCRC)-1] ^= 1
	wrongSize := section(data)
	wrongSize[3]++
	other := *d
	other.Cardinality++
	negative := *d
	negative.SizeInBytes = -1
	for name, c := range map[string]struct {
		d     *DeletionVector
		bytes []byte
		class Class
	}{
		"checksum":    {d, wrongCRC, "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"},
		"size":        {d, wrongSize, "DELTA_DELETION_VECTOR_SIZE_MISMATCH"},
		"cut":         {d, section(data)[:20], "DELTA_DELETION_VECTOR_SIZE_MISMATCH"},
		"empty":       {d, nil, "DELTA_DELETION_VECTOR_SIZE_MISMATCH"},
		"cardinality": {&other, section(data), "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"},
		"negative":    {&negative, section(data), "DELTA_INVALID_LOG_FILE"},
	} {
		if _, err := c.d.DecodeSection(c.bytes); ClassOf(err) != c.class {
			t.Errorf("%s: %v, want %s", name, err, c.class)
		}
	}
	if err := CheckVectorFileVersion(1); err != nil {
		t.Error(err)
	}
	if err := CheckVectorFileVersion(2); err == nil {
		t.Error("version 2 must be refused")
	}
}

func TestDecodeInline(t *testing.T) {
	data := encoded(t, 3)
	for name, text := range map[string]string{
		"zeros":       EncodeZ85(data),
		"more zeros":  EncodeZ85(append(bytes.Clone(data), 0, 0, 0, 0, 0, 0)),
		"other bytes": EncodeZ85(append(bytes.Clone(data), 7, 8)),
		"partial":     "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093", // as kernel-rs wrote it for row 3
	} {
		d := &DeletionVector{StorageType: "i", PathOrInline: text, SizeInBytes: int64(len(data)), Cardinality: 1}
		bitmap, err := d.DecodeInline()
		if err != nil || bitmap.Minimum() != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, d := range []DeletionVector{
		{StorageType: "i", PathOrInline: EncodeZ85(data), SizeInBytes: 1000, Cardinality: 1},
		{StorageType: "i", PathOrInline: EncodeZ85(data), SizeInBytes: int64(len(data)), Cardinality: 1 << 62},
		{StorageType: "i", PathOrInline: "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg#0093", SizeInBytes: 34, Cardinality: 1},
		{StorageType: "u", PathOrInline: EncodeZ85(data), SizeInBytes: int64(len(data)), Cardinality: 1},
	} {
		if _, err := d.DecodeInline(); err == nil {
			t.Errorf("%+v must be refused", d)
		}
	}
}

func TestDecodeBitmapForms(t *testing.T) {
	native := binary.LittleEndian.AppendUint32(nil, magicNative)
	native = binary.LittleEndian.AppendUint32(native, 3)
	for _, rows := range [][]uint32{{1, 2, 3}, {}, {9}} {
		part, err := roaring.BitmapOf(rows...).ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		native = append(binary.LittleEndian.AppendUint32(native, uint32(len(part))), part...)
	}
	bitmap, err := DecodeBitmap(native)
	if err != nil || !bitmap.Equals(roaring64.BitmapOf(1, 2, 3, 2<<32+9)) {
		t.Fatalf("%v, %v", bitmap, err)
	}
	runs := roaring64.New()
	runs.AddRange(10, 100_000)
	runs.AddRange(1<<33, 1<<33+70_000)
	for i := uint64(200_000); i < 400_000; i += 2 {
		runs.Add(i)
	}
	data, err := EncodeBitmap(runs)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeBitmap(data); err != nil || !got.Equals(runs) {
		t.Errorf("%v", err)
	}
	empty := binary.LittleEndian.AppendUint32(nil, magicPortable)
	if got, err := DecodeBitmap(append(empty, make([]byte, 8)...)); err != nil || !got.IsEmpty() {
		t.Errorf("%v", err)
	}
	hostile := append(bytes.Clone(empty), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	for name, bad := range map[string][]byte{
		"nothing": nil, "magic": {1, 2, 3, 4}, "hostile count": hostile, "cut": data[:len(data)-1], "longer": append(bytes.Clone(data), 0),
		"native count": {0xd0, 0xd3, 0x39, 0x64, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := DecodeBitmap(bad); ClassOf(err) != "DELTA_INVALID_LOG_FILE" {
			t.Errorf("%s: %v must be refused", name, err)
		}
	}
}

func TestFillBitset(t *testing.T) {
	bitmap := roaring64.BitmapOf(0, 63, 64, 127)
	words := make([]uint64, 2)
	if err := FillBitset(bitmap, words); err != nil || words[0] != 1|1<<63 || words[1] != 1|1<<63 || countBits(words) != 4 {
		t.Errorf("%x, %v", words, err)
	}
	if err := FillBitset(bitmap, words[:1]); ClassOf(err) != "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX" {
		t.Error(err)
	}
	if err := CheckRowIndexes(bitmap, 127); ClassOf(err) != "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX" {
		t.Error(err)
	}
	if err := CheckRowIndexes(bitmap, 128); err != nil {
		t.Error(err)
	}
}

func countBits(words []uint64) (n int64) {
	for _, w := range words {
		n += int64(bits.OnesCount64(w))
	}
	return n
}
