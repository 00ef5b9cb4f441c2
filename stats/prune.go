package stats

import (
	"slices"

	"deltasql/protocol"
)

// Result is the outcome of Prune.
type Result struct {
	// Keep holds the files that may have matching rows, ascending. It belongs to the caller.
	Keep []int32
	// SkippedByPartition and SkippedByStats add up, with Keep, to the number of files asked.
	SkippedByPartition, SkippedByStats int
	// By has an entry for each top-level conjunct in the predicate's order; two that limit the same leaf are one entry.
	By []PredicateReport
}

// PredicateReport says what one conjunct did: it skipped so many of the files that the conjuncts applied before it had left.
type PredicateReport struct {
	Text      string
	Partition bool // judged by partition values alone, and therefore before the others
	Skipped   int
}

// conjunct is a top-level member of the predicate.
type conjunct struct {
	text      string
	node      *node
	partition bool
	skipped   int
}

// Prune gives the files of the table of which a live row may make p TRUE (S1). A nil p keeps all.
func (t *Table) Prune(p Predicate) Result { return t.prune(p, t.allFiles(), true) }

// PruneFiles is Prune among files, which are ascending and stay the caller's.
func (t *Table) PruneFiles(p Predicate, files []int32) Result { return t.prune(p, files, false) }

func (t *Table) prune(p Predicate, files []int32, all bool) Result {
	conjuncts := t.conjuncts(nil, p)
	var byPartition, byStats []*conjunct
	for _, c := range conjuncts {
		switch {
		case c.node.kind == nodeAny:
		case c.partition:
			byPartition = append(byPartition, c)
		default:
			byStats = append(byStats, c)
		}
	}
	left := files
	left, all = t.apply(byPartition, left, all)
	result := Result{SkippedByPartition: len(files) - len(left)}
	before := len(left)
	left, _ = t.apply(byStats, left, all)
	result.SkippedByStats = before - len(left)
	result.Keep = left
	if len(left) == len(files) {
		result.Keep = slices.Clone(files)
	}
	for _, c := range conjuncts {
		result.By = append(result.By, PredicateReport{Text: c.text, Partition: c.partition, Skipped: c.skipped})
	}
	return result
}

// conjuncts takes the predicate apart, joining ranges over one leaf.
func (t *Table) conjuncts(to []*conjunct, p Predicate) []*conjunct {
	if p == nil {
		return to
	}
	if and, ok := p.(And); ok {
		for _, member := range and {
			to = t.conjuncts(to, member)
		}
		return to
	}
	c := &conjunct{text: p.String(), node: normalise(p, false)}
	for _, earlier := range to {
		if mergeable(earlier.node, c.node) {
			earlier.node = intersect(earlier.node, c.node)
			earlier.text += " AND " + c.text
			return to
		}
	}
	partitionOnly, atoms := true, 0
	visitAtoms([]*node{c.node}, func(a *atom) {
		atoms++
		partitionOnly = partitionOnly && t.isPartition(a.leaf)
	})
	c.partition = partitionOnly && atoms > 0
	return append(to, c)
}

// smallShare: a column that is not parsed yet is parsed for the files in question alone, and not kept, where they are so small a
// share of all.
const smallShare = 16

// apply narrows files by each conjunct; all tells, before and after, that files is every file.
func (t *Table) apply(conjuncts []*conjunct, files []int32, all bool) ([]int32, bool) {
	if len(conjuncts) == 0 || len(files) == 0 {
		return files, all
	}
	if n := t.src.NumFiles(); n >= indexMinFiles && len(files) < n/smallShare && !t.parsed(t.leaves(conjuncts)) {
		part := newSubset(t, files)
		kept, _ := part.apply(conjuncts, part.allFiles(), true)
		return pick(files, kept), false
	}
	nodes := make([]*node, len(conjuncts))
	for i, c := range conjuncts {
		nodes[i] = c.node
	}
	t.resolve(nodes...)
	// While every file is in question an index can answer, so what it answers goes first.
	order := slices.Clone(conjuncts)
	if all {
		slices.SortStableFunc(order, func(a, b *conjunct) int { return a.node.cost() - b.node.cost() })
	}
	for _, c := range order {
		before := len(files)
		files = filter(c.node, files, all)
		c.skipped = before - len(files)
		all = all && c.skipped == 0
	}
	return files, all
}

// leaves are the statistics leaves of the conjuncts.
func (t *Table) leaves(conjuncts []*conjunct) []Leaf {
	var out []Leaf
	for _, c := range conjuncts {
		visitAtoms([]*node{c.node}, func(a *atom) {
			if len(a.leaf.Path) > 0 && !t.isPartition(a.leaf) {
				out = append(out, a.leaf)
			}
		})
	}
	return out
}

// cost ranks nodes by how few files an index may find for them.
func (n *node) cost() int {
	if n.kind == nodeNone {
		return 0
	}
	if n.kind == nodeAtom {
		switch {
		case n.atom.kind == atomIn:
			return 1
		case n.atom.kind == atomRange && n.atom.span.hasLow && n.atom.span.hasHigh:
			return 1
		case n.atom.kind == atomRange:
			return 2
		}
	}
	return 3
}

// filter keeps the files that may make the node TRUE; the result may be files itself.
func filter(n *node, files []int32, all bool) []int32 {
	switch n.kind {
	case nodeNone:
		return nil
	case nodeAtom:
		switch {
		case n.atom.partition != nil:
			return n.atom.partition.filter(&n.atom, files, all)
		case n.atom.column != nil:
			return n.atom.column.filter(&n.atom, files, all)
		}
	case nodeAnd:
		for _, member := range n.members {
			kept := filter(member, files, all)
			all = all && len(kept) == len(files)
			files = kept
		}
	case nodeOr:
		var kept []int32
		for _, member := range n.members {
			kept = union(kept, filter(member, files, all))
			if len(kept) == len(files) {
				break
			}
		}
		return kept
	}
	return files
}

// union merges two ascending lists; the result may be one of them.
func union(a, b []int32) []int32 {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// subset is some of a source's files.
type subset struct {
	Source
	files []int32
}

func (s subset) NumFiles() int         { return len(s.files) }
func (s subset) RawStats(i int) []byte { return s.Source.RawStats(int(s.files[i])) }
func (s subset) DeletedRows(i int) int64 {
	return s.Source.DeletedRows(int(s.files[i]))
}

func (s subset) PartitionValue(i int, name protocol.PhysicalName) (string, bool) {
	return s.Source.PartitionValue(int(s.files[i]), name)
}

// newSubset is a table of files alone, for one use.
func newSubset(t *Table, files []int32) *Table { return NewTable(subset{t.src, files}, t.cfg) }

// pick gives files[i] for each i of at.
func pick(files, at []int32) []int32 {
	out := make([]int32, len(at))
	for k, i := range at {
		out[k] = files[i]
	}
	return out
}
