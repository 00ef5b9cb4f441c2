package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// Opened is the type of a value that a member is taken of: a file, and each file of an array, is a struct of its public members.
func Opened(t protocol.DataType, name parse.Ident) (protocol.DataType, error) {
	switch {
	case t.Kind == protocol.KindArray && t.Element.Kind == protocol.KindFile:
		element, err := Opened(*t.Element, name)
		t.Element = &element
		return t, err
	case t.Kind != protocol.KindFile:
		return t, nil
	case strings.EqualFold(name.Name, "inline"):
		return t, fail(name.Pos, "FIELD_NOT_FOUND", "the bytes that a file value holds itself have no name").WithHint("%s", "the members that have one are uri, offset, size, content_type and checksum")
	}
	return protocol.DataType{Kind: protocol.KindStruct, Fields: protocol.FileLeaves()}, nil
}

// member1 takes a member of a struct, or of each struct of an array; names match without case.
func member1(operand Expr, name parse.Ident) (Expr, error) {
	t, err := Opened(operand.Type(), name)
	if err != nil {
		return nil, err
	}
	elements := false
	if t.Kind == protocol.KindArray && t.Element.Kind == protocol.KindStruct {
		t, elements = *t.Element, true
	}
	if t.Kind != protocol.KindStruct {
		return nil, fail(name.Pos, "INVALID_EXTRACT_BASE_FIELD_TYPE", "cannot take the field `%s` of a value of type %s", name.Name, operand.Type())
	}
	found := -1
	for i, f := range t.Fields {
		if !strings.EqualFold(string(f.Name), name.Name) {
			continue
		}
		if found >= 0 {
			return nil, fail(name.Pos, "AMBIGUOUS_REFERENCE_TO_FIELDS", "the struct has several fields named `%s`", name.Name)
		}
		found = i
	}
	if found < 0 {
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = string(f.Name)
		}
		err := fail(name.Pos, "FIELD_NOT_FOUND", "there is no field `%s` in `%s`", name.Name, strings.Join(names, "`, `"))
		if near := parse.Meant(name.Name, names); near != "" {
			err.WithHint("did you mean %s?", near)
		}
		return nil, err
	}
	f := t.Fields[found]
	if elements {
		return rawOf(arrayOf(f.Type), "list_transform({0}, lambda member_of: "+member("member_of", f.Name)+")", operand), nil
	}
	return &Field{Typed{f.Type, f.Nullable || operand.Nullable()}, operand, f.Name}, nil
}

// bindIndex is e[i]: an element counted from 0 (an error outside), a map's value (NULL where the key is missing), a struct's
// member by a constant name, or a part of a variant.
func (b *binder) bindIndex(n *parse.Index) (Expr, error) {
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	index, err := b.bind(n.Index)
	if err != nil {
		return nil, err
	}
	t := operand.Type()
	switch t.Kind {
	case protocol.KindArray:
		if !isIntegral(index.Type()) {
			return nil, mismatch(n.At(), "UNEXPECTED_INPUT_TYPE", "an array's index must be an integer, not %s", index.Type())
		}
		return b.elementFromZero(operand, index), nil
	case protocol.KindMap:
		if index, err = convert(index, *t.Key, b.ctx, false); err != nil {
			return nil, placed(err, n.At())
		}
		return mapValue(operand, index), nil
	case protocol.KindStruct, protocol.KindFile:
		if name, ok := constantText(index); ok {
			return member1(operand, parse.Ident{Name: name, Quoted: true, Pos: n.At()})
		}
	case protocol.KindVariant:
		step := parse.PathStep{Index: n.Index}
		return b.variantSteps(operand, []parse.PathStep{step}, n.At())
	}
	return nil, fail(n.At(), "INVALID_EXTRACT_BASE_FIELD_TYPE", "cannot index a value of type %s", t)
}

func (b *binder) elementFromZero(array, index Expr) Expr {
	const failure = "error('[INVALID_ARRAY_INDEX] The index ' || {1} || ' is out of bounds. The array has ' || len({0}) || ' elements. Use get to get NULL instead.')"
	sql := "CASE WHEN {1} >= 0 AND {1} < len({0}) THEN {0}[CAST({1} AS BIGINT) + 1] WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN " + failure + " END"
	return rawNull(*array.Type().Element, once(array, sql), array, index)
}

// once makes a template that repeats its first operand print it once, where the operand's text is long.
func once(e Expr, sql string) string {
	if printedSize(e) < 32 || strings.Count(sql, "{0}") < 2 {
		return sql
	}
	return "list_transform([{0}], lambda whole: " + strings.ReplaceAll(sql, "{0}", "whole") + ")[1]"
}

func mapValue(m, key Expr) Expr {
	return rawNull(*m.Type().Value, "map_extract_value({0}, {1})", m, key)
}

// bindVariantPath is e:a.b[0]['k'] over a variant, or over a string that holds JSON.
func (b *binder) bindVariantPath(n *parse.VariantPath) (Expr, error) {
	operand, err := b.bind(n.Operand)
	if err != nil {
		return nil, err
	}
	switch operand.Type().Kind {
	case protocol.KindVariant:
		return b.variantSteps(operand, n.Steps, n.At())
	case protocol.KindString:
		path, err := b.jsonPath(n.Steps, n.At())
		if err != nil {
			return nil, err
		}
		return rawNull(tString, "json_extract_string({0}, "+quoteText(path)+")", operand), nil
	}
	return nil, fail(n.At(), "INVALID_EXTRACT_BASE_FIELD_TYPE", "the operator : takes a variant or JSON text, not %s", operand.Type())
}

// variantSteps walks into a variant; a missing part, and a step that the value's shape does not have, is NULL. DuckDB gives
// NULL for a JSON null as well, so the last step asks whether the part is there and puts the variant null back.
func (b *binder) variantSteps(operand Expr, steps []parse.PathStep, at parse.Pos) (Expr, error) {
	sql, exists := bareVariant(operand), ""
	for _, s := range steps {
		parent, name, named := sql, s.Name, s.Index == nil
		if !named {
			e, err := b.bind(s.Index)
			if err != nil {
				return nil, err
			}
			if name, named = constantText(e); !named {
				i, ok := constantInt(e)
				if !ok || i < 0 {
					return nil, notSupported(at, "a step of a variant's path must be a constant name or index")
				}
				sql = fmt.Sprintf("variant_extract(%s, %d::UINTEGER)", parent, i+1)
				exists = fmt.Sprintf("starts_with(variant_typeof(%s), 'ARRAY') AND variant_array_length(%s) > %d", parent, parent, i)
				continue
			}
		}
		sql = "variant_extract(" + parent + ", " + quoteText(name) + ")"
		exists = "variant_exists(" + parent + ", " + quoteText(name) + ")"
	}
	if r, ok := operand.(*Raw); ok && r.bare != "" {
		operand = r.Args[0]
	}
	if exists == "" {
		return operand, nil
	}
	whole := "CASE WHEN " + sql + " IS NULL AND " + exists + " THEN variant_null() ELSE " + sql + " END"
	return &Raw{Typed: Typed{tVariant, true}, SQL: whole, Args: []Expr{operand}, bare: sql}, nil
}

// bareVariant is the template of a variant to walk on from.
func bareVariant(e Expr) string {
	if r, ok := e.(*Raw); ok && r.bare != "" {
		return r.bare
	}
	return "{0}"
}

// jsonPath writes steps as a JSON path of DuckDB.
func (b *binder) jsonPath(steps []parse.PathStep, at parse.Pos) (string, error) {
	path := "$"
	for _, s := range steps {
		name := s.Name
		if s.Index != nil {
			e, err := b.bind(s.Index)
			if err != nil {
				return "", err
			}
			if i, ok := constantInt(e); ok && i >= 0 {
				path += fmt.Sprintf("[%d]", i)
				continue
			}
			var ok bool
			if name, ok = constantText(e); !ok {
				return "", notSupported(at, "a step of a JSON path must be a constant name or index")
			}
		}
		path += `."` + strings.ReplaceAll(name, `"`, `\"`) + `"`
	}
	return path, nil
}

// structName is the name of a struct's member made from an expression: the column's own, else col1, col2, ...
func structName(e parse.Expr, i int) string {
	switch n := e.(type) {
	case *parse.Column:
		return n.Name[len(n.Name)-1].Name
	case *parse.Field:
		return n.Name.Name
	}
	return fmt.Sprintf("col%d", i+1)
}

// distinctNames refuses a struct with two members of one name, which DuckDB cannot hold.
func distinctNames(names []string, at parse.Pos) error {
	seen := map[string]bool{}
	for _, n := range names {
		key := strings.ToLower(n)
		if seen[key] {
			return notSupported(at, "a struct with two members named %s is not supported", n).WithHint("give the members names with named_struct")
		}
		seen[key] = true
	}
	return nil
}

// typedVoid gives a NULL without a type the DuckDB type that stands for VOID, so that what holds it has that type as well.
func typedVoid(e Expr) Expr {
	if e.Type().Kind != protocol.KindVoid {
		return e
	}
	return rawNull(tVoid, "CAST({0} AS INTEGER)", e)
}

// structOf makes a struct of named values.
func structOf(names []string, items []Expr) Expr {
	fields := make([]protocol.Field, len(items))
	parts := make([]string, len(items))
	items = append([]Expr(nil), items...)
	for i, e := range items {
		items[i] = typedVoid(e)
		fields[i] = protocol.Field{Name: protocol.LogicalName(names[i]), Type: e.Type(), Nullable: e.Nullable()}
		parts[i] = fmt.Sprintf("%s := {%d}", quoteIdent(names[i]), i)
	}
	t := protocol.DataType{Kind: protocol.KindStruct, Fields: fields}
	return &Raw{Typed: Typed{t, false}, SQL: "struct_pack(" + strings.Join(parts, ", ") + ")", Args: items}
}
