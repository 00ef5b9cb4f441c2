package ddl

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// Key is an informational PRIMARY KEY or FOREIGN KEY: stored, shown, and enforced by nobody. It lives in a property of ours,
// deltasql.constraints.<name>, which other engines keep and ignore.
type Key struct {
	Name    string   `json:"-"`
	Kind    string   `json:"kind"` // PRIMARY KEY or FOREIGN KEY
	Columns []string `json:"columns"`
	Table   []string `json:"table,omitempty"`   // FOREIGN KEY: the name of the table it refers to
	Target  []string `json:"targets,omitempty"` // FOREIGN KEY: its columns; empty where none were named
}

// KeyPrefix begins the properties that hold informational keys.
const KeyPrefix = "deltasql.constraints."

// Keys are the informational keys of a table, by name.
func Keys(c *protocol.TableConfig) []Key {
	var keys []Key
	for _, property := range slices.Sorted(maps.Keys(c.Metadata.Configuration)) {
		if name, ok := strings.CutPrefix(property, KeyPrefix); ok {
			if key, ok := readKey(c.Metadata.Configuration[property]); ok {
				key.Name = name
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func readKey(text string) (Key, bool) {
	var key Key
	err := json.Unmarshal([]byte(text), &key)
	return key, err == nil && (key.Kind == "PRIMARY KEY" || key.Kind == "FOREIGN KEY")
}

// AddKey is ADD [CONSTRAINT name] PRIMARY KEY | FOREIGN KEY. A table has one primary key at most.
type AddKey struct{ Key Key }

func (s AddKey) apply(a *alteration) error {
	k := s.Key
	k.Name = strings.ToLower(k.Name)
	for i, name := range k.Columns {
		at := a.schema.Lookup(name)
		if at < 0 {
			return unresolved(Path{name}, &a.schema)
		}
		k.Columns[i] = string(a.schema.Fields[at].Name)
	}
	if k.Kind == "PRIMARY KEY" {
		if property := a.primaryKey(); property != "" {
			return constraintExists("PRIMARY KEY", a.metadata.Configuration[property])
		}
		if k.Name == "" {
			k.Name = "primary"
		}
	}
	for n := 1; k.Name == ""; n++ {
		name := "fk_" + strconv.Itoa(n)
		if _, taken := a.constraints[name]; !taken && a.key(name) == "" {
			k.Name = name
		}
	}
	if old, ok := a.constraints[k.Name]; ok {
		return constraintExists(k.Name, old)
	}
	if property := a.key(k.Name); property != "" {
		return constraintExists(k.Name, a.metadata.Configuration[property])
	}
	a.setProperty(KeyPrefix+k.Name, string(jsonText(k)))
	a.warn("the " + k.Kind + " " + k.Name + " is recorded and not enforced")
	return nil
}

// DropPrimaryKey is DROP PRIMARY KEY.
type DropPrimaryKey struct{ IfExists bool }

func (s DropPrimaryKey) apply(a *alteration) error {
	property := a.primaryKey()
	if property == "" {
		if s.IfExists {
			a.warn("there is no primary key")
			return nil
		}
		return protocol.NewError("DELTA_CONSTRAINT_DOES_NOT_EXIST", "there is no primary key")
	}
	a.dropKey(property)
	return nil
}

// setProperty is a change that history shows as SET TBLPROPERTIES.
func (a *alteration) setProperty(name, value string) {
	a.metadata.Configuration[name] = value
	a.record(entry{operation: "SET TBLPROPERTIES", items: []json.RawMessage{member(name, value)}})
}

// member is `"name":"value"`.
func member(name, value string) json.RawMessage {
	return append(append(jsonText(name), ':'), jsonText(value)...)
}

func (a *alteration) dropKey(property string) {
	delete(a.metadata.Configuration, property)
	a.record(entry{operation: "UNSET TBLPROPERTIES", items: []json.RawMessage{jsonText(property)},
		parameters: []protocol.Parameter{{Key: "ifExists", Value: jsonText(true)}}})
}

// key is the property of the informational key with the name; "" for none.
func (a *alteration) key(name string) string {
	for property := range a.metadata.Configuration {
		if rest, ok := strings.CutPrefix(property, KeyPrefix); ok && strings.EqualFold(rest, name) {
			return property
		}
	}
	return ""
}

func (a *alteration) primaryKey() string {
	for property, text := range a.metadata.Configuration {
		if key, ok := readKey(text); ok && strings.HasPrefix(property, KeyPrefix) && key.Kind == "PRIMARY KEY" {
			return property
		}
	}
	return ""
}

// keysOf refuses a change of a column that a key has.
func (a *alteration) keysOf(path Path) error {
	if len(path) > 1 {
		return nil
	}
	for _, property := range slices.Sorted(maps.Keys(a.metadata.Configuration)) {
		if !strings.HasPrefix(property, KeyPrefix) {
			continue
		}
		key, ok := readKey(a.metadata.Configuration[property])
		if ok && slices.ContainsFunc(key.Columns, func(c string) bool { return strings.EqualFold(c, path[0]) }) {
			return protocol.NewError("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE", "the column %s cannot be changed: the %s %s has it", path, key.Kind, strings.TrimPrefix(property, KeyPrefix)).
				WithHint("drop the key first")
		}
	}
	return nil
}
