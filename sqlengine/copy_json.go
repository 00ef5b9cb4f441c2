package sqlengine

import (
	"fmt"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// variantMark stands for a variant in what jsonType gives: DuckDB reads it as JSON and casts that.
const variantMark = "\x00variant"

// jsonType is the type as which a JSON value is read. JSON has no dates or times: what DuckDB takes for one stays a text, and is
// converted when it is stored. Objects become maps, and anything a variant, where the table's column is one; numbers
// for a decimal are read as their texts.
func jsonType(found duck.Type, to protocol.DataType) string {
	switch to.Kind {
	case protocol.KindVariant:
		return variantMark
	case protocol.KindMap:
		if found.Kind == duck.KindStruct {
			return "MAP(VARCHAR, " + jsonType(memberOf(found), *to.Value) + ")"
		}
	case protocol.KindDecimal:
		if found.Kind == duck.KindDouble {
			return "VARCHAR" // the shortest text that means the number, see exactNumber
		}
	}
	switch found.Kind {
	case duck.KindStruct:
		members := make([]string, len(found.Names))
		for i, name := range found.Names {
			members[i] = duck.QuoteIdentifier(name) + " " + jsonType(found.Children[i], targetType(to, name))
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	case duck.KindList:
		element := protocol.DataType{}
		if to.Kind == protocol.KindArray {
			element = *to.Element
		}
		return jsonType(found.Children[0], element) + "[]"
	case duck.KindBoolean, duck.KindBigInt, duck.KindUBigInt, duck.KindHugeInt, duck.KindDouble:
		return found.String()
	}
	return "VARCHAR"
}

// exactNumber is the text of a JSON number with a fraction that goes to a decimal. DuckDB has read it as a double, which holds
// 15 digits: a longer one may have lost some, and is refused.
func exactNumber(column string) string {
	const longer = "regexp_matches({0}, '[.eE]') AND length(ltrim(regexp_replace(regexp_replace({0}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')) > 15"
	const template = "CASE WHEN " + longer + " THEN error('[NUMERIC_VALUE_OUT_OF_RANGE] a JSON number of more than 15 digits, about ' || {0} || ', cannot be read exactly as a decimal: write it as a string') ELSE {0} END"
	return strings.ReplaceAll(template, "{0}", duck.QuoteIdentifier(column))
}

// numbersToDecimals tells whether some number with a fraction inside a JSON value goes to a decimal.
func numbersToDecimals(found duck.Type, to protocol.DataType) bool {
	switch {
	case to.Kind == protocol.KindDecimal:
		return found.Kind == duck.KindDouble
	case to.Kind == protocol.KindArray && found.Kind == duck.KindList:
		return numbersToDecimals(found.Children[0], *to.Element)
	case to.Kind == protocol.KindMap && found.Kind == duck.KindStruct:
		return numbersToDecimals(memberOf(found), *to.Value)
	case to.Kind == protocol.KindStruct && found.Kind == duck.KindStruct:
		for i, name := range found.Names {
			if numbersToDecimals(found.Children[i], targetType(to, name)) {
				return true
			}
		}
	}
	return false
}

// exactNested is a nested JSON value some number of which goes to a decimal, with the same check as exactNumber: no text in it may look
// like a number of more than 15 digits and a point. A string that only looks so is refused with it, which its hint says.
func exactNested(column string) string {
	var forms []string
	for whole := 1; whole <= 15; whole++ {
		forms = append(forms, fmt.Sprintf(`[0-9]{%d}\.[0-9]{%d,}`, whole, 16-whole))
	}
	pattern := `"-?(?:` + strings.Join(forms, "|") + `|[0-9]{16,}\.[0-9]+)(?:[eE][-+]?[0-9]+)?"`
	const template = "CASE WHEN regexp_matches(CAST(to_json({0}) AS VARCHAR), {1}) THEN error('[NUMERIC_VALUE_OUT_OF_RANGE] a JSON number of more than 15 digits inside the column cannot be read exactly as a decimal: write it as a string without its point, or load the column as a variant') ELSE {0} END"
	return strings.NewReplacer("{0}", duck.QuoteIdentifier(column), "{1}", duck.QuoteString(pattern)).Replace(template)
}

// memberOf is the type of a struct's members where they agree.
func memberOf(t duck.Type) duck.Type {
	for _, child := range t.Children[1:] {
		if child.String() != t.Children[0].String() {
			return duck.Type{Kind: duck.KindVarchar}
		}
	}
	return t.Children[0]
}
