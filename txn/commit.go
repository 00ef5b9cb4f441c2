package txn

import (
	"context"
	"errors"
	"slices"
	"time"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// The commit loop. A commit is the creation of the next version's file, which only one writer can do (C1); once it is
// created it is durable (C2). A try ends in one of four ways:
//
//	                  +--------------- try(version) ---------------+
//	                  |            |                 |             |
//	               written       exists           unknown       refused
//	                  |            |                 |             |
//	                  |      read the winners    read it back    fail, delete files
//	                  |        |        |         |   |    |
//	                  +--<-- ours    theirs <-----+ none  cannot
//	                  |                 |     ours |   |     |
//	               confirm     rebase or conflict  |  again  fail, KEEP files
//	                                               v
//	                                            confirm
//
// "Ours" is decided by commitInfo.txnId alone, also after "exists": a store, or something on the way to it, may have
// repeated a request whose first answer was lost.
//
// A file that was written for the transaction is deleted only when it is certain that no version refers to it.

// Commit makes the version. It tries again behind commits that came first as long as they can be combined with this one,
// and ends the transaction whatever comes out.
//
// Errors: a *Conflict (DELTA_CONCURRENT_..., DELTA_METADATA_CHANGED, DELTA_PROTOCOL_CHANGED), which leaves the table as it
// was; DELTA_METADATA_CHANGED that is no conflict where the log that was read is gone or another one; DELTA_MAX_COMMIT_RETRIES_EXCEEDED; what breaks a rule of the protocol; DELTASQL_STORAGE, and
// DELTASQL_COMMIT_OUTCOME_UNKNOWN where neither the write nor reading it back was answered.
func (tx *Transaction) Commit(ctx context.Context, op Operation) (Committed, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.ended {
		return Committed{}, internal("the transaction on %s has ended", tx.table.Name())
	}
	tx.ended = true
	c, done, err := tx.prepare(&op)
	if err != nil || done.Empty || done.AlreadyApplied {
		tx.deleteWrote(ctx, nil)
		return done, err
	}
	run := tx.turn
	if tx.joinable(&c) {
		run = tx.group
	}
	commit, attempts, err := run(ctx, &c)
	switch {
	case errors.Is(err, errUnknown):
		return Committed{Attempts: attempts}, err
	case err != nil:
		tx.deleteWrote(ctx, nil)
		return Committed{Attempts: attempts}, err
	case c.applied:
		tx.deleteWrote(ctx, nil)
		return Committed{Version: c.version - 1, Attempts: attempts, AlreadyApplied: true}, nil
	}
	return tx.confirm(ctx, commit, attempts), nil
}

// prepare checks what is staged and makes the contender of it; there is nothing to do for what is empty or applied already.
func (tx *Transaction) prepare(op *Operation) (contender, Committed, error) {
	read := int64(-1)
	if tx.read != nil {
		read = tx.read.Version()
	}
	if tx.staged.empty() && !op.AllowEmpty {
		return contender{}, Committed{Version: read, Empty: true}, nil
	}
	if err := tx.check(op); err != nil {
		return contender{}, Committed{}, err
	}
	if tx.read != nil {
		known := tx.read.Transactions()
		for id, t := range tx.staged.txns {
			if last, ok := known[id]; ok && last.Version >= t.Version {
				return contender{}, Committed{Version: read, AlreadyApplied: true}, nil
			}
		}
	}
	c, err := tx.contend(op, tx.nowMillis())
	return c, Committed{}, err
}

// errUnknown marks a commit of which nobody knows whether it stands.
var errUnknown = errors.New("the outcome of the commit is unknown")

// turn makes the commit when no other of this process is being made, and takes those that were made since the transaction
// began into account before it tries.
func (tx *Transaction) turn(ctx context.Context, c *contender) (log.Commit, int, error) {
	end, err := tx.table.Turn(ctx, nil)
	if err != nil {
		return log.Commit{}, 0, err
	}
	defer end()
	return tx.inTurn(ctx, c)
}

func (tx *Transaction) inTurn(ctx context.Context, c *contender) (log.Commit, int, error) {
	if err := tx.checkLog(ctx); err != nil {
		return log.Commit{}, 0, err
	}
	if known := tx.table.Known(ctx); known != nil && known.Version() >= c.version {
		var commit log.Commit
		if _, err := tx.lose(ctx, c, &commit, ""); err != nil || c.applied {
			return commit, 0, err
		}
	}
	commit, attempts, err := tx.loop(ctx, c)
	if err == nil && !c.applied {
		tx.newest = tx.table.Committed(ctx, commit)
	}
	return commit, attempts, err
}

// checkLog refuses a commit to another log than the transaction has read. In the log of a table that was made anew meanwhile
// it would leave a gap or bring in rows of another table (L1), and without a log, or behind versions that were cleaned up, it
// would be written and never be seen (C2). Once a try has lost, the winners were read from the log that there is.
func (tx *Transaction) checkLog(ctx context.Context) error {
	if tx.read == nil {
		return nil
	}
	same, err := tx.table.Stands(ctx, tx.read)
	if err == nil && !same {
		err = tx.Gone()
	}
	return err
}

// Gone is the error of a transaction whose log, or the table's whole folder, is not there any more.
func (tx *Transaction) Gone() error {
	name := tx.table.Name()
	return protocol.NewError("DELTA_METADATA_CHANGED", "version %d of the table %s, which the transaction has read, is not in its log any more: the table was dropped, renamed, made anew or cleaned up",
		tx.read.Version(), name).WithTable(name).WithHint("run the statement again")
}

// loop tries until the commit stands, is applied already, or cannot be.
func (tx *Transaction) loop(ctx context.Context, c *contender) (log.Commit, int, error) {
	id := tx.options.NewID()
	commit, attempts, err := tx.tries(ctx, c, id)
	if err != nil {
		err = c.give(err, id)
	}
	return commit, attempts, err
}

func (tx *Transaction) tries(ctx context.Context, c *contender, id string) (log.Commit, int, error) {
	throttled := 0
	for attempt := 1; ; attempt++ {
		if attempt > 1 {
			if attempt > tx.options.MaxRetries {
				return log.Commit{}, attempt - 1, protocol.NewError("DELTA_MAX_COMMIT_RETRIES_EXCEEDED",
					"%s of the table %s was tried %d times, and each time another writer was first", c.op.Name, c.table, attempt-1).
					WithTable(c.table).WithHint("run the statement again when fewer writers are at work")
			}
			if err := tx.options.Wait(ctx, attempt-1); err != nil {
				return log.Commit{}, attempt - 1, err
			}
		}
		commit, err := c.try(&tx.options, id)
		if err != nil {
			return commit, attempt, err
		}
		stands, err := tx.attempt(ctx, c, &commit, id)
		if errors.Is(err, store.ErrThrottled) && throttled < throttledTries && ctx.Err() == nil {
			throttled++
			continue
		}
		if stands || err != nil || c.applied {
			return commit, attempt, err
		}
	}
}

// give makes the error of a commit that is given up. As long as a write was not answered, and nobody else has its version, it
// may still arrive.
func (c *contender) give(err error, id string) error {
	if !c.doubt {
		return err
	}
	return protocol.NewError("DELTASQL_COMMIT_OUTCOME_UNKNOWN",
		"it is not known whether version %d of the table %s was committed: the store has not answered the write", c.version, c.table).
		WithTable(c.table).WithHint("look at DESCRIBE HISTORY before the statement is run again; its txnId is %s", id).
		WithCause(errors.Join(errUnknown, err))
}

// attempt makes one try. It tells whether the commit stands; if it does not and there is no error, the contender is ready
// for the next one.
func (tx *Transaction) attempt(ctx context.Context, c *contender, commit *log.Commit, id string) (bool, error) {
	data, err := protocol.EncodeCommit(slices.Concat([]protocol.Action{{CommitInfo: commit.Info}}, commit.Actions))
	if err != nil {
		return false, err
	}
	outcome, err := tx.table.WriteCommit(ctx, commit.Version, data)
	switch {
	case outcome == store.Written:
		return true, nil
	case outcome == store.Unknown, errors.Is(err, store.ErrExists):
		return tx.resolve(ctx, c, commit, id, err)
	case errors.Is(err, store.ErrNotFound) && tx.read != nil:
		return false, tx.Gone() // since checkLog looked
	}
	return false, err
}

// throttledTries is how often a store may ask to slow down before the statement fails.
const throttledTries = 8

// resolveLimit bounds how long reading back a commit may take once the statement itself has been cancelled.
const resolveLimit = 30 * time.Second

// resolve reads back a version whose write was not answered, or that exists: who made it must be known. A cancelled
// statement still wants to know.
func (tx *Transaction) resolve(ctx context.Context, c *contender, commit *log.Commit, id string, cause error) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resolveLimit)
	defer cancel()
	c.doubt = true
	var stands bool
	var err error
	for range resolveTries {
		if stands, err = tx.lose(ctx, c, commit, id); err == nil || isConflict(err) {
			return stands, err
		}
	}
	if !c.doubt {
		return false, err
	}
	return false, errors.Join(cause, err)
}

// resolveTries is how often winners are read before the statement fails.
const resolveTries = 3

func isConflict(err error) bool {
	var c *Conflict
	return errors.As(err, &c)
}

// lose takes the commits from the version that was tried for into account. One of them may be this transaction's own, whose
// answer was lost; then it stands, and commit becomes what stands. Where there are none, the version is free still.
func (tx *Transaction) lose(ctx context.Context, c *contender, commit *log.Commit, id string) (bool, error) {
	next := *c
	for won, err := range tx.table.CommitsAfter(ctx, c.version-1) {
		if err != nil {
			return false, err
		}
		if theirs, ok := won.Info.TxnID(); ok && id != "" && theirs == id {
			*commit = won
			return true, nil
		}
		c.doubt = false              // the version is another's
		tx.table.Committed(ctx, won) // so that it need not be read again
		if next, err = next.after(winnerOf(won)); err != nil {
			return false, err
		}
		if next.applied {
			break
		}
	}
	next.doubt = c.doubt
	*c = next
	return false, nil
}

// confirm does the upkeep of the log behind a commit that stands, and deletes files that were written in vain.
func (tx *Transaction) confirm(ctx context.Context, commit log.Commit, attempts int) Committed {
	ctx = context.WithoutCancel(ctx)
	done := Committed{Version: commit.Version, Attempts: attempts}
	tx.deleteWrote(ctx, referred(commit.Actions))
	if tx.joined {
		return done // whoever made the commit sees to the log
	}
	upkeep := tx.options.Upkeep
	upkeep.Now, upkeep.NewID = tx.options.Now, tx.options.NewID
	upkeep.Snapshot = tx.newest
	done.Warnings = tx.table.AfterCommit(ctx, commit.Version, upkeep)
	return done
}

// referred are the names on the store of all files that actions add.
func referred(actions []protocol.Action) map[string]bool {
	names := map[string]bool{}
	keep := func(path string) {
		if name, _, err := protocol.DecodePath(path); err == nil {
			names[name] = true
		}
	}
	for i := range actions {
		switch a := &actions[i]; {
		case a.Add != nil:
			keep(a.Add.Path)
			if dv := a.Add.DeletionVector; dv != nil {
				if name, _, err := dv.Path(); err == nil {
					names[name] = true
				}
			}
		case a.CDC != nil:
			keep(a.CDC.Path)
		}
	}
	return names
}
