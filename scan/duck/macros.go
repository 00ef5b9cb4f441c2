package duck

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// macroState says whether a database has the macros of Config.Macros. They are defined when a statement first misses a function:
// most statements need none, and defining them all takes longer than answering a small one.
type macroState struct {
	mu      sync.Mutex
	defined bool
}

// defineMacros answers an error of starting a statement: true means that the macros are defined now and the statement is
// to be tried once more.
func (c *connection) defineMacros(macros []string, err error) (bool, error) {
	var cause *Error
	if len(macros) == 0 || !errors.As(err, &cause) || cause.Kind != ErrorCatalog || !strings.Contains(cause.Message, "does not exist") {
		return false, nil
	}
	state := &c.db.macros
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.defined {
		return true, nil // perhaps by another statement since this one was prepared
	}
	if err := c.run(strings.Join(macros, ";\n")); err != nil {
		return false, fmt.Errorf("define macros: %w", err)
	}
	state.defined = true
	return true, nil
}
