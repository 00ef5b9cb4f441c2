package stats

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"deltasql/protocol"
)

// The scanner reads one file's statistics JSON (protocol.md "Per-file Statistics") once, for all the leaves that are asked,
// without allocating: what it finds are byte ranges of the text. A generic decoder takes some ten times as long and a table may
// have a million files. It knows the shape and nothing of types: {"numRecords":n,"minValues":{...},"maxValues":{...},
// "nullCount":{...},"tightBounds":b}, the three objects nested as the schema is. Unknown members are stepped over.
// A name given twice counts the last time, as in encoding/json. Text that is not one JSON object gives nothing at all.

// tokenKind is the kind of a JSON value that was found.
type tokenKind uint8

const (
	tokenMissing    tokenKind = iota
	tokenScalar               // a number, true, false, or a bare NaN or Infinity, which some writers print
	tokenString               // without escapes
	tokenEscaped              // a string with escapes
	tokenNull                 // JSON null
	tokenObject               // an object or an array
	tokenObjectZero           // an object with the number 0 at some depth
)

// token is a value: its text in the JSON, strings without their quotes.
type token struct {
	kind       tokenKind
	start, end int32
}

// The three sections of a leaf.
const (
	sectionMin = iota
	sectionMax
	sectionNulls
	sections
)

// pathNode is the tree of the leaves that are asked, by physical name.
type pathNode struct {
	name     []byte
	leaf     int // number of the path, or -1 where it is not asked itself
	children []*pathNode
	// seen is the scan that last met the node in each section.
	seen [sections]int
}

// newPathTree makes the tree for leaves. slots[i] is the number of leaf i's path: leaves may share one under two types.
func newPathTree(leaves []Leaf) (root *pathNode, slots []int, paths int) {
	root = &pathNode{leaf: -1}
	slots = make([]int, len(leaves))
	for i, leaf := range leaves {
		at := root
		for _, name := range leaf.Path {
			at = at.child(name)
		}
		if at.leaf < 0 {
			at.leaf = paths
			paths++
		}
		slots[i] = at.leaf
	}
	return root, slots, paths
}

func (n *pathNode) child(name protocol.PhysicalName) *pathNode {
	for _, c := range n.children {
		if string(c.name) == string(name) {
			return c
		}
	}
	c := &pathNode{name: []byte(name), leaf: -1}
	n.children = append(n.children, c)
	return c
}

// scanner holds what was found in the text given last.
type scanner struct {
	tree       *pathNode
	data       []byte
	pos        int
	key        []byte // scratch for names with escapes
	text       []byte // scratch for values with escapes
	numRecords token
	tight      token
	tokens     [][sections]token // one per path
	slots      []int             // leaf to path
	scans      int               // texts given so far
	// recordsOnly stops at numRecords, which writers put first.
	recordsOnly bool
}

// newScanner makes a scanner for leaves, whose paths are not empty; without any it only looks for numRecords.
func newScanner(leaves []Leaf) *scanner {
	tree, slots, paths := newPathTree(leaves)
	return &scanner{tree: tree, slots: slots, tokens: make([][sections]token, paths), recordsOnly: len(leaves) == 0}
}

// leaf gives the tokens of leaf i.
func (s *scanner) leaf(i int) *[sections]token { return &s.tokens[s.slots[i]] }

// count is the value of a token that counts rows, -1 where it does not.
func (s *scanner) count(t token) int64 {
	if t.kind != tokenScalar && t.kind != tokenString {
		return -1
	}
	if n, ok := readInteger(s.data[t.start:t.end]); ok && n >= 0 {
		return n
	}
	return -1
}

// isLoose tells tightBounds=false; absent means tight, and anything unheard of is taken as loose.
func (s *scanner) isLoose() bool {
	switch s.tight.kind {
	case tokenMissing, tokenNull:
		return false
	}
	return string(s.data[s.tight.start:s.tight.end]) != "true"
}

// maxStatsBytes is the longest text that is read; offsets are 32 bits wide and no real file comes near.
const maxStatsBytes = 1 << 30

// scan reads one file's statistics; on false nothing was found, whatever the fields say.
func (s *scanner) scan(data []byte) bool {
	s.data, s.pos = data, 0
	s.scans++
	s.numRecords, s.tight = token{}, token{}
	clear(s.tokens)
	if len(data) == 0 || len(data) > maxStatsBytes || !s.open('{') {
		return false
	}
	if s.closed('}') {
		return s.atEnd()
	}
	for {
		name, ok := s.member()
		if !ok {
			return false
		}
		switch string(name) {
		case "numRecords":
			if s.numRecords, ok = s.value(); ok && s.recordsOnly {
				return s.closed('}') || s.open(',') // else the text may end within the number
			}
		case "tightBounds":
			s.tight, ok = s.value()
		case "minValues":
			ok = s.section(s.tree, sectionMin)
		case "maxValues":
			ok = s.section(s.tree, sectionMax)
		case "nullCount":
			ok = s.section(s.tree, sectionNulls)
		default:
			_, ok = s.value()
		}
		if !ok {
			return false
		}
		if s.closed('}') {
			return s.atEnd()
		}
		if !s.open(',') {
			return false
		}
	}
}

// section reads the value of a node of the tree: an object to descend into, or the token of a leaf.
func (s *scanner) section(n *pathNode, section int) bool {
	if n.seen[section] == s.scans {
		s.reset(n, section)
	}
	n.seen[section] = s.scans
	s.skipSpace()
	if len(n.children) == 0 || s.pos >= len(s.data) || s.data[s.pos] != '{' {
		found, ok := s.value()
		if n.leaf >= 0 {
			s.tokens[n.leaf][section] = found
		}
		return ok
	}
	start := s.pos
	if n.leaf >= 0 {
		// Both a struct and a member of it are asked: the struct's own token needs a look at all members.
		found, ok := s.value()
		if !ok {
			return false
		}
		s.tokens[n.leaf][section] = found
		s.pos = start
	}
	s.pos++
	if s.closed('}') {
		return true
	}
	for {
		name, ok := s.member()
		if !ok {
			return false
		}
		if c := n.find(name); c != nil {
			ok = s.section(c, section)
		} else {
			_, ok = s.value()
		}
		if !ok {
			return false
		}
		if s.closed('}') {
			return true
		}
		if !s.open(',') {
			return false
		}
	}
}

func (n *pathNode) find(name []byte) *pathNode {
	for _, c := range n.children {
		if bytes.Equal(c.name, name) {
			return c
		}
	}
	return nil
}

// reset forgets what an earlier member of the same name gave.
func (s *scanner) reset(n *pathNode, section int) {
	if n.leaf >= 0 {
		s.tokens[n.leaf][section] = token{}
	}
	for _, c := range n.children {
		s.reset(c, section)
	}
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.data) && s.data[s.pos] <= ' ' {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// open takes the byte, after blanks.
func (s *scanner) open(b byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == b { // writers put no blanks
		s.pos++
		return true
	}
	return s.openLater(b)
}

func (s *scanner) openLater(b byte) bool {
	s.skipSpace()
	if s.pos >= len(s.data) || s.data[s.pos] != b {
		return false
	}
	s.pos++
	return true
}

// closed is open where the byte may also be absent.
func (s *scanner) closed(b byte) bool { return s.open(b) }

func (s *scanner) atEnd() bool {
	s.skipSpace()
	return s.pos == len(s.data)
}

// member reads a name and the colon after it; the name is valid until the next one.
func (s *scanner) member() ([]byte, bool) {
	if !s.open('"') {
		return nil, false
	}
	start := s.pos
	escaped, ok := s.stringEnd()
	if !ok {
		return nil, false
	}
	name := s.data[start : s.pos-1]
	if escaped {
		s.key, _ = unescape(s.key[:0], name)
		name = s.key
	}
	return name, s.open(':')
}

// stringEnd moves behind the closing quote of a string whose opening quote was taken.
func (s *scanner) stringEnd() (escaped, ok bool) {
	data, pos := s.data, s.pos
	for pos+8 <= len(data) {
		word := binary.LittleEndian.Uint64(data[pos:])
		found := zeroByte(word^quotes) | zeroByte(word^backslashes)
		if found != 0 {
			pos += bits.TrailingZeros64(found) / 8
			break
		}
		pos += 8
	}
	for pos < len(data) {
		switch data[pos] {
		case '"':
			s.pos = pos + 1
			return escaped, true
		case '\\':
			escaped = true
			pos++
		}
		pos++
	}
	return false, false
}

const (
	everyByte   = 0x0101010101010101
	quotes      = '"' * everyByte
	backslashes = '\\' * everyByte
)

// zeroByte marks the lowest byte of word that is 0, and perhaps higher ones; it is 0 where there is none.
func zeroByte(word uint64) uint64 { return (word - everyByte) &^ word & (0x80 * everyByte) }

// value reads any value and gives its token.
func (s *scanner) value() (token, bool) {
	s.skipSpace()
	if s.pos >= len(s.data) {
		return token{}, false
	}
	start := s.pos
	switch s.data[start] {
	case '"':
		s.pos++
		escaped, ok := s.stringEnd()
		kind := tokenString
		if escaped {
			kind = tokenEscaped
		}
		return token{kind, int32(start + 1), int32(s.pos - 1)}, ok
	case '{', '[':
		zero, ok := s.container()
		kind := tokenObject
		if zero && s.data[start] == '{' {
			kind = tokenObjectZero
		}
		return token{kind, int32(start), int32(s.pos)}, ok
	}
	for s.pos < len(s.data) && !delimiter[s.data[s.pos]] {
		s.pos++
	}
	word := s.data[start:s.pos]
	switch {
	case len(word) == 0:
		return token{}, false
	case string(word) == "null":
		return token{tokenNull, int32(start), int32(s.pos)}, true
	}
	return token{tokenScalar, int32(start), int32(s.pos)}, true
}

// delimiter ends a bare word.
var delimiter = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, '}': true, ']': true, '{': true, '[': true, ':': true, '"': true}

// container steps over an object or array, without recursion; zero tells that some member is the number 0.
func (s *scanner) container() (zero, ok bool) {
	depth := 0
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; b {
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
			if depth == 0 {
				return zero, true
			}
		case '"':
			s.pos++
			if _, ok := s.stringEnd(); !ok {
				return false, false
			}
		case ' ', '\t', '\n', '\r', ',', ':':
			s.pos++
		default:
			start := s.pos
			for s.pos < len(s.data) && !delimiter[s.data[s.pos]] {
				s.pos++
			}
			zero = zero || s.pos == start+1 && b == '0'
		}
	}
	return false, false
}

// bytes is a token's text, a string's without escapes; valid until the next call. false for a string with half of a surrogate
// pair, whose meaning is lost.
func (s *scanner) bytes(t token) ([]byte, bool) {
	text := s.data[t.start:t.end]
	if t.kind != tokenEscaped {
		return text, true
	}
	var ok bool
	s.text, ok = unescape(s.text[:0], text)
	return s.text, ok
}

// unescape appends a JSON string's meaning; false where an escape is damaged or is half of a surrogate pair (then U+FFFD).
func unescape(to, text []byte) ([]byte, bool) {
	ok := true
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			to = append(to, text[i])
			continue
		}
		i++
		if i == len(text) {
			return to, false
		}
		switch text[i] {
		case '"', '\\', '/':
			to = append(to, text[i])
		case 'b':
			to = append(to, '\b')
		case 'f':
			to = append(to, '\f')
		case 'n':
			to = append(to, '\n')
		case 'r':
			to = append(to, '\r')
		case 't':
			to = append(to, '\t')
		case 'u':
			r, valid := hex4(text[i+1:])
			if !valid {
				return to, false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if len(text) > i+6 && text[i+1] == '\\' && text[i+2] == 'u' {
					low, _ := hex4(text[i+3:])
					pair = utf16.DecodeRune(r, low)
				}
				if pair == utf8.RuneError {
					ok = false
				} else {
					i += 6
				}
				r = pair
			}
			to = utf8.AppendRune(to, r)
		default:
			return to, false
		}
	}
	return to, ok
}

func hex4(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, b := range text[:4] {
		switch {
		case b >= '0' && b <= '9':
			b -= '0'
		case b >= 'a' && b <= 'f':
			b -= 'a' - 10
		case b >= 'A' && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}
