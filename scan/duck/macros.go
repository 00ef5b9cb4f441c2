package duck

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// macroState says which macros of Config.Macros a database has. They are defined when a statement first misses a function, and
// only those that the statement needs: most need none, and defining all takes longer than answering a small statement.
type macroState struct {
	mu      sync.Mutex
	defined map[string]bool
}

var (
	macroName = regexp.MustCompile(`(?i)^\s*CREATE\s+(?:OR\s+REPLACE\s+)?MACRO\s+(\w+)\s*\(`)
	callName  = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\(`)
)

// defineMacros answers an error of starting a statement: true means that the macros which the statement calls, directly or through
// others, are defined now and it is to be tried once more.
func (c *connection) defineMacros(macros []string, sql string, err error) (bool, error) {
	var cause *Error
	if len(macros) == 0 || !errors.As(err, &cause) || cause.Kind != ErrorCatalog || !strings.Contains(cause.Message, "does not exist") {
		return false, nil
	}
	needed := neededMacros(macros, sql)
	if len(needed) == 0 {
		return false, nil
	}
	state := &c.db.macros
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.defined == nil {
		state.defined = map[string]bool{}
	}
	for _, macro := range needed {
		name := macroName.FindStringSubmatch(macro)[1]
		if state.defined[name] {
			continue
		}
		if err := c.run(macro); err != nil {
			return false, fmt.Errorf("define the macro %s: %w", name, err)
		}
		state.defined[name] = true
	}
	return true, nil
}

// neededMacros are the macros that a text calls and those that they call, in the order of the list, in which a macro comes after
// those that it uses.
func neededMacros(macros []string, sql string) []string {
	byName := make(map[string]string, len(macros))
	for _, macro := range macros {
		if m := macroName.FindStringSubmatch(macro); m != nil {
			byName[strings.ToLower(m[1])] = macro
		}
	}
	needed := map[string]bool{}
	var visit func(text string)
	visit = func(text string) {
		for _, call := range callName.FindAllStringSubmatch(text, -1) {
			if macro, ok := byName[strings.ToLower(call[1])]; ok && !needed[macro] {
				needed[macro] = true
				visit(macro)
			}
		}
	}
	visit(sql)
	var list []string
	for _, macro := range macros {
		if needed[macro] {
			list = append(list, macro)
		}
	}
	return list
}
