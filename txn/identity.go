package txn

import (
	"slices"

	"deltasql/protocol"
)

// Identity columns and concurrency: the values stand in data files and the mark in the table's metadata, both in one commit.
// A commit that loses to another that moved a mark has used values that the winner used too; it fails as in the reference
// (DELTA_METADATA_CHANGED), with Conflict.Rerun set, and its statement runs again on a new snapshot. Decision 0012 says why.

// NextIdentity is the first value that an identity column generates: behind its mark, else its start. It is false where the
// column has run out of values.
func NextIdentity(id protocol.Identity) (int64, bool) {
	if id.HighWaterMark == nil {
		return id.Start, true
	}
	return stepFrom(*id.HighWaterMark, id.Step)
}

func stepFrom(value, step int64) (int64, bool) {
	sum := value + step
	return sum, (step > 0) == (sum > value)
}

// advanceIdentity gives the schema with moved marks; false where none moved.
func advanceIdentity(schema protocol.DataType, last map[protocol.LogicalName]int64) (protocol.DataType, bool, error) {
	moved := false
	schema.Fields = slices.Clone(schema.Fields)
	for name, value := range last {
		i := schema.Lookup(string(name))
		if i < 0 {
			return schema, false, internal("there is no identity column %q", name)
		}
		f := &schema.Fields[i]
		id, ok := f.Metadata.Identity()
		if !ok || id.Step == 0 {
			return schema, false, internal("the column %q is no identity column", name)
		}
		mark, ok, err := identityMark(id, value)
		if err != nil {
			return schema, false, err
		}
		if ok {
			id.HighWaterMark = &mark
			f.Metadata = f.Metadata.WithIdentity(id)
			moved = true
		}
	}
	return schema, moved, nil
}

// identityMark is the mark after a value: the value, or the next one behind it that the column can generate. It is false
// where the mark stays: for a value before the start, or before the mark that is there.
func identityMark(id protocol.Identity, value int64) (int64, bool, error) {
	up := id.Step > 0
	behind := func(a, b int64) bool { return up && a > b || !up && a < b }
	if behind(id.Start, value) {
		return 0, false, nil
	}
	// The distances fit 64 bits without sign, whatever the operands are.
	distance, step := uint64(value)-uint64(id.Start), uint64(id.Step)
	if !up {
		distance, step = uint64(id.Start)-uint64(value), -uint64(id.Step)
	}
	mark := value
	if over := distance % step; over != 0 {
		if up {
			mark = int64(uint64(value) + (step - over))
		} else {
			mark = int64(uint64(value) - (step - over))
		}
		if !behind(mark, value) {
			return 0, false, protocol.NewError("ARITHMETIC_OVERFLOW", "the identity column has no value behind %d", value)
		}
	}
	if id.HighWaterMark != nil && !behind(mark, *id.HighWaterMark) {
		return 0, false, nil
	}
	return mark, true, nil
}

// sameButIdentity tells whether two metadata differ in nothing but identity marks.
func sameButIdentity(was, is *protocol.TableConfig) bool {
	if !sameButSchema(&was.Metadata, &is.Metadata) || !sameConfiguration(&was.Metadata, &is.Metadata) {
		return false
	}
	return withoutMarks(was.Schema).JSON() == withoutMarks(is.Schema).JSON()
}

func withoutMarks(schema protocol.DataType) protocol.DataType {
	schema.Fields = slices.Clone(schema.Fields)
	for i := range schema.Fields {
		f := &schema.Fields[i]
		if id, ok := f.Metadata.Identity(); ok && id.HighWaterMark != nil {
			id.HighWaterMark = nil
			f.Metadata = f.Metadata.WithIdentity(id)
		}
	}
	return schema
}
