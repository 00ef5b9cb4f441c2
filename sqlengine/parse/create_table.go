package parse

import (
	"strings"

	"deltasql/protocol"
)

// createTable reads CREATE [OR REPLACE] [EXTERNAL|TEMPORARY] TABLE and REPLACE TABLE up to the end.
func (p *parser) createTable() Statement {
	c := &CreateTable{Pos: p.tok().start, Mode: Replace}
	if p.advance().word == "CREATE" {
		c.Mode = Create
		if p.acceptAll("OR", "REPLACE") {
			c.Mode = CreateOrReplace
		}
	}
	for {
		switch {
		case p.accept("EXTERNAL"):
			c.External = true
			continue
		case p.accept("TEMPORARY", "TEMP"):
			c.Temporary = true
			continue
		}
		break
	}
	p.expect("TABLE")
	if p.is("IF") && p.isAt(1, "NOT") && c.Mode != Create {
		p.bail(syntaxError(p.peek(1).start, "unexpected 'NOT': IF NOT EXISTS and OR REPLACE exclude each other").
			WithHint("CREATE OR REPLACE replaces a table that is there, IF NOT EXISTS keeps it"))
	}
	c.IfNotExists = p.ifNotExists()
	c.Name = p.tableName()
	p.noTimeTravel()
	switch {
	case p.is("LIKE"):
		p.advance()
		c.Like = p.tableName()
		p.tableClauses(c, false)
		return c
	case p.is("SHALLOW", "DEEP", "CLONE"):
		c.Clone = p.clone()
		p.tableClauses(c, false)
		return c
	case p.is("(") && p.isAt(1, "LIKE") && p.isName(2):
		p.skip(2)
		c.Like = p.tableName()
		p.expect(")")
		p.tableClauses(c, false)
		return c
	case p.is("(") && !p.isAt(1, "SELECT", "WITH", "("):
		c.HasColumns = true
		p.tableBody(c)
	}
	p.tableClauses(c, true)
	if p.tableQuery(c); c.Query == nil && !p.endsAt(0) {
		p.fail("USING", "PARTITIONED BY", "CLUSTER BY", "LOCATION", "TBLPROPERTIES", "COMMENT", "AS", "the end of the statement")
	}
	return c
}

// tableBody reads (columns and constraints).
func (p *parser) tableBody(c *CreateTable) {
	p.expect("(")
	var e tableElements
	for {
		if p.constraintAhead() {
			p.tableConstraint(&e)
		} else {
			c.Columns = append(c.Columns, p.columnDef(ofTable))
		}
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.fail("','", "')'", "NOT NULL", "DEFAULT", "GENERATED", "COMMENT")
	}
	c.Checks, c.Keys, c.ForeignKeys = e.checks, e.keys, e.foreignKeys
}

// clone reads SHALLOW|DEEP CLONE source [time travel].
func (p *parser) clone() *Clone {
	c := &Clone{Pos: p.tok().start, Shallow: p.is("SHALLOW")}
	p.accept("SHALLOW", "DEEP")
	p.expect("CLONE")
	c.Source = p.tableName()
	c.AsOf = p.asOf()
	return c
}

// tableClauses reads the clauses between the columns and the query, in any order, each at most once. LIKE and CLONE take only some.
func (p *parser) tableClauses(c *CreateTable, all bool) {
	seen := clauses{}
	for first := true; ; first = false {
		at := p.tok().start
		if !first && p.opts.Dialect == MySQL {
			p.accept(",")
		}
		switch {
		case p.is("USING"):
			p.once(seen, "USING", at)
			p.advance()
			c.Using = p.part().Name
			for p.accept(".") {
				c.Using += "." + p.part().Name
			}
		case p.is("LOCATION"):
			p.once(seen, "LOCATION", at)
			p.advance()
			c.Location = p.textLiteral()
			p.noCredential()
		case p.is("TBLPROPERTIES"):
			p.once(seen, "TBLPROPERTIES", at)
			p.advance()
			c.Properties = p.properties()
		case p.is("COMMENT"):
			p.once(seen, "COMMENT", at)
			p.advance()
			p.accept("=")
			c.Comment = p.textLiteral()
		case p.is("DEFAULT") && p.isAt(1, "COLLATION"):
			p.once(seen, "DEFAULT COLLATION", at)
			p.skip(2)
			c.Collation = p.collationName()
		case p.is("ROW", "STORED") && p.isAt(1, "FORMAT", "AS", "BY"):
			p.refuse(at, "%s %s is not supported: Delta tables hold Parquet files", p.tok().word, p.peek(1).word)
		case all && p.is("PARTITIONED", "CLUSTER", "CLUSTERED", "OPTIONS", "PARTITION", "WITH"):
			if !p.layoutClause(c, seen) {
				return
			}
		default:
			ignored, ok := p.tableOption()
			if !ok {
				return
			}
			c.Ignored = append(c.Ignored, ignored)
		}
	}
}

// layoutClause reads a clause that says how the table is laid out; false for a WITH that begins a query.
func (p *parser) layoutClause(c *CreateTable, seen clauses) bool {
	at := p.tok().start
	switch {
	case p.is("PARTITIONED"):
		p.once(seen, "PARTITIONED BY", at)
		p.advance()
		p.expect("BY")
		c.PartitionBy = p.partitionColumns()
	case p.is("CLUSTER"):
		p.once(seen, "CLUSTER BY", at)
		c.ClusterBy = p.clusterBy()
	case p.is("OPTIONS"):
		p.once(seen, "OPTIONS", at)
		p.advance()
		c.Options = p.properties()
	case p.is("CLUSTERED"):
		p.refuse(at, "CLUSTERED BY ... INTO BUCKETS is not supported: use CLUSTER BY (columns)")
	case p.is("PARTITION"):
		p.refuse(at, "PARTITION BY is not supported: a Delta table is partitioned by the values of columns, PARTITIONED BY (columns)")
	case p.isAt(1, "ROW"):
		p.refuse(at, "WITH ROW FILTER is not supported")
	default:
		return false
	}
	if c.ClusterBy != nil && c.PartitionBy != nil {
		p.bail(protocol.NewError("DELTA_CLUSTER_BY_WITH_PARTITIONED_BY", "a table has CLUSTER BY or PARTITIONED BY, not both").
			At(at.Line, at.Column).WithHint("remove PARTITIONED BY to make a clustered table"))
	}
	return true
}

// partitionColumns reads (a, b), or (a INT, b STRING) of Hive's form.
func (p *parser) partitionColumns() []PartitionColumn {
	p.expect("(")
	var columns []PartitionColumn
	for {
		if p.isName(0) && p.isAt(1, "(") {
			p.refuse(p.tok().start, "partitioning by %s(...) is not supported: use a generated column", p.text(p.tok()))
		}
		column := PartitionColumn{Name: p.ident()}
		if !p.is(",", ")") {
			typ := p.typeName()
			p.sized(&typ)
			column.Type = &typ
			if p.accept("COMMENT") {
				p.stringText()
			}
		}
		columns = append(columns, column)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return columns
}

// clusterBy reads CLUSTER BY (paths), NONE or AUTO.
func (p *parser) clusterBy() *ClusterBy {
	c := &ClusterBy{Pos: p.tok().start}
	p.expect("CLUSTER", "BY")
	switch {
	case p.accept("NONE"):
		c.None = true
	case p.accept("AUTO"):
		c.Auto = true
	case p.is("("):
		c.Columns = p.names()
	default:
		p.fail("'('", "NONE", "AUTO")
	}
	return c
}

// noCredential refuses WITH (CREDENTIAL ...) behind a location.
func (p *parser) noCredential() {
	if p.is("WITH") && p.isAt(1, "(") && p.isAt(2, "CREDENTIAL", "ENCRYPTION") {
		p.refuse(p.tok().start, "WITH (%s ...) is not supported: access to storage is configured for the whole server", p.peek(2).word)
	}
}

// tableQuery reads [AS] query.
func (p *parser) tableQuery(c *CreateTable) {
	if !p.accept("AS") && !p.startsQuery() && !p.is("(") {
		return
	}
	if c.HasColumns {
		p.refuse(p.tok().start, "CREATE TABLE ... AS SELECT takes no columns: their names and types are those of the query")
	}
	for _, column := range c.PartitionBy {
		if column.Type != nil {
			p.refuse(column.Type.Pos, "PARTITIONED BY takes no types here: they are those of the query")
		}
	}
	start := p.tok().start
	c.Query = p.query()
	c.QueryText = p.textFrom(start)
}

// tableOptions are MySQL's options of a table that are read and have no effect, and how many words each has.
var tableOptions = map[string]int{
	"ENGINE": 1, "AUTO_INCREMENT": 1, "AVG_ROW_LENGTH": 1, "CHARSET": 1, "CHECKSUM": 1, "COLLATE": 1, "COMPRESSION": 1, "CONNECTION": 1,
	"DELAY_KEY_WRITE": 1, "ENCRYPTION": 1, "ENGINE_ATTRIBUTE": 1, "INSERT_METHOD": 1, "KEY_BLOCK_SIZE": 1, "MAX_ROWS": 1, "MIN_ROWS": 1,
	"PACK_KEYS": 1, "PASSWORD": 1, "ROW_FORMAT": 1, "STATS_AUTO_RECALC": 1, "STATS_PERSISTENT": 1, "STATS_SAMPLE_PAGES": 1, "TABLESPACE": 1,
	"CHARACTER": 2, "DATA": 2,
}

// tableOption reads one of MySQL's options, such as ENGINE = InnoDB.
func (p *parser) tableOption() (Ignored, bool) {
	at := p.tok().start
	n := 0
	if p.is("DEFAULT") {
		n = 1
	}
	word := p.peek(n).word
	if p.peek(n).kind == tokWord && word == "" {
		word = strings.ToUpper(p.text(p.peek(n)))
	}
	words := tableOptions[word]
	if words == 0 || n == 1 && word != "CHARSET" && word != "CHARACTER" && word != "COLLATE" {
		return Ignored{}, false
	}
	p.skip(n + words)
	p.accept("=")
	if p.isString() {
		p.stringText()
	} else if t := p.tok(); t.kind == tokWord || t.kind == tokQuoted || t.kind == tokNumber {
		p.advance()
	} else {
		p.fail("a value")
	}
	return p.ignore(at), true
}
