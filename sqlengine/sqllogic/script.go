package sqllogic

import (
	"fmt"
	"regexp"
	"strings"
)

// recordKind tells the records of a script apart.
type recordKind uint8

const (
	statementRecord recordKind = iota
	queryRecord
	connectionRecord
	restartRecord
	letRecord
	catalogRecord
	loopRecord
)

// sortMode is how the rows of a query are brought into order before they are compared.
type sortMode uint8

const (
	noSort sortMode = iota
	rowSort
	valueSort
)

// record is one step of a script. Lines are 0-based places in the script's text, for rewriting.
type record struct {
	kind       recordKind
	line       int
	sql        string
	class      string         // statement or query that must fail: its error class
	pattern    *regexp.Regexp // what the error's text must match, where given
	types      string         // query: a letter a column
	sort       sortMode
	names      bool // query ... names: the first expected line holds the column names
	want       []string
	wantFrom   int // first line of the expected rows
	wantTo     int // line behind the last one
	name       string
	value      string
	loopValues []string
	body       []record
}

// parseScript reads a script. An error names the line.
func parseScript(text string) ([]record, error) {
	p := &scriptParser{lines: strings.Split(text, "\n")}
	records, err := p.records(false)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", p.at+1, err)
	}
	return records, nil
}

type scriptParser struct {
	lines []string
	at    int
}

// records reads until the end of the text, or of the loop.
func (p *scriptParser) records(inLoop bool) ([]record, error) {
	var out []record
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		if line == "" || strings.HasPrefix(line, "#") {
			p.at++
			continue
		}
		words := strings.Fields(line)
		if words[0] == "endloop" {
			if !inLoop {
				return nil, fmt.Errorf("endloop without foreach")
			}
			p.at++
			return out, nil
		}
		next, err := p.record(words)
		if err != nil {
			return nil, err
		}
		out = append(out, next)
	}
	if inLoop {
		return nil, fmt.Errorf("foreach without endloop")
	}
	return out, nil
}

func (p *scriptParser) record(words []string) (record, error) {
	r := record{line: p.at}
	switch words[0] {
	case "statement":
		return p.statement(r, words[1:])
	case "query":
		return p.query(r, words[1:])
	case "restart":
		r.kind = restartRecord
	case "connection", "catalog":
		if len(words) != 2 {
			return r, fmt.Errorf("%s wants one name", words[0])
		}
		r.kind, r.name = connectionRecord, words[1]
		if words[0] == "catalog" {
			r.kind = catalogRecord
		}
	case "let":
		if len(words) < 3 || !strings.HasPrefix(words[1], "$") {
			return r, fmt.Errorf("let wants $name and a value")
		}
		r.kind, r.name, r.value = letRecord, words[1], strings.Join(words[2:], " ")
	case "foreach":
		if len(words) < 3 || !strings.HasPrefix(words[1], "$") {
			return r, fmt.Errorf("foreach wants $name and values")
		}
		r.kind, r.name, r.loopValues = loopRecord, words[1], words[2:]
		p.at++
		body, err := p.records(true)
		r.body = body
		return r, err
	default:
		return r, fmt.Errorf("unknown record %q", words[0])
	}
	p.at++
	return r, nil
}

func (p *scriptParser) statement(r record, words []string) (record, error) {
	r.kind = statementRecord
	switch {
	case len(words) == 1 && words[0] == "ok":
	case len(words) >= 2 && words[0] == "error":
		if err := r.expectError(words[1:]); err != nil {
			return r, err
		}
	default:
		return r, fmt.Errorf("statement wants ok, or error CLASS [/pattern/]")
	}
	p.at++
	r.sql = p.block()
	return r, nil
}

// expectError reads CLASS [/pattern/].
func (r *record) expectError(words []string) error {
	r.class = words[0]
	if len(words) == 1 {
		return nil
	}
	text := strings.Join(words[1:], " ")
	if len(text) < 2 || text[0] != '/' || text[len(text)-1] != '/' {
		return fmt.Errorf("an error's pattern stands between slashes")
	}
	pattern, err := regexp.Compile(text[1 : len(text)-1])
	r.pattern = pattern
	return err
}

// columnTypes are the letters of a query's columns.
const columnTypes = "IRTBDPV"

func (p *scriptParser) query(r record, words []string) (record, error) {
	r.kind = queryRecord
	if len(words) == 0 || strings.Trim(words[0], columnTypes) != "" {
		return r, fmt.Errorf("query wants its columns' types, of %s", columnTypes)
	}
	r.types = words[0]
	for _, word := range words[1:] {
		switch word {
		case "nosort":
		case "rowsort":
			r.sort = rowSort
		case "valuesort":
			r.sort = valueSort
		case "names":
			r.names = true
		default:
			return r, fmt.Errorf("unknown word %q after query", word)
		}
	}
	p.at++
	r.sql = p.block()
	if p.at >= len(p.lines) || strings.TrimSpace(p.lines[p.at]) != "----" {
		return r, fmt.Errorf("query wants ---- and its rows")
	}
	p.at++
	r.wantFrom = p.at
	for p.at < len(p.lines) && p.lines[p.at] != "" {
		r.want = append(r.want, p.lines[p.at])
		p.at++
	}
	r.wantTo = p.at
	return r, nil
}

// block reads the lines of a statement, up to an empty line or ----.
func (p *scriptParser) block() string {
	var lines []string
	for p.at < len(p.lines) {
		line := strings.TrimRight(p.lines[p.at], " \t\r")
		if line == "" || line == "----" {
			break
		}
		lines = append(lines, line)
		p.at++
	}
	return strings.Join(lines, "\n")
}
