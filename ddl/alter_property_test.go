package ddl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deltasql/protocol"
)

// alterModel is a table under random statements, with what must never be given twice.
type alterModel struct {
	state    DropState
	deps     Dependencies
	names    int            // makes names
	physical map[string]int // every full physical path that was ever there, with the id it had
	changes  map[int]int    // length of the record of type changes by column id
	ids      map[int]bool   // every id that was ever there
	dropped  map[int]bool   // ids of columns that went
	last     int            // the largest id ever
	env      Env
}

func newModel(t *rapid.T) *alterModel {
	n := 0
	m := &alterModel{physical: map[string]int{}, ids: map[int]bool{}, dropped: map[int]bool{}, changes: map[int]int{},
		env: Env{NowMillis: 1, NewID: func() string { n++; return fmt.Sprintf("u%d", n) }}}
	schema, err := protocol.ParseDataType("struct<a:int,b:struct<c:int,d:string>,e:array<struct<f:smallint,g:int>>,h:map<int,struct<i:date,j:int>>,k:decimal(5,2)>")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Create(CreateSpec{Schema: schema, Properties: props{"delta.enableTypeWidening": "true", "delta.columnMapping.mode": rapid.SampledFrom([]string{"name", "id"}).Draw(t, "mode")}}, m.env)
	if err != nil {
		t.Fatal(err)
	}
	config, err := protocol.NewTableConfig(*c.Protocol, *c.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	m.state = DropState{State: State{Config: config, Domains: map[string]protocol.DomainMetadata{}, NumFiles: 1}}
	m.check(t)
	return m
}

// places are all paths of the schema: fields, elements, keys and values.
func (m *alterModel) places() []Path {
	var out []Path
	var below func(p Path, t *protocol.DataType)
	below = func(p Path, t *protocol.DataType) {
		step := func(name string, child *protocol.DataType) {
			next := append(slices.Clone(p), name)
			out = append(out, next)
			below(next, child)
		}
		switch t.Kind {
		case protocol.KindStruct:
			for i := range t.Fields {
				step(string(t.Fields[i].Name), &t.Fields[i].Type)
			}
		case protocol.KindArray:
			step("element", t.Element)
		case protocol.KindMap:
			step("key", t.Key)
			step("value", t.Value)
		}
	}
	below(nil, &m.state.Config.Schema)
	return out
}

func (m *alterModel) alter(t *rapid.T, actions ...Action) {
	before := m.state.Config
	text := before.Schema.JSON() + fmt.Sprint(before.Metadata.Configuration)
	c, err := Alter(m.state.State, actions, m.deps, m.env)
	if before.Schema.JSON()+fmt.Sprint(before.Metadata.Configuration) != text {
		t.Fatal("the table that was given changed")
	}
	if err != nil {
		if class := protocol.ClassOf(err); class == protocol.ClassInternal || class == "DELTA_INVALID_SCHEMA" {
			t.Fatal(err)
		}
		return // refused, with a class of its own
	}
	m.commit(t, c)
}

func (m *alterModel) commit(t *rapid.T, c *Change) {
	m.state.State = after(t, m.state.State, c)
	m.check(t)
}

// check holds what no sequence of statements may break.
func (m *alterModel) check(t *rapid.T) {
	config := m.state.Config
	if !config.Protocol.Normalize().Equal(config.Protocol) {
		t.Fatalf("%s is not the lowest form", shown(config.Protocol))
	}
	for _, f := range config.NeededFeatures() {
		if !config.Supports(f.Name) {
			t.Fatalf("%s is used and not in %s", f.Name, shown(config.Protocol))
		}
	}
	if again, err := protocol.ParseSchema(config.Metadata.SchemaString); err != nil || again.JSON() != config.Metadata.SchemaString {
		t.Fatal(err)
	}
	if config.Mapping == protocol.MappingNone {
		if hasMapping(config.Schema) {
			t.Fatal("keys of column mapping without the mode")
		}
		m.physical, m.ids, m.dropped, m.changes, m.last = map[string]int{}, map[int]bool{}, map[int]bool{}, map[int]int{}, 0
		return
	}
	most, err := strconv.Atoi(config.Property("delta.columnMapping.maxColumnId"))
	if err != nil || most < m.last {
		t.Fatalf("the largest id went from %d to %d (%v)", m.last, most, err)
	}
	live := map[int]bool{}
	var below func(path string, t *protocol.DataType) error
	below = func(path string, dt *protocol.DataType) error {
		switch dt.Kind {
		case protocol.KindArray:
			return below(path+"/element", dt.Element)
		case protocol.KindMap:
			if err := below(path+"/key", dt.Key); err != nil {
				return err
			}
			return below(path+"/value", dt.Value)
		}
		for i := range dt.Fields {
			f := &dt.Fields[i]
			id, _ := f.ColumnID()
			full := path + "/" + string(f.PhysicalName(config.Mapping))
			if live[id] || id > most || m.dropped[id] {
				return fmt.Errorf("the id %d of %s is not its own", id, full)
			}
			if was, seen := m.physical[full]; seen && was != id {
				return fmt.Errorf("the physical path %s was that of the column %d and is now that of %d", full, was, id)
			}
			live[id], m.ids[id], m.physical[full] = true, true, id
			changes, err := f.Metadata.TypeChanges()
			if err != nil || len(changes) < m.changes[id] {
				return fmt.Errorf("the record of %s went from %d to %d changes (%v)", full, m.changes[id], len(changes), err)
			}
			m.changes[id] = len(changes)
			for _, c := range changes {
				if !MayWiden(c.From, c.To) {
					return fmt.Errorf("%s was changed from %s to %s", full, c.From, c.To)
				}
			}
			if err := below(full, &f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	if err := below("", &config.Schema); err != nil {
		t.Fatal(err)
	}
	for id := range m.ids {
		if !live[id] {
			m.dropped[id] = true
			delete(m.changes, id)
		}
	}
	m.last = most
}

// TestRandomAlters: whatever statements come, ids and physical names are unique in the life of the table, the largest id
// never falls, records of type changes are kept, the protocol is the lowest that fits, and a feature that is dropped leaves
// a table that is right.
func TestRandomAlters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		pick := func(t *rapid.T) Path { return rapid.SampledFrom(m.places()).Draw(t, "path") }
		name := func() string { m.names++; return fmt.Sprintf("n%d", m.names%7) }
		kinds := []string{"tinyint", "smallint", "int", "bigint", "float", "double", "decimal(7,3)", "decimal(14,2)", "decimal(30,5)", "date", "string", "void", "struct<p:int,q:struct<r:int>>", "array<int>", "map<int,struct<s:int>>", "variant", "timestamp_ntz"}
		kind := func(t *rapid.T) protocol.DataType {
			dt, err := protocol.ParseDataType(rapid.SampledFrom(kinds).Draw(t, "type"))
			if err != nil {
				t.Fatal(err)
			}
			return dt
		}
		properties := []props{{"delta.enableDeletionVectors": "true"}, {"delta.enableDeletionVectors": "false"}, {"delta.enableChangeDataFeed": "true"}, {"delta.minWriterVersion": "5"}, {"delta.feature.timestampNtz": "supported"},
			{"delta.columnMapping.mode": "name"}, {"delta.columnMapping.mode": "none"}, {"delta.checkpointPolicy": "v2"}, {"delta.enableRowTracking": "true"}, {"delta.enableTypeWidening": "true"}, {"delta.appendOnly": "true", "user": "x"}}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				parent := pick(t)
				if rapid.Bool().Draw(t, "top") {
					parent = nil
				}
				c := NewColumn{Parent: parent, Field: protocol.Field{Name: protocol.LogicalName(name()), Type: kind(t), Nullable: true}, First: rapid.Bool().Draw(t, "first")}
				m.alter(t, AddColumns{Columns: []NewColumn{c}})
			},
			"drop":   func(t *rapid.T) { m.alter(t, DropColumns{Columns: []Path{pick(t)}}) },
			"rename": func(t *rapid.T) { m.alter(t, RenameColumn{Column: pick(t), To: name()}) },
			"retype": func(t *rapid.T) { dt := kind(t); m.alter(t, ChangeColumn{Column: pick(t), Type: &dt}) },
			"move":   func(t *rapid.T) { m.alter(t, ChangeColumn{Column: pick(t), First: true}) },
			"several": func(t *rapid.T) {
				from := pick(t)
				m.alter(t, RenameColumn{Column: from, To: name()}, AddColumns{Columns: []NewColumn{{Field: protocol.Field{Name: protocol.LogicalName(from[len(from)-1]), Type: kind(t), Nullable: true}}}}, DropColumns{Columns: []Path{pick(t)}})
			},
			"replace": func(t *rapid.T) {
				fields := copyType(m.state.Config.Schema).Fields
				fields = rapid.Permutation(fields).Draw(t, "order")[rapid.IntRange(0, 1).Draw(t, "without"):]
				m.alter(t, ReplaceColumns{Columns: fields})
			},
			"evolve": func(t *rapid.T) {
				incoming := protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: protocol.LogicalName(strings.ToUpper(string(rapid.SampledFrom(m.state.Config.Schema.Fields).Draw(t, "column").Name))), Type: kind(t)}, {Name: protocol.LogicalName(name()), Type: kind(t)}}}
				c, err := EvolveSchema(m.state.State, incoming, Evolution{Strict: rapid.Bool().Draw(t, "strict"), Deps: m.deps}, m.env)
				if err == nil {
					m.commit(t, c)
				} else if class := protocol.ClassOf(err); class == protocol.ClassInternal || class == "DELTA_INVALID_SCHEMA" {
					t.Fatal(err)
				}
			},
			"set": func(t *rapid.T) {
				m.alter(t, SetProperties{Properties: rapid.SampledFrom(properties).Draw(t, "properties")})
			},
			"unset": func(t *rapid.T) {
				m.alter(t, UnsetProperties{Keys: []string{rapid.SampledFrom([]string{"delta.enableDeletionVectors", "delta.enableChangeDataFeed", "delta.columnMapping.mode", "delta.checkpointPolicy", "user"}).Draw(t, "key")}})
			},
			"dropFeature": func(t *rapid.T) {
				if len(m.state.Config.Protocol.Features()) == 0 {
					t.Skip("nothing is left to drop")
				}
				feature := rapid.SampledFrom(m.state.Config.Protocol.Features()).Draw(t, "feature")
				options := DropOptions{Truncate: rapid.Bool().Draw(t, "truncate")}
				before := m.state.Config.Protocol
				plan, err := PlanDropFeature(m.state, feature, options, m.env)
				if err != nil {
					if protocol.ClassOf(err) == protocol.ClassInternal {
						t.Fatal(err)
					}
					return
				}
				next, _, stop := run(t, m.state, plan)
				m.state = next
				if strings.HasPrefix(feature, "typeWidening") {
					m.changes = map[int]int{} // the files are rewritten, so the record goes
				}
				if stop == nil && (m.state.Config.Supports(feature) || !before.CanDowngradeTo(m.state.Config.Protocol, feature)) {
					t.Fatalf("%s without %s became %s", shown(before), feature, shown(m.state.Config.Protocol))
				}
				m.check(t)
			},
		})
	})
}
