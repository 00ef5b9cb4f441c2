package log

import (
	"fmt"
	"strings"
)

// duckType is a DuckDB type as DESCRIBE spells it, as far as checkpoints need it.
type duckType struct {
	name       string // upper case without parameters: "BIGINT", "DECIMAL", "TIMESTAMP WITH TIME ZONE", "STRUCT", "MAP", "LIST"
	fields     []duckField
	parameters string    // what stands between the parentheses of another type: "10,2"
	key, value *duckType // MAP; a LIST has its element in value
}

type duckField struct {
	name     string
	duckType duckType
}

// field finds a member of a struct by name, upper and lower case told apart.
func (t *duckType) field(name string) *duckType {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i].duckType
		}
	}
	return nil
}

// maxTypeDepth bounds the nesting of a type, which comes from a file.
const maxTypeDepth = 200

// parseDuckType reads the text of a type.
func parseDuckType(text string) (duckType, error) {
	p := typeParser{text: text}
	t, err := p.parse(0)
	if err == nil && p.at < len(text) {
		err = p.fail()
	}
	return t, err
}

type typeParser struct {
	text string
	at   int
}

func (p *typeParser) fail() error {
	return fmt.Errorf("the type %.200q is not understood at position %d", p.text, p.at)
}

func (p *typeParser) accept(token string) bool {
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *typeParser) parse(depth int) (duckType, error) {
	if depth > maxTypeDepth {
		return duckType{}, p.fail()
	}
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune("(),[]", rune(p.text[p.at])) {
		p.at++
	}
	t := duckType{name: strings.ToUpper(p.text[start:p.at])}
	if t.name == "" {
		return t, p.fail()
	}
	if p.accept("(") {
		var err error
		switch t.name {
		case "STRUCT":
			err = p.parseFields(&t, depth)
		case "MAP":
			err = p.parseMap(&t, depth)
		default:
			from := p.at
			err = p.skipParameters()
			t.parameters = strings.TrimSuffix(p.text[from:p.at], ")")
		}
		if err != nil {
			return t, err
		}
	}
	for p.accept("[") {
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		if !p.accept("]") {
			return t, p.fail()
		}
		element := t
		t = duckType{name: "LIST", value: &element}
	}
	return t, nil
}

func (p *typeParser) parseFields(t *duckType, depth int) error {
	for {
		name, err := p.parseName()
		if err != nil {
			return err
		}
		field, err := p.parse(depth + 1)
		if err != nil {
			return err
		}
		t.fields = append(t.fields, duckField{name, field})
		if p.accept(")") {
			return nil
		}
		if !p.accept(", ") {
			return p.fail()
		}
	}
}

// parseName reads a field's name, quoted or plain, and the blank after it.
func (p *typeParser) parseName() (string, error) {
	var name strings.Builder
	if p.accept(`"`) {
		for {
			end := strings.IndexByte(p.text[p.at:], '"')
			if end < 0 {
				return "", p.fail()
			}
			name.WriteString(p.text[p.at : p.at+end])
			p.at += end + 1
			if !p.accept(`"`) {
				break
			}
			name.WriteByte('"')
		}
	} else {
		end := strings.IndexByte(p.text[p.at:], ' ')
		if end < 0 {
			return "", p.fail()
		}
		name.WriteString(p.text[p.at : p.at+end])
		p.at += end
	}
	if !p.accept(" ") {
		return "", p.fail()
	}
	return name.String(), nil
}

func (p *typeParser) parseMap(t *duckType, depth int) error {
	key, err := p.parse(depth + 1)
	if err != nil {
		return err
	}
	if !p.accept(", ") {
		return p.fail()
	}
	value, err := p.parse(depth + 1)
	if err != nil {
		return err
	}
	t.key, t.value = &key, &value
	if !p.accept(")") {
		return p.fail()
	}
	return nil
}

// skipParameters passes over the rest of a parenthesis, as in DECIMAL(10,2) or ENUM('a', 'b').
func (p *typeParser) skipParameters() error {
	quoted := false
	for depth := 1; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				p.at++
				return nil
			}
		}
	}
	return p.fail()
}
