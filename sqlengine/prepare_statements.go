package sqlengine

import (
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// prepare is PREPARE. As in MySQL, the statement that had the name before is gone even where the new text is wrong.
func (st *statement) prepare(s *parse.Prepare) (*Result, error) {
	name := strings.ToLower(s.Name.Name)
	delete(st.session.prepared, name)
	p, err := st.prepareText(s.Text, s.Pos)
	if err != nil {
		return nil, err
	}
	if p.columns, err = p.describe(st.ctx); err != nil {
		return nil, err
	}
	if st.session.prepared == nil {
		st.session.prepared = map[string]*Prepared{}
	}
	if len(st.session.prepared) >= maxPrepared {
		return nil, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "a session has at most %d prepared statements", maxPrepared).WithHint("DEALLOCATE PREPARE frees one")
	}
	st.session.prepared[name] = p
	return &Result{}, nil
}

// maxPrepared bounds the statements that PREPARE keeps in a session.
const maxPrepared = 16_382

// prepareText parses the value of an expression.
func (st *statement) prepareText(text parse.Expr, at parse.Pos) (*Prepared, error) {
	v, err := st.constant(text)
	if err != nil {
		return nil, err
	}
	if v.value.Null || v.value.Kind != protocol.KindString {
		return nil, protocol.NewError("DATATYPE_MISMATCH", "the text of a statement must be a string, not %s", v.of).At(at.Line, at.Column)
	}
	p, err := st.session.parsePrepared(v.value.Str)
	if err != nil {
		return nil, err
	}
	switch p.parsed.(type) {
	case *parse.Prepare, *parse.Execute, *parse.Deallocate:
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "%s cannot be prepared", parse.Verb(p.parsed)).At(at.Line, at.Column)
	}
	return p, nil
}

// executePrepared is EXECUTE and EXECUTE IMMEDIATE.
func (st *statement) executePrepared(s *parse.Execute) (*Result, error) {
	p := st.session.prepared[strings.ToLower(s.Name.Name)]
	if s.Immediate != nil {
		var err error
		if p, err = st.prepareText(s.Immediate, s.Pos); err != nil {
			return nil, err
		}
	}
	if p == nil {
		return nil, unknownPrepared(s.Name, s.Pos)
	}
	var values []Parameter
	names := map[string]Parameter{}
	for _, arg := range s.Using {
		v, err := st.constant(arg.Expr)
		if err != nil {
			return nil, err
		}
		values = append(values, Parameter{v.value, v.of})
		if arg.Name != nil {
			names[strings.ToLower(arg.Name.Name)] = Parameter{v.value, v.of}
		}
	}
	if len(names) == 0 && len(values) != p.parameters {
		return nil, protocol.NewError("UNBOUND_SQL_PARAMETER", "the statement has %d parameters and USING gives %d values", p.parameters, len(values)).At(s.Pos.Line, s.Pos.Column)
	}
	st.parameters, st.namedValues = values, names
	if len(s.Into) == 0 {
		return st.run(p.parsed)
	}
	query, ok := p.parsed.(*parse.QueryStatement)
	if !ok {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "EXECUTE IMMEDIATE ... INTO needs a query, not %s", parse.Verb(p.parsed)).At(s.Pos.Line, s.Pos.Column)
	}
	return st.run(&parse.QueryStatement{Query: query.Query, Into: s.Into})
}

// deallocate is DEALLOCATE PREPARE.
func (st *statement) deallocate(s *parse.Deallocate) (*Result, error) {
	name := strings.ToLower(s.Name.Name)
	if st.session.prepared[name] == nil {
		return nil, unknownPrepared(s.Name, s.Pos)
	}
	delete(st.session.prepared, name)
	return &Result{}, nil
}

func unknownPrepared(name parse.Ident, at parse.Pos) error {
	return protocol.NewError("DELTASQL_UNKNOWN_STATEMENT", "there is no prepared statement %s", name.Name).
		WithHint("PREPARE %s FROM '...' makes one", name.Name).At(at.Line, at.Column)
}

// parsePrepared parses a statement; it is still to be described.
func (s *Session) parsePrepared(sql string) (*Prepared, error) {
	parsed, parameters, err := parse.ParseParameters(sql, s.ParseOptions())
	if err != nil {
		return nil, err
	}
	return &Prepared{session: s, text: sql, parsed: parsed, parameters: parameters}, nil
}
