package log

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// Readers use old snapshots and ask for new ones while commits arrive; run with the race detector to see L3 kept.
func TestConcurrentReaders(t *testing.T) {
	dir := newLog(t, "-- 0.json --\ntable\nadd f0\n")
	table := dir.open()
	const versions = 40
	done := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			var kept []*Snapshot
			for {
				snapshot, err := table.Snapshot(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				kept = append(kept, snapshot)
				for _, s := range kept[max(0, len(kept)-5):] {
					if n := s.Files().Len(); n != int(s.Version()/2+1) {
						t.Errorf("version %d has %d files", s.Version(), n)
						return
					}
					for i := range s.Files().Len() {
						_ = s.Files().Add(i)
					}
				}
				if old, err := table.SnapshotAt(context.Background(), snapshot.Version()/2); err != nil || old.Version() != snapshot.Version()/2 {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for version := 1; version < versions; version++ {
		// Odd versions replace a file, even ones add one.
		action := fmt.Sprintf("add f%d\n", version)
		if version%2 == 1 {
			action = fmt.Sprintf("remove f%d\nadd f%d\n", version-1, version)
			if version > 1 {
				action = fmt.Sprintf("add f%d v%d\nremove f%d\n", version-1, version, version-1)
			}
		}
		dir.write(fmt.Sprintf("-- %d.json --\n%s", version, action))
	}
	close(done)
	group.Wait()
}
