package parse

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Piece is one statement of a script, without its semicolon and the blanks around it, and where it begins.
// Parse it with Options.Start set to Pos, so that errors name the script's lines.
type Piece struct {
	Text string
	Pos  Pos
}

// Split gives the statements of a script. Pieces that hold only blanks and comments are left out; a text whose last
// string or comment has no end is given as it is, and Parse will say what is wrong with it.
func Split(sql string, opts Options) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		s := NewSplitter(opts)
		s.Feed(sql)
		for {
			piece, ok := s.Next()
			if !ok {
				break
			}
			if !yield(piece) {
				return
			}
		}
		for {
			piece, ok := s.Rest()
			if !ok || !yield(piece) {
				return
			}
		}
	}
}

// State tells what the text fed to a Splitter ends in.
type State uint8

// The states.
const (
	Complete      State = iota // nothing but blanks and comments since the last semicolon
	InStatement                // a statement without its semicolon
	InString                   // a string without its closing quote
	InName                     // a quoted name without its closing quote
	InComment                  // a block comment without its end
	inLineComment              // reported as what surrounds it
	inRaw                      // reported as InString
)

// Splitter cuts a stream of text into statements. Each byte is looked at once, however the text is fed.
// The rules are the lexer's, reduced to what can hide a semicolon.
type Splitter struct {
	opts    Options
	text    []byte // the unfinished statement and what has not been scanned yet
	known   Pos    // of text[knownAt]; Offset counts from the first byte ever fed
	knownAt int
	scan    int // text[:scan] has been scanned
	state   State
	quote   byte
	depth   int  // of nested comments
	begun   bool // the statement has begun, at first
	first   int
	inside  bool // within an executable comment
	blank   bool // only blanks so far on this line
	wordEnd byte // the word character before scan, 0 if there is none
	pieces  []Piece
}

// NewSplitter makes a Splitter whose text begins at opts.Start.
func NewSplitter(opts Options) *Splitter {
	s := &Splitter{opts: opts, known: Pos{Line: 1, Column: 1}, blank: true}
	if opts.Start.Line > 0 {
		s.known = opts.Start
	}
	return s
}

// Len is the size of the unfinished statement in bytes, so that whoever feeds a stream can bound it.
func (s *Splitter) Len() int { return len(s.text) }

// Feed adds text. A piece of text may end anywhere, but where a token of two characters is cut, its meaning waits for
// the next piece.
func (s *Splitter) Feed(text string) {
	s.text = append(s.text, text...)
	s.run(false)
}

// Next takes a finished statement.
func (s *Splitter) Next() (Piece, bool) {
	if len(s.pieces) == 0 {
		return Piece{}, false
	}
	piece := s.pieces[0]
	s.pieces = s.pieces[1:]
	return piece, true
}

// State tells what the text ends in, as a prompt shows it.
func (s *Splitter) State() State {
	switch {
	case s.state == InString && len(s.text) == s.scan+1 && s.text[s.scan] == s.quote:
		return InStatement // the string ends here, unless a second quote follows
	case s.state == inRaw:
		return InString
	case s.state == InString, s.state == InName, s.state == InComment:
		return s.state
	case s.begun || s.inside || strings.TrimSpace(string(s.text[s.scan:])) != "":
		return InStatement
	}
	return Complete
}

// Rest says that no more text comes: it takes the next finished statement, and at last what stands behind the last
// semicolon, until nothing is left.
func (s *Splitter) Rest() (Piece, bool) {
	s.run(true)
	if piece, ok := s.Next(); ok {
		return piece, true
	}
	begun := s.begun || s.state == InComment
	if !s.begun {
		s.first = 0
	}
	piece := s.cut(len(s.text))
	s.drop(len(s.text))
	s.state, s.inside = Complete, false
	return piece, begun
}

// cut is the piece from the statement's beginning up to end.
func (s *Splitter) cut(end int) Piece {
	return Piece{Text: strings.TrimRight(string(s.text[s.first:end]), " \t\r\n\f\v"), Pos: s.position(s.first)}
}

// drop forgets the first n bytes.
func (s *Splitter) drop(n int) {
	s.position(n)
	s.knownAt = 0
	s.text = append([]byte(nil), s.text[n:]...)
	s.scan = max(0, s.scan-n)
	s.begun, s.first = false, 0
}

// position is where text[i] stands; i never goes back.
func (s *Splitter) position(i int) Pos {
	s.known, s.knownAt = moved(s.known, string(s.text[s.knownAt:i])), i
	return s.known
}

// moved is the position behind a text that begins at a position.
func moved(at Pos, text string) Pos {
	at.Offset += len(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		at.Line += strings.Count(text, "\n")
		at.Column = 1
		text = text[i+1:]
	}
	at.Column += utf8.RuneCountInString(text)
	return at
}

// run scans what has come. Unless it is the end, it stops where the meaning of the last bytes is not certain yet.
func (s *Splitter) run(end bool) {
	start := 0 // of what has not been cut off yet
	for s.scan < len(s.text) {
		n := 0
		switch rest := s.text[s.scan:]; s.state {
		case InString, InName, inRaw:
			n = s.quoted(rest, end)
		case InComment:
			n = s.comment(rest, end)
		case inLineComment:
			n = 1
			if rest[0] == '\n' {
				s.state, s.blank = Complete, true
			}
		default:
			if rest[0] == ';' {
				if s.begun {
					s.pieces = append(s.pieces, s.cut(s.scan))
				}
				s.scan++
				start = s.scan
				s.begun, s.wordEnd = false, 0
				continue
			}
			n = s.plain(rest, end)
		}
		if n == 0 {
			break
		}
		s.scan += n
	}
	if start > 0 {
		begun, first := s.begun, s.first
		s.drop(start)
		if begun {
			s.begun, s.first = true, first-start
		}
	}
}

// begin marks the beginning of a statement at the present place.
func (s *Splitter) begin() {
	if !s.begun {
		s.begun, s.first = true, s.scan
	}
	s.blank = false
}

// plain scans outside strings and comments; 0 asks for more text.
func (s *Splitter) plain(rest []byte, end bool) int {
	c := rest[0]
	word := s.wordEnd
	s.wordEnd = 0
	wait := func() int {
		s.wordEnd = word
		return 0
	}
	switch {
	case c == '\n':
		s.blank = true
		return 1
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		return 1
	case c == '\'' || c == '"' || c == '`':
		s.begin()
		s.quote, s.state = c, InString
		switch {
		case c == '`' || c == '"' && s.opts.AnsiQuotes:
			s.state = InName
		case word == 'r' && s.opts.Dialect == Spark:
			s.state = inRaw
		}
		return 1
	case c == '#':
		s.state = inLineComment
		return 1
	case c == '-' || c == '/' || c == '*':
		if len(rest) < 2 && !end {
			return wait()
		}
		return s.commentOrSign(rest, end, wait)
	case c == 0xEF && !s.begun && len(rest) >= 3 && string(rest[:3]) == "\uFEFF":
		return 3
	case c == 0xEF && !s.begun && len(rest) < 3 && !end:
		return wait()
	}
	s.begin()
	switch single := word == 0 && (c == 'r' || c == 'R') && !(s.scan > 0 && s.text[s.scan-1] == '.'); {
	case single:
		s.wordEnd = 'r'
	case c >= 0x80 || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$':
		s.wordEnd = 'w'
	}
	return 1
}

// commentOrSign scans -, / or *, which may begin or end a comment.
func (s *Splitter) commentOrSign(rest []byte, end bool, wait func() int) int {
	text := string(rest[:min(len(rest), 16)])
	switch {
	case strings.HasPrefix(text, "--"):
		if s.opts.Dialect == Spark || s.blank {
			s.state = inLineComment
			return 2
		}
		if len(text) == 2 && !end {
			return wait()
		}
		if len(text) == 2 || text[2] <= ' ' {
			s.state = inLineComment
			return 2
		}
	case strings.HasPrefix(text, "*/") && s.inside:
		s.inside = false
		return 2
	case strings.HasPrefix(text, "/*"):
		if len(text) < 10 && !end && strings.HasPrefix("/*!", text[:min(3, len(text))]) && !strings.Contains(text, "*/") {
			return wait()
		}
		if opening, run := executableComment(text); run && !s.inside {
			blank := s.blank
			s.begin()
			s.inside, s.blank = true, blank
			return opening
		}
		s.state, s.depth = InComment, 1
		return 2
	}
	s.begin()
	return 1
}

// quoted scans inside a string or quoted name.
func (s *Splitter) quoted(rest []byte, end bool) int {
	switch c := rest[0]; {
	case c == '\\' && s.state == InString && !s.opts.NoBackslashEscapes:
		if len(rest) < 2 && !end {
			return 0
		}
		return min(2, len(rest))
	case c == s.quote && s.state != inRaw:
		if len(rest) < 2 && !end {
			return 0
		}
		if len(rest) > 1 && rest[1] == s.quote {
			return 2
		}
		s.state = Complete
	case c == s.quote:
		s.state = Complete
	}
	return 1
}

// comment scans inside a block comment.
func (s *Splitter) comment(rest []byte, end bool) int {
	if len(rest) < 2 && !end && (rest[0] == '*' || rest[0] == '/') {
		return 0
	}
	switch {
	case len(rest) > 1 && rest[0] == '*' && rest[1] == '/':
		if s.depth--; s.depth == 0 {
			s.state = Complete
		}
		return 2
	case len(rest) > 1 && rest[0] == '/' && rest[1] == '*' && s.opts.Dialect == Spark:
		s.depth++
		return 2
	}
	return 1
}
