package change

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
)

// Insert binds INSERT: the rows it adds. With schema evolution, Incoming tells first what the table must become.
func Insert(ctx context.Context, s *parse.Insert, t Table, opts Options) (plan *Plan, err error) {
	defer bind.Catch(&err)
	opts.Lenient = opts.Lenient || s.Mode == parse.InsertIgnore
	b := newBinding(ctx, t, opts, "CAST_OVERFLOW_IN_TABLE_INSERT")
	b.assign.byName = s.ByName
	if err := b.writable(); err != nil {
		return nil, err
	}
	in, err := b.source(s)
	if err != nil {
		return nil, err
	}
	if s.ReplaceOn != nil {
		b.share(in)
	}
	cells, err := b.cells(s, in)
	if err != nil {
		return nil, err
	}
	if plan, err = b.rows(in, cells); err != nil {
		return nil, err
	}
	if err := b.replaced(s, plan, in); err != nil {
		return nil, err
	}
	if plan.Replaced != nil {
		b.build.Finish(plan.Replaced.Query)
	} else {
		b.build.Finish(plan.Query)
	}
	return plan, nil
}

// binding is a statement while it is bound.
type binding struct {
	table  Table
	schema protocol.DataType
	opts   Options
	build  *bind.Builder
	stored *bind.Builder // reads what the table stores: Spark's dialect, nothing of the session but its time zone
	assign *assigner
	done   []txn.Duty
	checks []expr.When // broken duties with their errors, in the order they are tested in
	// carried are columns that stand behind the table's in the relation of a change's rows and stay with them: the row's place and what
	// becomes of it.
	carried []int
	updates bool // of UPDATE: identity columns keep their values
	merges  bool // of MERGE: only rows that a clause inserts without a value get a new one
}

func newBinding(ctx context.Context, t Table, opts Options, overflow protocol.Class) *binding {
	if opts.Context.Dialect == expr.MySQL && !opts.Lenient {
		strict := *opts.Context
		strict.Strict = true
		opts.Context = &strict
	}
	build := bind.NewBuilder(ctx, opts.Options)
	return &binding{table: t, schema: t.Config.Schema, opts: opts, build: build, stored: build.In(storedContext(opts.Context)),
		assign: &assigner{b: build, overflow: overflow, lenient: opts.Lenient, table: t.shown()}}
}

// storedContext is the session as a table's stored expressions see it.
func storedContext(c *expr.Context) *expr.Context {
	n := *c
	n.Dialect, n.PipesAsConcat, n.MySQLCompare = expr.Spark, true, false
	n.Param, n.Assign, n.Notes, n.Strict = nil, nil, nil, false
	n.Variable = func(_, name string) (protocol.Value, protocol.DataType, error) {
		return protocol.Value{}, protocol.DataType{}, protocol.NewError("UNRESOLVED_VARIABLE", "the variable %s cannot stand in an expression that a table stores", name)
	}
	return &n
}

func (t Table) shown() string { return "`" + strings.Join(t.Name, "`.`") + "`" }

func (b *binding) mysql() bool { return b.build.Context().Dialect == expr.MySQL }

// writable refuses tables without a column that has a place in data files, and the VOID that has none inside of others.
func (b *binding) writable() error {
	for _, f := range b.schema.Fields {
		if f.Type.Kind != protocol.KindVoid && f.Type.Holds(protocol.KindVoid) {
			return protocol.NewError("DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE", "column `%s` of %s has type %s, and VOID inside another type cannot be written", f.Name, b.table.shown(), f.Type)
		}
	}
	if b.keeper() < 0 {
		return protocol.NewError("DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS", "%s has no column that can be written", b.table.shown()).
			WithHint("add columns, or use INSERT WITH SCHEMA EVOLUTION")
	}
	return nil
}

// keeper is the column whose value carries the checks: the first that is written to files; -1 where there is none.
func (b *binding) keeper() int {
	for i, f := range b.schema.Fields {
		if f.Type.Kind != protocol.KindVoid && !b.table.Config.IsPartitionColumn(i) {
			return i
		}
	}
	for i, f := range b.schema.Fields {
		if f.Type.Kind != protocol.KindVoid {
			return i
		}
	}
	return -1
}

// cell says where a column of the table takes its value from.
type cell struct {
	from     int       // a column of the source; -1: none
	constant expr.Expr // of a PARTITION clause
	marker   int       // a column of the source that tells which rows wrote DEFAULT; -1: none
	marked   int64     // how many rows did; -1: not known
}

// given tells whether the statement has a value for the column.
func (c cell) given() bool { return c.from >= 0 || c.constant != nil }

// rows builds the plan over the source: assignment, computed columns, checks.
func (b *binding) rows(in *source, cells []cell) (*Plan, error) {
	plan := &Plan{}
	values, err := b.candidates(in, cells, plan)
	if err != nil {
		return nil, err
	}
	if err := b.duties(values, cells); err != nil {
		return nil, err
	}
	for i, c := range cells {
		if c.constant != nil {
			plan.Partition = append(plan.Partition, PartitionValue{Column: i, Value: c.constant})
		}
	}
	plan.values = values
	plan.Query = b.checked(values)
	plan.Done = b.done
	return plan, nil
}

// candidates are the rows that an INSERT adds before they are checked: the table's columns, computed ones too, and behind them those of more,
// which b.carried then names.
func (b *binding) candidates(in *source, cells []cell, plan *Plan, more ...bind.Item) (*expr.Relation, error) {
	assigned := make([]bind.Item, len(cells))
	for i, c := range cells {
		f := b.schema.Fields[i]
		value, err := b.assigned(f, c, in)
		if err != nil {
			return nil, err
		}
		assigned[i] = bind.Item{Name: string(f.Name), Value: b.partitionText(i, value)}
	}
	items := assigned
	for i, c := range cells {
		if c.marker >= 0 {
			items = append(items, bind.Item{Value: in.column(c.marker)})
			cells[i].marker = len(items) - 1
		}
	}
	for _, it := range more {
		b.carried = append(b.carried, len(items))
		items = append(items, it)
	}
	block := b.build.Block(in.relation, items)
	block.With = in.with
	return b.computed(b.build.Derived(block, ""), cells, plan)
}

// checked is the outermost block: the values, the keeper's with every check around it.
func (b *binding) checked(values *expr.Relation) *expr.Query {
	items := make([]bind.Item, len(b.schema.Fields))
	for i, f := range b.schema.Fields {
		items[i] = bind.Item{Name: string(f.Name), Value: columnOf(values, i)}
	}
	for _, at := range b.carried {
		items = append(items, bind.Item{Value: columnOf(values, at)})
	}
	if len(b.checks) > 0 {
		at := b.keeper()
		value := items[at].Value
		items[at].Value = &expr.Case{Typed: expr.Typed{Of: value.Type(), Null: value.Nullable()}, Whens: b.checks, Else: value}
	}
	return b.build.Block(values, items)
}

func columnOf(r *expr.Relation, i int) *expr.Column {
	c := r.Columns[i]
	return &expr.Column{Typed: expr.Typed{Of: c.Type, Null: c.Nullable}, Relation: r, Index: i}
}

// assigned is the value that the statement gives a column, its default, or NULL for what is computed from other columns.
func (b *binding) assigned(f protocol.Field, c cell, in *source) (expr.Expr, error) {
	_, generated := b.generation(f)
	_, identity := b.identity(f)
	switch {
	case c.constant != nil:
		return c.constant, nil
	case c.from >= 0:
		if identity && !b.mayGive(f) {
			return nil, protocol.NewError("DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", "column `%s` of %s is GENERATED ALWAYS AS IDENTITY: no value can be given for it", f.Name, b.table.shown()).
				WithHint("leave the column out of the INSERT's column list")
		}
		value, err := b.assign.store(in.column(c.from), f.Type, string(f.Name))
		if err != nil {
			return nil, err
		}
		return b.shortened(f, value), nil
	case generated || identity:
		return expr.Null(f.Type), nil
	}
	if _, ok := f.Metadata.CurrentDefault(); !ok && !f.Nullable {
		if b.mysql() {
			return nil, b.withoutDefault(f)
		}
		return nil, protocol.NewError("DELTA_INSERT_COLUMN_MISMATCH", "column `%s` of %s is NOT NULL and has no default, and the INSERT does not name it", f.Name, b.table.shown())
	}
	return b.defaultOf(f)
}

func (b *binding) withoutDefault(f protocol.Field) error {
	return protocol.NewError("DELTASQL_NO_DEFAULT_VALUE", "Field '%s' of %s doesn't have a default value", f.Name, b.table.shown()).
		WithHint("give a value for the column")
}

// defaultOf is a column's default as a value of its type.
func (b *binding) defaultOf(f protocol.Field) (expr.Expr, error) {
	text, ok := f.Metadata.CurrentDefault()
	if !ok {
		return expr.Null(f.Type), nil
	}
	value, err := b.storedExpression(text, bind.Scope{}, "the default of column `"+string(f.Name)+"`")
	if err != nil {
		return nil, err
	}
	out, err := expr.Convert(value, f.Type, b.stored.Context(), false)
	if err != nil {
		return nil, protocol.NewError("INVALID_DEFAULT_VALUE.DATA_TYPE", "the default %s of column `%s` of %s has type %s, which cannot be stored as %s", text, f.Name, b.table.shown(), value.Type(), f.Type)
	}
	return out, nil
}

// partitionText is a partition column's text as it will be read again: the empty text and Hive's word for NULL are NULL.
func (b *binding) partitionText(i int, value expr.Expr) expr.Expr {
	if !b.table.Config.IsPartitionColumn(i) || value.Type().Kind != protocol.KindString {
		return value
	}
	return &expr.Raw{Typed: expr.Typed{Of: value.Type(), Null: true}, SQL: "nullif(nullif({0}, ''), '__HIVE_DEFAULT_PARTITION__')", Args: []expr.Expr{value}}
}

// generation is a column's generation expression, where the table supports those.
func (b *binding) generation(f protocol.Field) (string, bool) {
	text, ok := f.Metadata.GenerationExpression()
	return text, ok && b.table.Config.Supports("generatedColumns")
}

// identity is a column's identity, where the table supports those.
func (b *binding) identity(f protocol.Field) (protocol.Identity, bool) {
	id, ok := f.Metadata.Identity()
	return id, ok && b.table.Config.Supports("identityColumns")
}

func (b *binding) mayGive(f protocol.Field) bool {
	id, _ := b.identity(f)
	return id.AllowExplicitInsert
}
