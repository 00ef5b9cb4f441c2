package parse

// optimize reads OPTIMIZE t | 'path' [FULL] [WHERE p] [ZORDER BY ...], and MySQL's OPTIMIZE TABLE a, b.
func (p *parser) optimize() Statement {
	o := &Optimize{Pos: p.advance().start}
	if p.tablesAhead() {
		o.MySQL = true
		o.Tables = p.maintainedTables()
		return o
	}
	if p.isString() {
		o.Path = p.stringText()
	} else {
		o.Tables = []Name{p.tableName()}
		p.noTimeTravel()
	}
	o.Full = p.accept("FULL")
	o.Where, o.WhereText = p.where()
	if p.accept("ZORDER") {
		p.expect("BY")
		if p.is("(") {
			o.ZOrder = p.names()
		} else {
			o.ZOrder = p.nameList()
		}
	}
	o.DryRun = p.acceptAll("DRY", "RUN")
	if o.Where == nil && p.is("WHERE") {
		p.bail(syntaxError(p.tok().start, "unexpected 'WHERE': it stands before ZORDER BY"))
	}
	return o
}

// tablesAhead tells whether MySQL's [NO_WRITE_TO_BINLOG | LOCAL] TABLE t follows a verb.
func (p *parser) tablesAhead() bool {
	n := 0
	if p.is("NO_WRITE_TO_BINLOG", "LOCAL") {
		n = 1
	}
	return p.isAt(n, "TABLE", "TABLES") && p.isName(n+1)
}

// maintainedTables reads [NO_WRITE_TO_BINLOG | LOCAL] TABLE a, b.
func (p *parser) maintainedTables() []Name {
	p.accept("NO_WRITE_TO_BINLOG", "LOCAL")
	if !p.accept("TABLE", "TABLES") {
		p.fail("TABLE")
	}
	return p.tableNames()
}

// reorg reads REORG TABLE t [WHERE p] APPLY (what).
func (p *parser) reorg() Statement {
	r := &Reorg{Pos: p.advance().start}
	if p.is("TABLE") && p.isName(1) {
		p.advance()
	}
	r.Table = p.tableName()
	p.noTimeTravel()
	r.Where, r.WhereText = p.where()
	p.expect("APPLY", "(")
	at := p.tok().start
	switch {
	case p.accept("PURGE"):
		r.Purge = true
	case p.accept("CHECKPOINT"):
		r.Checkpoint = true
	case p.acceptAll("UPGRADE", "UNIFORM"):
		p.expect("(", "ICEBERG_COMPAT_VERSION", "=")
		r.Uniform = p.integer()
		p.expect(")")
	case p.is("SET"):
		p.refuse(at, "REORG ... APPLY (SET PARQUET ...) is not supported")
	default:
		p.fail("PURGE", "UPGRADE UNIFORM", "CHECKPOINT")
	}
	p.expect(")")
	if r.Where != nil && !r.Purge {
		p.bail(syntaxError(at, "WHERE goes with APPLY (PURGE)"))
	}
	return r
}

// vacuum reads VACUUM t | 'path' with its modifiers in any order, each once.
func (p *parser) vacuum() Statement {
	v := &Vacuum{Pos: p.advance().start}
	if p.isString() {
		v.Path = p.stringText()
	} else {
		if p.is("TABLE") && p.isName(1) && !p.isAt(1, "LITE", "FULL", "RETAIN", "DRY") {
			p.advance()
		}
		v.Table = p.tableName()
		p.noTimeTravel()
	}
	seen := clauses{}
	for {
		at := p.tok().start
		switch {
		case p.is("LITE", "FULL"):
			p.once(seen, "LITE/FULL", at)
			v.Lite = p.advance().word == "LITE"
		case p.is("RETAIN"):
			p.once(seen, "RETAIN", at)
			p.advance()
			v.Retain = p.unary()
			p.expect("HOURS")
		case p.is("DRY"):
			p.once(seen, "DRY RUN", at)
			p.expect("DRY", "RUN")
			v.DryRun = true
		case p.is("USING"):
			p.once(seen, "USING INVENTORY", at)
			p.expect("USING", "INVENTORY")
			v.Inventory = p.inventory()
		default:
			if !p.endsAt(0) {
				p.fail("LITE", "FULL", "RETAIN", "USING INVENTORY", "DRY RUN", "the end of the statement")
			}
			return v
		}
	}
}

// inventory reads (query), or a table, which is a query of all of it.
func (p *parser) inventory() *Query {
	at := p.tok().start
	if p.accept("(") {
		q := p.query()
		p.expect(")")
		return q
	}
	table := &TableRef{Pos: at, Name: p.tableName()}
	star := &Star{span: span{Start: at, Stop: at.Offset}}
	return &Query{Pos: at, Body: &Select{Pos: at, Items: []SelectItem{{Expr: star}}, From: table}}
}

// restore reads RESTORE [TABLE] t [TO] time travel.
func (p *parser) restore() Statement {
	r := &Restore{Pos: p.advance().start}
	if p.is("TABLE") && p.isName(1) {
		p.advance()
	}
	r.Table = p.tableName()
	p.accept("TO")
	if p.is("AS", "AT") || !p.startsAsOf() {
		p.fail("VERSION AS OF", "TIMESTAMP AS OF")
	}
	r.AsOf = p.asOf()
	return r
}

// convertToDelta reads CONVERT TO DELTA source.
func (p *parser) convertToDelta() Statement {
	c := &Convert{Pos: p.advance().start}
	p.expect("TO", "DELTA")
	c.Source = p.tableName()
	seen := clauses{}
	for {
		at := p.tok().start
		switch {
		case p.is("NO"):
			p.once(seen, "NO STATISTICS", at)
			p.expect("NO", "STATISTICS")
			c.NoStatistics = true
		case p.is("PARTITIONED"):
			p.once(seen, "PARTITIONED BY", at)
			p.expect("PARTITIONED", "BY")
			c.PartitionBy = p.partitionColumns()
			for _, column := range c.PartitionBy {
				if column.Type == nil {
					p.bail(syntaxError(column.Name.Pos, "a partition column needs a type here, such as %s STRING", column.Name.Name))
				}
			}
		default:
			return c
		}
	}
}

// ---- statements with few options ----

// maintain reads the statements of Maintain by their first words; nil, with nothing taken, if it is none of them.
func (p *parser) maintain() Statement {
	m := &Maintain{Pos: p.tok().start}
	switch {
	case p.is("ANALYZE"):
		return p.analyze()
	case p.sequence("FSCK", "REPAIR"):
		p.skip(2)
		p.accept("TABLE")
		m.Verb, m.Tables = "FSCK REPAIR TABLE", []Name{p.tableName()}
		p.fsckScope(m)
		m.DryRun = p.acceptAll("DRY", "RUN")
	case p.sequence("MSCK", "REPAIR"):
		p.skip(2)
		p.accept("TABLE")
		m.Verb, m.Tables = "MSCK REPAIR TABLE", []Name{p.tableName()}
		if p.is("ADD", "DROP", "SYNC") {
			m.Mode = p.advance().word
			p.expect("PARTITIONS")
		}
	case p.sequence("REPAIR", "CHECKSUM"):
		p.skip(2)
		p.accept("TABLE")
		m.Verb, m.Tables = "REPAIR CHECKSUM", []Name{p.tableName()}
	case p.is("CHECK", "REPAIR") && p.isAt(1, "TABLE", "TABLES", "LOCAL", "NO_WRITE_TO_BINLOG"):
		m.Verb = p.advance().word + " TABLE"
		m.Tables = p.maintainedTables()
		m.Mode = p.checkOptions()
	case p.is("GENERATE"):
		p.advance()
		m.Verb, m.Mode = "GENERATE", p.ident().Name
		p.expect("FOR", "TABLE")
		m.Tables = []Name{p.tableName()}
	case p.is("CHECKPOINT"):
		p.advance()
		if p.is("TABLE") && p.isName(1) {
			p.advance()
		}
		m.Verb, m.Tables = "CHECKPOINT", []Name{p.tableName()}
	case p.sequence("COMPACT", "LOG"):
		p.skip(2)
		m.Verb, m.Tables = "COMPACT LOG", []Name{p.tableName()}
		if p.accept("FROM") {
			m.From = p.integer()
			p.expect("TO")
			m.To = p.integer()
		}
	case p.sequence("CLEAN", "LOG"):
		p.skip(2)
		m.Verb, m.Tables = "CLEAN LOG", []Name{p.tableName()}
		m.DryRun = p.acceptAll("DRY", "RUN")
	case p.sequence("EXPORT", "TABLE"):
		p.skip(2)
		m.Verb, m.Tables = "EXPORT TABLE", []Name{p.tableName()}
		if p.accept("AT") {
			p.expect("VERSION")
			m.From = p.integer()
		}
		p.expect("TO")
		m.Path = p.stringText()
	default:
		return nil
	}
	return m
}

// fsckScope reads METADATA ONLY, VERIFY ALL FILES and VERIFY FILES MODIFIED BETWEEN a AND b.
func (p *parser) fsckScope(m *Maintain) {
	switch {
	case p.acceptAll("METADATA", "ONLY"):
		m.Mode = "METADATA ONLY"
	case p.acceptAll("VERIFY", "ALL", "FILES"):
		m.Mode = "VERIFY ALL FILES"
	case p.is("VERIFY"):
		p.expect("VERIFY", "FILES", "MODIFIED", "BETWEEN")
		m.Mode = "VERIFY FILES"
		m.After = p.value()
		p.expect("AND")
		m.Before = p.value()
	}
}

// checkOptions reads the options of CHECK TABLE and REPAIR TABLE.
func (p *parser) checkOptions() string {
	text := ""
	for {
		switch {
		case p.is("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM"):
			text += " " + p.advance().word
		case p.acceptAll("FOR", "UPGRADE"):
			text += " FOR UPGRADE"
		case text != "":
			return text[1:]
		default:
			return ""
		}
	}
}

// analyze reads ANALYZE TABLE t COMPUTE [DELTA] STATISTICS, ANALYZE TABLES, and MySQL's ANALYZE TABLE a, b.
func (p *parser) analyze() Statement {
	m := &Maintain{Pos: p.advance().start, Verb: "ANALYZE TABLE"}
	if p.is("TABLES") && (p.isAt(1, "IN", "FROM", "COMPUTE")) {
		p.advance()
		m.Verb = "ANALYZE TABLES"
		if p.accept("IN", "FROM") {
			m.In = p.name()
		}
	} else {
		m.Tables = p.maintainedTables()
		p.noTimeTravel()
	}
	at := p.tok().start
	if p.accept("PARTITION") {
		m.Partition = true
		p.partitionAssigns()
	}
	if p.is("UPDATE", "DROP") {
		p.refuse(at, "ANALYZE TABLE ... %s HISTOGRAM is not supported", p.tok().word)
	}
	if m.Verb == "ANALYZE TABLE" && !m.Partition && !p.is("COMPUTE") {
		return m
	}
	p.expect("COMPUTE")
	if len(m.Tables) > 1 {
		p.bail(syntaxError(at, "COMPUTE STATISTICS takes one table"))
	}
	m.Compute, m.Delta = true, p.accept("DELTA")
	p.expect("STATISTICS")
	switch {
	case p.accept("NOSCAN"):
		m.Mode = "NOSCAN"
	case m.Verb == "ANALYZE TABLES":
	case p.acceptAll("FOR", "ALL", "COLUMNS"):
		m.AllColumns = true
	case p.accept("FOR"):
		p.expect("COLUMNS")
		m.Columns = p.nameList()
	}
	return m
}
