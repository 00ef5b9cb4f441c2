package wire

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"deltasql/sqlengine"
)

// enter logs a client in over a pipe.
func enter(t *testing.T, s *Server, capabilities uint32) *peer {
	t.Helper()
	p := dial(t, s)
	p.read()
	p.write(helloOf(clientDefault|capabilities, "root", nil, "", methodSHA2))
	if got := p.read(); got[0] != 0 {
		t.Fatalf("login: %q", got)
	}
	return p
}

// answers reads packets until one that ends an answer: OK, an error, or so many EOF packets.
func (p *peer) answers(eofs int) (packets [][]byte) {
	p.t.Helper()
	for {
		got := p.read()
		packets = append(packets, got)
		switch {
		case eofs == 0 && got[0] == 0, got[0] == 0xff:
			return packets
		case got[0] == 0xfe && len(got) < 9:
			if eofs--; eofs == 0 {
				return packets
			}
		}
	}
}

// TestGolden holds whole answers against their bytes.
func TestGolden(t *testing.T) {
	server := New(newEngine(t), Options{})
	p := dial(t, server)
	greeting := p.read()
	nonce := nonceOf(t, greeting)
	want := "0a" + hex.EncodeToString([]byte(sqlengine.ServerVersion())) + "00" + "01000000" + hex.EncodeToString(nonce[:8]) + "00" +
		"dff7" + "ff" + "0200" + "bf01" + "15" + strings.Repeat("00", 10) + hex.EncodeToString(nonce[8:]) + "00" + hex.EncodeToString([]byte(methodSHA2)) + "00"
	if got := hex.EncodeToString(greeting); got != want {
		t.Errorf("greeting\n%s, want\n%s", got, want)
	}
	p.write(helloOf(clientDefault, "root", nil, "", methodSHA2))
	for _, c := range []struct {
		name    string
		command string
		eofs    int
		want    []string
	}{
		{"login", "", 0, []string{"00000002000000"}},
		{"COM_PING", "\x0e", 0, []string{"00000002000000"}},
		{"COM_INIT_DB", "\x02default", 0, []string{"00000002000000"}},
		{"COM_RESET_CONNECTION", "\x1f", 0, []string{"00000002000000"}},
		{"COM_SET_OPTION", "\x1b\x00\x00", 1, []string{"fe00000200"}},
		{"two statements", "\x03SELECT CAST(7 AS SIGNED) AS n, 'x' AS s, NULL AS o; SET @a = 1", 2, []string{
			"03",
			"03646566000000" + "016e" + "00" + "0c" + "3f00" + "14000000" + "08" + "0100" + "00" + "0000",
			"03646566000000" + "0173" + "00" + "0c" + "ff00" + "fcff0300" + "fd" + "0100" + "00" + "0000",
			"03646566000000" + "016f" + "00" + "0c" + "3f00" + "00000000" + "06" + "8000" + "00" + "0000",
			"fe00000a00", "01370178fb", "fe00000a00",
		}},
		{"of which the second", "", 0, []string{"00000002000000"}},
		{"COM_QUERY with an error", "\x03KILL 4711", 0, []string{
			"ff" + "4604" + "23" + hex.EncodeToString([]byte("HY000[DELTASQL_NO_SUCH_SESSION] (42704) there is no session 4711\nhint: SHOW PROCESSLIST lists the sessions")),
		}},
		{"COM_STMT_PREPARE", "\x16SELECT ? + 1 AS n", 2, []string{
			"00" + "01000000" + "0100" + "0100" + "00" + "0000",
			"03646566000000" + "013f" + "00" + "0c" + "3f00" + "00000000" + "fd" + "8000" + "00" + "0000", "fe00000200",
			"", "fe00000200",
		}},
		{"COM_STMT_EXECUTE", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\x29\x00\x00\x00\x00\x00\x00\x00", 2, []string{
			"01", "03646566000000" + "016e" + "00" + "0c" + "3f00" + "14000000" + "08" + "0100" + "00" + "0000", "fe00000200",
			"0000" + "2a00000000000000", "fe00000200",
		}},
		{"with the types of before", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x2a\x00\x00\x00\x00\x00\x00\x00", 2, []string{
			"01", "03646566000000" + "016e" + "00" + "0c" + "3f00" + "14000000" + "08" + "0100" + "00" + "0000", "fe00000200",
			"0000" + "2b00000000000000", "fe00000200",
		}},
		{"with NULL", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00", 2, []string{"01", "", "fe00000200", "0004", "fe00000200"}},
		{"COM_STMT_RESET", "\x1a\x01\x00\x00\x00", 0, []string{"00000002000000"}},
	} {
		var got [][]byte
		if c.command != "" {
			p.command([]byte(c.command)...)
		}
		got = p.answers(c.eofs)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d packets, want %d: %q", c.name, len(got), len(c.want), got)
			return
		}
		for i, packet := range got {
			if text := hex.EncodeToString(packet); c.want[i] != "" && text != c.want[i] {
				t.Errorf("%s, packet %d:\n%s, want\n%s", c.name, i, text, c.want[i])
			}
		}
	}
}

// TestCommandFaults sends commands that are wrong. Each has an error for an answer, and the connection lives on.
func TestCommandFaults(t *testing.T) {
	p := enter(t, New(newEngine(t), Options{}), 0)
	for command, errno := range map[string]int{
		"": 1047, "\xee": 1047, "\x0d": 1047, "\x02nowhere": 1049, "\x04nowhere\x00": 1146, "\x0c\x99\x99\x00\x00": 1094, "\x0c": 1094, "\x1b\x09\x00": 1047, "\x1b": 1047,
		"\x17": 1243, "\x17\x01\x00\x00\x00": 1243, "\x1a\x01\x00\x00\x00": 1243, "\x1c\x01\x00\x00\x00\x01\x00\x00\x00": 1243, "\x03": 1065, "\x16": 1064, "\x16SELEC": 1064,
		"\x16SELECT nope FROM (SELECT 1 AS a) t WHERE a = ?": 1054,
	} {
		p.command([]byte(command)...)
		if got := p.read(); errnoOf(got) != errno {
			t.Errorf("%q: %q, want %d", command, got, errno)
		}
	}
	p.command([]byte("\x16SELECT ?, ?")...)
	id := p.answers(2)[0][1:5]
	for _, c := range []struct {
		name, tail string
		errno      int
	}{
		{"nothing at all", "", 1210},
		{"no types", "\x00\x01\x00\x00\x00\x00\x00", 1210},
		{"too few types", "\x00\x01\x00\x00\x00\x00\x01\x08", 1210},
		{"too few values", "\x00\x01\x00\x00\x00\x00\x01\x08\x00\x08\x00\x01", 1835},
		{"an unknown type", "\x00\x01\x00\x00\x00\x00\x01\x08\x00\x63\x00\x01\x00\x00\x00\x00\x00\x00\x00", 1210},
		{"a text without an end", "\x00\x01\x00\x00\x00\x00\x01\xfd\x00\xfd\x00\xfe\xff\xff\xff\xff\xff\xff\xff", 1835},
		{"a zero date", "\x00\x01\x00\x00\x00\x02\x01\x0c\x00\x06\x00\x04\x00\x00\x00\x00", 1292},
		{"an empty date", "\x00\x01\x00\x00\x00\x02\x01\x0a\x00\x06\x00\x00", 1292},
		{"a date of 5 bytes", "\x00\x01\x00\x00\x00\x02\x01\x0a\x00\x06\x00\x05\xe8\x07\x01\x01\x01", 1835},
		{"a time of 35 days", "\x00\x01\x00\x00\x00\x02\x01\x0b\x00\x06\x00\x08\x00\x23\x00\x00\x00\x00\x00\x00", 1292},
		{"no decimal", "\x00\x01\x00\x00\x00\x02\x01\xf6\x00\x06\x00\x01x", 1367},
		{"a decimal of 39 digits", "\x00\x01\x00\x00\x00\x02\x01\xf6\x00\x06\x00\x27" + strings.Repeat("9", 39), 1367},
	} {
		p.command(append(append([]byte{comStmtExecute}, id...), c.tail...)...)
		if got := p.read(); errnoOf(got) != c.errno {
			t.Errorf("execute with %s: %q, want %d", c.name, got, c.errno)
		}
	}
	p.command(append(append([]byte{comStmtFetch}, id...), 1, 0, 0, 0)...)
	if got := p.read(); errnoOf(got) != 1421 {
		t.Errorf("fetch without a cursor: %q", got)
	}
	p.command(comPing)
	if got := p.read(); got[0] != 0 {
		t.Errorf("the connection did not live on: %q", got)
	}
}

// TestLongData sends a value in pieces.
func TestLongData(t *testing.T) {
	p := enter(t, New(newEngine(t), Options{MaxPacket: 1 << 20}), 0)
	p.command([]byte("\x16SELECT CONCAT(?, ?)")...)
	id := p.answers(2)[0][1:5]
	piece := func(parameter byte, text string) {
		p.command(append(append(append([]byte{comStmtSendLongData}, id...), parameter, 0), text...)...)
	}
	run := func() [][]byte {
		p.command(append(append([]byte{comStmtExecute}, id...), "\x00\x01\x00\x00\x00\x00\x01\xfd\x00\xfd\x00\x01!"...)...)
		return p.answers(2)
	}
	piece(0, "ab")
	piece(0, "")
	piece(0, "cd")
	if got := run(); len(got) != 5 || string(got[3][2:]) != "\x05abcd!" {
		t.Errorf("%q", got)
	}
	piece(7, "x")
	if got := run(); errnoOf(got[0]) != 1210 {
		t.Errorf("a parameter that is not there: %q", got)
	}
	for range 5 {
		piece(0, strings.Repeat("x", 300_000))
	}
	if got := run(); errnoOf(got[0]) != 1153 {
		t.Errorf("more than max_allowed_packet: %.80q", got)
	}
	p.command(append([]byte{comStmtClose}, id...)...)
	p.command(append(append([]byte{comStmtExecute}, id...), 0, 1, 0, 0, 0)...)
	if got := p.read(); errnoOf(got) != 1243 {
		t.Errorf("a closed statement: %q", got)
	}
}

// TestCursor reads a result in pieces while other commands run in between.
func TestCursor(t *testing.T) {
	p := enter(t, New(newEngine(t), Options{}), clientDeprecateEOF)
	p.command([]byte("\x16SELECT id FROM range(5000) ORDER BY id")...)
	head := p.read()
	id := head[1:5]
	p.read()
	p.command(append(append([]byte{comStmtExecute}, id...), 1, 1, 0, 0, 0)...)
	p.read()
	p.read()
	if end := p.read(); end[0] != 0xfe || end[3]&byte(statusCursorExists) == 0 {
		t.Fatalf("%x", end)
	}
	seen := 0
	for last := false; !last; {
		p.command(comPing)
		p.read()
		p.command(append(append([]byte{comStmtFetch}, id...), 0xdc, 5, 0, 0)...) // 1500
		for {
			row := p.read()
			if row[0] == 0xfe {
				last = row[3]&byte(statusLastRowSent) != 0
				break
			}
			in := cursor{data: row[2:]}
			if n := in.uint64(); n != uint64(seen) {
				t.Fatalf("row %d holds %d", seen, n)
			}
			seen++
		}
	}
	if seen != 5000 {
		t.Errorf("%d rows", seen)
	}
	p.command(append(append([]byte{comStmtFetch}, id...), 1, 0, 0, 0)...)
	if got := p.read(); errnoOf(got) != 1421 {
		t.Errorf("behind the last row: %q", got)
	}
	// Running it again, and closing it, ends an open cursor.
	for range 2 {
		p.command(append(append([]byte{comStmtExecute}, id...), 1, 1, 0, 0, 0)...)
		p.read()
		p.read()
		p.read()
	}
	p.command(append([]byte{comStmtClose}, id...)...)
	p.command(comPing)
	if got := p.read(); got[0] != 0 {
		t.Errorf("%q", got)
	}
}

// TestChangeUser gives a connection to other users, and to a wrong one.
func TestChangeUser(t *testing.T) {
	server := New(newEngine(t), Options{Accounts: AccountList{NewAccount("root", ""), NewAccount("ann", "secret")}})
	p := dial(t, server)
	nonce := nonceOf(t, p.read())
	p.write(helloOf(clientDefault|clientDeprecateEOF, "root", nil, "", methodSHA2))
	p.read()
	ask := func(text string) string {
		p.command(append([]byte{comQuery}, text...)...)
		p.read()
		p.read()
		row := p.read()
		p.read()
		return string(row[1:])
	}
	p.command(append([]byte{comQuery}, "SET @x = 5"...)...)
	p.read()
	change := func(user string, answer []byte) []byte {
		payload := append(append([]byte{comChangeUser}, user...), 0)
		payload = append(append(payload, byte(len(answer))), answer...)
		p.command(append(append(append(payload, "default\x00"...), charsetUTF8MB4, 0), methodNative+"\x00"...)...)
		return p.read()
	}
	if got := change("ann", nativeAnswer(nonce, "secret")); got[0] != 0 {
		t.Fatalf("%q", got)
	}
	if got := ask("SELECT CONCAT(CURRENT_USER(), COALESCE(@x, '-'), DATABASE())"); got != "ann-default" {
		t.Errorf("%q", got)
	}
	if got := change("root", nativeAnswer(nonce, "wrong")); errnoOf(got) != 1045 {
		t.Errorf("%q", got)
	}
	if _, err := p.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection was not closed")
	}
}

// TestFieldList lists columns by a pattern.
func TestFieldList(t *testing.T) {
	server := New(newEngine(t), Options{})
	p := enter(t, server, 0)
	p.command(append([]byte{comQuery}, "CREATE VIEW v AS SELECT 1 AS ab, 'x' AS ac, 2 AS b"...)...)
	if got := p.read(); got[0] != 0 {
		t.Fatalf("%q", got)
	}
	p.command([]byte("\x04v\x00a%")...)
	got := p.answers(1)
	if len(got) != 3 || !bytes.Contains(got[0], []byte("\x02ab\x02ab\x0c")) || !bytes.Contains(got[1], []byte("\x02ac")) || got[1][len(got[1])-1] != 0xfb {
		t.Errorf("%q", got)
	}
	p.command(comStatistics)
	if got := p.read(); !strings.HasPrefix(string(got), "Uptime: ") {
		t.Errorf("%q", got)
	}
}

// TestSessionTrack tells clients that ask of a new current database.
func TestSessionTrack(t *testing.T) {
	p := enter(t, New(newEngine(t), Options{}), clientSessionTrack)
	p.command(append([]byte{comQuery}, "USE `default`"...)...)
	if got := hex.EncodeToString(p.read()); got != "00000002000000" {
		t.Errorf("no change: %s", got)
	}
	p.command(append([]byte{comInitDB}, "default"...)...)
	if got := hex.EncodeToString(p.read()); got != "00000002400000"+"00"+"0a"+"01"+"08"+"07"+hex.EncodeToString([]byte("default")) {
		t.Errorf("%s", got)
	}
}

// TestMessageFaults sends messages that end a connection.
func TestMessageFaults(t *testing.T) {
	server := New(newEngine(t), Options{MaxPacket: 1000})
	for name, c := range map[string]struct {
		sent  string
		errno int
	}{
		"too large":    {"\xe9\x03\x00\x00", 1153},
		"out of order": {"\x01\x00\x00\x05\x0e", 1156},
	} {
		p := enter(t, server, 0)
		if _, err := p.conn.Write([]byte(c.sent)); err != nil {
			t.Fatal(err)
		}
		r := packetReader{from: p.conn, limit: 1000}
		m, err := r.next(nil)
		if err != nil || errnoOf(m.payload) != c.errno {
			t.Errorf("%s: %q, %v", name, m.payload, err)
		}
		if _, err := r.next(nil); err == nil {
			t.Errorf("%s: the connection goes on", name)
		}
	}
}
