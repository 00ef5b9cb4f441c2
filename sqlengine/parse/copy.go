package parse

import "strings"

// copy reads COPY INTO t FROM ... and COPY t | (query) TO 'path'.
func (p *parser) copy() Statement {
	at := p.advance().start
	if p.is("INTO") && !p.isAt(1, "TO") {
		p.advance()
		return p.copyInto(at)
	}
	return p.copyTo(at)
}

func (p *parser) copyInto(at Pos) Statement {
	c := &CopyInto{Pos: at, Table: p.tableName()}
	p.noTimeTravel()
	switch {
	case p.is("BY"):
		p.expect("BY", "POSITION")
		c.ByPosition = true
	case p.is("("):
		c.Columns = p.names()
	}
	p.expect("FROM")
	switch {
	case p.isString():
		c.Path = p.stringText()
		p.noCredential()
	case p.is("("):
		p.copySelect(c)
	default:
		p.fail("a string", "'('")
	}
	p.copyClauses(c)
	return c
}

// copySelect reads (SELECT items FROM 'path' [WHERE p]).
func (p *parser) copySelect(c *CopyInto) {
	p.expect("(", "SELECT")
	for {
		c.Items = append(c.Items, p.selectItem())
		if !p.accept(",") {
			break
		}
	}
	p.expect("FROM")
	c.Path = p.stringText()
	p.noCredential()
	if p.accept("WHERE") {
		c.Where = p.expr()
	}
	p.expect(")")
}

// copyClauses reads what follows the source, in any order, each at most once.
func (p *parser) copyClauses(c *CopyInto) {
	seen := clauses{}
	for {
		at := p.tok().start
		word := p.tok().word
		switch word {
		case "FILEFORMAT", "VALIDATE", "FILES", "PATTERN", "FORMAT_OPTIONS", "COPY_OPTIONS":
			p.once(seen, word, at)
			p.advance()
		default:
			return
		}
		switch word {
		case "FILEFORMAT":
			p.expect("=")
			c.Format = strings.ToUpper(p.part().Name)
		case "VALIDATE":
			c.Validate = true
			if p.tok().kind == tokNumber {
				c.ValidateRows = p.integer()
				p.expect("ROWS")
			} else {
				p.accept("ALL")
			}
		case "FILES":
			p.expect("=")
			c.Files = p.stringList()
		case "PATTERN":
			p.expect("=")
			c.Pattern = p.stringText()
		case "FORMAT_OPTIONS":
			c.FormatOptions = p.properties()
		case "COPY_OPTIONS":
			c.CopyOptions = p.properties()
		}
		if c.Files != nil && c.Pattern != "" {
			p.bail(syntaxError(at, "COPY INTO takes FILES or PATTERN, not both"))
		}
	}
}

func (p *parser) copyTo(at Pos) Statement {
	c := &CopyTo{Pos: at}
	if p.accept("(") {
		c.Query = p.query()
		p.expect(")")
	} else {
		c.Table = &TableRef{Pos: p.tok().start, Name: p.tableName()}
		c.Table.AsOf = p.asOf()
	}
	if !p.accept("TO") {
		if p.is("FROM") {
			p.refuse(p.tok().start, "COPY ... FROM is not supported: use COPY INTO t FROM 'path' FILEFORMAT = ...")
		}
		p.fail("TO")
	}
	c.Path = p.stringText()
	p.accept("WITH")
	if p.is("(") {
		c.Options = p.exportOptions()
	}
	return c
}

// ListSeparator divides the names of an option of COPY TO that is a list of columns.
const ListSeparator = "\x00"

// exportOptions reads (FORMAT parquet, HEADER, DELIMITER ',', PARTITION_BY (a, b)): an option without a value is true.
func (p *parser) exportOptions() []Property {
	p.expect("(")
	var list []Property
	for {
		option := Property{Key: p.propertyKey(), Value: "true"}
		p.accept("=")
		switch t := p.tok(); {
		case p.isString():
			option.Value = p.stringText()
		case t.kind == tokNumber || t.kind == tokWord || t.kind == tokQuoted:
			option.Value = p.take().Name
		case p.is("("):
			var names []string
			for _, name := range p.names() {
				names = append(names, name[len(name)-1].Name)
			}
			option.Value = strings.Join(names, ListSeparator)
		}
		list = append(list, option)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.fail("','", "')'")
	}
	return list
}

// loadData reads MySQL's LOAD DATA [LOCAL] INFILE.
func (p *parser) loadData() Statement {
	l := &LoadData{Pos: p.advance().start}
	p.expect("DATA")
	l.Ignored = p.modifiers()
	l.Local = p.accept("LOCAL")
	p.expect("INFILE")
	l.Path = p.stringText()
	if l.Replace = p.accept("REPLACE"); !l.Replace {
		l.Ignore = p.accept("IGNORE")
	}
	p.expect("INTO", "TABLE")
	l.Table = p.tableName()
	if p.is("PARTITION") {
		p.refuse(p.tok().start, "PARTITION (...) is not supported: a Delta table has no named partitions")
	}
	if p.accept("CHARSET") || p.acceptAll("CHARACTER", "SET") {
		if p.isString() {
			l.Charset = p.stringText()
		} else {
			l.Charset = p.part().Name
		}
	}
	if p.accept("FIELDS", "COLUMNS") {
		p.loadFields(l)
	}
	if p.accept("LINES") {
		p.loadLines(l)
	}
	if p.accept("IGNORE") {
		l.SkipLines = int64(p.smallNumber(1 << 62))
		if !p.accept("LINES", "ROWS") {
			p.fail("LINES")
		}
	}
	if p.is("(") {
		l.Targets = p.loadTargets()
	}
	if p.accept("SET") {
		l.Set = p.setItems()
	}
	return l
}

func (p *parser) loadFields(l *LoadData) {
	for n := 0; ; n++ {
		switch {
		case p.is("TERMINATED"):
			p.expect("TERMINATED", "BY")
			l.FieldsEnd = p.textLiteral()
		case p.is("OPTIONALLY", "ENCLOSED"):
			l.Optionally = p.accept("OPTIONALLY")
			p.expect("ENCLOSED", "BY")
			l.Enclosed = p.textLiteral()
		case p.is("ESCAPED"):
			p.expect("ESCAPED", "BY")
			l.Escaped = p.textLiteral()
		case n == 0:
			p.fail("TERMINATED BY", "ENCLOSED BY", "ESCAPED BY")
		default:
			return
		}
	}
}

func (p *parser) loadLines(l *LoadData) {
	for n := 0; ; n++ {
		switch {
		case p.is("STARTING"):
			p.expect("STARTING", "BY")
			l.LinesStart = p.textLiteral()
		case p.is("TERMINATED"):
			p.expect("TERMINATED", "BY")
			l.LinesEnd = p.textLiteral()
		case n == 0:
			p.fail("STARTING BY", "TERMINATED BY")
		default:
			return
		}
	}
}

func (p *parser) loadTargets() []LoadTarget {
	p.expect("(")
	targets := []LoadTarget{}
	for !p.is(")") {
		if t := p.tok(); t.kind == tokVariable {
			v := p.variable()
			if v.Scope != "user" {
				p.bail(syntaxError(t.start, "unexpected %s, expected a column or @variable", p.describe(t)))
			}
			targets = append(targets, LoadTarget{Variable: v.Name})
		} else {
			column := p.ident()
			targets = append(targets, LoadTarget{Column: &column})
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return targets
}
