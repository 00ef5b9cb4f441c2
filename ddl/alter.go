package ddl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn"
)

// Action is one change of ALTER TABLE, its expressions checked by the caller. The actions are AddColumns, DropColumns,
// RenameColumn, ChangeColumn, ReplaceColumns, AddConstraint, DropConstraint, AddKey, SetProperties, UnsetProperties,
// SetClustering and SetComment; DROP FEATURE has a plan of its own (PlanDropFeature).
type Action interface {
	apply(a *alteration) error
}

// Dependencies are the columns that the table's stored expressions refer to. The caller gives them, because SQL is parsed
// above this package; an expression of the table that is missing here is a fault of the caller's.
type Dependencies struct {
	Constraints map[string][]Path // by lower-cased name of the constraint
	Generated   map[string][]Path // by name of the generated column
}

// CheckKind tells what a Check asks of the rows that are there.
type CheckKind uint8

// The kinds.
const (
	// CheckNotNull: no row has NULL at Column; a NULL struct on the way counts as one. Else DELTA_NEW_NOT_NULL_VIOLATION.
	CheckNotNull CheckKind = iota + 1
	// CheckConstraint: Expression is TRUE for every row. Else DELTA_NEW_CHECK_CONSTRAINT_VIOLATION.
	CheckConstraint
	// CheckNoRows: the table has no row. Else the error of Check.Refusal.
	CheckNoRows
)

// Check is what the rows of the table must satisfy for a Change to be right. The engine asks the rows that are there, under
// the schema that the Change gives them and by its names, in the transaction that commits the Change, and declares the whole
// table read (Transaction.ReadAll).
type Check struct {
	Kind       CheckKind
	Column     Path   // CheckNotNull, in logical names
	Name       string // CheckConstraint
	Expression string // CheckConstraint, SQL over logical names
	Refusal    *protocol.Error
}

// Alter makes one Change of all actions of a statement: all or nothing, in their order, each seeing the ones before it.
// Existing dependants block: a CHECK or a generated column that refers to a column that is dropped, renamed or retyped.
//
// A Change that would leave the table as it is has neither Protocol nor Metadata nor Domains, and is not committed, except
// where the reference makes a version nonetheless (committedAnyway).
//
// In history one action has the name and the parameters that the reference gives it. Several actions of one kind share
// them where the reference has a form for it: ADD COLUMNS, DROP COLUMNS, CHANGE COLUMNS, SET and UNSET TBLPROPERTIES.
// Any other mixture is UPDATE SCHEMA with both schemas where columns changed, else SET TBLPROPERTIES with what was set,
// which is what constraints are.
func Alter(old State, actions []Action, deps Dependencies, env Env) (*Change, error) {
	a := &alteration{
		old: old, env: env,
		deps:   Dependencies{Constraints: maps.Clone(deps.Constraints), Generated: maps.Clone(deps.Generated)},
		schema: copyType(old.Config.Schema), metadata: old.Config.Metadata,
		constraints: old.Config.Constraints(),
	}
	a.metadata.Configuration = maps.Clone(a.metadata.Configuration)
	if a.metadata.Configuration == nil {
		a.metadata.Configuration = map[string]string{}
	}
	a.metadata.PartitionColumns = slices.Clone(a.metadata.PartitionColumns)
	if a.deps.Generated == nil {
		a.deps.Generated = map[string][]Path{}
	}
	if a.deps.Constraints == nil {
		a.deps.Constraints = map[string][]Path{}
	}
	if err := a.checkDependencies(); err != nil {
		return nil, err
	}
	for _, action := range actions {
		if err := action.apply(a); err != nil {
			return nil, err
		}
	}
	return a.finish()
}

// alteration is a table on its way from one state to the next.
type alteration struct {
	old  State
	deps Dependencies
	env  Env

	schema      protocol.DataType
	metadata    protocol.Metadata // SchemaString is made of schema at the end
	constraints map[string]string // CHECKs, by lower-cased name
	domains     []protocol.DomainMetadata
	clusterBy   []Path // what CLUSTER BY asked for; nil where it was not
	// unmapped is the schema without column mapping where this goes, by a rewrite of all files in the same commit; else nil.
	unmapped *protocol.DataType
	lengths  declaredLengths // of strings inside other types that the statement changes

	entries  []entry
	checks   []Check
	before   []Step
	warnings []string
}

// entry is what one action leaves in history.
type entry struct {
	operation  string
	parameters []protocol.Parameter
	items      []json.RawMessage // columns, keys or properties, which actions of one kind put together
	tags       map[string]string
	schema     bool // columns changed
	silent     bool // where nothing changes no version tells of it, see committedAnyway
}

func (a *alteration) warn(text string) { a.warnings = append(a.warnings, text) }

func (a *alteration) record(e entry) { a.entries = append(a.entries, e) }

// checkDependencies makes sure that the caller has looked at every stored expression.
func (a *alteration) checkDependencies() error {
	for name := range a.constraints {
		if _, ok := a.deps.Constraints[name]; !ok {
			return protocol.NewError(protocol.ClassInternal, "the columns of the constraint %s are not known", name)
		}
	}
	for _, f := range a.schema.Fields {
		if _, ok := f.Metadata.GenerationExpression(); !ok {
			continue
		}
		if _, ok := a.deps.Generated[string(f.Name)]; !ok {
			return protocol.NewError(protocol.ClassInternal, "the columns of the generated column %s are not known", f.Name)
		}
	}
	return nil
}

// dependants refuses a change of a column that a CHECK or a generated column refers to. What an earlier action of the
// statement took away does not count.
func (a *alteration) dependants(path Path) error {
	refers := func(paths []Path) bool {
		return slices.ContainsFunc(paths, func(p Path) bool { return p.touches(path) })
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(a.constraints)) {
		if refers(a.deps.Constraints[name]) {
			found = append(found, protocol.PropertyPrefixConstraint+name+" -> "+a.constraints[name])
		}
	}
	if found != nil {
		return protocol.NewError("DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE", "the column %s cannot be changed: CHECK constraints refer to it: %s", path, strings.Join(found, ", ")).
			WithHint("drop the constraints first, and add them again afterwards")
	}
	for _, f := range a.schema.Fields {
		text, ok := f.Metadata.GenerationExpression()
		if ok && refers(a.deps.Generated[string(f.Name)]) {
			found = append(found, string(f.Name)+" -> "+text)
		}
	}
	if found != nil {
		return protocol.NewError("DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE", "the column %s cannot be changed: generated columns refer to it: %s", path, strings.Join(found, ", ")).
			WithHint("drop the generated columns first")
	}
	return a.keysOf(path)
}

// keepsGeneratedType refuses another type for a generated column, or for a part of one: it is that of the expression.
func (a *alteration) keepsGeneratedType(path Path) error {
	at := a.schema.Lookup(path[0])
	if at < 0 {
		return nil
	}
	f := a.schema.Fields[at]
	text, generated := f.Metadata.GenerationExpression()
	if !generated {
		return nil
	}
	return protocol.NewError("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH", "the type of the generated column %s is that of its expression (%s) and cannot be changed", f.Name, text).
		WithHint("drop the column, and write the table anew with one whose expression has the type that is wanted")
}

// supports asks the protocol that is there.
func (a *alteration) supports(feature string) bool { return a.old.Config.Supports(feature) }

// mapped tells whether columns have names of their own in the files.
func (a *alteration) mapped() bool {
	return a.old.Config.Mapping != protocol.MappingNone && a.unmapped == nil
}

// property looks a property up as it will be; false where it is not stored.
func (a *alteration) property(name string) (string, bool) {
	for key, value := range a.metadata.Configuration {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// removeProperty takes a property away, however it is spelled where its name starts with "delta.".
func (a *alteration) removeProperty(name string) {
	maps.DeleteFunc(a.metadata.Configuration, func(key, _ string) bool { return sameProperty(key, name) })
}

func sameProperty(a, b string) bool {
	return a == b || strings.EqualFold(a, b) && len(a) > 6 && strings.EqualFold(a[:6], "delta.")
}

// finish turns what the actions made into a Change: protocol, ids and names of columns come from UpdateMetadata.
func (a *alteration) finish() (*Change, error) {
	a.followLengths()
	a.metadata.SchemaString = a.schema.JSON()
	change := &Change{Checks: a.checks, Before: a.before, Warnings: a.warnings}
	if a.unmapped != nil {
		if !sameColumns(a.unmapped, &a.schema, byName) {
			return nil, a.unmapsAlone()
		}
		change.Rewrite = FilesAll
	}
	p, m, err := a.update()
	if err != nil {
		return nil, err
	}
	config, err := protocol.NewTableConfig(p, m)
	if err != nil {
		return nil, err
	}
	if err := a.checkClustering(config); err != nil {
		return nil, err
	}
	change.Domains = a.domains
	if !p.Equal(a.old.Config.Protocol) {
		// The reference writes metadata with every protocol that an ALTER raises, and so do we.
		change.Protocol, change.Metadata = &p, &m
	}
	if !sameMetadata(m, a.old.Config.Metadata, config.Schema, a.old.Config.Schema) {
		change.Metadata = &m
	}
	if change.Empty() {
		// Nothing would be written, so there is nothing to prepare or to look at either.
		change = &Change{Warnings: a.warnings}
		if len(a.entries) != 1 || a.entries[0].silent || !committedAnyway[a.entries[0].operation] {
			return change, nil
		}
		change.Metadata = &m
	}
	change.Operation = a.operation(config)
	return change, nil
}

// committedAnyway are the operations that make a version, with the metadata as they were, also where they change nothing: the
// reference has it so, and who counts on a version finds it.
var committedAnyway = map[string]bool{"CHANGE COLUMN": true, "UNSET TBLPROPERTIES": true, "DROP CONSTRAINT": true}

// update hands the metadata to UpdateMetadata. Where column mapping goes, the table counts as one that never had it: its
// columns, properties and files come without in this very commit.
func (a *alteration) update() (protocol.Protocol, protocol.Metadata, error) {
	old := a.old
	if a.unmapped != nil {
		plain := old.Config.Metadata
		schema := copyType(old.Config.Schema)
		stripMapping(&schema)
		plain.SchemaString = schema.JSON()
		plain.Configuration = maps.Clone(plain.Configuration)
		maps.DeleteFunc(plain.Configuration, func(key, _ string) bool {
			return sameProperty(key, "delta.columnMapping.mode") || sameProperty(key, "delta.columnMapping.maxColumnId")
		})
		config, err := protocol.NewTableConfig(old.Config.Protocol, plain)
		if err != nil {
			return protocol.Protocol{}, protocol.Metadata{}, err
		}
		old.Config = config
	}
	return UpdateMetadata(&old, a.metadata, a.env)
}

// Empty says that there is nothing to commit.
func (c *Change) Empty() bool {
	return c.Protocol == nil && c.Metadata == nil && len(c.Domains) == 0 && len(c.Before) == 0 && c.Rewrite == FilesNone
}

func sameMetadata(a, b protocol.Metadata, schemaA, schemaB protocol.DataType) bool {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return a.ID == b.ID && text(a.Name) == text(b.Name) && text(a.Description) == text(b.Description) &&
		schemaA.JSON() == schemaB.JSON() && slices.Equal(a.PartitionColumns, b.PartitionColumns) &&
		maps.Equal(a.Configuration, b.Configuration)
}

// operation is what history says of all actions together; see Alter.
func (a *alteration) operation(config *protocol.TableConfig) txn.Operation {
	if a.unmapped != nil {
		return txn.Operation{Name: "REMOVE COLUMN MAPPING", NeverChangesData: true}
	}
	first, kinds, schema := a.entries[0], map[string]bool{}, false
	for _, e := range a.entries {
		kinds[e.operation] = true
		schema = schema || e.schema
	}
	if len(a.entries) == 1 {
		return txn.Operation{Name: first.operation, Parameters: first.withItems(first.items), Tags: first.tags}
	}
	if len(kinds) == 1 && first.items != nil {
		var items []json.RawMessage
		for _, e := range a.entries {
			items = append(items, e.items...)
		}
		if first.operation == "CHANGE COLUMN" {
			return txn.Operation{Name: "CHANGE COLUMNS", Parameters: []protocol.Parameter{listParameter("columns", items)}}
		}
		return txn.Operation{Name: first.operation, Parameters: first.withItems(items)}
	}
	if schema {
		return txn.Operation{Name: "UPDATE SCHEMA", Parameters: []protocol.Parameter{
			textParameter("oldSchema", a.old.Config.Schema.JSON()), textParameter("newSchema", config.Schema.JSON())}}
	}
	return txn.Operation{Name: "SET TBLPROPERTIES", Parameters: a.changedProperties()}
}

// withItems puts the items where the operation has them.
func (e entry) withItems(items []json.RawMessage) []protocol.Parameter {
	switch e.operation {
	case "ADD COLUMNS", "DROP COLUMNS":
		return []protocol.Parameter{listParameter("columns", items)}
	case "SET TBLPROPERTIES":
		return []protocol.Parameter{textParameter("properties", object(items))}
	case "UNSET TBLPROPERTIES":
		return append([]protocol.Parameter{listParameter("properties", items)}, e.parameters...)
	}
	return e.parameters
}

// changedProperties is what a mixture of property and constraint changes set and took away.
func (a *alteration) changedProperties() []protocol.Parameter {
	set, gone := map[string]string{}, []string{}
	before, after := a.old.Config.Metadata.Configuration, a.metadata.Configuration
	for key, value := range after {
		if v, ok := before[key]; !ok || v != value {
			set[key] = value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			gone = append(gone, key)
		}
	}
	out := []protocol.Parameter{textParameter("properties", string(jsonText(set)))}
	if len(gone) > 0 {
		slices.Sort(gone)
		out = append(out, textParameter("removed", string(jsonText(gone))))
	}
	return out
}

// textParameter is a parameter whose value is a text; what is a list or an object stands in it as JSON.
func textParameter(key, value string) protocol.Parameter {
	return protocol.Parameter{Key: key, Value: jsonText(value)}
}

func listParameter(key string, items []json.RawMessage) protocol.Parameter {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(item)
	}
	return textParameter(key, "["+strings.Join(texts, ",")+"]")
}

// object joins members `"k":"v"` into one object.
func object(members []json.RawMessage) string {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = string(m)
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// columnJSON is a column as the reference describes it in operationParameters.
func columnJSON(path Path, f protocol.Field) string {
	kind := f.Type.JSON()
	switch f.Type.Kind {
	case protocol.KindStruct:
		kind = `"struct"`
	case protocol.KindArray:
		kind = `"array"`
	case protocol.KindMap:
		kind = `"map"`
	}
	metadata := map[string]json.RawMessage{}
	maps.Copy(metadata, f.Metadata)
	return `{"name":` + string(jsonText(path.String())) + `,"type":` + kind + `,"nullable":` + string(jsonText(f.Nullable)) +
		`,"metadata":` + string(jsonText(metadata)) + `}`
}

// position is a place in a struct as the reference writes it; "" where none was asked for.
func position(first bool, after string) string {
	if first {
		return "FIRST"
	}
	if after == "" {
		return ""
	}
	return "AFTER " + quoted(after)
}

// quoted puts a name into backticks unless it is made of letters, digits and underscores.
func quoted(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
