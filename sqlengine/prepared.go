package sqlengine

import (
	"context"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// Parameter is the value of one ? of a prepared statement.
type Parameter struct {
	Value protocol.Value
	Type  protocol.DataType
}

// Prepared is a statement that has been parsed once and runs with other values each time. It belongs to its session, and means what
// the session's dialect and sql_mode said when it was prepared.
type Prepared struct {
	session    *Session
	text       string
	parsed     parse.Statement
	parameters int
	columns    []ColumnInfo
}

// Prepare parses a statement and finds out what its result will look like, without running it.
func (s *Session) Prepare(ctx context.Context, sql string) (p *Prepared, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = recovered(fault)
		}
		if err != nil {
			p, err = nil, translate(err, "")
			known, _ := err.(*protocol.Error)
			s.Fail(known)
		}
	}()
	if p, err = s.parsePrepared(sql); err != nil {
		return nil, err
	}
	if p.columns, err = p.describe(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.warnings, s.dropped, s.failure = nil, 0, nil
	s.mu.Unlock()
	return p, nil
}

// Text is the statement as it was prepared.
func (p *Prepared) Text() string { return p.text }

// Parameters is the number of ? in it.
func (p *Prepared) Parameters() int { return p.parameters }

// Columns are those of the result: nil for a statement without one, and for one whose columns hang on the values of its
// parameters. A column whose type hangs on them is described as a string; Execute's result has the right types.
func (p *Prepared) Columns() []ColumnInfo { return p.columns }

// Execute runs the statement with a value for each parameter, under the rules of Session.Execute.
func (p *Prepared) Execute(ctx context.Context, parameters []Parameter) (*Result, error) {
	return p.session.execute(ctx, func() (parse.Statement, error) {
		if len(parameters) != p.parameters {
			return nil, protocol.NewError("WRONG_NUM_ARGS", "the prepared statement has %d parameters and was given %d values", p.parameters, len(parameters))
		}
		return p.parsed, nil
	}, parameters)
}

// probes are the values that stand for parameters while a statement is described. Where a column has another type for another
// probe, its type hangs on the parameters; where a probe may not stand at all (NULL in LIMIT), the others tell.
var probes = []Parameter{
	{protocol.Value{Kind: protocol.KindLong, Int: 1}, protocol.DataType{Kind: protocol.KindLong}},
	{protocol.Value{Kind: protocol.KindString, Str: "1"}, protocol.DataType{Kind: protocol.KindString}},
	{protocol.Value{Kind: protocol.KindVoid, Null: true}, protocol.DataType{Kind: protocol.KindVoid}},
}

// maxProbed is up to how many parameters each is probed by itself where all together tell nothing.
const maxProbed = 16

func (p *Prepared) describe(ctx context.Context) ([]ColumnInfo, error) {
	pins := map[string]*log.Snapshot{} // all probes look at one snapshot of a table
	if p.parameters == 0 {
		return p.describeWith(ctx, pins, nil)
	}
	var known []ColumnInfo
	var base []Parameter // the values that known is of
	var first error
	alike, agreed := true, 0 // whether all probes found the same wrong; how many found nothing wrong
	for _, probe := range probes {
		values := slices.Repeat([]Parameter{probe}, p.parameters)
		columns, err := p.describeWith(ctx, pins, values)
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
			alike = alike && protocol.ClassOf(err) == protocol.ClassOf(first)
		case agreed == 0:
			known, base, agreed = columns, values, 1
		default:
			known, agreed = common(known, columns), agreed+1
		}
	}
	switch {
	case agreed == 0 && alike:
		return nil, first
	case agreed == 1 && p.parameters <= maxProbed:
		return p.describeEach(ctx, pins, known, base), nil
	}
	return known, nil
}

// describeEach tries other values for one parameter after another.
func (p *Prepared) describeEach(ctx context.Context, pins map[string]*log.Snapshot, known []ColumnInfo, base []Parameter) []ColumnInfo {
	for i := range base {
		for _, probe := range probes {
			values := slices.Clone(base)
			values[i] = probe
			if columns, err := p.describeWith(ctx, pins, values); err == nil {
				known = common(known, columns)
			}
		}
	}
	return known
}

// common are the columns of two descriptions, or nil where they have not the same number.
func common(a, b []ColumnInfo) []ColumnInfo {
	if len(a) != len(b) {
		return nil
	}
	out := make([]ColumnInfo, len(a))
	for i := range a {
		out[i] = a[i]
		out[i].Digits, out[i].JSON = max(a[i].Digits, b[i].Digits), a[i].JSON && b[i].JSON
		if out[i].Nullable = a[i].Nullable || b[i].Nullable; !a[i].Type.Equal(b[i].Type) {
			out[i].Type = protocol.DataType{Kind: protocol.KindString}
		}
	}
	return out
}

// describeWith binds a query with values for its parameters. Statements about metadata are cheap and change nothing: they begin, and
// are closed before their first row. All others have no columns before they run.
func (p *Prepared) describeWith(ctx context.Context, pins map[string]*log.Snapshot, values []Parameter) ([]ColumnInfo, error) {
	st := newStatement(ctx, p.session)
	defer st.close()
	st.parameters, st.pins = values, pins
	switch s := p.parsed.(type) {
	case *parse.QueryStatement:
		if len(s.Into) > 0 {
			return nil, nil
		}
		bound, err := bind.Query(ctx, s.Query, st.bindOptions())
		if err != nil {
			return nil, translate(err, "")
		}
		return resultColumns(bound), nil
	case *parse.Show, *parse.Describe:
		result, err := st.run(p.parsed)
		if err != nil {
			return nil, translate(err, "")
		}
		defer result.Close()
		return result.Columns, nil
	}
	return nil, nil
}

// parameter is the value of the parameter ? of a number from 1.
func (st *statement) parameter(index int, name string) (protocol.Value, protocol.DataType, error) {
	switch {
	case name != "" && st.namedValues != nil:
		if p, ok := st.namedValues[strings.ToLower(name)]; ok {
			return p.Value, p.Type, nil
		}
		return protocol.Value{}, protocol.DataType{}, protocol.NewError("UNBOUND_SQL_PARAMETER", "the parameter :%s has no value: USING gives it as value AS %s", name, name)
	case name != "":
		return protocol.Value{}, protocol.DataType{}, protocol.NewError("NAMED_PARAMETERS_NOT_SUPPORTED", "the parameter :%s has no value: ? takes its value from its place", name)
	case index < 1 || index > len(st.parameters):
		return protocol.Value{}, protocol.DataType{}, protocol.NewError("UNBOUND_SQL_PARAMETER", "a parameter has no value here").
			WithHint("? takes its value when a prepared statement is executed")
	}
	p := st.parameters[index-1]
	return p.Value, p.Type, nil
}
