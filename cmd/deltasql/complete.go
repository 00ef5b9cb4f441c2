package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/reeflective/readline"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/parse"
)

// completionTime bounds what a press of Tab may cost.
const completionTime = 2 * time.Second

// nameCache remembers the catalog's names between two statements. It asks the session with the statements a user would type.
type nameCache struct {
	session *sqlengine.Session
	lists   map[string][]string
}

func newNameCache(session *sqlengine.Session) *nameCache {
	return &nameCache{session: session, lists: map[string][]string{}}
}

// forget drops the names, since a statement may have changed them.
func (c *nameCache) forget() { clear(c.lists) }

// list gives the values of one text column of a statement's result; an error gives none.
func (c *nameCache) list(statement, column string) []string {
	if names, known := c.lists[statement]; known {
		return names
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	names, err := textColumn(ctx, c.session, statement, column)
	if err != nil {
		names = nil
	}
	c.lists[statement] = names
	return names
}

// textColumn runs a statement and collects one of its string columns.
func textColumn(ctx context.Context, session *sqlengine.Session, statement, column string) ([]string, error) {
	result, err := session.Execute(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	at := -1
	for i, c := range result.Columns {
		if c.Name == column && c.Type.Kind == protocol.KindString {
			at = i
		}
	}
	if at < 0 {
		return nil, errors.New("no such column")
	}
	var names []string
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range batch.Len() {
			if vector := batch.Vector(at); vector.Valid(row) {
				names = append(names, string(vector.Bytes(row)))
			}
		}
	}
}

var (
	lastWord     = regexp.MustCompile("[\\pL\\pN_$.`]*$")
	mentioned    = regexp.MustCompile("(?i)\\b(?:from|join|table|into|describe|desc)\\s+([\\pL\\pN_$.]+|[\\pL\\pN_]+\\.`[^`]+`)")
	plainName    = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)
	afterTableKW = regexp.MustCompile(`(?i)\b(from|join|table|into|describe|desc)\s+\S*$`)
)

// complete offers dot commands at the start of a line, tables and databases where a table is wanted, and otherwise the columns
// of the tables that the statement mentions, tables and keywords.
func (s *shell) complete(line []rune, cursor int) readline.Completions {
	before := string(line[:min(cursor, len(line))])
	candidates := s.candidates(before, string(line))
	candidates.PREFIX = lastWord.FindString(before) // the editor's own words end at blanks only, and would not see b in max(b
	return candidates
}

func (s *shell) candidates(before, line string) readline.Completions {
	if strings.HasPrefix(before, ".") && !strings.Contains(before, " ") {
		return readline.CompleteValuesDescribed(commandHelp()...).Tag("commands").NoSpace('.')
	}
	word := lastWord.FindString(before)
	tables := readline.CompleteValues(quoteNames(s.names.list("SHOW TABLES", "tableName"))...).Tag("tables")
	databases := readline.CompleteValues(quoteNames(s.names.list("SHOW DATABASES", "namespace"))...).Tag("databases")
	if afterTableKW.MatchString(before) {
		if database, _, dotted := strings.Cut(word, "."); dotted {
			names := quoteNames(s.names.list("SHOW TABLES IN "+database, "tableName"))
			for i, name := range names {
				names[i] = database + "." + name
			}
			return readline.CompleteValues(names...).Tag("tables")
		}
		return tables.Merge(databases)
	}
	columns := s.mentionedColumns(line)
	for _, column := range columns {
		if word != "" && strings.HasPrefix(strings.ToLower(column), strings.ToLower(word)) {
			return readline.CompleteValues(columns...).Tag("columns") // a column is wanted more often than a keyword
		}
	}
	return readline.CompleteValues(columns...).Tag("columns").Merge(tables, keywordsLike(word))
}

// mentionedColumns are the columns of the tables after FROM, JOIN and so on, anywhere in the statement.
func (s *shell) mentionedColumns(line string) []string {
	var names []string
	for _, match := range mentioned.FindAllStringSubmatch(line, 8) {
		names = append(names, quoteNames(s.names.list("SHOW COLUMNS IN "+match[1], "col_name"))...)
	}
	return names
}

// keywordsLike offers the keywords in the case that the word begins with.
func keywordsLike(word string) readline.Completions {
	keywords := parse.Keywords()
	out := make([]string, 0, len(keywords))
	lower := word != "" && word == strings.ToLower(word)
	for _, keyword := range keywords {
		if lower {
			keyword = strings.ToLower(keyword)
		}
		out = append(out, keyword)
	}
	return readline.CompleteValues(out...).Tag("keywords")
}

// quoteNames puts back quotes around names that need them.
func quoteNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		if !plainName.MatchString(name) {
			name = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
		out[i] = name
	}
	return out
}
