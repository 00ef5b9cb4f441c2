package protocol

import (
	"strconv"
	"strings"
)

// Leaf is a column, or a member of a column reached through structs only: what file statistics have one entry for.
// Arrays, maps and variants are leaves as a whole; a file value has one leaf for each of its public members.
type Leaf struct {
	Column   int // index into the schema's fields
	Logical  []LogicalName
	Physical []PhysicalName
	Type     DataType
}

// Leaves are the leaves of all columns but the partition columns, in schema order.
func (c *TableConfig) Leaves() []Leaf {
	var out []Leaf
	for i := range c.Schema.Fields {
		if !c.IsPartitionColumn(i) {
			out = c.appendLeaves(out, i, nil, nil, &c.Schema.Fields[i], c.Mapping)
		}
	}
	return out
}

func (c *TableConfig) appendLeaves(out []Leaf, column int, logical []LogicalName, physical []PhysicalName, f *Field, mode MappingMode) []Leaf {
	logical = append(logical[:len(logical):len(logical)], f.Name)
	physical = append(physical[:len(physical):len(physical)], f.PhysicalName(mode))
	children := f.Type.Fields
	switch f.Type.Kind {
	case KindFile:
		children, mode = fileLeaves, MappingNone
	case KindStruct:
	default:
		return append(out, Leaf{Column: column, Logical: logical, Physical: physical, Type: f.Type})
	}
	for i := range children {
		out = c.appendLeaves(out, column, logical, physical, &children[i], mode)
	}
	return out
}

// StatisticsLeaves are the leaves whose statistics count (protocol digest, "Statistics JSON"): those below the columns of
// delta.dataSkippingStatsColumns if it is set, else the first delta.dataSkippingNumIndexedCols, where -1 is all of them.
// Names that are not in the schema, and partition columns, choose nothing.
func (c *TableConfig) StatisticsLeaves() ([]Leaf, error) {
	leaves := c.Leaves()
	if list, ok := c.LookupProperty("delta.dataSkippingStatsColumns"); ok {
		paths, err := ParseColumnPaths(list)
		if err != nil {
			return nil, err
		}
		var out []Leaf
		for _, leaf := range leaves {
			for _, path := range paths {
				if startsWith(leaf.Logical, path) {
					out = append(out, leaf)
					break
				}
			}
		}
		return out, nil
	}
	n, _, err := c.IntProperty("delta.dataSkippingNumIndexedCols")
	if err != nil {
		return nil, err
	}
	if n < -1 {
		return nil, badProperty("delta.dataSkippingNumIndexedCols", strconv.FormatInt(n, 10), "-1 or more")
	}
	if n >= 0 && n < int64(len(leaves)) {
		leaves = leaves[:n]
	}
	return leaves, nil
}

func startsWith(logical []LogicalName, path []string) bool {
	if len(path) > len(logical) {
		return false
	}
	for i, name := range path {
		if !strings.EqualFold(string(logical[i]), name) {
			return false
		}
	}
	return true
}

// ParseColumnPaths reads a list of columns: names separated by commas, members by points, odd names in backticks
// ("a, s.b, `odd.name`", a doubled backtick standing for one).
func ParseColumnPaths(text string) ([][]string, error) {
	var paths [][]string
	var path []string
	bad := func() ([][]string, error) {
		return nil, NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "%q is not a list of columns", shorten(text))
	}
	for i := 0; ; {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n') {
			i++
		}
		var name strings.Builder
		quoted := i < len(text) && text[i] == '`'
		if quoted {
			closed := false
			for i++; i < len(text); i++ {
				if text[i] == '`' {
					i++
					if i >= len(text) || text[i] != '`' {
						closed = true
						break
					}
				}
				name.WriteByte(text[i])
			}
			if !closed {
				return bad()
			}
			for i < len(text) && text[i] == ' ' {
				i++
			}
			if i < len(text) && text[i] != ',' && text[i] != '.' {
				return bad()
			}
		} else {
			start := i
			for i < len(text) && text[i] != ',' && text[i] != '.' {
				i++
			}
			name.WriteString(strings.TrimSpace(text[start:i]))
		}
		if name.Len() == 0 {
			if len(paths) == 0 && path == nil && i >= len(text) {
				return nil, nil // an empty list
			}
			return bad()
		}
		path = append(path, name.String())
		if i >= len(text) {
			return append(paths, path), nil
		}
		if text[i] == ',' {
			paths, path = append(paths, path), nil
		}
		i++
	}
}
