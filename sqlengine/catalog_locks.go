package sqlengine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"deltasql/protocol"
)

// lockFolder holds a file for each name that a statement is changing. The locks are the operating system's: they end with the
// process that holds them, so that none is left by one that died.
const lockFolder = catalogFolder + "/locks"

// lockPause is how long a statement that waits for a name sleeps before it looks again.
const lockPause = 5 * time.Millisecond

// nameLock is what a statement that changes names holds while it looks names up and changes them. Names of databases are shared by
// those who change what is in them.
type nameLock struct {
	key    string
	shared bool
}

func lockOfDatabase(name string, shared bool) nameLock {
	return nameLock{"database " + strings.ToLower(name), shared}
}

func lockOfName(database, name string) nameLock {
	return nameLock{"name " + strings.ToLower(database) + "\x00" + strings.ToLower(name), false}
}

func lockOfFolder(path string) nameLock { return nameLock{"folder " + withoutLinks(path), false} }

// lock waits for locks and gives the function that ends them. All who take several take them in one order, so that nobody waits for
// somebody who waits for him; and a statement takes all that it needs at once. Where the catalog's folder cannot be written, its
// names cannot change either, and there is nothing to hold.
func (c *catalog) lock(ctx context.Context, locks ...nameLock) (unlock func(), err error) {
	sort.Slice(locks, func(i, j int) bool { return locks[i].key < locks[j].key })
	var held []func()
	unlock = func() {
		for i := len(held) - 1; i >= 0; i-- {
			held[i]()
		}
	}
	for i, l := range locks {
		if i > 0 && l.key == locks[i-1].key {
			continue
		}
		release, err := c.lockOne(ctx, l)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			continue
		}
		if err != nil {
			unlock()
			if ctx.Err() != nil {
				return nil, cancelled(ctx)
			}
			return nil, protocol.NewError("DELTASQL_STORAGE", "a lock in %s cannot be taken", filepath.Join(c.root, lockFolder)).WithCause(err)
		}
		held = append(held, release)
	}
	return unlock, nil
}

// lockOne takes one lock. Its file goes with the last holder, so that a lock counts only if its file is still the one of that name.
func (c *catalog) lockOne(ctx context.Context, l nameLock) (release func(), err error) {
	path := c.lockFile(l)
	for {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		file := flock.New(path)
		take := file.TryLockContext
		if l.shared {
			take = file.TryRLockContext
		}
		if _, err := take(ctx, lockPause); err != nil {
			file.Close()
			return nil, err
		}
		mine, err := file.Stat()
		if err != nil {
			file.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(mine, there) {
			file.Close()
			continue
		}
		return func() {
			if !l.shared {
				os.Remove(path)
			}
			file.Close()
		}, nil
	}
}

func (c *catalog) lockFile(l nameLock) string {
	sum := sha256.Sum256([]byte(l.key))
	return filepath.Join(c.root, lockFolder, hex.EncodeToString(sum[:16]))
}
