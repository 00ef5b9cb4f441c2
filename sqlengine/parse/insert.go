package parse

// changeModifiers are MySQL's hints on when and how a change is done, which mean nothing here.
var changeModifiers = []string{"LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "CONCURRENT"}

// modifiers reads them.
func (p *parser) modifiers() []Ignored {
	var ignored []Ignored
	for p.is(changeModifiers...) {
		ignored = append(ignored, p.ignore(p.advance().start))
	}
	return ignored
}

// evolution reads WITH SCHEMA EVOLUTION.
func (p *parser) evolution() bool { return p.acceptAll("WITH", "SCHEMA", "EVOLUTION") }

// insert reads INSERT and MySQL's REPLACE, behind the WITH that may stand before.
func (p *parser) insert(with *Query) Statement {
	i := &Insert{Pos: with.Pos, With: with.With, Recursive: with.Recursive}
	verb := p.advance()
	i.Evolve = p.evolution()
	i.Ignored = p.modifiers()
	switch {
	case verb.word == "REPLACE":
		i.Mode = InsertReplaceInto
		p.accept("INTO")
	case p.is("OVERWRITE"):
		p.advance()
		i.Mode = InsertOverwrite
		if p.is("LOCAL") && p.isAt(1, "DIRECTORY") || p.is("DIRECTORY") {
			p.refuse(verb.start, "INSERT OVERWRITE DIRECTORY is not supported: use COPY (query) TO 'path'")
		}
		p.accept("INTO")
	default:
		if p.accept("IGNORE") {
			i.Mode = InsertIgnore
		}
		if !p.accept("INTO") && !p.isName(0) { // MySQL may leave INTO out
			p.fail("INTO", "OVERWRITE")
		}
	}
	if p.is("TABLE") && p.isName(1) {
		p.advance()
	}
	i.Table = p.tableName()
	p.noTimeTravel()
	p.insertTarget(i)
	p.insertSource(i)
	if p.is("RETURNING") {
		p.refuse(p.tok().start, "RETURNING is not supported")
	}
	return i
}

// insertTarget reads what stands between the table and the rows.
func (p *parser) insertTarget(i *Insert) {
	if p.accept("AS") || p.isName(0) && !p.is("PARTITION", "BY", "REPLACE", "VALUES", "VALUE", "TABLE", "FROM", "SET", "DEFAULT", "OPTIONS") {
		alias := p.ident()
		i.Alias = &alias
	}
	if p.is("WITH") && p.isAt(1, "(") || p.is("OPTIONS") {
		p.refuse(p.tok().start, "options of a write are not supported here: set them for the session or as table properties")
	}
	if p.accept("PARTITION") {
		i.Partition = p.partitionAssigns()
		i.IfNotExists = p.ifNotExists()
		if i.IfNotExists && i.Mode != InsertOverwrite {
			p.bail(syntaxError(p.previous.start, "IF NOT EXISTS belongs to INSERT OVERWRITE ... PARTITION"))
		}
	}
	switch {
	case p.is("BY") && p.isAt(1, "NAME"):
		p.skip(2)
		i.ByName = true
	case p.is("(") && p.isAt(1, ")"):
		p.skip(2)
		i.HasColumns = true
	case p.is("(") && !p.queryBehindParenthesis():
		i.HasColumns = true
		i.Columns = p.names()
	}
	if p.is("REPLACE") {
		p.replaceClause(i)
	}
}

// queryBehindParenthesis tells a query in parentheses from a list of columns.
func (p *parser) queryBehindParenthesis() bool {
	return p.isAt(1, "SELECT", "WITH", "(") || p.isAt(1, "VALUES", "TABLE", "FROM") && !p.isAt(2, ",", ")", ".")
}

func (p *parser) partitionAssigns() []PartitionAssign {
	p.expect("(")
	var list []PartitionAssign
	for {
		assign := PartitionAssign{Name: p.ident()}
		if p.accept("=", "==") {
			assign.Value = p.expr()
		}
		list = append(list, assign)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return list
}

// replaceClause reads REPLACE WHERE p, REPLACE USING (columns), REPLACE ON p.
func (p *parser) replaceClause(i *Insert) {
	at := p.advance().start
	if i.Mode != InsertInto {
		p.bail(syntaxError(at, "REPLACE belongs to INSERT INTO"))
	}
	i.Mode = InsertReplace
	p.beforeQuery = true
	switch {
	case p.accept("WHERE"):
		i.ReplaceWhere, i.ReplaceText = p.exprText()
	case p.accept("ON"):
		i.ReplaceOn, i.ReplaceText = p.exprText()
	case p.accept("USING"):
		i.ReplaceUsing = p.identList()
	default:
		p.fail("WHERE", "USING", "ON")
	}
	p.beforeQuery = false
	if p.is("BY") && p.isAt(1, "NAME") && !i.HasColumns {
		p.skip(2)
		i.ByName = true
	}
}

// insertSource reads the rows: a query, VALUES, SET or DEFAULT VALUES, and ON DUPLICATE KEY UPDATE behind them.
func (p *parser) insertSource(i *Insert) {
	at := p.tok().start
	switch {
	case p.is("DEFAULT") && p.isAt(1, "VALUES"):
		p.skip(2)
		i.Default, i.DefaultRows = true, 1
	case p.is("SET") && !i.HasColumns && !i.ByName:
		p.advance()
		row := []Expr{}
		for _, item := range p.setItems() {
			i.Columns = append(i.Columns, item.Target)
			row = append(row, item.Value)
		}
		i.HasColumns = true
		i.Query = &Query{Pos: at, Body: &Values{Pos: at, Rows: [][]Expr{row}}}
		p.rowAlias(i)
	case p.is("VALUES", "VALUE") && (p.isAt(1, "(") && p.isAt(2, ")") || p.isAt(1, "ROW") && p.isAt(2, "(") && p.isAt(3, ")")):
		p.advance()
		p.emptyRows(i)
		if len(i.Columns) > 0 {
			p.bail(syntaxError(at, "a row without values goes with an empty list of columns"))
		}
	case p.is("VALUES", "VALUE"):
		p.defaults = true
		i.Query = p.query()
		p.rowAlias(i)
	case p.is("("):
		i.Query = p.query()
		p.rowAlias(i)
	case p.startsQuery(), p.is("FROM"):
		if i.Query = p.query(); !p.endsAt(0, "ON", "AS", "RETURNING") {
			p.fail(p.follow(i.Query)...)
		}
		if p.is("AS") && i.Mode == InsertReplace {
			p.rowAlias(i)
		}
	default:
		p.fail("VALUES", "SELECT", "TABLE", "'('", "DEFAULT VALUES")
	}
	if p.is("ON") && p.isAt(1, "DUPLICATE") {
		p.skip(2)
		p.expect("KEY", "UPDATE")
		i.OnDuplicate = p.setItems()
	}
}

// emptyRows reads MySQL's (), ROW().
func (p *parser) emptyRows(i *Insert) {
	i.Default = true
	for {
		p.accept("ROW")
		p.expect("(", ")")
		i.DefaultRows++
		if !p.accept(",") {
			return
		}
	}
}

// rowAlias reads the alias of the source. MySQL's VALUES (...) AS new and the source of REPLACE ON keep it beside the query, elsewhere
// it makes the rows a subquery, whose columns it may name.
func (p *parser) rowAlias(i *Insert) {
	alias := p.alias()
	switch {
	case alias == nil:
	case i.ReplaceOn != nil || p.is("ON") || p.opts.Dialect == MySQL:
		i.QueryAlias, i.QueryColumns = &alias.Name, alias.Columns
	default:
		at := i.Query.Pos
		from := &DerivedTable{Pos: at, Query: i.Query, Alias: alias}
		all := &Select{Pos: at, Items: []SelectItem{{Expr: &Star{span: span{Start: at, Stop: at.Offset}}}}, From: from}
		i.Query = &Query{Pos: at, Body: all}
	}
}

// setItems reads path = value, ...
func (p *parser) setItems() []SetItem {
	var items []SetItem
	for {
		item := SetItem{Target: p.name()}
		if !p.accept("=", "==", ":=") {
			p.fail("'='")
		}
		item.Value = p.valueOrDefault()
		items = append(items, item)
		if !p.accept(",") {
			return items
		}
	}
}
