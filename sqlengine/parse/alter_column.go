package parse

import "slices"

// alterColumns reads the verb and its columns; Spark's ALTER COLUMN takes several.
func (p *parser) alterColumns() []AlterAction {
	at := p.tok().start
	verb := p.advance().word
	if p.is("CHECK", "CONSTRAINT", "INDEX") && verb == "ALTER" && p.isName(1) && p.isAt(2, "ENFORCED", "NOT", "VISIBLE", "INVISIBLE") {
		return []AlterAction{p.refusedAction(at)}
	}
	if !p.columnChangeAt(1) || p.columnChangeAt(2) { // else the column itself is named column
		p.accept("COLUMN", "COLUMNS")
	}
	var actions []AlterAction
	for {
		actions = append(actions, p.alterColumn(at, verb))
		if verb == "MODIFY" || !p.is(",") || !p.anotherColumn() {
			return actions
		}
		p.advance()
		at = p.tok().start
	}
}

// columnChangeAt tells whether a change of a column is told n places on.
func (p *parser) columnChangeAt(n int) bool {
	switch {
	case p.isAt(n, "TYPE"), p.isAt(n, "SYNC") && p.isAt(n+1, "IDENTITY"):
		return true
	case p.isAt(n, "SET"):
		return p.isAt(n+1, "NOT", "DEFAULT", "DATA")
	case p.isAt(n, "DROP"):
		return p.isAt(n+1, "NOT", "DEFAULT")
	case p.isAt(n, "COMMENT"):
		return p.peek(n+1).kind == tokString
	}
	return false
}

// alterColumn reads a column and what changes of it.
func (p *parser) alterColumn(at Pos, verb string) AlterAction {
	c := &ChangeColumn{Pos: at, Column: p.name()}
	if verb == "ALTER" || !p.definitionAhead(verb) {
		p.columnChange(c)
		return c
	}
	old := c.Column[len(c.Column)-1]
	name := old
	if verb == "CHANGE" && p.isName(0) && p.peek(1).kind == tokWord && !p.typeAhead() {
		if name = p.ident(); name.Name != old.Name {
			c.Rename = &name
		}
	}
	def := p.columnBody(name.Pos, Name{name}, ofAlter)
	if verb == "MODIFY" || p.opts.Dialect == MySQL && name.Pos != old.Pos {
		c.Whole, c.Definition = true, &def
	} else {
		p.sparkChange(c, &def)
	}
	return c
}

// definitionAhead tells whether CHANGE or MODIFY gives a type, or a name and a type, rather than one of Spark's changes.
func (p *parser) definitionAhead(verb string) bool {
	switch {
	case p.tok().kind != tokWord && p.tok().kind != tokQuoted:
		return false
	case p.is("TYPE") && p.opts.Dialect == MySQL && verb == "CHANGE" && p.peek(1).kind == tokWord:
		return true // MySQL's CHANGE a type INT makes a column of that name
	case p.columnChangeAt(0), p.is("FIRST", "AFTER") && (p.endsAt(1, ",") || p.is("AFTER") && p.endsAt(2, ",")):
		return false
	}
	return true
}

// typeAhead tells whether the present word is a type, and not a column's new name with its type: CHANGE a DECIMAL(10, 2), but
// CHANGE a date DATE.
func (p *parser) typeAhead() bool {
	if p.tok().kind != tokWord || !isType(p.tok().word) {
		return false
	}
	return p.is("NATIONAL", "INTERVAL") || !isType(p.peek(1).word) || p.isAt(1, "SIGNED")
}

// isType tells whether a keyword begins a type.
func isType(word string) bool {
	_, simple := simpleTypes[word]
	return simple || slices.Contains([]string{"ARRAY", "MAP", "STRUCT", "DECIMAL", "DEC", "NUMERIC", "FIXED", "INTERVAL", "BIT", "ENUM", "SET"}, word)
}

// sparkChange takes from a definition what it says; what it leaves out stays as it is.
func (p *parser) sparkChange(c *ChangeColumn, def *ColumnDef) {
	if def.NotNull || def.Null || def.Generated != nil || def.Identity != nil || def.Default != nil || len(def.Checks) > 0 || def.PrimaryKey || def.Unique {
		p.bail(syntaxError(def.Type.Pos, "CHANGE COLUMN takes a type, COMMENT, FIRST and AFTER").
			WithHint("use ALTER COLUMN %s SET NOT NULL, DROP NOT NULL or SET DEFAULT", c.Column[len(c.Column)-1].Name))
	}
	c.Type, c.Comment, c.Collation, c.First, c.After = def.Type, def.Comment, def.Collation, def.First, def.After
}

// columnChange reads one of Spark's changes of a column.
func (p *parser) columnChange(c *ChangeColumn) {
	seen := false
	for ; ; seen = true {
		switch {
		case p.is("TYPE"), p.is("SET") && p.isAt(1, "DATA"):
			if p.advance().word == "SET" {
				p.expect("DATA", "TYPE")
			}
			typ := p.typeName()
			p.sized(&typ)
			c.Type = &typ
			if p.accept("COLLATE") {
				c.Collation = p.collationName()
			}
		case p.acceptAll("SET", "NOT", "NULL"):
			c.SetNotNull = true
		case p.acceptAll("DROP", "NOT", "NULL"):
			c.DropNotNull = true
		case p.acceptAll("SET", "DEFAULT"):
			text := p.storedText()
			c.SetDefault = &text
		case p.acceptAll("DROP", "DEFAULT"):
			c.DropDefault = true
		case p.is("COMMENT"):
			p.advance()
			c.Comment = p.textLiteral()
		case p.accept("FIRST"):
			c.First = true
		case p.accept("AFTER"):
			after := p.ident()
			c.After = &after
		case p.acceptAll("SYNC", "IDENTITY"):
			c.Sync = true
		case p.is("SET") && p.isAt(1, "MASK", "TAGS"), p.is("DROP") && p.isAt(1, "MASK"), p.is("UNSET"):
			p.refuse(p.tok().start, "%s %s of a column is not supported", p.tok().word, p.peek(1).word)
		case !seen:
			p.fail("TYPE", "COMMENT", "SET NOT NULL", "DROP NOT NULL", "SET DEFAULT", "DROP DEFAULT", "FIRST", "AFTER", "SYNC IDENTITY")
		default:
			return
		}
	}
}
