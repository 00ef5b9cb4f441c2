package sqlengine

import (
	"context"
	"errors"
	"io"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// ColumnInfo describes a result column. Type is the Delta type; a variant, alone or inside a nested type, arrives in the
// batches as VARCHAR holding its JSON text.
type ColumnInfo struct {
	Name     string
	Type     protocol.DataType
	Nullable bool
	JSON     bool // text that is a JSON document
	Digits   int  // of a time: how many digits of its fraction are always shown, 6 for what is stored
}

// Warning is something a statement ignored or bent, with MySQL's number for it.
type Warning struct {
	Code    int
	Message string
}

// Result is what a statement gave. Close it always; it is not safe for concurrent use.
type Result struct {
	Columns  []ColumnInfo // nil: the statement has no result set, and Next answers io.EOF
	Affected int64        // rows changed, for a statement without a result set
	Warnings []Warning    // with those that come up while rows are computed once the result has ended
	// Found is Affected with the rows that an UPDATE, or ON DUPLICATE KEY UPDATE, found and left as they were; MySQL clients may ask for
	// this one. 0 for statements that have but one count.
	Found int64
	// LastInsertID is the first identity value that the statement has generated, 0 for none.
	LastInsertID int64
	Info         string // what MySQL says of the statement in words; empty for most

	next    func(ctx context.Context) (*duck.Batch, error)
	release []func() // run once, last added first
	failed  error

	onFailure func(error) // told of an error that ends the result; nil for nobody
}

// Next is the next batch of rows, valid until the call after it. At the end it is nil and io.EOF; any other error is a
// *protocol.Error and ends the result.
func (r *Result) Next(ctx context.Context) (batch *duck.Batch, err error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.next == nil {
		return nil, io.EOF
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = recovered(fault)
		}
		if err != nil {
			batch, r.failed = nil, err
			if r.onFailure != nil && !errors.Is(err, io.EOF) {
				r.onFailure(err)
			}
			r.Close()
		}
	}()
	return r.next(ctx)
}

// Close ends the statement, also before its last row, and frees what it held.
func (r *Result) Close() error {
	r.next = nil
	if r.failed == nil {
		r.failed = io.EOF
	}
	for i := len(r.release) - 1; i >= 0; i-- {
		r.release[i]()
	}
	r.release = nil
	return nil
}

// onClose adds something to run when the result is closed.
func (r *Result) onClose(f func()) { r.release = append(r.release, f) }
