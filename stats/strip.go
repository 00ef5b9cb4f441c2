package stats

import (
	"encoding/json"
	"maps"
	"slices"
)

// statsOrder is the order in which the reference writes the members of a file's statistics.
var statsOrder = []string{"numRecords", "minValues", "maxValues", "nullCount", "tightBounds"}

// WithoutMember is a file's statistics JSON without one of its members, such as statsWithCollation; the others stay as written.
func WithoutMember(text, name string) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return "", err
	}
	if _, there := members[name]; !there {
		return text, nil
	}
	delete(members, name)
	var out []byte
	put := func(key string) {
		if value, ok := members[key]; ok {
			separator := byte(',')
			if out == nil {
				separator = '{'
			}
			quoted, _ := json.Marshal(key)
			out = append(append(append(append(out, separator), quoted...), ':'), value...)
			delete(members, key)
		}
	}
	for _, key := range statsOrder {
		put(key)
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		put(key)
	}
	if out == nil {
		return "{}", nil
	}
	return string(append(out, '}')), nil
}
