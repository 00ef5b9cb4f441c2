package stats

// Texts reads the statistics of one file after another as the text that they are, for whoever writes them in another form.
// Nothing is widened, unlike what pruning uses: what is read here is what the writer of the file recorded.
type Texts struct{ scanner *scanner }

// NewTexts makes a reader for leaves, whose paths are not empty.
func NewTexts(leaves []Leaf) *Texts {
	s := newScanner(leaves)
	s.recordsOnly = false
	return &Texts{s}
}

// Read reads one file's statistics; false where they are no JSON object, and then nothing is there.
func (t *Texts) Read(data []byte) bool {
	if !t.scanner.scan(data) {
		t.scanner.numRecords, t.scanner.tight = token{}, token{}
		clear(t.scanner.tokens)
		return false
	}
	return true
}

// NumRecords is the number of rows; false where there is none that counts.
func (t *Texts) NumRecords() (int64, bool) {
	n := t.scanner.count(t.scanner.numRecords)
	return n, n >= 0
}

// TightBounds is the member as it stands; false where it is absent or no boolean.
func (t *Texts) TightBounds() (tight, ok bool) {
	if t.scanner.tight.kind != tokenScalar {
		return false, false
	}
	text, _ := t.scanner.bytes(t.scanner.tight)
	return string(text) == "true", string(text) == "true" || string(text) == "false"
}

// NullCount is a leaf's number of NULLs; false where there is none that counts.
func (t *Texts) NullCount(leaf int) (int64, bool) {
	n := t.scanner.count(t.scanner.leaf(leaf)[sectionNulls])
	return n, n >= 0
}

// Bound is the text of a leaf's minimum, or maximum; false where there is none, or one that is no scalar. It is valid
// until the next call.
func (t *Texts) Bound(leaf int, upper bool) ([]byte, bool) {
	section := sectionMin
	if upper {
		section = sectionMax
	}
	switch found := t.scanner.leaf(leaf)[section]; found.kind {
	case tokenScalar, tokenString, tokenEscaped:
		return t.scanner.bytes(found)
	}
	return nil, false
}
