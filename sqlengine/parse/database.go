package parse

// createDatabase reads CREATE DATABASE|SCHEMA|NAMESPACE.
func (p *parser) createDatabase() Statement {
	d := &CreateDatabase{Pos: p.advance().start}
	p.advance()
	d.IfNotExists = p.ifNotExists()
	d.Name = p.name()
	seen := clauses{}
	for {
		at := p.tok().start
		switch {
		case p.is("COMMENT"):
			p.once(seen, "COMMENT", at)
			p.advance()
			d.Comment = p.textLiteral()
		case p.is("LOCATION"), p.is("MANAGED") && p.isAt(1, "LOCATION"):
			p.once(seen, "LOCATION", at)
			p.accept("MANAGED")
			p.advance()
			d.Location = p.textLiteral()
		case p.is("WITH") && p.isAt(1, "DBPROPERTIES", "PROPERTIES"):
			p.once(seen, "DBPROPERTIES", at)
			p.skip(2)
			d.Properties = p.properties()
		case p.is("DEFAULT") && p.isAt(1, "COLLATION"):
			p.once(seen, "DEFAULT COLLATION", at)
			p.skip(2)
			d.Collation = p.collationName()
		default:
			ignored, ok := p.tableOption()
			if !ok {
				return d
			}
			d.Ignored = append(d.Ignored, ignored)
		}
	}
}

// drop reads DROP of what this product has, and names the rest.
func (p *parser) drop() Statement {
	switch {
	case p.isAt(1, "VIEW"):
		return p.dropView()
	case p.isAt(1, "TABLE", "TABLES"), p.isAt(1, "TEMPORARY") && p.isAt(2, "TABLE"):
		return p.dropTable()
	case p.isAt(1, "DATABASE", "SCHEMA", "NAMESPACE"):
		return p.dropDatabase()
	case p.isAt(1, "INDEX"):
		return p.dropIndex()
	case p.isAt(1, "PREPARE"):
		return p.deallocate()
	}
	return p.otherObject("DROP", 1)
}

func (p *parser) dropTable() Statement {
	d := &DropTable{Pos: p.advance().start}
	d.Temporary = p.accept("TEMPORARY")
	p.advance()
	d.IfExists = p.ifExists()
	d.Names = p.tableNames()
	for {
		switch {
		case p.accept("PURGE"):
			d.Purge = true
		case p.accept("CASCADE", "RESTRICT"): // MySQL reads these words and does nothing
		default:
			return d
		}
	}
}

func (p *parser) dropDatabase() Statement {
	d := &DropDatabase{Pos: p.advance().start}
	p.advance()
	d.IfExists = p.ifExists()
	d.Name = p.name()
	if d.Cascade = p.accept("CASCADE"); !d.Cascade {
		d.Restrict = p.accept("RESTRICT")
	}
	return d
}

// createIndex reads MySQL's CREATE [UNIQUE|FULLTEXT|SPATIAL] INDEX i ON t (columns), which is ALTER TABLE t ADD INDEX.
func (p *parser) createIndex() Statement {
	at := p.advance().start
	k := Key{Pos: at, Kind: "INDEX"}
	if p.is("UNIQUE", "FULLTEXT", "SPATIAL") {
		k.Kind = p.advance().word
	}
	p.expect("INDEX")
	name := p.ident()
	k.Name = &name
	p.indexType()
	p.expect("ON")
	table := p.tableName()
	k.Columns = p.keyColumns(k.Kind)
	for p.indexType() || p.indexOption() || p.lockOption() {
	}
	return &AlterTable{Pos: at, Name: table, Actions: []AlterAction{&AddKey{Key: k}}}
}

// dropIndex reads MySQL's DROP INDEX i ON t.
func (p *parser) dropIndex() Statement {
	at := p.advance().start
	p.advance()
	d := &DropConstraint{Pos: at, Kind: "INDEX", IfExists: p.ifExists()}
	name := p.ident()
	d.Name = &name
	p.expect("ON")
	table := p.tableName()
	for p.lockOption() {
	}
	return &AlterTable{Pos: at, Name: table, Actions: []AlterAction{d}}
}

// lockOption reads MySQL's ALGORITHM = x and LOCK = x.
func (p *parser) lockOption() bool {
	if !p.is("ALGORITHM", "LOCK") {
		return false
	}
	p.advance()
	p.accept("=")
	p.part()
	return true
}

// renameTable reads RENAME TABLE a TO b, c TO d.
func (p *parser) renameTable() Statement {
	at := p.advance().start
	p.advance()
	s := &Several{}
	for {
		t := &AlterTable{Pos: at, Name: p.tableName()}
		r := &RenameTable{Pos: p.tok().start}
		p.expect("TO")
		r.To = p.tableName()
		t.Actions = []AlterAction{r}
		s.Statements = append(s.Statements, t)
		if !p.accept(",") {
			return s
		}
	}
}

// commentOn reads COMMENT ON what name IS 'text' | NULL.
func (p *parser) commentOn() Statement {
	if !p.isAt(1, "ON") || !p.isAt(2, "TABLE", "VIEW", "DATABASE", "SCHEMA", "NAMESPACE", "COLUMN") {
		verb := "COMMENT"
		if p.isAt(1, "ON") && p.peek(2).word != "" {
			verb = "COMMENT ON " + p.peek(2).word
		}
		return p.unsupported(verb)
	}
	c := &CommentOn{Pos: p.advance().start}
	p.advance()
	switch c.What = p.advance().word; c.What {
	case "SCHEMA", "NAMESPACE":
		c.What = "DATABASE"
	}
	c.Name = p.name()
	if c.What == "COLUMN" && len(c.Name) < 2 {
		p.bail(syntaxError(c.Name[0].Pos, "a column is named with its table here: table.column"))
	}
	p.expect("IS")
	if p.accept("NULL") {
		return c
	}
	if !p.isString() {
		p.fail("a string", "NULL")
	}
	c.Text = p.textLiteral()
	return c
}
