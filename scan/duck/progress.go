package duck

import (
	"context"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// progressEvery is how often a statement's progress is told.
const progressEvery = 200 * time.Millisecond

type progressKey struct{}

// WithProgress makes statements under the context tell how far they are: a fraction between 0 and 1, from another goroutine, a few
// times a second, and only while DuckDB has an estimate. It needs Config.Progress.
func WithProgress(ctx context.Context, report func(fraction float64)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// tellProgress reports until stop is called; after stop has returned it uses the connection no more.
func (c *connection) tellProgress(ctx context.Context) (stop func()) {
	report, ok := ctx.Value(progressKey{}).(func(float64))
	if !ok {
		return func() {}
	}
	over, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
			}
			progress := bindings.QueryProgress(c.handle)
			if percentage, _, _ := bindings.QueryProgressTypeMembers(&progress); percentage >= 0 {
				report(min(percentage/100, 1))
			}
		}
	}()
	return func() {
		close(over)
		<-finished
	}
}
