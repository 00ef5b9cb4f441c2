package scan

import "sync"

// cache keeps what was made of files, which never change, for later scans of any instance. It is bounded by throwing everything
// away: what is used comes back at once, and there is no order to keep. It is safe for concurrent use; values must not be changed.
type cache[K comparable, V any] struct {
	limit   int            // bytes, roughly
	measure func(K, V) int // bytes of an entry, roughly
	mu      sync.Mutex     // guards what follows
	bytes   int
	byKey   map[K]V
}

func newCache[K comparable, V any](limit int, measure func(K, V) int) *cache[K, V] {
	return &cache[K, V]{limit: limit, measure: measure, byKey: map[K]V{}}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.byKey[key]
	return value, ok
}

// put keeps a value, unless it alone would fill a good part of the cache.
func (c *cache[K, V]) put(key K, value V) {
	size := c.measure(key, value)
	if size > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.byKey[key]; known {
		return
	}
	if c.bytes+size > c.limit {
		clear(c.byKey)
		c.bytes = 0
	}
	c.byKey[key] = value
	c.bytes += size
}
