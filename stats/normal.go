package stats

import (
	"slices"

	"deltasql/protocol"
)

// A predicate is brought to negation normal form before files are judged. NOT is pushed down to the leaves, where three-valued
// logic has exact complements (NOT x < 5 is x >= 5: both are NULL where x is), so the one question left at every node is
// whether a row can make it TRUE. That is "skip or keep" with all the information of a can-be-true, can-be-false, can-be-NULL
// triple: AND can be TRUE only where every member can, OR where one can, and neither asks about FALSE or NULL.
// Maybe becomes nodeAny under any number of NOTs.

type nodeKind uint8

const (
	nodeAny  nodeKind = iota // any file may have a row
	nodeNone                 // no row of any file
	nodeAnd
	nodeOr
	nodeAtom
)

type node struct {
	kind    nodeKind
	members []*node
	atom    atom
}

type atomKind uint8

const (
	atomNull      atomKind = iota // the leaf is NULL
	atomNotNull                   // the leaf is not NULL
	atomRange                     // the leaf is in span
	atomIn                        // the leaf is one of points
	atomNotIn                     // the leaf is not NULL and none of points
	atomNotPrefix                 // the leaf is not NULL and does not start with prefix
)

// atom is a condition over one leaf. Every kind but atomNull needs a value that is not NULL.
type atom struct {
	kind   atomKind
	leaf   Leaf
	span   span
	points []scalar // sorted, without duplicates
	prefix string
	// column or partition is where the leaf's values are, once resolved; both nil for a leaf of which nothing is known.
	column    *column
	partition *partitionColumn
}

// span is a range of values. Bounds of integers and decimals, and of floats, are always closed.
type span struct {
	low, high       scalar
	hasLow, hasHigh bool
	openLow         bool // texts: low itself is outside
	openHigh        bool // texts: high itself is outside
}

var (
	anyFile = &node{kind: nodeAny}
	noFile  = &node{kind: nodeNone}
)

func atomNode(kind atomKind, leaf Leaf) *node {
	return &node{kind: nodeAtom, atom: atom{kind: kind, leaf: leaf}}
}

// normalise is the normal form of p, or of NOT p.
func normalise(p Predicate, negated bool) *node {
	switch p := p.(type) {
	case And:
		return combine(p, negated, negated)
	case Or:
		return combine(p, negated, !negated)
	case Not:
		if p.Of == nil {
			return anyFile
		}
		return normalise(p.Of, !negated)
	case Const:
		if bool(p) != negated {
			return anyFile
		}
		return noFile
	case Null:
		return noFile
	case IsNull:
		return nullNode(p.Leaf, !negated)
	case IsNotNull:
		return nullNode(p.Leaf, negated)
	case Compare:
		return compareNode(p, negated)
	case InList:
		return inNode(p, negated)
	case Prefix:
		return prefixNode(p, negated)
	}
	return anyFile // Maybe, nil
}

// combine makes the node of members joined by OR or AND.
func combine[P ~[]Predicate](members P, negated, or bool) *node {
	out := &node{kind: nodeAnd}
	neutral, absorbing := nodeAny, nodeNone
	if or {
		out.kind = nodeOr
		neutral, absorbing = nodeNone, nodeAny
	}
	for _, p := range members {
		member := normalise(p, negated)
		switch member.kind {
		case absorbing:
			return member
		case neutral:
		case out.kind:
			out.members = append(out.members, member.members...)
		default:
			out.members = append(out.members, member)
		}
	}
	if !or {
		out.members = mergeRanges(out.members)
		if slices.Contains(out.members, noFile) {
			return noFile
		}
	}
	switch len(out.members) {
	case 0:
		if or {
			return noFile
		}
		return anyFile
	case 1:
		return out.members[0]
	}
	return out
}

func nullNode(leaf Leaf, null bool) *node {
	if null {
		return atomNode(atomNull, leaf)
	}
	return atomNode(atomNotNull, leaf)
}

func compareNode(p Compare, negated bool) *node {
	op := p.Op
	if p.Value.Null {
		if op == NullSafeEqual {
			return nullNode(p.Leaf, !negated)
		}
		return noFile
	}
	if op == NullSafeEqual {
		if negated {
			return &node{kind: nodeOr, members: []*node{nullNode(p.Leaf, true), comparison(p.Leaf, NotEqual, p.Value)}}
		}
		op = Equal
	} else if negated {
		op = [...]Op{NotEqual, Equal, GreaterOrEqual, Greater, LessOrEqual, Less}[op]
	}
	return comparison(p.Leaf, op, p.Value)
}

// comparison is leaf op value for a value that is not NULL and an operator other than NullSafeEqual.
func comparison(leaf Leaf, op Op, value protocol.Value) *node {
	at := place(leaf.Type, value)
	n := atomNode(atomRange, leaf)
	var ok bool
	switch at.at {
	case placedExactly:
		ok = n.atom.compare(op, at.low)
	case placedWithin:
		ok = n.atom.compareWithin(op, at)
	case placedBetween:
		switch op {
		case Equal:
			return noFile
		case Less, LessOrEqual:
			ok = n.atom.compare(LessOrEqual, at.low)
		case Greater, GreaterOrEqual:
			ok = n.atom.compare(Greater, at.low)
		default:
			return nullNode(leaf, false)
		}
	case placedBelow, placedAbove:
		above := at.at == placedAbove
		if op == Equal || (op == Less || op == LessOrEqual) != above && op != NotEqual {
			return noFile
		}
		return nullNode(leaf, false)
	default:
		return nullNode(leaf, false)
	}
	if !ok {
		return noFile
	}
	return n
}

// compare fills the atom; false where no value can match.
func (a *atom) compare(op Op, v scalar) bool {
	s := &a.span
	kind := valueStorage(a.leaf.Type)
	switch op {
	case Equal:
		s.low, s.high, s.hasLow, s.hasHigh = v, v, true, true
	case NotEqual:
		a.kind, a.points = atomNotIn, []scalar{v}
	case Less, LessOrEqual:
		s.high, s.hasHigh = v, true
		if op == Less {
			if kind == texts {
				s.openHigh = true
				return v.s != ""
			}
			var ok bool
			s.high, ok = previous(kind, v)
			return ok
		}
	case Greater, GreaterOrEqual:
		s.low, s.hasLow = v, true
		if op == Greater {
			if kind == texts {
				s.openLow = true
				return true
			}
			var ok bool
			s.low, ok = next(kind, v)
			return ok
		}
	}
	return true
}

// compareWithin is compare for a literal known only to lie in a range.
func (a *atom) compareWithin(op Op, at position) bool {
	s := &a.span
	switch op {
	case Equal:
		s.low, s.high, s.hasLow, s.hasHigh = at.low, at.high, true, true
	case NotEqual:
		a.kind = atomNotNull
	case Less, LessOrEqual:
		s.high, s.hasHigh = at.high, true
	default:
		s.low, s.hasLow = at.low, true
	}
	return true
}

func inNode(p InList, negated bool) *node {
	points := make([]scalar, 0, len(p.Values))
	var ranges []*node // literals that are no single value of the type
	for _, v := range p.Values {
		if v.Null {
			if negated {
				return noFile
			}
			continue
		}
		switch at := place(p.Leaf.Type, v); at.at {
		case placedExactly:
			points = append(points, at.low)
		case placedBetween, placedBelow, placedAbove: // equal to nothing
		case placedWithin:
			ranges = append(ranges, comparison(p.Leaf, Equal, v))
		default:
			return nullNode(p.Leaf, false)
		}
	}
	if negated {
		if len(p.Values) == 0 {
			return anyFile
		}
		if len(points) == 0 {
			return nullNode(p.Leaf, false)
		}
		n := atomNode(atomNotIn, p.Leaf)
		n.atom.points = sortPoints(valueStorage(p.Leaf.Type), points)
		return n
	}
	if len(points) > 0 {
		n := atomNode(atomIn, p.Leaf)
		n.atom.points = sortPoints(valueStorage(p.Leaf.Type), points)
		ranges = append(ranges, n)
	}
	switch len(ranges) {
	case 0:
		return noFile
	case 1:
		return ranges[0]
	}
	return &node{kind: nodeOr, members: ranges}
}

func sortPoints(kind storage, points []scalar) []scalar {
	order := func(a, b scalar) int { return compareScalars(kind, &a, &b) }
	slices.SortFunc(points, order)
	return slices.CompactFunc(points, func(a, b scalar) bool { return order(a, b) == 0 })
}

func prefixNode(p Prefix, negated bool) *node {
	if p.Leaf.Type.Kind != protocol.KindString || !binaryCollation(p.Leaf.Type) {
		return nullNode(p.Leaf, false)
	}
	if p.Text == "" {
		if negated {
			return noFile
		}
		return nullNode(p.Leaf, false)
	}
	if negated {
		n := atomNode(atomNotPrefix, p.Leaf)
		n.atom.prefix = p.Text
		return n
	}
	n := atomNode(atomRange, p.Leaf)
	s := &n.atom.span
	s.low, s.hasLow = scalar{s: p.Text}, true
	s.high, s.hasHigh = prefixEnd(p.Text)
	s.openHigh = s.hasHigh
	return n
}

// prefixEnd is the least text above everything that starts with prefix; false where there is none.
func prefixEnd(prefix string) (scalar, bool) {
	end := []byte(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return scalar{}, false
	}
	end[len(end)-1]++
	return scalar{s: string(end)}, true
}

// mergeRanges intersects the ranges over one leaf among members of an AND: x >= 3 AND x <= 5 is judged once. For floats this is
// more than a saving: an upper limit excludes NaN, after which the lower one may trust maxima.
func mergeRanges(members []*node) []*node {
	out := members[:0:0]
	for _, m := range members {
		merged := false
		for i, earlier := range out {
			if mergeable(earlier, m) {
				out[i], merged = intersect(earlier, m), true
				break
			}
		}
		if !merged {
			out = append(out, m)
		}
	}
	return out
}

// mergeable tells two ranges over the same leaf.
func mergeable(a, b *node) bool {
	return a.kind == nodeAtom && b.kind == nodeAtom && a.atom.kind == atomRange && b.atom.kind == atomRange &&
		sameLeaf(a.atom.leaf, b.atom.leaf)
}

func sameLeaf(a, b Leaf) bool { return a.key() == b.key() }

func intersect(a, b *node) *node {
	out := &node{kind: nodeAtom, atom: a.atom}
	kind := valueStorage(a.atom.leaf.Type)
	s, o := &out.atom.span, &b.atom.span
	if o.hasLow {
		order := 1
		if s.hasLow {
			order = compareScalars(kind, &o.low, &s.low)
		}
		if order > 0 || order == 0 && o.openLow {
			s.low, s.hasLow, s.openLow = o.low, true, o.openLow
		}
	}
	if o.hasHigh {
		order := -1
		if s.hasHigh {
			order = compareScalars(kind, &o.high, &s.high)
		}
		if order < 0 || order == 0 && o.openHigh {
			s.high, s.hasHigh, s.openHigh = o.high, true, o.openHigh
		}
	}
	if s.hasLow && s.hasHigh {
		if order := compareScalars(kind, &s.low, &s.high); order > 0 || order == 0 && (s.openLow || s.openHigh) {
			return noFile
		}
	}
	return out
}
