package crash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"deltasql/txn/store"
)

// action is what happens to one call.
type action int

const (
	pass      action = iota
	stop             // the writer is dead from here on: the call never returns, nor does any later one
	stopHalf         // so too, but half of what was to be written is there, under its hidden name
	stopAfter        // so too, but the call is made
	fail             // an error, and nothing is done
	failAfter        // the call is made, and the answer is an error that tells nothing
	lost             // no answer, and nothing is done
	full             // half is written, then there is no space
	twice            // the call is made a second time, as a network repeats a request, and the second answer counts
	slow             // the call takes a while
)

var actionNames = [...]string{"pass", "stop", "stop half-way", "stop after", "fail", "fail after", "lost", "disk full", "twice", "slow"}

func (a action) String() string { return actionNames[a] }

var (
	errDown = errors.New("the storage is out of order")
	errLost = fmt.Errorf("connection reset: %w", store.ErrOutcomeUnknown)
	errFull = errors.New("no space left on device")
)

// plan is what happens to the calls of one run of statements. It travels in their context, so that many runs share an engine.
type plan struct {
	at      int    // the call that is hit, from 1; 0 only counts
	do      action // what happens to it
	reads   bool   // calls that only read count too
	kill    bool   // stopping kills this process
	before  func(op store.Operation, name string)
	mu      sync.Mutex
	calls   []string
	stopped chan struct{}
}

type planKey struct{}

func (p *plan) attach(ctx context.Context) context.Context {
	p.stopped = make(chan struct{})
	return context.WithValue(ctx, planKey{}, p)
}

// next counts a call and tells what happens to it.
func (p *plan) next(op store.Operation, name string, reads bool) action {
	if p == nil {
		return pass
	}
	select {
	case <-p.stopped:
		select {} // dead
	default:
	}
	if p.before != nil {
		p.before(op, name)
	}
	if reads && !p.reads {
		return pass
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, string(op)+" "+name)
	if len(p.calls) == p.at {
		return p.do
	}
	return pass
}

// dead never returns.
func (p *plan) dead() {
	if p.kill {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
		select {}
	}
	close(p.stopped)
	select {}
}

func planOf(ctx context.Context) *plan {
	p, _ := ctx.Value(planKey{}).(*plan)
	return p
}

// points is a store whose calls are hit as the plan in their context says.
type points struct{ inner store.Store }

func newPoints(_ string, inner store.Store) store.Store { return points{inner} }

// around makes a call that may be hit; write is nil for a call that writes no content.
func (s points) around(ctx context.Context, op store.Operation, name string, reads bool, content func() ([]byte, error), call func() error) error {
	p := planOf(ctx)
	hit := p.next(op, name, reads)
	switch hit {
	case stop:
		p.dead()
	case stopHalf, full:
		if content == nil {
			if hit == full {
				return call()
			}
			p.dead()
		}
		data, err := content()
		if err != nil {
			return err
		}
		return s.inner.PutFrom(ctx, name, func(w io.Writer) error {
			if _, err := w.Write(data[:len(data)/2]); err != nil {
				return err
			}
			if hit == stopHalf {
				p.dead()
			}
			return errFull
		})
	case fail:
		return fmt.Errorf("%s %s: %w", op, name, errDown)
	case lost:
		return fmt.Errorf("%s %s: %w", op, name, errLost)
	case slow:
		time.Sleep(5 * time.Millisecond)
	}
	err := call()
	switch hit {
	case stopAfter:
		p.dead()
	case failAfter:
		if err == nil {
			err = fmt.Errorf("%s %s: %w", op, name, errLost)
		}
	case twice:
		err = call()
	}
	return err
}

func (s points) List(ctx context.Context, folder, startAfter string) iter.Seq2[store.FileInfo, error] {
	return func(yield func(store.FileInfo, error) bool) {
		ended := false
		err := s.around(ctx, store.OpList, folder, true, nil, func() error {
			for info, err := range s.inner.List(ctx, folder, startAfter) {
				if ended {
					return nil
				}
				ended = !yield(info, err)
			}
			ended = true // a second time gives nothing
			return nil
		})
		if err != nil && !ended {
			yield(store.FileInfo{}, err)
		}
	}
}

func (s points) Read(ctx context.Context, name string, limit int64) (data []byte, err error) {
	err = s.around(ctx, store.OpRead, name, true, nil, func() error { data, err = s.inner.Read(ctx, name, limit); return err })
	return data, err
}

func (s points) ReadRange(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = s.around(ctx, store.OpReadRange, name, true, nil, func() error { data, err = s.inner.ReadRange(ctx, name, offset, length); return err })
	return data, err
}

func (s points) Stat(ctx context.Context, name string) (info store.FileInfo, err error) {
	err = s.around(ctx, store.OpStat, name, true, nil, func() error { info, err = s.inner.Stat(ctx, name); return err })
	return info, err
}

func (s points) PutIfAbsent(ctx context.Context, name string, data []byte) (store.Outcome, error) {
	outcome := store.NotWritten
	err := s.around(ctx, store.OpPutIfAbsent, name, false, func() ([]byte, error) { return data, nil }, func() (err error) {
		outcome, err = s.inner.PutIfAbsent(ctx, name, data)
		return err
	})
	if errors.Is(err, store.ErrOutcomeUnknown) {
		outcome = store.Unknown
	}
	return outcome, err
}

func (s points) Put(ctx context.Context, name string, data []byte) error {
	return s.around(ctx, store.OpPut, name, false, func() ([]byte, error) { return data, nil }, func() error { return s.inner.Put(ctx, name, data) })
}

func (s points) PutFrom(ctx context.Context, name string, write func(io.Writer) error) error {
	content := func() ([]byte, error) {
		var out bytes.Buffer
		err := write(&out)
		return out.Bytes(), err
	}
	done := false
	return s.around(ctx, store.OpPutFrom, name, false, content, func() error {
		if done { // what is written can be made once
			return nil
		}
		done = true
		return s.inner.PutFrom(ctx, name, write)
	})
}

func (s points) Delete(ctx context.Context, name string) error {
	return s.around(ctx, store.OpDelete, name, false, nil, func() error { return s.inner.Delete(ctx, name) })
}

// Locate counts as a call: it stands for what DuckDB then does at the path.
func (s points) Locate(ctx context.Context, name string) (path string, err error) {
	err = s.around(ctx, store.OpLocate, name, false, nil, func() error { path, err = s.inner.Locate(ctx, name); return err })
	return path, err
}
