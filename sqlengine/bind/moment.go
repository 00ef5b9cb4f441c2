package bind

import (
	"context"

	"deltasql/sqlengine/parse"
)

// Moment works out a time travel clause that stands outside of FROM, as in DESCRIBE t VERSION AS OF 3; nil for no clause.
func Moment(ctx context.Context, clause *parse.AsOf, opts Options) (*AsOf, error) {
	b := &binder{ctx: ctx, opts: opts}
	return b.asOf(clause, place{context: opts.Context})
}
