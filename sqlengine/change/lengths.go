package change

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/txn"
)

// lengths checks the CHAR and VARCHAR types anywhere in a column: in code points, trailing blanks included.
func (b *binding) lengths(f *protocol.Field, value expr.Expr, path string) error {
	if declared, ok := f.Metadata.CharVarchar(); ok {
		limits := &limitReader{text: declared}
		long, err := b.tooLong(limits, f.Type, value)
		if err == nil && limits.text != "" {
			err = limits.fault()
		}
		if err != nil {
			return protocol.NewError("DELTA_INVALID_SCHEMA", "the type %s that column `%s` of %s was declared with is not understood", declared, path, b.table.shown()).WithCause(err)
		}
		if long != nil {
			shown := expr.Shown(value, b.stored.Context())
			b.check(long, b.failure("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", "Value \"", shown, "\" of column `"+path+"` exceeds the length of its type "+declared+"."))
		}
		b.done = append(b.done, txn.Duty{Kind: txn.Length, Column: path})
	}
	if f.Type.Kind != protocol.KindStruct {
		return nil
	}
	for i := range f.Type.Fields {
		member := &f.Type.Fields[i]
		if err := b.lengths(member, memberOf(value, *member), path+"."+string(member.Name)); err != nil {
			return err
		}
	}
	return nil
}

// shortened cuts what MySQL cuts of a CHAR or VARCHAR column's text: blanks beyond its length, and without strict mode all that is.
func (b *binding) shortened(f protocol.Field, value expr.Expr) expr.Expr {
	declared, ok := f.Metadata.CharVarchar()
	if !ok || f.Type.Kind != protocol.KindString || !b.mysql() {
		return value
	}
	n, ok := (&limitReader{text: declared}).limit()
	if !ok {
		return value
	}
	sql := fmt.Sprintf("CASE WHEN length({0}) > %d AND length(rtrim({0}, ' ')) <= %d THEN left({0}, %d) ELSE {0} END", n, n, n)
	if b.opts.Lenient {
		cut := &expr.Raw{Typed: expr.Typed{Of: f.Type}, SQL: fmt.Sprintf("left({0}, %d)", n), Args: []expr.Expr{value}}
		told := b.assign.told(1265, "DELTASQL_DATA_TRUNCATED", f.Type, cut, "Data truncated for column '"+string(f.Name)+"': ", value)
		sql = fmt.Sprintf("CASE WHEN length(rtrim({0}, ' ')) > %d THEN {1} ELSE left({0}, %d) END", n, n)
		return &expr.Raw{Typed: expr.Typed{Of: f.Type, Null: value.Nullable()}, SQL: sql, Args: []expr.Expr{value, told}}
	}
	return &expr.Raw{Typed: expr.Typed{Of: f.Type, Null: value.Nullable()}, SQL: sql, Args: []expr.Expr{value}}
}

// tooLong is the condition that some text in a value is too long for its declared type, nil where the type sets no limit. The reader
// stands at the declared type of the value, which is t but for CHAR(n) and VARCHAR(n).
func (b *binding) tooLong(in *limitReader, t protocol.DataType, value expr.Expr) (expr.Expr, error) {
	switch t.Kind {
	case protocol.KindString:
		n, ok := in.limit()
		if !ok {
			return nil, nil
		}
		return &expr.Raw{Typed: expr.Typed{Of: boolean, Null: true}, SQL: fmt.Sprintf("(coalesce(length({0}), 0) > %d)", n), Args: []expr.Expr{value}}, nil
	case protocol.KindArray:
		if err := in.expect("array<"); err != nil {
			return nil, err
		}
		item, lambda := b.assign.parameter(*t.Element, true)
		long, err := b.tooLong(in, *t.Element, item)
		if err != nil {
			return nil, err
		}
		return someLong("{0}", value, long, lambda), in.expect(">")
	case protocol.KindMap:
		if err := in.expect("map<"); err != nil {
			return nil, err
		}
		key, ofKey := b.assign.parameter(*t.Key, false)
		longKey, err := b.tooLong(in, *t.Key, key)
		if err != nil {
			return nil, err
		}
		if err := in.expect(","); err != nil {
			return nil, err
		}
		item, ofValue := b.assign.parameter(*t.Value, true)
		longValue, err := b.tooLong(in, *t.Value, item)
		if err != nil {
			return nil, err
		}
		return either(someLong("map_keys({0})", value, longKey, ofKey), someLong("map_values({0})", value, longValue, ofValue)), in.expect(">")
	case protocol.KindStruct:
		if err := in.expect("struct<"); err != nil {
			return nil, err
		}
		var any expr.Expr
		for i, f := range t.Fields {
			if i > 0 {
				if err := in.expect(","); err != nil {
					return nil, err
				}
			}
			in.name(string(f.Name))
			if err := in.expect(":"); err != nil {
				return nil, err
			}
			long, err := b.tooLong(in, f.Type, memberOf(value, f))
			if err != nil {
				return nil, err
			}
			in.comment()
			any = either(any, long)
		}
		return any, in.expect(">")
	}
	in.skip()
	return nil, nil
}

// someLong is the condition that an item of a list is too long; nil where none can be.
func someLong(list string, value, long expr.Expr, lambda func(expr.Expr) *expr.Lambda) expr.Expr {
	if long == nil {
		return nil
	}
	return &expr.Raw{Typed: expr.Typed{Of: boolean}, SQL: "(coalesce(len(list_filter(" + list + ", {1})), 0) > 0)", Args: []expr.Expr{value, lambda(long)}}
}

func either(a, b expr.Expr) expr.Expr {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return &expr.Logic{Typed: expr.Typed{Of: boolean, Null: true}, Or: true, Operands: []expr.Expr{a, b}}
}

// limitReader reads a declared type as Spark stores it, such as array<struct<a:varchar(3),b:int>>, along the type that the schema has.
type limitReader struct{ text string }

func (r *limitReader) fault() error {
	return protocol.NewError("DELTA_INVALID_SCHEMA", "a declared type continues with %q", r.text)
}

func (r *limitReader) expect(word string) error {
	r.text = strings.TrimLeft(r.text, " ")
	if len(r.text) < len(word) || !strings.EqualFold(r.text[:len(word)], word) {
		return r.fault()
	}
	r.text = r.text[len(word):]
	return nil
}

// limit reads the type of a text: n of char(n) and varchar(n), none of string.
func (r *limitReader) limit() (int, bool) {
	word := strings.ToLower(r.skip())
	inside, ok := strings.CutPrefix(word, "varchar(")
	if !ok {
		if inside, ok = strings.CutPrefix(word, "char("); !ok {
			return 0, false
		}
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(inside, ")")))
	return n, err == nil
}

// skip reads a scalar type.
func (r *limitReader) skip() string {
	depth := 0
	for i := range len(r.text) {
		switch c := r.text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == ',' || c == '>'):
			word := r.text[:i]
			r.text = r.text[i:]
			return strings.TrimSpace(word)
		}
	}
	word := r.text
	r.text = ""
	return strings.TrimSpace(word)
}

// name reads a member's name, in back quotes where it needs them; one that the member had before, where a writer left the text behind.
func (r *limitReader) name(name string) {
	r.text = strings.TrimLeft(r.text, " ")
	for _, form := range []string{name, "`" + strings.ReplaceAll(name, "`", "``") + "`"} {
		if rest, ok := strings.CutPrefix(r.text, form); ok && strings.HasPrefix(rest, ":") {
			r.text = rest
			return
		}
	}
	if at := strings.IndexAny(r.text, ":,<>"); at > 0 && r.text[at] == ':' {
		r.text = r.text[at:]
	}
}

// comment passes over what may stand behind a member's type.
func (r *limitReader) comment() {
	if !strings.HasPrefix(strings.TrimLeft(r.text, " "), ",") && !strings.HasPrefix(strings.TrimLeft(r.text, " "), ">") {
		r.skip()
	}
}
