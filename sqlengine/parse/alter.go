package parse

import "strings"

// alter reads ALTER TABLE and ALTER VIEW, and names the rest.
func (p *parser) alter() Statement {
	n := p.viewAttributes(1)
	switch {
	case p.isAt(n, "VIEW"):
		return p.alterView(n)
	case p.isAt(1, "TABLE"), p.isAt(1, "IGNORE") && p.isAt(2, "TABLE"):
		return p.alterTable()
	}
	return p.otherObject("ALTER", 1)
}

// alterTable reads ALTER TABLE t and its actions. Spark takes one, MySQL many.
func (p *parser) alterTable() Statement {
	a := &AlterTable{Pos: p.advance().start}
	p.accept("IGNORE")
	p.advance()
	a.Name = p.tableName()
	p.noTimeTravel()
	for {
		p.alterAction(a)
		if !p.accept(",") {
			return a
		}
		if p.tok().kind == tokEOF {
			p.fail("an action such as ADD COLUMN")
		}
	}
}

// alterVerbs begin an action for certain; MySQL reserves them.
var alterVerbs = []string{"ADD", "DROP", "ALTER", "CHANGE", "MODIFY", "RENAME"}

// actionAt tells whether an action begins n places on, rather than another column of the list that was read last.
func (p *parser) actionAt(n int) bool {
	next := p.peek(n + 1)
	switch {
	case p.isAt(n, alterVerbs...):
		return true
	case p.isAt(n, "ENGINE", "COMMENT", "AUTO_INCREMENT", "ROW_FORMAT", "CHARSET", "ALGORITHM", "LOCK"):
		return next.word == "=" || next.kind == tokString || next.kind == tokNumber
	case p.isAt(n, "SET", "UNSET"):
		return p.isAt(n+1, "TBLPROPERTIES", "LOCATION", "OWNER", "TAGS", "MANAGED", "EXTERNAL", "ROW", "SERDE", "SERDEPROPERTIES")
	case p.isAt(n, "CLUSTER", "ORDER"):
		return p.isAt(n+1, "BY")
	case p.isAt(n, "REPLACE"):
		return p.isAt(n+1, "COLUMNS", "PARTITIONED")
	case p.isAt(n, "CONVERT"):
		return p.isAt(n+1, "TO")
	case p.isAt(n, "DEFAULT"):
		return p.isAt(n+1, "CHARACTER", "CHARSET", "COLLATE", "COLLATION")
	case p.isAt(n, "ENABLE", "DISABLE"):
		return p.isAt(n+1, "KEYS", "PREDICTIVE")
	}
	return false
}

// alterAction reads one action. Those that take a list without parentheses go on behind a comma where no other action begins.
func (p *parser) alterAction(a *AlterTable) {
	at := p.tok().start
	add := func(actions ...AlterAction) { a.Actions = append(a.Actions, actions...) }
	switch {
	case p.is("ADD"):
		add(p.alterAdd()...)
	case p.is("DROP"):
		add(p.alterDrop())
	case p.is("RENAME"):
		add(p.alterRename())
	case p.is("ALTER", "CHANGE", "MODIFY"):
		add(p.alterColumns()...)
	case p.is("REPLACE"):
		p.advance()
		if p.is("PARTITIONED") {
			p.expect("PARTITIONED", "BY", "WITH")
			add(&SetClustering{ClusterBy: *p.clusterBy(), Partitions: true})
			return
		}
		p.expect("COLUMNS")
		add(&ReplaceColumns{Pos: at, Columns: p.columnList(ofAlter)})
	case p.is("SET"):
		add(p.alterSet())
	case p.is("UNSET"):
		p.advance()
		if !p.is("TBLPROPERTIES") {
			add(p.refusedAction(at))
			return
		}
		p.advance()
		add(&UnsetProperties{Pos: at, IfExists: p.ifExists(), Keys: p.propertyKeys()})
	case p.is("CLUSTER"):
		add(&SetClustering{ClusterBy: *p.clusterBy()})
	case p.is("COMMENT"):
		p.advance()
		p.accept("=")
		add(&SetTableComment{Pos: at, Text: p.stringText()})
	case p.is("PARTITION"), p.is("RECOVER"), p.is("ENABLE", "DISABLE", "INHERIT") && !p.isAt(1, "KEYS"), p.is("DEFAULT") && p.isAt(1, "COLLATION"),
		p.is("TRUNCATE", "COALESCE", "REORGANIZE", "EXCHANGE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "REMOVE", "DISCARD", "IMPORT"):
		add(p.refusedAction(at))
	default:
		if ignored, ok := p.ignoredAction(); ok {
			a.Ignored = append(a.Ignored, ignored)
			return
		}
		p.fail("ADD", "DROP", "RENAME", "ALTER COLUMN", "REPLACE COLUMNS", "SET", "UNSET", "CLUSTER BY")
	}
}

// refusedAction takes what is left of the statement: an action that no Delta table has. Its name is its first two words, of which
// one may have been taken.
func (p *parser) refusedAction(at Pos) AlterAction {
	var words []string
	full := false
	if p.previous.start == at {
		words = append(words, p.upper(p.previous))
	}
	for p.tok().kind != tokEOF && !p.is(";") {
		t := p.advance()
		if t.word == "(" && len(words) > 0 {
			full = true // what follows are the user's names
		}
		if t.kind == tokWord && len(words) < 2 && !full && t.word != "IF" && t.word != "NOT" && t.word != "EXISTS" {
			words = append(words, p.upper(t))
		}
	}
	return &RefusedAction{Pos: at, What: strings.Join(words, " ")}
}

// ignoredAction reads an action that MySQL has and that changes nothing here.
func (p *parser) ignoredAction() (Ignored, bool) {
	at := p.tok().start
	switch {
	case p.is("CONVERT") && p.isAt(1, "TO"):
		p.skip(2)
		if !p.accept("CHARSET") {
			p.expect("CHARACTER", "SET")
		}
		p.part()
		if p.accept("COLLATE") {
			p.part()
		}
	case p.is("ORDER"):
		p.advance()
		p.expect("BY")
		for {
			p.name()
			p.accept("ASC", "DESC")
			if !p.anotherColumn() {
				break
			}
			p.advance()
		}
	case p.is("ENABLE", "DISABLE"):
		p.skip(2)
	case p.is("FORCE"):
		p.advance()
	case p.is("WITH", "WITHOUT") && p.isAt(1, "VALIDATION"):
		p.skip(2)
	case p.lockOption():
	default:
		return p.tableOption()
	}
	return p.ignore(at), true
}

// alterAdd reads ADD COLUMN(S), CONSTRAINT, keys and partitions.
func (p *parser) alterAdd() []AlterAction {
	at := p.advance().start
	switch {
	case p.is("PARTITION"), p.is("IF") && p.isAt(3, "PARTITION"), p.is("RANGE") && p.isAt(1, "PARTITION"):
		return []AlterAction{p.refusedAction(at)}
	case p.constraintAhead():
		var e tableElements
		p.tableConstraint(&e)
		switch {
		case e.checks != nil:
			return []AlterAction{&AddCheck{Check: e.checks[0]}}
		case e.keys != nil:
			return []AlterAction{&AddKey{Key: e.keys[0]}}
		}
		return []AlterAction{&AddForeignKey{Key: e.foreignKeys[0]}}
	}
	p.accept("COLUMN", "COLUMNS")
	c := &AddColumns{Pos: at, IfNotExists: p.ifNotExists()}
	if p.is("(") {
		c.Columns = p.columnList(ofAlter)
		return []AlterAction{c}
	}
	for {
		c.Columns = append(c.Columns, p.columnDef(ofAlter))
		if !p.anotherColumn() {
			return []AlterAction{c}
		}
		p.advance()
	}
}

// anotherColumn tells whether a list of columns without parentheses goes on behind a comma.
func (p *parser) anotherColumn() bool { return p.is(",") && !p.actionAt(1) }

// columnList reads (definitions).
func (p *parser) columnList(place columnPlace) []ColumnDef {
	p.expect("(")
	var columns []ColumnDef
	for {
		columns = append(columns, p.columnDef(place))
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return columns
}

// alterDrop reads DROP COLUMN(S), CONSTRAINT, CHECK, keys, FEATURE and partitions.
func (p *parser) alterDrop() AlterAction {
	at := p.advance().start
	d := &DropConstraint{Pos: at}
	switch {
	case p.is("PARTITION"), p.is("IF") && p.isAt(2, "PARTITION"):
		return p.refusedAction(at)
	case p.is("FEATURE") && !p.endsAt(1, ","):
		p.advance()
		f := &DropFeature{Pos: at}
		if p.isString() {
			f.Feature = p.stringText()
		} else {
			f.Feature = p.ident().Name
		}
		f.Truncate = p.acceptAll("TRUNCATE", "HISTORY")
		return f
	case p.is("PRIMARY") && p.isAt(1, "KEY"):
		p.skip(2)
		d.Kind, d.IfExists = "PRIMARY KEY", p.ifExists()
		p.accept("RESTRICT", "CASCADE")
		return d
	case p.is("FOREIGN") && p.isAt(1, "KEY"):
		p.skip(2)
		d.Kind, d.IfExists = "FOREIGN KEY", p.ifExists()
		if p.is("(") {
			d.Columns = p.identList()
			return d
		}
	case p.is("CONSTRAINT", "CHECK") && !p.endsAt(1, ","):
		d.Kind = p.advance().word
		d.IfExists = p.ifExists()
	case p.is("INDEX", "KEY") && !p.endsAt(1, ","):
		p.advance()
		d.Kind, d.IfExists = "INDEX", p.ifExists()
	default:
		return p.dropColumns(at)
	}
	name := p.ident()
	d.Name = &name
	p.accept("RESTRICT", "CASCADE")
	return d
}

func (p *parser) dropColumns(at Pos) AlterAction {
	if !p.endsAt(1, ",") {
		p.accept("COLUMN", "COLUMNS")
	}
	d := &DropColumns{Pos: at, IfExists: p.ifExists()}
	if p.is("(") {
		d.Columns = p.names()
		return d
	}
	for {
		d.Columns = append(d.Columns, p.name())
		if !p.anotherColumn() {
			p.accept("RESTRICT", "CASCADE")
			return d
		}
		p.advance()
	}
}

// alterRename reads RENAME COLUMN a TO b, RENAME [TO|AS] t, and MySQL's RENAME INDEX.
func (p *parser) alterRename() AlterAction {
	at := p.advance().start
	switch {
	case p.is("COLUMN") && !p.endsAt(1, ","):
		p.advance()
		r := &RenameColumn{Pos: at, Column: p.name()}
		p.expect("TO")
		r.To = p.ident()
		return r
	case p.is("INDEX", "KEY", "PARTITION", "CONSTRAINT") && !p.endsAt(1, ","):
		return p.refusedAction(at)
	}
	if !p.accept("TO", "AS", "=") && p.opts.Dialect == Spark {
		p.fail("TO", "COLUMN")
	}
	return &RenameTable{Pos: at, To: p.tableName()}
}

// alterSet reads SET TBLPROPERTIES, SET LOCATION and what is refused.
func (p *parser) alterSet() AlterAction {
	at := p.advance().start
	switch {
	case p.accept("TBLPROPERTIES"):
		return &SetProperties{Pos: at, Properties: p.properties()}
	case p.accept("LOCATION"):
		s := &SetLocation{Pos: at, Location: p.stringText()}
		p.noCredential()
		return s
	case p.is("OWNER", "TAGS", "MANAGED", "EXTERNAL", "ROW", "SERDE", "SERDEPROPERTIES", "FILEFORMAT"):
		return p.refusedAction(at)
	}
	p.fail("TBLPROPERTIES", "LOCATION")
	return nil
}

// propertyKeys reads ('a', b.c).
func (p *parser) propertyKeys() []string {
	p.expect("(")
	keys := []string{p.propertyKey()}
	for p.accept(",") {
		keys = append(keys, p.propertyKey())
	}
	p.expect(")")
	return keys
}
