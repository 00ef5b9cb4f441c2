package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
)

// progressDelay is how long a statement may run before its progress is shown.
const progressDelay = 700 * time.Millisecond

// fraction is how far the running statement is, as the session last said; below 0 where it is not known.
type fraction struct{ bits atomic.Uint64 }

func (f *fraction) set(value float64) { f.bits.Store(math.Float64bits(value)) }

func (f *fraction) get() float64 { return math.Float64frombits(f.bits.Load()) }

// progress draws a bar on standard error while a statement runs.
type progress struct {
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// startProgress begins to watch a statement; Stop ends it and wipes the bar.
func startProgress(far *fraction) *progress {
	far.set(-1)
	p := &progress{stop: make(chan struct{})}
	if !isatty.IsTerminal(os.Stderr.Fd()) {
		return p
	}
	p.done.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		begin, shown := time.Now(), false
		for {
			select {
			case <-p.stop:
				if shown {
					fmt.Fprint(os.Stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				elapsed := time.Since(begin)
				if elapsed < progressDelay {
					continue
				}
				shown = true
				fmt.Fprintf(os.Stderr, "\r\x1b[K%s", progressLine(far.get(), elapsed))
			}
		}
	})
	return p
}

// Stop may be called more than once.
func (p *progress) Stop() {
	p.once.Do(func() { close(p.stop) })
	p.done.Wait()
}

// progressLine is a bar of 30 cells with the percentage, or only the time where the fraction (below 0) is not known.
func progressLine(fraction float64, elapsed time.Duration) string {
	seconds := elapsed.Truncate(100 * time.Millisecond)
	if fraction < 0 {
		return fmt.Sprintf("running %s (Ctrl-C cancels)", seconds)
	}
	const cells = 30
	full := int(min(fraction, 1) * cells)
	return fmt.Sprintf("%s%s %3.0f %% %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), fraction*100, seconds)
}
