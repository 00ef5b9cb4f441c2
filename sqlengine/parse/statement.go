package parse

import (
	"slices"
	"strings"
)

// queryVerbs begin a query.
var queryVerbs = []string{"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("}

// otherVerbs begin statements that this version knows by name and does not run. Those in objectVerbs take their object
// into the verb: DROP TABLE.
var (
	otherVerbs = []string{
		"ADD", "ALTER", "ANALYZE", "ATTACH", "BEGIN", "CACHE", "CALL", "CHECK", "CHECKPOINT", "CLEAN", "CLEAR", "CLOSE", "COMMENT", "COMMIT",
		"COMPACT", "CONVERT", "COPY", "CREATE", "DEALLOCATE", "DECLARE", "DELETE", "DENY", "DETACH", "DO", "DROP", "EXECUTE", "EXPORT",
		"FETCH", "FLUSH", "FSCK", "GENERATE", "GRANT", "HANDLER", "HELP", "IMPORT", "INSERT", "INSTALL", "LIST", "LOAD", "LOCK", "MERGE",
		"MSCK", "OPEN", "OPTIMIZE", "PREPARE", "PURGE", "RELEASE", "RENAME", "REORG", "REPAIR", "REPLACE", "RESIGNAL", "RESTORE", "REVOKE",
		"ROLLBACK", "SAVEPOINT", "SHUTDOWN", "SIGNAL", "START", "SYNC", "TRUNCATE", "UNCACHE", "UNDROP", "UNINSTALL", "UNLOCK", "UNSET",
		"UPDATE", "VACUUM", "XA",
	}
	objectVerbs = []string{
		"ADD", "ALTER", "ANALYZE", "CACHE", "CLEAR", "CREATE", "DROP", "EXPORT", "IMPORT", "LOAD", "LOCK", "MSCK", "PURGE", "RENAME", "START",
		"TRUNCATE", "UNCACHE", "UNDROP", "UNLOCK", "UNSET", "REPLACE", "SYNC", "EXECUTE", "COMMENT",
	}
	statementVerbs = []string{
		"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "SHOW", "USE", "SET", "RESET", "REFRESH", "KILL",
	}
)

// statement reads one statement up to its semicolon or end.
func (p *parser) statement() Statement {
	t := p.tok()
	switch {
	case p.is(queryVerbs...):
		return p.queryStatement()
	case p.is("EXPLAIN"):
		return p.explain()
	case p.is("DESCRIBE", "DESC"):
		return p.describeStatement()
	case p.is("SHOW"):
		return p.show()
	case p.is("USE"):
		return p.use()
	case p.is("SET"):
		return p.set()
	case p.is("RESET"):
		return p.reset()
	case p.is("REFRESH"):
		return p.refresh()
	case p.is("KILL"):
		return p.kill()
	case p.is("CREATE"):
		if view := p.createView(); view != nil {
			return view
		}
		return p.unsupported(p.createdObject())
	case p.is("DROP") && p.isAt(1, "VIEW"):
		return p.dropView()
	case p.is(otherVerbs...):
		verb := t.word
		if p.is(objectVerbs...) && p.peek(1).kind == tokWord && p.peek(1).word != "" {
			verb += " " + p.peek(1).word
		}
		return p.unsupported(verb)
	case t.kind == tokEOF || t.word == ";":
		p.bail(syntaxError(t.start, "the statement is empty"))
	}
	err := syntaxError(t.start, "unexpected %s, expected a statement such as SELECT, SHOW or DESCRIBE", p.describe(t))
	if near := Meant(p.text(t), slices.Concat(statementVerbs, otherVerbs)); near != "" && t.kind == tokWord {
		err.WithHint("did you mean %s?", near)
	}
	p.bail(err)
	return nil
}

// unsupported skips to the statement's end. The first token is still to be taken.
func (p *parser) unsupported(verb string) *Unsupported {
	u := &Unsupported{Pos: p.tok().start, Verb: verb}
	for p.tok().kind != tokEOF && !p.is(";") {
		p.advance()
	}
	return u
}

// createdObject is the verb of a CREATE statement: CREATE TABLE and so on, without OR REPLACE and kin.
func (p *parser) createdObject() string {
	for n := 1; n < 12; n++ {
		switch t := p.peek(n); t.word {
		case "TABLE", "VIEW", "DATABASE", "SCHEMA", "FUNCTION", "INDEX", "PROCEDURE", "CATALOG", "ROLE", "USER", "NAMESPACE":
			return "CREATE " + t.word
		}
	}
	if next := p.peek(1); next.kind == tokWord {
		return "CREATE " + p.upper(next)
	}
	return "CREATE"
}

func (p *parser) queryStatement() Statement {
	if p.is("WITH") && p.withChanges() {
		return p.unsupported(p.changeVerb())
	}
	p.outer = p.depth + 1
	q := p.query()
	if t := p.tok(); t.kind != tokEOF && t.word != ";" {
		p.fail(p.follow(q)...)
	}
	return &QueryStatement{Query: q, Into: p.into}
}

// follow are the clauses that could still come behind what was read of a query.
func (p *parser) follow(q *Query) []string {
	switch {
	case q.Limit != nil:
		return []string{"the end of the statement"}
	case q.OrderBy != nil || q.OrderAll:
		return []string{"','", "LIMIT", "the end of the statement"}
	}
	s, ok := q.Body.(*Select)
	if !ok {
		return []string{"UNION", "ORDER BY", "LIMIT", "the end of the statement"}
	}
	var words []string
	if s.From == nil {
		words = append(words, "','", "FROM")
	}
	switch {
	case s.Having != nil:
	case s.GroupBy != nil:
		words = append(words, "HAVING")
	case s.Where != nil:
		words = append(words, "GROUP BY")
	case s.From != nil:
		words = append(words, "JOIN", "WHERE", "GROUP BY")
	}
	return append(words, "ORDER BY", "LIMIT", "the end of the statement")
}

// withChanges tells whether the statement behind a WITH list is a change of a table: WITH c AS (...) DELETE FROM t.
func (p *parser) withChanges() bool { return p.changeVerb() != "" }

// changeVerb is the verb behind a WITH list; "" for a query. It looks only at words outside parentheses.
func (p *parser) changeVerb() string {
	depth := 0
	for n := 1; ; n++ {
		t := p.peek(n)
		switch {
		case t.kind == tokEOF || depth == 0 && (t.word == ";" || t.word == "SELECT"):
			return ""
		case t.word == "(":
			depth++
		case t.word == ")":
			depth--
			if depth == 0 {
				switch next := p.peek(n + 1); next.word {
				case "AS", ",":
				case "INSERT", "UPDATE", "DELETE", "MERGE":
					return next.word
				default:
					return ""
				}
			}
		}
	}
}

// ---- EXPLAIN, USE, RESET, REFRESH ----

func (p *parser) explain() Statement {
	return p.explained(p.advance().start)
}

// explained reads what stands behind EXPLAIN.
func (p *parser) explained(at Pos) Statement {
	p.enter()
	defer p.leave()
	e := &Explain{}
	options := 0
	for ; ; options++ {
		switch {
		case p.is("ANALYZE") && !p.isAt(1, "TABLE"):
			p.advance()
			e.Analyze = true
			continue
		case p.is("EXTENDED", "FORMATTED", "COST"):
			e.Format = p.advance().word
			continue
		case p.is("CODEGEN", "LOGICAL"):
			p.refuse(at, "EXPLAIN %s is not supported: use EXPLAIN or EXPLAIN ANALYZE", p.tok().word)
		case p.is("FORMAT") && p.isAt(1, "="):
			p.skip(2)
			t := p.tok()
			if e.Format = strings.ToUpper(p.part().Name); !slices.Contains([]string{"TREE", "JSON", "TRADITIONAL"}, e.Format) {
				p.bail(syntaxError(t.start, "unexpected %s, expected TREE, JSON or TRADITIONAL", p.describe(t)))
			}
			continue
		case p.is("FOR") && p.isAt(1, "CONNECTION"):
			return p.unsupported("EXPLAIN FOR CONNECTION")
		}
		break
	}
	if p.is(queryVerbs...) || p.is(otherVerbs...) || p.is(statementVerbs...) || p.is("CREATE", "DROP") {
		e.Statement = p.statement()
		return e
	}
	if options == 0 && p.isName(0) { // MySQL's EXPLAIN t
		return p.describeTable(at)
	}
	p.fail("a statement such as SELECT")
	return nil
}

func (p *parser) use() Statement {
	p.advance()
	u := &Use{}
	if p.peek(1).kind == tokWord || p.peek(1).kind == tokQuoted || p.peek(1).kind == tokString {
		u.Catalog = p.is("CATALOG")
		p.accept("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE")
	}
	if p.isString() {
		at := p.tok().start
		u.Name = Name{{Name: p.stringText(), Quoted: true, Pos: at}}
		return u
	}
	u.Name = p.name()
	return u
}

func (p *parser) reset() Statement {
	at := p.advance()
	if p.is("MASTER") || p.is("QUERY") {
		p.previous = at
		return p.unsupported("RESET " + p.tok().word)
	}
	if p.tok().kind == tokEOF || p.is(";") {
		return &Reset{}
	}
	if p.accept("PERSIST") && p.tok().kind == tokEOF {
		return &Reset{}
	}
	return &Reset{Name: p.settingName()}
}

func (p *parser) refresh() Statement {
	p.advance()
	if p.is("FUNCTION") || p.isString() {
		what := "REFRESH"
		if p.is("FUNCTION") {
			what += " FUNCTION"
		}
		return p.unsupported(what)
	}
	if p.is("TABLE") {
		p.advance()
	}
	return &Refresh{Name: p.tableName()}
}

// ---- views ----

// createView reads CREATE VIEW; nil, with nothing taken, if the statement creates something else.
func (p *parser) createView() Statement {
	n := 1
	v := &CreateView{Pos: p.tok().start}
	if p.isAt(n, "OR") && p.isAt(n+1, "REPLACE") {
		v.OrReplace = true
		n += 2
	}
	n = p.viewAttributes(n)
	if p.isAt(n, "GLOBAL") {
		v.Global = true
		n++
	}
	if p.isAt(n, "TEMP", "TEMPORARY") {
		v.Temporary = true
		n++
	}
	if !p.isAt(n, "VIEW") || v.Global && !v.Temporary {
		return nil
	}
	p.skip(n + 1)
	v.IfNotExists = p.acceptAll("IF", "NOT", "EXISTS")
	v.Name = p.tableName()
	if p.is("(") {
		v.Columns = p.viewColumns()
	}
	for {
		switch {
		case p.is("COMMENT"):
			p.advance()
			v.Comment = p.stringText()
			continue
		case p.is("TBLPROPERTIES"):
			p.advance()
			v.Properties = append(v.Properties, p.properties()...)
			continue
		case p.is("WITH") && p.isAt(1, "SCHEMA"):
			p.skip(2)
			p.accept("TYPE")
			if !p.accept("BINDING", "COMPENSATION", "EVOLUTION") {
				p.fail("BINDING", "COMPENSATION", "EVOLUTION")
			}
			continue
		case p.is("USING"):
			return p.unsupported("CREATE TEMPORARY VIEW USING")
		}
		break
	}
	p.expect("AS")
	start := p.tok().start
	v.Query = p.query()
	v.Text = p.lex.sql[start.Offset:p.previous.end]
	if p.is("WITH") {
		p.refuse(p.tok().start, "WITH CHECK OPTION is not supported: views are read-only")
	}
	return v
}

// viewAttributes skips MySQL's ALGORITHM, DEFINER and SQL SECURITY from token n on, and returns where VIEW should be.
func (p *parser) viewAttributes(n int) int {
	for {
		switch {
		case p.isAt(n, "ALGORITHM") && p.isAt(n+1, "="):
			n += 3
		case p.isAt(n, "DEFINER") && p.isAt(n+1, "="):
			n += 3
			if p.isAt(n, "(") {
				n += 2 // CURRENT_USER()
			}
			if p.peek(n).kind == tokVariable {
				n++ // root@localhost
			}
		case p.isAt(n, "SQL") && p.isAt(n+1, "SECURITY"):
			n += 3
		default:
			return n
		}
	}
}

func (p *parser) viewColumns() []ViewColumn {
	p.expect("(")
	var columns []ViewColumn
	for {
		c := ViewColumn{Name: p.ident()}
		if p.accept("COMMENT") {
			c.Comment = p.stringText()
		}
		columns = append(columns, c)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return columns
}

func (p *parser) dropView() Statement {
	d := &DropView{Pos: p.advance().start}
	p.advance()
	d.IfExists = p.acceptAll("IF", "EXISTS")
	d.Name = p.tableName()
	if p.is(",") {
		p.refuse(p.tok().start, "DROP VIEW takes one view at a time")
	}
	p.accept("CASCADE", "RESTRICT")
	return d
}
