package parse

import (
	"slices"
	"strings"
)

// queryVerbs begin a query.
var queryVerbs = []string{"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("}

// changeVerbs begin statements that define and change tables, keep them, and run transactions. otherVerbs begin those that this version
// knows by name and does not run; so do some of changeVerbs, by what follows. Those in objectVerbs take their object into the verb:
// LOCK TABLES.
var (
	changeVerbs = []string{
		"ALTER", "ANALYZE", "BEGIN", "CHECK", "CHECKPOINT", "CLEAN", "COMMENT", "COMMIT", "COMPACT", "CONVERT", "COPY", "CREATE", "DEALLOCATE",
		"DELETE", "DROP", "EXECUTE", "EXPORT", "FSCK", "GENERATE", "INSERT", "LOAD", "MERGE", "MSCK", "OPTIMIZE", "PREPARE", "RELEASE", "RENAME",
		"REORG", "REPAIR", "REPLACE", "RESTORE", "ROLLBACK", "SAVEPOINT", "START", "TRUNCATE", "UPDATE", "VACUUM",
	}
	otherVerbs = []string{
		"ADD", "ATTACH", "CACHE", "CALL", "CLEAR", "CLOSE", "DECLARE", "DENY", "DETACH", "DO", "FETCH", "FLUSH", "GRANT", "HANDLER", "HELP",
		"IMPORT", "INSTALL", "LIST", "LOCK", "OPEN", "PURGE", "RESIGNAL", "REVOKE", "SHUTDOWN", "SIGNAL", "SYNC", "UNCACHE", "UNDROP",
		"UNINSTALL", "UNLOCK", "UNSET", "XA",
	}
	objectVerbs = []string{
		"ADD", "ALTER", "CACHE", "CHECK", "CLEAN", "CLEAR", "COMPACT", "DROP", "EXPORT", "FSCK", "IMPORT", "LOAD", "LOCK", "MSCK", "PURGE",
		"RENAME", "REPAIR", "START", "SYNC", "UNCACHE", "UNDROP", "UNLOCK", "UNSET",
	}
	statementVerbs = []string{
		"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "SHOW", "USE", "SET", "RESET", "REFRESH", "KILL",
	}
)

// do reads DO expression, ...
func (p *parser) do() Statement {
	p.advance()
	body := &Select{}
	for {
		body.Items = append(body.Items, SelectItem{Expr: p.expr()})
		if !p.accept(",") {
			return &Do{Query: &Query{Body: body}}
		}
	}
}

// statement reads one statement up to its semicolon or end.
func (p *parser) statement() Statement {
	t := p.tok()
	switch {
	case p.is(queryVerbs...):
		return p.queryStatement()
	case p.is("DO") && p.opts.Dialect == MySQL:
		return p.do()
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
	case p.is(changeVerbs...):
		return p.change()
	case p.is(otherVerbs...):
		return p.unsupported(p.objectVerb())
	case t.kind == tokEOF || t.word == ";":
		p.bail(syntaxError(t.start, "the statement is empty"))
	}
	err := syntaxError(t.start, "unexpected %s, expected a statement such as SELECT, SHOW or DESCRIBE", p.describe(t))
	if near := Meant(p.text(t), slices.Concat(statementVerbs, changeVerbs, otherVerbs)); near != "" && t.kind == tokWord {
		err.WithHint("did you mean %s?", near)
	}
	p.bail(err)
	return nil
}

// change reads a statement of changeVerbs.
func (p *parser) change() Statement {
	switch p.tok().word {
	case "CREATE":
		return p.create()
	case "REPLACE":
		if p.isAt(1, "TABLE") && p.isName(2) {
			return p.createTable()
		}
		return p.tableChange()
	case "INSERT", "UPDATE", "DELETE", "MERGE":
		return p.tableChange()
	case "DROP":
		return p.drop()
	case "ALTER":
		return p.alter()
	case "RENAME":
		if p.isAt(1, "TABLE", "TABLES") {
			return p.renameTable()
		}
	case "COMMENT":
		return p.commentOn()
	case "TRUNCATE":
		return p.truncate()
	case "COPY":
		return p.copy()
	case "LOAD":
		if p.isAt(1, "DATA") && !p.isAt(2, "INPATH") && !p.isAt(3, "INPATH") {
			return p.loadData()
		}
	case "OPTIMIZE":
		return p.optimize()
	case "REORG":
		return p.reorg()
	case "VACUUM":
		return p.vacuum()
	case "RESTORE":
		return p.restore()
	case "CONVERT":
		return p.convertToDelta()
	case "BEGIN", "START":
		return p.begin()
	case "COMMIT", "ROLLBACK":
		return p.finish()
	case "SAVEPOINT", "RELEASE":
		return p.savepoint()
	case "PREPARE":
		return p.prepare()
	case "EXECUTE":
		return p.execute()
	case "DEALLOCATE":
		return p.deallocate()
	default:
		if m := p.maintain(); m != nil {
			return m
		}
	}
	return p.unsupported(p.objectVerb())
}

// tableChange reads INSERT, REPLACE, UPDATE, DELETE or MERGE, with the WITH that may stand before.
func (p *parser) tableChange() Statement {
	p.enter()
	defer p.leave()
	with := &Query{Pos: p.tok().start}
	if p.is("WITH") {
		p.with(with)
	}
	switch p.tok().word {
	case "UPDATE":
		return p.update(with)
	case "DELETE":
		return p.delete(with)
	case "MERGE":
		return p.merge(with)
	}
	return p.insert(with)
}

// create reads CREATE of what this product has, and names the rest.
func (p *parser) create() Statement {
	switch object := p.createdObject(); {
	case object == "CREATE TABLE":
		return p.createTable()
	case p.isAt(1, "DATABASE", "SCHEMA", "NAMESPACE"):
		return p.createDatabase()
	case object == "CREATE INDEX" && (p.isAt(1, "INDEX") || p.isAt(2, "INDEX")):
		return p.createIndex()
	default:
		if view := p.createView(); view != nil {
			return view
		}
		if object != "CREATE" {
			return p.unsupported(object)
		}
		n := 1
		if p.isAt(1, "OR") && p.isAt(2, "REPLACE") {
			n = 3
		}
		return p.otherObject(object, n)
	}
}

// otherObjects are what other databases create, alter and drop, and this one knows by name.
var otherObjects = []string{
	"AGGREGATE", "BLOOMFILTER", "CATALOG", "CONNECTION", "CREDENTIAL", "DATABASE", "EVENT", "EXTERNAL", "FUNCTION", "GROUP", "INDEX", "INSTANCE",
	"LOGFILE", "MATERIALIZED", "MODEL", "NAMESPACE", "POLICY", "PROCEDURE", "PROVIDER", "RECIPIENT", "RESOURCE", "ROLE", "SCHEMA", "SEQUENCE",
	"SERVER", "SERVICE", "SHARE", "STORAGE", "STREAMING", "TABLESPACE", "TEMPORARY", "TRIGGER", "TYPE", "UNDO", "USER", "VARIABLE", "VOLUME",
}

// otherObject names a statement about an object of otherObjects, and refuses what is none. The word stands n places on.
func (p *parser) otherObject(verb string, n int) Statement {
	t := p.peek(n)
	if t.kind == tokWord && slices.Contains(otherObjects, p.upper(t)) {
		return p.unsupported(verb + " " + p.upper(t))
	}
	p.skip(n)
	err := syntaxError(t.start, "unexpected %s, expected TABLE, VIEW, DATABASE or another object behind %s", p.describe(t), verb)
	if near := Meant(p.text(t), slices.Concat([]string{"TABLE", "VIEW", "DATABASE"}, otherObjects)); near != "" && t.kind == tokWord {
		err.WithHint("did you mean %s?", near)
	}
	p.bail(err)
	return nil
}

// objectVerb is the verb with its object: LOCK TABLES.
func (p *parser) objectVerb() string {
	verb := p.tok().word
	if p.is(objectVerbs...) && p.peek(1).kind == tokWord {
		verb += " " + p.upper(p.peek(1))
	}
	return verb
}

// unsupported skips to the statement's end. The first token is still to be taken.
func (p *parser) unsupported(verb string) *Unsupported {
	u := &Unsupported{Pos: p.tok().start, Verb: verb}
	for p.tok().kind != tokEOF && !p.is(";") {
		p.advance()
	}
	return u
}

// createAttributes are words that may stand between CREATE and what is created.
var createAttributes = []string{
	"OR", "EXTERNAL", "TEMP", "TEMPORARY", "GLOBAL", "ALGORITHM", "DEFINER", "SQL", "UNIQUE", "FULLTEXT", "SPATIAL",
}

// createdObject is the verb of a CREATE statement whose object stands behind attributes: CREATE TABLE and so on, without OR REPLACE and
// kin; else "CREATE".
func (p *parser) createdObject() string {
	for n := 1; n < 12; n++ {
		switch t := p.peek(n); t.word {
		case "TABLE", "VIEW", "FUNCTION", "INDEX", "PROCEDURE", "ROLE", "USER", "VARIABLE":
			return "CREATE " + t.word
		}
		if n == 1 && !p.isAt(1, createAttributes...) {
			break
		}
	}
	return "CREATE"
}

func (p *parser) queryStatement() Statement {
	if p.is("WITH") && p.changeVerb() != "" {
		return p.tableChange()
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

// changeVerb is the verb behind a WITH list, where the statement changes a table: WITH c AS (...) DELETE FROM t; "" for a query. It looks
// only at words outside parentheses.
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
	if p.is(queryVerbs...) || p.is(changeVerbs...) || p.is(otherVerbs...) || p.is(statementVerbs...) {
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
