package sqlengine

import (
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// selectInsertion binds the query of CREATE TABLE AS SELECT: names, types and comments come from it, and every column may be NULL.
func (st *statement) selectInsertion(s *parse.CreateTable) (*insertion, error) {
	bound, err := bind.Query(st.ctx, s.Query, st.bindOptions())
	if err != nil {
		return nil, err
	}
	schema := protocol.DataType{Kind: protocol.KindStruct}
	for i, c := range bound.Columns {
		field := protocol.Field{Name: protocol.LogicalName(c.Name), Type: c.Type.AsNullable(), Nullable: true}
		if comment, ok := commentOf(bound, i); ok {
			field.Metadata = field.Metadata.WithComment(comment)
		}
		schema.Fields = append(schema.Fields, field)
	}
	return &insertion{query: bound, schema: schema}, nil
}

// commentOf is the comment of the table's column that column i of a query is, unchanged.
func commentOf(q *expr.Query, i int) (string, bool) {
	for {
		switch body := q.Body.(type) {
		case *expr.Query:
			q = body
			continue
		case *expr.Select:
			column, ok := body.Items[i].(*expr.Column)
			if !ok {
				return "", false
			}
			switch r := column.Relation; {
			case r.Kind == expr.RelQuery:
				q, i = r.Query, column.Index
				continue
			case r.Kind == expr.RelScan:
				source, ok := r.Scan.Source.(*tableSource)
				if !ok || column.Index >= len(source.snapshot.Config().Schema.Fields) {
					return "", false
				}
				return source.snapshot.Config().Schema.Fields[column.Index].Metadata.Comment()
			}
		}
		return "", false
	}
}
