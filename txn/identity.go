package txn

import (
	"context"
	"math"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// Identity columns and concurrency: the values stand in data files and the mark in the table's metadata, both in one commit.
// A commit that loses to another that moved a mark has used values that the winner used too; it fails as in the reference
// (DELTA_METADATA_CHANGED), with Conflict.Rerun set, and its statement must make its values anew. The caller reserves them
// first (ReserveIdentity), so that nothing can take them away again. Decision 0012 says why.

// Reserved is what ReserveIdentity set aside: a column's values First, First + step, ..., as many as were asked for.
type Reserved map[protocol.LogicalName]int64

// ReserveIdentity sets values of identity columns aside, so many of each, by a commit of its own that moves the marks. It
// tries again until it wins, which costs no more than a small commit each time, for no data hang on it. The commit that then
// holds the values changes no metadata, and conflicts with no other insert. Values that are not used leave a gap.
func ReserveIdentity(ctx context.Context, table *log.Table, counts map[protocol.LogicalName]int64, o Options) (Reserved, error) {
	o = o.withDefaults()
	for attempt := 1; ; attempt++ {
		read, err := table.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		reserved, err := reserve(ctx, table, read, counts, o)
		if err == nil || !MayRerun(err) || attempt >= o.MaxRetries {
			return reserved, err
		}
		if err := o.Wait(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// reserve is one try.
func reserve(ctx context.Context, table *log.Table, read *log.Snapshot, counts map[protocol.LogicalName]int64, o Options) (Reserved, error) {
	tx, err := Begin(ctx, table, read, o)
	if err != nil {
		return nil, err
	}
	defer tx.Abort(ctx)
	first, last := Reserved{}, map[protocol.LogicalName]int64{}
	var changed *protocol.Field
	schema := read.Config().Schema
	for name, count := range counts {
		i := schema.Lookup(string(name))
		if i < 0 {
			return nil, internal("there is no identity column %q", name)
		}
		id, ok := schema.Fields[i].Metadata.Identity()
		if !ok || count < 1 {
			return nil, internal("%d values of the column %q cannot be reserved", count, name)
		}
		if first[name], last[name], ok = nextIdentities(id, count); !ok {
			return nil, protocol.NewError("ARITHMETIC_OVERFLOW", "the identity column %q has no %d more values", name, count).WithTable(table.Name())
		}
		changed = &schema.Fields[i]
	}
	if changed == nil {
		return first, nil
	}
	if err := tx.AdvanceIdentity(last); err != nil {
		return nil, err
	}
	config := tx.Config().Schema
	field := config.Fields[config.Lookup(string(changed.Name))]
	_, err = tx.Commit(ctx, Operation{Name: "CHANGE COLUMN", Parameters: []Parameter{{Key: "column", Value: protocol.JSONText(fieldJSON(field))}}})
	return first, err
}

// nextIdentities are the first and the last of the next so many values; false where there are not so many.
func nextIdentities(id protocol.Identity, count int64) (first, last int64, ok bool) {
	if first, ok = NextIdentity(id); !ok {
		return 0, 0, false
	}
	left := uint64(math.MaxInt64) - uint64(first)
	step := uint64(id.Step)
	if id.Step < 0 {
		left, step = uint64(first)+1<<63, -step // the distance to the least integer
	}
	if uint64(count-1) > left/step {
		return 0, 0, false
	}
	return first, first + (count-1)*id.Step, true
}

// fieldJSON is a field as a schema string has it, which is how the reference records a changed column.
func fieldJSON(f protocol.Field) string {
	text := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{f}}.JSON()
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"type":"struct","fields":[`), "]}")
}

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
		mark, ok, err := id.MarkAfter(value)
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
