package stats

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// Predicate is a condition over the leaves of a table in three-valued logic. The tree is closed: the types of this file are all there are.
// A condition that the tree cannot express is Maybe, alone or as a branch; NOT, OR and AND around it stay sound (bugs ST-12).
type Predicate interface {
	// String is the SQL-like text that EXPLAIN prints, as in "id >= 5".
	String() string
	predicate()
}

// Leaf names a leaf column: a partition column, or a column or struct member that data files hold.
type Leaf struct {
	// Path is the chain of physical names from the table's column down to the member.
	Path []protocol.PhysicalName
	// Type is the column's current type; bounds written under an older type are read as this one.
	Type protocol.DataType
	// Partition is set for a partition column, whose values come from the log and never from statistics (bugs ST-09, ST-20).
	Partition bool
	// Name is the logical name for people ("s.a"); where it is empty the physical path is shown.
	Name string
}

// Op is a comparison operator.
type Op uint8

// The comparison operators. NullSafeEqual is SQL's <=>: never NULL, and TRUE for two NULLs.
const (
	Equal Op = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	NullSafeEqual
)

type (
	// And is TRUE where all members are; And{} is TRUE.
	And []Predicate
	// Or is TRUE where one member is; Or{} is FALSE.
	Or []Predicate
	// Not is SQL's NOT: NULL stays NULL.
	Not struct{ Of Predicate }
	// Compare is leaf op value. Value should have the leaf's type; another numeric kind is converted exactly or else only proves
	// that the leaf is not null. A NULL value makes every operator but NullSafeEqual NULL. Floats order NaN greatest and equal to itself.
	Compare struct {
		Leaf  Leaf
		Op    Op
		Value protocol.Value
	}
	// IsNull and IsNotNull may name any column, a whole struct, list or map too.
	IsNull    struct{ Leaf Leaf }
	IsNotNull struct{ Leaf Leaf }
	// InList is leaf IN (values), with SQL's rule for NULLs in the list.
	InList struct {
		Leaf   Leaf
		Values []protocol.Value
	}
	// Prefix is leaf LIKE 'text%' for a string leaf, the text taken literally.
	Prefix struct {
		Leaf Leaf
		Text string
	}
	// Const is a condition that is the same for every row.
	Const bool
	// Null is a condition that is NULL for every row.
	Null struct{}
	// Maybe is a condition that statistics cannot judge; Text is for EXPLAIN and may be empty.
	Maybe struct{ Text string }
)

func (And) predicate()       {}
func (Or) predicate()        {}
func (Not) predicate()       {}
func (Compare) predicate()   {}
func (IsNull) predicate()    {}
func (IsNotNull) predicate() {}
func (InList) predicate()    {}
func (Prefix) predicate()    {}
func (Const) predicate()     {}
func (Null) predicate()      {}
func (Maybe) predicate()     {}

// String is the operator in SQL.
func (op Op) String() string {
	return [...]string{"=", "<>", "<", "<=", ">", ">=", "<=>"}[op]
}

// String is the leaf's name for people.
func (l Leaf) String() string {
	if l.Name != "" {
		return l.Name
	}
	parts := make([]string, len(l.Path))
	for i, name := range l.Path {
		parts[i] = string(name)
	}
	return strings.Join(parts, ".")
}

// String joins the members; an OR among them is bracketed.
func (p And) String() string {
	if len(p) == 0 {
		return "true"
	}
	parts := make([]string, len(p))
	for i, member := range p {
		parts[i] = member.String()
		if or, ok := member.(Or); ok && len(or) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, " AND ")
}

// String joins the members; AND binds more tightly and needs no brackets.
func (p Or) String() string {
	if len(p) == 0 {
		return "false"
	}
	parts := make([]string, len(p))
	for i, member := range p {
		parts[i] = member.String()
	}
	return strings.Join(parts, " OR ")
}

// String brackets what is negated; nothing is Maybe.
func (p Not) String() string {
	if p.Of == nil {
		return "NOT (" + Maybe{}.String() + ")"
	}
	return "NOT (" + p.Of.String() + ")"
}

// String is "leaf op literal".
func (p Compare) String() string {
	return p.Leaf.String() + " " + p.Op.String() + " " + literalText(p.Value)
}

// String is "leaf IS NULL".
func (p IsNull) String() string { return p.Leaf.String() + " IS NULL" }

// String is "leaf IS NOT NULL".
func (p IsNotNull) String() string { return p.Leaf.String() + " IS NOT NULL" }

// String lists at most maxListed values.
func (p InList) String() string {
	const maxListed = 20
	var text strings.Builder
	text.WriteString(p.Leaf.String())
	text.WriteString(" IN (")
	for i, v := range p.Values {
		if i == maxListed {
			fmt.Fprintf(&text, ", ... %d more", len(p.Values)-i)
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(literalText(v))
	}
	text.WriteString(")")
	return text.String()
}

// String is the LIKE with the pattern's special characters escaped.
func (p Prefix) String() string {
	pattern := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(p.Text)
	return p.Leaf.String() + " LIKE " + quoteText(pattern+"%")
}

// String is "true" or "false".
func (p Const) String() string {
	if p {
		return "true"
	}
	return "false"
}

// String is "NULL".
func (Null) String() string { return "NULL" }

// String is the condition's own text, or "maybe".
func (p Maybe) String() string {
	if p.Text == "" {
		return "maybe"
	}
	return p.Text
}

// literalText prints a value as a SQL literal, for people; it is not meant to be parsed.
func literalText(v protocol.Value) string {
	if v.Null {
		return "NULL"
	}
	switch v.Kind {
	case protocol.KindBoolean:
		return Const(v.Int != 0).String()
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return strconv.FormatInt(v.Int, 10)
	case protocol.KindFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 32)
	case protocol.KindDouble:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case protocol.KindDecimal:
		return v.Dec.String(v.Scale)
	case protocol.KindString:
		return quoteText(v.Str)
	case protocol.KindBinary:
		return fmt.Sprintf("X'%X'", v.Str)
	case protocol.KindDate:
		return "DATE '" + v.Text() + "'"
	case protocol.KindTimestamp:
		return "TIMESTAMP '" + v.Text() + "Z'"
	case protocol.KindTimestampNTZ:
		return "TIMESTAMP_NTZ '" + v.Text() + "'"
	case protocol.KindIntervalYearMonth:
		return fmt.Sprintf("INTERVAL '%d' MONTH", v.Int)
	case protocol.KindIntervalDayTime:
		return fmt.Sprintf("INTERVAL '%d' MICROSECOND", v.Int)
	}
	return fmt.Sprintf("%v", v)
}

// quoteText is a SQL string literal.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
