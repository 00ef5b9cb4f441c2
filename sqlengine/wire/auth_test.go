package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"deltasql/sqlengine"
)

// TestCrypt holds the digest against the published vectors of SHA-256 crypt.
func TestCrypt(t *testing.T) {
	for _, c := range []struct {
		salt   string
		rounds int
		want   string
	}{
		{"saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{"saltstringsaltst", 10000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"},
	} {
		if got := cryptSHA256([]byte("Hello world!"), []byte(c.salt), c.rounds); got != c.want {
			t.Errorf("crypt with %s is %s, want %s", c.salt, got, c.want)
		}
	}
}

func TestStoredAccounts(t *testing.T) {
	salt := "abcdefghijklmnopqrst"
	stored := "$A$005$" + salt + cryptSHA256([]byte("secret"), []byte(salt), 5000)
	native := "*" + strings.ToUpper(hex.EncodeToString(nativeDigest([]byte("secret"))))
	for _, text := range []string{stored, native} {
		a, err := StoredAccount("u", text)
		if err != nil {
			t.Fatal(err)
		}
		if a.checkPassword([]byte("Secret")) || a.checkPassword(nil) || !a.checkPassword([]byte("secret")) {
			t.Errorf("%s: the wrong passwords are right", text)
		}
	}
	// PASSWORD('secret') as MySQL has it.
	if native != "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7" {
		t.Errorf("the digest of mysql_native_password is %s", native)
	}
	for _, broken := range []string{"", "*12", "$A$005$short", "$A$000$" + strings.Repeat("x", 63), "*" + strings.Repeat("g", 40)} {
		if _, err := StoredAccount("u", broken); err == nil {
			t.Errorf("%q is no digest", broken)
		}
	}
}

func TestAccountFile(t *testing.T) {
	list, err := parseAccounts(strings.NewReader("# comment\n\nann:pass:with colon\r\nbob:*14E65567ABDB5135D0CFD9A70B3032C179A49EE7\n"), "file")
	if err != nil || len(list) != 2 || !list.Account("ann").checkNativePassword("pass:with colon") || !list.Account("bob").checkNativePassword("secret") {
		t.Errorf("%v, %v", list, err)
	}
	for _, broken := range []string{"", "ann\n", ":x\n", "ann:\n", "ann:x\nann:y\n", "bob:$A$005$x\n"} {
		if _, err := parseAccounts(strings.NewReader(broken), "file"); err == nil {
			t.Errorf("%q is no file of accounts", broken)
		}
	}
}

// checkNativePassword answers as a client with the password would.
func (a *Account) checkNativePassword(password string) bool {
	nonce := []byte("01234567890123456789")
	return a.checkNative(nonce, nativeAnswer(nonce, password))
}

func nativeAnswer(nonce []byte, password string) []byte {
	first := sha1.Sum([]byte(password))
	second := sha1.Sum(first[:])
	mask := sha1.Sum(append(bytes.Clone(nonce), second[:]...))
	for i := range mask {
		mask[i] ^= first[i]
	}
	return mask[:]
}

func sha2Answer(nonce []byte, password string) []byte {
	first := sha256.Sum256([]byte(password))
	second := sha256.Sum256(first[:])
	mask := sha256.Sum256(append(second[:], nonce...))
	for i := range mask {
		mask[i] ^= first[i]
	}
	return mask[:]
}

// peer is a client of packets on the other end of a pipe.
type peer struct {
	t    *testing.T
	conn net.Conn
	seq  uint8
}

func newEngine(t testing.TB) *sqlengine.Engine {
	t.Helper()
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: t.TempDir(), Threads: 1, Memory: "256MB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// dial connects to a server over a pipe, whose ends count as one machine.
func dial(t *testing.T, s *Server) *peer {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		s.ServeConn(server)
		close(done)
	}()
	t.Cleanup(func() {
		client.Close()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the connection did not end")
		}
	})
	client.SetDeadline(time.Now().Add(20 * time.Second))
	return &peer{t: t, conn: client}
}

func (p *peer) read() []byte {
	p.t.Helper()
	r := packetReader{from: p.conn, limit: 64 << 20}
	m, err := r.next(nil)
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	if m.first != p.seq {
		p.t.Fatalf("packet %d came, %d was expected", m.first, p.seq)
	}
	p.seq = m.last + 1
	return m.payload
}

func (p *peer) write(payload []byte) {
	p.t.Helper()
	w := packetWriter{to: p.conn, seq: p.seq}
	w.begin()
	w.out = append(w.out, payload...)
	w.end()
	if err := w.flush(); err != nil {
		p.t.Fatalf("write: %v", err)
	}
	p.seq = w.seq
}

// command begins an exchange of its own.
func (p *peer) command(payload ...byte) {
	p.seq = 0
	p.write(payload)
}

// nonceOf takes the random text out of a greeting.
func nonceOf(t *testing.T, greeting []byte) []byte {
	t.Helper()
	in := cursor{data: greeting[1:]}
	in.terminated()
	in.uint32()
	nonce := bytes.Clone(in.take(8))
	in.take(1 + 2 + 1 + 2 + 2 + 1 + 10)
	nonce = append(nonce, in.take(12)...)
	if in.bad || len(nonce) != nonceLength {
		t.Fatalf("the greeting is malformed: %x", greeting)
	}
	return nonce
}

// clientDefault is what an ordinary client asks for.
const clientDefault = clientLongPassword | clientProtocol41 | clientSecureConnection | clientPluginAuth | clientTransactions | clientMultiResults

func helloOf(capabilities uint32, user string, response []byte, database, method string) []byte {
	out := appendUint32(nil, capabilities)
	out = appendUint32(out, 1<<24)
	out = append(append(out, charsetUTF8MB4), make([]byte, 23)...)
	out = append(append(out, user...), 0)
	out = append(append(out, byte(len(response))), response...)
	if capabilities&clientConnectWithDB != 0 {
		out = append(append(out, database...), 0)
	}
	return append(append(out, method...), 0)
}

func errnoOf(payload []byte) int {
	if len(payload) < 9 || payload[0] != 0xff {
		return 0
	}
	return int(payload[1]) | int(payload[2])<<8
}

// TestLogins goes through every way of proving a password, right and wrong ones.
func TestLogins(t *testing.T) {
	salt := "abcdefghijklmnopqrst"
	stored, err := StoredAccount("stored", "$A$005$"+salt+cryptSHA256([]byte("secret"), []byte(salt), 5000))
	if err != nil {
		t.Fatal(err)
	}
	native, err := StoredAccount("native", "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7")
	if err != nil {
		t.Fatal(err)
	}
	accounts := AccountList{NewAccount("root", ""), NewAccount("ann", "secret"), stored, native}
	server := New(newEngine(t), Options{Accounts: accounts})
	for _, c := range []struct {
		user, password, method string
		ok                     bool
	}{
		{"root", "", methodSHA2, true},
		{"root", "", methodNative, true},
		{"root", "x", methodSHA2, false},
		{"root", "x", methodNative, false},
		{"ann", "secret", methodSHA2, true},
		{"ann", "secret", methodNative, true},
		{"ann", "secret", "unknown_method", true},
		{"ann", "secret", methodClear, true}, // asked for another method: never in the clear
		{"ann", "Secret", methodSHA2, false},
		{"ann", "Secret", methodNative, false},
		{"ann", "", methodSHA2, false},
		{"ann", "", methodNative, false},
		{"stored", "wrong", methodSHA2, false}, // by the public key: nothing is known yet
		{"stored", "secret", methodSHA2, true}, // by the public key
		{"stored", "secret", methodSHA2, true}, // by the digest
		{"stored", "secret", methodNative, true},
		{"native", "secret", methodSHA2, true}, // switched to mysql_native_password
		{"native", "secret", methodNative, true},
		{"native", "wrong", methodNative, false},
		{"nobody", "", methodSHA2, false},
		{"nobody", "x", methodSHA2, false},
		{"nobody", "x", methodNative, false},
	} {
		p := dial(t, server)
		nonce := nonceOf(t, p.read())
		last := p.login(nonce, c.user, c.password, c.method)
		if ok := last[0] == 0; ok != c.ok || !ok && errnoOf(last) != 1045 {
			t.Errorf("%s with %q by %s: %q", c.user, c.password, c.method, last)
		}
	}
}

// login answers whatever the server asks and gives its last packet.
func (p *peer) login(nonce []byte, user, password, method string) []byte {
	p.t.Helper()
	answer := func(method string) []byte {
		switch {
		case password == "":
			return nil
		case method == methodNative:
			return nativeAnswer(nonce, password)
		case method == methodClear:
			p.t.Fatal("the password was asked for in the clear")
		}
		return sha2Answer(nonce, password)
	}
	first := []byte(nil)
	if method == methodNative || method == methodSHA2 {
		first = answer(method)
	}
	p.write(helloOf(clientDefault, user, first, "", method))
	for {
		got := p.read()
		switch {
		case got[0] == 0xfe:
			in := cursor{data: got[1:]}
			method = string(in.terminated())
			nonce = bytes.Clone(in.rest()[:nonceLength])
			p.write(answer(method))
		case got[0] == moreData && got[1] == fastOK:
		case got[0] == moreData && got[1] == fullNeeded:
			p.write([]byte{publicKeyWanted})
			block, _ := pem.Decode(p.read()[1:])
			key, err := x509.ParsePKIXPublicKey(block.Bytes)
			if err != nil {
				p.t.Fatal(err)
			}
			plain := append([]byte(password), 0)
			for i := range plain {
				plain[i] ^= nonce[i%nonceLength]
			}
			sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key.(*rsa.PublicKey), plain, nil)
			if err != nil {
				p.t.Fatal(err)
			}
			p.write(sealed)
		default:
			return got
		}
	}
}

// TestPasswordInTheClear makes sure that one sent without TLS does not log in.
func TestPasswordInTheClear(t *testing.T) {
	salt := "abcdefghijklmnopqrst"
	stored, err := StoredAccount("stored", "$A$005$"+salt+cryptSHA256([]byte("secret"), []byte(salt), 5000))
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, New(newEngine(t), Options{Accounts: AccountList{stored}}))
	nonce := nonceOf(t, p.read())
	p.write(helloOf(clientDefault, "stored", sha2Answer(nonce, "secret"), "", methodSHA2))
	if got := p.read(); got[0] != moreData || got[1] != fullNeeded {
		t.Fatalf("%x", got)
	}
	p.write([]byte("secret\x00"))
	if got := p.read(); errnoOf(got) != 1045 {
		t.Errorf("%q", got)
	}
}

// TestHandshakeFaults sends what no client should.
func TestHandshakeFaults(t *testing.T) {
	server := New(newEngine(t), Options{ConnectTimeout: time.Second})
	good := helloOf(clientDefault, "root", nil, "", methodSHA2)
	for name, c := range map[string]struct {
		payload []byte
		errno   int
	}{
		"empty":               {nil, 1251},
		"older protocol":      {helloOf(clientLongPassword, "root", nil, "", methodSHA2), 1251},
		"cut off":             {good[:20], 1043},
		"response cut off":    {append(bytes.Clone(good[:37]), 200), 1043},
		"database is missing": {helloOf(clientDefault|clientConnectWithDB, "root", nil, "nowhere", methodSHA2), 1049},
	} {
		p := dial(t, server)
		p.read()
		p.write(c.payload)
		if got := p.read(); errnoOf(got) != c.errno {
			t.Errorf("%s: %q, want %d", name, got, c.errno)
		}
	}
	p := dial(t, server)
	p.read()
	p.seq = 7
	p.write(good)
	p.seq = 1
	if got := p.read(); errnoOf(got) != 1156 {
		t.Errorf("out of order: %q", got)
	}
	silent := dial(t, server)
	silent.read()
	if _, err := silent.conn.Read(make([]byte, 1)); err == nil {
		t.Error("a client that says nothing was not let go")
	}
	if err := server.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// FuzzConnection sends a client's messages, cut at 0xff, whatever the server has to say. The last account logs in without a password, so
// that commands are reached.
func FuzzConnection(f *testing.F) {
	login := string(helloOf(clientDefault, "root", nil, "", methodSHA2))
	f.Add([]byte(login + "\xff\x03SELECT 1\xff\x16SELECT ?\xff\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\x29\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(string(helloOf(clientDefault, "stored", []byte("x"), "", methodSHA2)) + "\xff\x02\xffkey"))
	f.Add([]byte(string(helloOf(clientDefault, "ann", nil, "", "other")) + "\xffanswer"))
	f.Add([]byte(login + "\xff\x11ann\x00\x00\x00\x00\x00\xff\xff\x0e"))
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: f.TempDir(), Threads: 1, Memory: "256MB"})
	if err != nil {
		f.Fatal(err)
	}
	defer engine.Close()
	salt := "abcdefghijklmnopqrst"
	stored, err := StoredAccount("stored", "$A$001$"+salt+cryptSHA256([]byte("secret"), []byte(salt), 1000))
	if err != nil {
		f.Fatal(err)
	}
	server := New(engine, Options{Accounts: AccountList{stored, NewAccount("ann", "secret"), NewAccount("root", "")}, StatementTimeout: time.Second, MaxPacket: 1 << 16})
	f.Fuzz(func(t *testing.T, data []byte) {
		client, raw := net.Pipe()
		done := make(chan struct{})
		go func() {
			server.ServeConn(raw)
			close(done)
		}()
		client.SetDeadline(time.Now().Add(10 * time.Second))
		heard := make(chan struct{})
		go func() {
			io.Copy(io.Discard, client)
			close(heard)
		}()
		for i, payload := range bytes.Split(data, []byte{0xff}) {
			w := packetWriter{to: client, seq: 1}
			if i > 0 && len(payload) > 0 && payload[0] != 0 {
				w.seq = 0
			}
			w.begin()
			w.out = append(w.out, payload...)
			if w.end() != nil || w.flush() != nil {
				break
			}
		}
		client.Close()
		<-heard
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the connection does not end")
		}
	})
}
