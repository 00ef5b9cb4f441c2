package scan

import (
	"context"
	"sync"
	"sync/atomic"
)

// inParallel reads n things, a few at a time. The first error ends it, and so does the context, with its cause.
func inParallel(ctx context.Context, readers, n int, read func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(readers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := read(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
