package parse

import "deltasql/protocol"

// merge reads MERGE INTO, behind the WITH that may stand before.
func (p *parser) merge(with *Query) Statement {
	m := &Merge{Pos: with.Pos, With: with.With, Recursive: with.Recursive}
	at := p.advance().start
	m.Evolve = p.evolution()
	p.expect("INTO")
	start := p.tok().start
	m.Target = p.tableRef()
	m.TargetText = p.textFrom(start)
	p.changed(m.Target.Pos, m.Target, "MERGE INTO")
	if m.Target.Alias != nil && m.Target.Alias.Columns != nil {
		p.bail(syntaxError(m.Target.Alias.Name.Pos, "the target's alias takes no names of columns"))
	}
	p.expect("USING")
	start = p.tok().start
	m.Source = p.factor()
	m.SourceText = p.textFrom(start)
	p.expect("ON")
	m.On, m.OnText = p.exprText()
	for p.is("WHEN") {
		m.Whens = append(m.Whens, p.mergeWhen())
	}
	if len(m.Whens) == 0 {
		if t := p.tok(); t.kind != tokEOF && t.word != ";" {
			p.fail("WHEN")
		}
		p.bail(protocol.NewError("MERGE_WITHOUT_WHEN", "MERGE has no WHEN clause").At(at.Line, at.Column).
			WithHint("add WHEN MATCHED THEN ... or WHEN NOT MATCHED THEN ..."))
	}
	p.checkWhens(m.Whens)
	return m
}

// mergeWhen reads one WHEN clause.
func (p *parser) mergeWhen() MergeWhen {
	w := MergeWhen{Pos: p.advance().start}
	switch {
	case p.accept("MATCHED"):
	case p.acceptAll("NOT", "MATCHED"):
		w.Kind = WhenNotMatched
		if p.accept("BY") {
			if !p.accept("TARGET") {
				if !p.accept("SOURCE") {
					p.fail("TARGET", "SOURCE")
				}
				w.Kind = WhenNotMatchedBySource
			}
		}
	default:
		p.fail("MATCHED", "NOT MATCHED")
	}
	if p.accept("AND") {
		w.Condition, w.Text = p.exprText()
	}
	p.expect("THEN")
	if w.Kind == WhenNotMatched {
		if !p.accept("INSERT") {
			p.fail("INSERT")
		}
		w.Action = MergeInsert
		p.mergeInsert(&w)
		return w
	}
	switch {
	case p.accept("DELETE"):
		w.Action = MergeDelete
	case p.accept("UPDATE"):
		p.expect("SET")
		if w.Star = p.is("*") && w.Kind == WhenMatched; w.Star {
			p.mergeStar(&w)
		} else {
			w.Set = p.setItems()
		}
	default:
		p.fail("UPDATE", "DELETE")
	}
	return w
}

// mergeStar reads * [EXCEPT (columns)].
func (p *parser) mergeStar(w *MergeWhen) {
	p.expect("*")
	w.Star = true
	if p.accept("EXCEPT") {
		w.Except = p.names()
	}
}

// mergeInsert reads * or (columns) VALUES (values).
func (p *parser) mergeInsert(w *MergeWhen) {
	if p.is("*") {
		p.mergeStar(w)
		return
	}
	if !p.is("(") {
		p.fail("'*'", "'('")
	}
	columns := p.names()
	at := p.tok().start
	if !p.accept("VALUES", "VALUE") {
		p.fail("VALUES")
	}
	p.expect("(")
	values := []Expr{p.valueOrDefault()}
	for p.accept(",") {
		values = append(values, p.valueOrDefault())
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	if len(values) != len(columns) {
		p.bail(syntaxError(at, "INSERT has %d columns and %d values", len(columns), len(values)))
	}
	for i, value := range values {
		w.Set = append(w.Set, SetItem{Target: columns[i], Value: value})
	}
}

// checkWhens asks for a condition in all clauses of a kind but the last, since those behind would never be reached.
func (p *parser) checkWhens(whens []MergeWhen) {
	names := map[MergeKind]string{WhenMatched: "MATCHED", WhenNotMatched: "NOT MATCHED", WhenNotMatchedBySource: "NOT MATCHED BY SOURCE"}
	classes := map[MergeKind]protocol.Class{
		WhenMatched:            "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
		WhenNotMatched:         "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION",
		WhenNotMatchedBySource: "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
	}
	open := map[MergeKind]*MergeWhen{}
	for i := range whens {
		w := &whens[i]
		if before := open[w.Kind]; before != nil {
			p.bail(protocol.NewError(classes[w.Kind], "WHEN %s has no condition and is not the last of its kind", names[w.Kind]).
				At(before.Pos.Line, before.Pos.Column).WithHint("add AND condition, or put it behind the others"))
		}
		if w.Condition == nil {
			open[w.Kind] = w
		}
	}
}
