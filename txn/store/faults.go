package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// Operation names a call of Store, for Faults.
type Operation string

// The operations.
const (
	OpList        Operation = "list"
	OpRead        Operation = "read"
	OpReadRange   Operation = "read-range"
	OpStat        Operation = "stat"
	OpPutIfAbsent Operation = "put-if-absent"
	OpPut         Operation = "put"
	OpPutFrom     Operation = "put-from"
	OpDelete      Operation = "delete"
	OpLocate      Operation = "locate"
	OpAny         Operation = "" // counts every call
)

// ErrCrashed is what every call on a crashed store returns.
var ErrCrashed = errors.New("the store has crashed")

// Fault is what happens to one call.
type Fault struct {
	Op    Operation     // the calls that are counted
	Nth   int           // the call that is hit, from 1; 0 hits every call
	Delay time.Duration // waited for first (or until the context ends)
	Err   error         // returned instead of the call; nil lets the call through
	After bool          // the call is made, then Err is returned: a write whose answer is lost
	Crash bool          // from this call on nothing works; with After, from the next one
}

// Faults wraps a store, counts and records its calls, and lets chosen ones fail.
type Faults struct {
	inner   Store
	mu      sync.Mutex
	faults  []Fault
	counts  map[Operation]int
	calls   []string
	crashed bool
}

// NewFaults wraps a store.
func NewFaults(inner Store, faults ...Fault) *Faults {
	return &Faults{inner: inner, faults: faults, counts: map[Operation]int{}}
}

// Calls gives what was called so far, "operation name" each, and forgets it. Counts go on.
func (f *Faults) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// Count is the number of calls of an operation so far.
func (f *Faults) Count(op Operation) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// before counts the call and finds its fault.
func (f *Faults) before(ctx context.Context, op Operation, name string) (Fault, error) {
	f.mu.Lock()
	f.counts[op]++
	f.counts[OpAny]++
	f.calls = append(f.calls, string(op)+" "+name)
	if f.crashed {
		f.mu.Unlock()
		return Fault{}, fmt.Errorf("%s %s: %w", op, name, ErrCrashed)
	}
	var hit Fault
	for _, fault := range f.faults {
		if (fault.Op == op || fault.Op == OpAny) && (fault.Nth == 0 || fault.Nth == f.counts[fault.Op]) {
			hit = fault
			break
		}
	}
	if hit.Crash {
		f.crashed = true
		if hit.Err == nil {
			hit.Err = ErrCrashed
		}
	}
	f.mu.Unlock()
	if hit.Delay > 0 {
		timer := time.NewTimer(hit.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return Fault{}, ctx.Err()
		}
	}
	if hit.Err != nil && !hit.After {
		return Fault{}, fmt.Errorf("%s %s: %w", op, name, hit.Err)
	}
	return hit, nil
}

// after replaces the result of a call that was made.
func (fault Fault) after(op Operation, name string, err error) error {
	if fault.Err != nil && err == nil {
		return fmt.Errorf("%s %s: %w", op, name, fault.Err)
	}
	return err
}

// List implements Store.
func (f *Faults) List(ctx context.Context, folder, startAfter string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		fault, err := f.before(ctx, OpList, folder)
		if err != nil {
			yield(FileInfo{}, err)
			return
		}
		for info, err := range f.inner.List(ctx, folder, startAfter) {
			if !yield(info, err) {
				return
			}
		}
		if err := fault.after(OpList, folder, nil); err != nil {
			yield(FileInfo{}, err)
		}
	}
}

// Read implements Store.
func (f *Faults) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	fault, err := f.before(ctx, OpRead, name)
	if err != nil {
		return nil, err
	}
	data, err := f.inner.Read(ctx, name, limit)
	return data, fault.after(OpRead, name, err)
}

// ReadRange implements Store.
func (f *Faults) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	fault, err := f.before(ctx, OpReadRange, name)
	if err != nil {
		return nil, err
	}
	data, err := f.inner.ReadRange(ctx, name, offset, length)
	return data, fault.after(OpReadRange, name, err)
}

// Stat implements Store.
func (f *Faults) Stat(ctx context.Context, name string) (FileInfo, error) {
	fault, err := f.before(ctx, OpStat, name)
	if err != nil {
		return FileInfo{}, err
	}
	info, err := f.inner.Stat(ctx, name)
	return info, fault.after(OpStat, name, err)
}

// PutIfAbsent implements Store. A fault whose error wraps ErrOutcomeUnknown gives Unknown, and so does one after the write.
func (f *Faults) PutIfAbsent(ctx context.Context, name string, data []byte) (Outcome, error) {
	fault, err := f.before(ctx, OpPutIfAbsent, name)
	if err != nil {
		if errors.Is(err, ErrOutcomeUnknown) {
			return Unknown, err
		}
		return NotWritten, err
	}
	outcome, err := f.inner.PutIfAbsent(ctx, name, data)
	if err == nil && fault.Err != nil { // written, and the answer is lost (O1)
		return Unknown, fmt.Errorf("%w: %w", ErrOutcomeUnknown, fault.after(OpPutIfAbsent, name, nil))
	}
	return outcome, err
}

// Put implements Store.
func (f *Faults) Put(ctx context.Context, name string, data []byte) error {
	fault, err := f.before(ctx, OpPut, name)
	if err != nil {
		return err
	}
	return fault.after(OpPut, name, f.inner.Put(ctx, name, data))
}

// PutFrom implements Store.
func (f *Faults) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	fault, err := f.before(ctx, OpPutFrom, name)
	if err != nil {
		return err
	}
	return fault.after(OpPutFrom, name, f.inner.PutFrom(ctx, name, write))
}

// Delete implements Store.
func (f *Faults) Delete(ctx context.Context, name string) error {
	fault, err := f.before(ctx, OpDelete, name)
	if err != nil {
		return err
	}
	return fault.after(OpDelete, name, f.inner.Delete(ctx, name))
}

// Locate implements Store.
func (f *Faults) Locate(ctx context.Context, name string) (string, error) {
	fault, err := f.before(ctx, OpLocate, name)
	if err != nil {
		return "", err
	}
	path, err := f.inner.Locate(ctx, name)
	return path, fault.after(OpLocate, name, err)
}
