package duck

import (
	"context"
	"errors"
	"fmt"
	"io"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// Stream is a running statement. It is not safe for concurrent use. Close it always.
//
// Results are pulled: DuckDB works ahead by its own buffer of about a megabyte and then waits. The calls for that are
// marked deprecated in DuckDB's C API without a successor, so the path that builds the result first is kept behind
// Config.Materialise and runs the same tests.
type Stream struct {
	in      *Instance
	ctx     context.Context
	conn    *connection // nil once given back
	result  bindings.Result
	columns []Column
	batch   Batch
	chunk   bindings.DataChunk
	err     error // why the stream ended; io.EOF after the last batch
}

// Query prepares a statement, binds the arguments to $1, $2, ... (or ?) and starts it. The context governs the whole
// life of the stream: when it ends, a call in progress returns the context's error soon after.
//
// Arguments: nil, bool, int, int64, float64, string, []byte, []string and []int64 (lists).
func (in *Instance) Query(ctx context.Context, sql string, args ...any) (*Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := in.acquire()
	if err != nil {
		return nil, err
	}
	s := &Stream{in: in, ctx: ctx, conn: conn}
	if err := s.start(sql, args); err != nil {
		s.fail(err)
		return nil, s.err
	}
	return s, nil
}

// Exec runs a statement to its end and drops its rows.
func (in *Instance) Exec(ctx context.Context, sql string, args ...any) error {
	s, err := in.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		if _, err := s.Next(ctx); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func (s *Stream) start(sql string, args []any) error {
	stop := s.conn.watch(s.ctx)
	defer stop()
	err := s.execute(sql, args)
	again, macroError := s.conn.defineMacros(s.in.cfg.Macros, sql, err)
	switch {
	case macroError != nil:
		return macroError
	case again:
		return s.execute(sql, args)
	}
	return err
}

// execute prepares and starts the statement. DuckDB binds a statement with parameters only when it starts.
func (s *Stream) execute(sql string, args []any) error {
	var statement bindings.PreparedStatement
	state := bindings.Prepare(s.conn.handle, sql, &statement)
	defer bindings.DestroyPrepare(&statement)
	if state != bindings.StateSuccess {
		return newError(bindings.PrepareError(statement))
	}
	if n := int(bindings.NParams(statement)); n != len(args) {
		return fmt.Errorf("the statement has %d parameters and was given %d arguments", n, len(args))
	}
	for i, arg := range args {
		if err := bindArgument(statement, bindings.IdxT(i+1), arg); err != nil {
			return err
		}
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	var pending bindings.PendingResult
	if s.in.cfg.Materialise {
		state = bindings.PendingPrepared(statement, &pending)
	} else {
		state = bindings.PendingPreparedStreaming(statement, &pending)
	}
	defer bindings.DestroyPending(&pending)
	if state != bindings.StateSuccess {
		return newError(bindings.PendingError(pending))
	}
	if bindings.ExecutePending(pending, &s.result) != bindings.StateSuccess {
		err := newError(bindings.ResultError(&s.result))
		bindings.DestroyResult(&s.result) // start may try once more
		s.result = bindings.Result{}
		return err
	}
	s.describe()
	return nil
}

func (s *Stream) describe() {
	count := int(bindings.ColumnCount(&s.result))
	s.columns = make([]Column, count)
	types := make([]Type, count)
	for i := range s.columns {
		at := bindings.IdxT(i)
		types[i] = typeOf(bindings.ColumnLogicalType(&s.result, at), 0)
		s.columns[i] = Column{Name: bindings.ColumnName(&s.result, at), Type: types[i]}
	}
	s.batch.vectors = newVectors(types)
}

// Columns are known as soon as Query has returned.
func (s *Stream) Columns() []Column { return s.columns }

// Next gives the next batch, valid until the next call of Next or Close, or io.EOF after the last one.
func (s *Stream) Next(ctx context.Context) (*Batch, error) {
	if s.err != nil {
		return nil, s.err
	}
	if err := s.fetch(ctx); err != nil {
		s.fail(err)
		return nil, s.err
	}
	if s.chunk.Ptr == nil {
		s.finish(io.EOF, true)
		return nil, s.err
	}
	for i := range s.batch.vectors {
		s.batch.vectors[i].load(bindings.DataChunkGetVector(s.chunk, bindings.IdxT(i)))
	}
	return &s.batch, nil
}

// fetch gets the next chunk that has rows, or none at the end.
func (s *Stream) fetch(ctx context.Context) error {
	defer s.conn.watch(s.ctx)()
	if ctx != s.ctx {
		defer s.conn.watch(ctx)()
	}
	for {
		bindings.DestroyDataChunk(&s.chunk)
		s.chunk = bindings.FetchChunk(s.result)
		if s.chunk.Ptr == nil {
			if text := bindings.ResultError(&s.result); text != "" {
				return cancelled(newError(text), s.ctx, ctx)
			}
			return nil
		}
		if s.batch.length = int(bindings.DataChunkGetSize(s.chunk)); s.batch.length > 0 {
			return nil
		}
	}
}

// cancelled turns an interrupt that a context caused into that context's error.
func cancelled(e *Error, contexts ...context.Context) error {
	if e.Kind != ErrorInterrupt {
		return e
	}
	for _, c := range contexts {
		if c.Err() != nil {
			return context.Cause(c)
		}
	}
	return e
}

// fail ends the stream on an error; one that says that DuckDB itself is broken costs the database.
func (s *Stream) fail(err error) {
	var e *Error
	if errors.As(err, &e) {
		if e.poisons() {
			s.in.retire(s.conn.db)
		}
		if e.Kind == ErrorInterrupt {
			err = cancelled(e, s.ctx)
		}
	}
	s.finish(err, false)
}

// finish gives the connection back, with nothing left on it.
func (s *Stream) finish(err error, clean bool) {
	if s.err == nil {
		s.err = err
	}
	if s.conn == nil {
		return
	}
	bindings.DestroyDataChunk(&s.chunk)
	bindings.DestroyResult(&s.result)
	s.in.release(s.conn, clean)
	s.conn = nil
}

// errStreamClosed is what Next answers after Close.
var errStreamClosed = errors.New("the stream is closed")

// Close ends the statement, early or not. It may be called more than once.
func (s *Stream) Close() error {
	s.finish(errStreamClosed, false)
	return nil
}

// bindArgument hands one argument to DuckDB.
func bindArgument(statement bindings.PreparedStatement, at bindings.IdxT, arg any) error {
	state := bindings.StateSuccess
	switch arg := arg.(type) {
	case nil:
		state = bindings.BindNull(statement, at)
	case bool:
		state = bindings.BindBoolean(statement, at, arg)
	case int:
		state = bindings.BindInt64(statement, at, int64(arg))
	case int64:
		state = bindings.BindInt64(statement, at, arg)
	case float64:
		state = bindings.BindDouble(statement, at, arg)
	case string:
		state = bindings.BindVarchar(statement, at, arg)
	case []byte:
		state = bindings.BindBlob(statement, at, arg)
	case []string:
		state = bindList(statement, at, bindings.TypeVarchar, len(arg), func(i int) bindings.Value {
			return bindings.CreateVarchar(arg[i])
		})
	case []int64:
		state = bindList(statement, at, bindings.TypeBigInt, len(arg), func(i int) bindings.Value {
			return bindings.CreateInt64(arg[i])
		})
	default:
		return fmt.Errorf("argument %d: a %T cannot be bound", at, arg)
	}
	if state != bindings.StateSuccess {
		return fmt.Errorf("argument %d: DuckDB refused to bind a %T", at, arg)
	}
	return nil
}

func bindList(
	statement bindings.PreparedStatement, at bindings.IdxT, element bindings.Type, n int, value func(i int) bindings.Value,
) bindings.State {
	elementType := bindings.CreateLogicalType(element)
	defer bindings.DestroyLogicalType(&elementType)
	values := make([]bindings.Value, n)
	for i := range values {
		values[i] = value(i)
	}
	list := bindings.CreateListValue(elementType, values)
	defer bindings.DestroyValue(&list)
	for i := range values {
		bindings.DestroyValue(&values[i])
	}
	return bindings.BindValue(statement, at, list)
}
