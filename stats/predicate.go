package stats

import (
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
