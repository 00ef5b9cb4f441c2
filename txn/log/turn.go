package log

import "context"

// Turn waits until no other commit of this process is being made to the table, and gives the function that ends the turn;
// nil if over is closed first, where it is not nil. Writers of one process would only take versions from each other, and each loss costs a write that a disk has synced.
// Nothing depends on turns: writers of other processes know nothing of them.
func (t *Table) Turn(ctx context.Context, over <-chan struct{}) (end func(), err error) {
	select {
	case t.turn <- struct{}{}:
		return func() { <-t.turn }, nil
	case <-over:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Known is the newest snapshot that has been seen, nil for none. It looks at nothing but memory.
func (t *Table) Known(ctx context.Context) *Snapshot {
	if t.acquire(ctx) != nil {
		return nil
	}
	defer t.release()
	return t.newest
}
