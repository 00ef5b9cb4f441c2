package protocol

import (
	"math"
	"testing"
)

func TestIdentityMarks(t *testing.T) {
	mark := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		start, step int64
		was         *int64
		value       int64
		want        int64
		moved, bad  bool
	}{
		{1, 1, nil, 7, 7, true, false},
		{1, 5, nil, 2, 6, true, false},
		{1, 5, nil, 6, 6, true, false},
		{1, 5, mark(11), 6, 0, false, false},
		{100, 10, nil, 90, 0, false, false},
		{0, -3, nil, -4, -6, true, false},
		{0, -3, mark(-6), -4, 0, false, false},
		{0, -3, nil, 5, 0, false, false},
		{math.MinInt64, 7, nil, math.MaxInt64 - 5, math.MaxInt64 - 1, true, false},
		{1, 10, nil, math.MaxInt64, 0, false, true},
		{math.MaxInt64, math.MinInt64, nil, 0, -1, true, false},
		{-1, math.MinInt64, nil, -2, 0, false, true},
	} {
		got, moved, err := Identity{Start: c.start, Step: c.step, HighWaterMark: c.was}.MarkAfter(c.value)
		if moved != c.moved || moved && got != c.want || (err != nil) != c.bad {
			t.Errorf("%+v: %d %v %v", c, got, moved, err)
		}
	}
}
