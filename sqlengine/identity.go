package sqlengine

import (
	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/txn"
	"deltasql/txn/log"
)

// reservation is what a statement that lost its identity values to another writer has set aside for its next run: the first value
// of each column and how many there are. The zero value is none.
type reservation struct {
	first  txn.Reserved
	counts map[protocol.LogicalName]int64 // of the last run; with first, how many are reserved
}

// config is a table whose identity columns go on with the reserved values.
func (r reservation) config(c *protocol.TableConfig) *protocol.TableConfig {
	if r.first == nil || c == nil {
		return c
	}
	metadata := c.Metadata
	schema := c.Schema
	schema.Fields = append([]protocol.Field(nil), schema.Fields...)
	for i := range schema.Fields {
		field := &schema.Fields[i]
		id, ok := field.Metadata.Identity()
		first, reserved := r.first[field.Name]
		if !ok || !reserved {
			continue
		}
		mark := first - id.Step
		id.HighWaterMark = &mark
		if first == id.Start {
			id.HighWaterMark = nil
		}
		field.Metadata = field.Metadata.WithIdentity(id)
	}
	metadata.SchemaString = schema.JSON()
	moved, err := protocol.NewTableConfig(c.Protocol, metadata)
	if err != nil {
		return c
	}
	return moved
}

// advance moves the high-water marks of identity columns behind what was generated, unless the values had been reserved.
func (st *statement) advance(tx *txn.Transaction, identity []change.Identity, rows int64) error {
	last, counts := map[protocol.LogicalName]int64{}, map[protocol.LogicalName]int64{}
	for _, id := range identity {
		count := id.Count
		if count < 0 {
			count = rows
		}
		if id.Generated && count > 0 {
			name := tx.Config().Schema.Fields[id.Column].Name
			last[name], counts[name] = id.Base+(count-1)*id.Step, count
		}
	}
	if len(last) == 0 {
		return nil
	}
	if st.reserved.first == nil {
		st.reserved.counts = counts
		return tx.AdvanceIdentity(last)
	}
	for name, count := range counts {
		if count > st.reserved.counts[name] {
			st.reserved.counts = counts
			return errReserveMore
		}
	}
	return nil
}

// reserve sets identity values aside for the next run of the statement.
func (st *statement) reserve(table *log.Table) error {
	if len(st.reserved.counts) == 0 {
		return nil
	}
	options := st.transactionOptions()
	options.UserMetadata = "" // which tells that the statement is done, and it is not yet
	first, err := txn.ReserveIdentity(st.ctx, table, st.reserved.counts, options)
	if err != nil {
		return err
	}
	st.reserved.first = first
	return nil
}
