package metamorphic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

const (
	accounts    = 8
	opening     = 100
	mostBooked  = 12 // of a resource that must not be booked more often
	conflictNum = 1213
)

// soak is what all writers share. Its counts are what the engine has said to be committed.
type soak struct {
	t        *testing.T
	table    string
	bumps    [accounts]atomic.Int64 // per account
	mu       sync.Mutex
	noted    map[string]bool // rows of the ledger that must be there
	offered  atomic.Int64
	conflict atomic.Int64
	done     atomic.Int64
	deadline time.Time
}

// TestWriters lets eight writers on two engines over one folder change two tables by every statement at once. The log's order is a serial
// one of what they did: money is neither made nor lost in any version, every increment that was committed counts once, each row of the
// ledger is there once, and no decision on what a query of a transaction read is stale. DELTASQL_HISTORIES is how long to go on.
func TestWriters(t *testing.T) {
	layouts := []string{
		"TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')",
		"TBLPROPERTIES ('delta.enableDeletionVectors' = 'false', 'delta.enableChangeDataFeed' = 'true')",
		"PARTITIONED BY (id) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true', 'delta.isolationLevel' = 'WriteSerializable')",
		"PARTITIONED BY (id) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false', 'delta.enableRowTracking' = 'true', 'delta.checkpointInterval' = '3')",
	}
	long, _ := time.ParseDuration(os.Getenv("DELTASQL_HISTORIES"))
	each := 2 * time.Second
	if long > 0 {
		each = long / time.Duration(len(layouts))
	} else {
		layouts = layouts[int(*historyFlag)%2*2:][:2]
	}
	for _, l := range layouts {
		t.Run(l, func(t *testing.T) { runWriters(t, l, each) })
	}
}

func runWriters(t *testing.T, layout string, each time.Duration) {
	folder := t.TempDir()
	var engines []*sqlengine.Engine
	for range 2 {
		e, err := sqlengine.Open(sqlengine.Options{Catalog: folder, Memory: "1GB", Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines = append(engines, e)
	}
	s := &soak{t: t, noted: map[string]bool{}, deadline: time.Now().Add(each)}
	first := s.client(engines[0], 99)
	rows := make([]string, accounts)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d, 0)", i, opening)
	}
	first.must("CREATE TABLE accounts (id INT, balance BIGINT, n BIGINT) " + layout)
	first.must("CREATE TABLE ledger (id INT, note STRING) " + layout)
	first.must("INSERT INTO accounts VALUES " + strings.Join(rows, ", "))
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			s.client(engines[i%2], uint64(i)).write()
		}()
	}
	group.Wait()
	s.check(first)
	t.Logf("%d statements were committed, %d conflicts", s.done.Load(), s.conflict.Load())
	if s.done.Load() < 8 {
		t.Error("next to nothing was committed")
	}
}

type client struct {
	*soak
	*rand.Rand
	id      uint64
	session *sqlengine.Session
	serial  int
}

func (s *soak) client(e *sqlengine.Engine, id uint64) *client {
	session, err := e.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return &client{soak: s, Rand: rand.New(rand.NewPCG(id, uint64(*historyFlag))), id: id, session: session}
}

// query runs a statement and gives its rows.
func (c *client) query(sql string) (rows []string, err error) {
	result, err := c.session.Execute(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		batch, err := result.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range batch.Len() {
			var line []byte
			for i := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &result.Columns[i].Type, render.VariantWrapped)
			}
			rows = append(rows, string(line))
		}
	}
}

func (c *client) must(sql string) []string {
	rows, err := c.query(sql)
	if err != nil {
		c.t.Errorf("%s: %v", sql, err)
	}
	return rows
}

// try runs statements as far as they succeed. A conflict is the one failure that may be; it ends the open transaction.
func (c *client) try(statements ...string) bool {
	for _, sql := range statements {
		if _, err := c.query(sql); err != nil {
			c.failed(sql, err)
			return false
		}
	}
	c.done.Add(1)
	return true
}

func (c *client) failed(sql string, err error) {
	c.conflict.Add(1)
	if info, ok := protocol.InfoOf(protocol.ClassOf(err)); !ok || info.Errno != conflictNum {
		c.t.Errorf("%s: %v", sql, err)
	}
	c.must("ROLLBACK")
}

func (c *client) write() {
	for time.Now().Before(c.deadline) && !c.t.Failed() {
		a, b, sum := c.IntN(accounts), c.IntN(accounts), c.IntN(20)
		for a == b {
			b = c.IntN(accounts)
		}
		switch c.IntN(12) {
		case 0, 1: // a transfer of what two queries have read
			c.transfer(a, b, sum)
		case 2, 3: // by one statement
			c.try(fmt.Sprintf("MERGE INTO accounts t USING (SELECT * FROM VALUES (%d, %d), (%d, %d) AS v(id, d)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET balance = t.balance + s.d", a, -sum, b, sum))
		case 4, 5:
			if c.try(fmt.Sprintf("UPDATE accounts SET n = n + 1 WHERE id = %d", a)) {
				c.bumps[a].Add(1)
			}
		case 6:
			c.serial++
			note := fmt.Sprintf("%d/%d", c.id, c.serial)
			if c.try(fmt.Sprintf("INSERT INTO ledger VALUES (%d, '%s')", a, note)) {
				c.note(note, true)
			}
		case 7: // one of its own goes
			note := fmt.Sprintf("%d/%d", c.id, 1+c.IntN(c.serial+1))
			if c.try("DELETE FROM ledger WHERE note = '" + note + "'") {
				c.note(note, false)
			}
		case 8: // what several want to insert, and one may
			note := "shared/" + strconv.FormatInt(c.offered.Add(1)/3, 10)
			if c.try(fmt.Sprintf("INSERT INTO ledger SELECT %d, '%s' WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE note = '%s')", a, note, note)) {
				c.note(note, true)
			}
		case 9: // a decision on a count
			c.book(a)
		case 10:
			c.try([]string{"OPTIMIZE accounts", "OPTIMIZE ledger", "ALTER TABLE accounts SET TBLPROPERTIES ('k' = '" + strconv.Itoa(sum) + "')",
				"COMMENT ON TABLE ledger IS '" + strconv.Itoa(sum) + "'"}[c.IntN(4)])
		default:
			c.look()
		}
	}
	c.session.Close()
}

func (s *soak) note(note string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted[note] = there
}

func (c *client) transfer(a, b, sum int) {
	c.must("BEGIN")
	var balances [2]int
	for i, id := range []int{a, b} {
		rows, err := c.query("SELECT balance FROM accounts WHERE id = " + strconv.Itoa(id))
		if err != nil || len(rows) != 1 {
			c.t.Errorf("the balance of %d: %q, %v", id, rows, err)
			c.must("ROLLBACK")
			return
		}
		balances[i], _ = strconv.Atoi(rows[0])
	}
	if c.IntN(5) == 0 {
		c.try(fmt.Sprintf("UPDATE accounts SET balance = 0 WHERE id = %d", a), "ROLLBACK")
		return
	}
	c.try(fmt.Sprintf("UPDATE accounts SET balance = %d WHERE id = %d", balances[0]-sum, a), "SAVEPOINT s",
		"UPDATE accounts SET balance = 7, n = 7", "ROLLBACK TO s",
		fmt.Sprintf("UPDATE accounts SET balance = %d WHERE id = %d", balances[1]+sum, b), "COMMIT")
}

// book inserts while a count is below its bound. Having read, it is no blind append, so that this holds in both isolation levels.
func (c *client) book(a int) {
	c.must("BEGIN")
	rows, err := c.query("SELECT count(*) FROM ledger WHERE note LIKE 'booked%'")
	if err != nil || len(rows) != 1 {
		c.t.Errorf("the bookings: %q, %v", rows, err)
		return
	}
	if n, _ := strconv.Atoi(rows[0]); n >= mostBooked {
		c.must("COMMIT")
		return
	}
	c.serial++
	c.try(fmt.Sprintf("INSERT INTO ledger VALUES (%d, 'booked %d/%d')", a, c.id, c.serial), "COMMIT")
}

// look reads what must hold at any time.
func (c *client) look() {
	if rows := c.must("SELECT sum(balance), count(*), (SELECT sum(balance) FROM accounts) FROM accounts"); !slices.Equal(rows, []string{fmt.Sprintf("%d,%d,%d", accounts*opening, accounts, accounts*opening)}) {
		c.t.Errorf("the balances are %q", rows)
	}
	c.must("BEGIN")
	first := c.must("SELECT sum(n), max(balance) FROM accounts")
	if second := c.must("SELECT sum(n), max(balance) FROM accounts"); !slices.Equal(first, second) {
		c.t.Errorf("in one transaction %q, then %q", first, second)
	}
	c.must("COMMIT")
}

func (s *soak) check(c *client) {
	for id := range s.bumps {
		if rows := c.must(fmt.Sprintf("SELECT n FROM accounts WHERE id = %d", id)); !slices.Equal(rows, []string{strconv.FormatInt(s.bumps[id].Load(), 10)}) {
			s.t.Errorf("account %d was counted %q times, not %d", id, rows, s.bumps[id].Load())
		}
	}
	for version := int64(1); ; version++ {
		rows, err := c.query(fmt.Sprintf("SELECT sum(balance), count(*), min(n) >= 0 FROM accounts VERSION AS OF %d", version))
		if err != nil {
			if version == 1 {
				s.t.Error(err)
			}
			break
		}
		if !slices.Equal(rows, []string{fmt.Sprintf("%d,%d,true", accounts*opening, accounts)}) {
			s.t.Errorf("version %d has the balances %q", version, rows)
		}
	}
	notes := map[string]int{}
	booked := 0
	for _, row := range c.must("SELECT note FROM ledger") {
		note := strings.Trim(row, `"`)
		if strings.HasPrefix(note, "booked") {
			booked++
			continue
		}
		notes[note]++
	}
	if booked > mostBooked {
		s.t.Errorf("%d are booked, and %d may be", booked, mostBooked)
	}
	for note, there := range s.noted {
		if n := notes[note]; there && n != 1 || !there && n != 0 {
			s.t.Errorf("%s is in the ledger %d times, which is to have it: %t", note, n, there)
		}
		delete(notes, note)
	}
	if len(notes) > 0 {
		s.t.Errorf("the ledger has what nobody was told to be committed: %v", notes)
	}
}
