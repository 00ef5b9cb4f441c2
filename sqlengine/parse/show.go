package parse

import "strings"

// showPlain are the SHOW statements that take at most LIKE, WHERE and LIMIT.
var showPlain = [][]string{
	{"CATALOGS"}, {"WARNINGS"}, {"ERRORS"}, {"ENGINES"}, {"STORAGE", "ENGINES"}, {"PLUGINS"}, {"PROCESSLIST"}, {"PRIVILEGES"},
	{"CHARACTER", "SET"}, {"CHARSET"}, {"COLLATION"}, {"VARIABLES"}, {"STATUS"}, {"MASTER", "STATUS"}, {"PROCEDURE", "STATUS"},
	{"FUNCTION", "STATUS"}, {"PROFILES"}, {"CURRENT", "NAMESPACE"}, {"CURRENT", "DATABASE"}, {"CURRENT", "SCHEMA"},
}

// showDatabase are those that may name a database as well.
var showDatabase = [][]string{
	{"TABLES", "EXTENDED"}, {"TABLES", "DROPPED"}, {"TABLES"}, {"TABLE", "EXTENDED"}, {"TABLE", "STATUS"}, {"VIEWS"}, {"DATABASES"}, {"SCHEMAS"},
	{"NAMESPACES"}, {"USER", "FUNCTIONS"}, {"SYSTEM", "FUNCTIONS"}, {"ALL", "FUNCTIONS"}, {"FUNCTIONS"}, {"TRIGGERS"}, {"EVENTS"}, {"OPEN", "TABLES"},
}

// showTable are those that name a table right away.
var showTable = [][]string{
	{"PARTITIONS"}, {"TBLPROPERTIES"}, {"FEATURES"}, {"FILES"}, {"CONSTRAINTS"}, {"LOG"}, {"CREATE", "TABLE"}, {"CREATE", "VIEW"},
	{"CREATE", "DATABASE"}, {"CREATE", "SCHEMA"},
}

// showSynonyms give two spellings of one statement one name.
var showSynonyms = map[string]string{
	"SCHEMAS": "DATABASES", "NAMESPACES": "DATABASES", "CHARSET": "CHARACTER SET", "FIELDS": "COLUMNS", "INDEXES": "INDEX", "KEYS": "INDEX",
	"CREATE SCHEMA": "CREATE DATABASE", "TABLES EXTENDED": "TABLE EXTENDED", "STORAGE ENGINES": "ENGINES",
	"CURRENT DATABASE": "CURRENT NAMESPACE", "CURRENT SCHEMA": "CURRENT NAMESPACE", "ALL FUNCTIONS": "FUNCTIONS",
}

func (p *parser) show() Statement {
	s := &Show{Pos: p.advance().start}
	for {
		switch {
		case p.is("FULL"):
			s.Full = true
		case p.is("EXTENDED"):
			s.Extended = true
		case p.is("GLOBAL", "SESSION", "LOCAL") && p.isAt(1, "VARIABLES", "STATUS"):
			if s.Scope = p.tok().word; s.Scope == "LOCAL" {
				s.Scope = "SESSION"
			}
		default:
			p.showWhat(s)
			return s
		}
		p.advance()
	}
}

// showWords takes the words of one of the forms; "" if none is here.
func (p *parser) showWords(forms [][]string) string {
	for _, words := range forms {
		if p.acceptAll(words...) {
			what := strings.Join(words, " ")
			if synonym := showSynonyms[what]; synonym != "" {
				return synonym
			}
			return what
		}
	}
	return ""
}

func (p *parser) showWhat(s *Show) {
	if s.What = p.showWords(showTable); s.What != "" {
		p.showTableForm(s)
		return
	}
	if s.What = p.showWords(showDatabase); s.What != "" {
		s.Extended = s.Extended || s.What == "TABLE EXTENDED"
		if p.accept("IN", "FROM") {
			s.In = p.name()
		}
		p.showFilter(s)
		if p.is("PARTITION") && s.What == "TABLE EXTENDED" {
			p.refuse(p.tok().start, "PARTITION in SHOW TABLE EXTENDED is not supported")
		}
		return
	}
	if s.What = p.showWords(showPlain); s.What != "" {
		p.showFilter(s)
		return
	}
	switch {
	case p.is("COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS"):
		if s.What = p.advance().word; showSynonyms[s.What] != "" {
			s.What = showSynonyms[s.What]
		}
		if !p.accept("IN", "FROM") {
			p.fail("IN", "FROM")
		}
		s.Table = p.tableName()
		if p.accept("IN", "FROM") {
			s.In = p.name()
		}
		p.showFilter(s)
	case p.is("COUNT") && p.isAt(1, "(") && p.isAt(2, "*") && p.isAt(3, ")") && p.isAt(4, "WARNINGS", "ERRORS"):
		s.What = "COUNT " + p.peek(4).word
		p.skip(5)
	case p.is("GRANTS"):
		s.What = p.advance().word
		if p.accept("FOR", "ON") { // whose grants makes no difference: there is one user
			for p.tok().kind != tokEOF && !p.is(";") {
				p.advance()
			}
		}
	default:
		p.fail("TABLES", "DATABASES", "COLUMNS", "CREATE TABLE", "PARTITIONS", "TBLPROPERTIES", "VIEWS", "FUNCTIONS", "VARIABLES")
	}
}

func (p *parser) showTableForm(s *Show) {
	s.Table = p.tableName()
	switch s.What {
	case "CREATE TABLE":
		if p.is("AS") && p.isAt(1, "SERDE") {
			p.refuse(p.tok().start, "SHOW CREATE TABLE ... AS SERDE is not supported")
		}
	case "TBLPROPERTIES":
		if p.accept("(") {
			s.Key = p.propertyKey()
			p.expect(")")
		}
	case "PARTITIONS":
		if p.accept("PARTITION") {
			s.Spec = p.partitionSpec()
		}
	case "FILES":
		s.AsOf = p.asOf()
		p.showFilter(s)
	case "LOG", "CONSTRAINTS", "FEATURES":
		p.showFilter(s)
	}
}

func (p *parser) partitionSpec() []PartitionValue {
	p.expect("(")
	var spec []PartitionValue
	for {
		value := PartitionValue{Name: p.ident()}
		p.expect("=")
		value.Value = p.value()
		spec = append(spec, value)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return spec
}

// showFilter reads LIKE 'p' (or just 'p', as Spark allows), WHERE and LIMIT.
func (p *parser) showFilter(s *Show) {
	if p.accept("LIKE") || p.isString() {
		pattern := p.stringText()
		s.Like = &pattern
	} else if p.accept("WHERE") {
		s.Where = p.expr()
	}
	if p.accept("LIMIT") {
		s.Limit = p.limitValue()
		if p.accept(",") {
			s.Offset, s.Limit = s.Limit, p.limitValue()
		} else if p.accept("OFFSET") {
			s.Offset = p.limitValue()
		}
	}
}
