package wire

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Accounts finds who may connect.
type Accounts interface {
	// Account gives the account of a name, or nil. It is asked for each connection.
	Account(user string) *Account
}

// Account is a user and what proves that a client is that user. It is safe for concurrent use.
type Account struct {
	Name  string
	empty bool   // without a password: on this machine only
	once  []byte // SHA1(SHA1(password)), what mysql_native_password compares with; nil where it is not known
	crypt string // the stored form of caching_sha2_password, "$A$005$..."; "" where there is none

	mu   sync.Mutex
	fast []byte // SHA256(SHA256(password)), which caching_sha2_password compares with once it is known
}

// NewAccount makes an account of a password, of which it keeps digests alone. The empty password admits without one, from this
// machine only.
func NewAccount(name, password string) *Account {
	if password == "" {
		return &Account{Name: name, empty: true}
	}
	a := &Account{Name: name, once: nativeDigest([]byte(password))}
	a.fast = fastDigest([]byte(password))
	return a
}

// StoredAccount makes an account of a stored digest, as MySQL writes them: "*" and 40 hexadecimal digits for mysql_native_password,
// "$A$005$" and more for caching_sha2_password.
func StoredAccount(name, stored string) (*Account, error) {
	if digits, ok := strings.CutPrefix(stored, "*"); ok {
		digest, err := hex.DecodeString(digits)
		if err != nil || len(digest) != sha1.Size {
			return nil, fmt.Errorf("%q is no digest of mysql_native_password", stored)
		}
		return &Account{Name: name, once: digest}, nil
	}
	if _, _, _, err := parseCrypt(stored); err != nil {
		return nil, err
	}
	return &Account{Name: name, crypt: stored}, nil
}

// checkNative holds an answer of mysql_native_password against the account.
func (a *Account) checkNative(nonce, answer []byte) bool {
	if a.empty {
		return len(answer) == 0
	}
	if a.once == nil || len(answer) != sha1.Size {
		return false
	}
	mask := sha1.Sum(append(bytes.Clone(nonce), a.once...))
	first := make([]byte, sha1.Size)
	subtle.XORBytes(first, answer, mask[:])
	got := sha1.Sum(first)
	return subtle.ConstantTimeCompare(got[:], a.once) == 1
}

// checkFast holds an answer of caching_sha2_password against what is known of the password; known is false where nothing is.
func (a *Account) checkFast(nonce, answer []byte) (ok, known bool) {
	if a.empty {
		return len(answer) == 0, true
	}
	a.mu.Lock()
	fast := a.fast
	a.mu.Unlock()
	if fast == nil {
		return false, false
	}
	if len(answer) != sha256.Size {
		return false, true
	}
	mask := sha256.Sum256(append(bytes.Clone(fast), nonce...))
	first := make([]byte, sha256.Size)
	subtle.XORBytes(first, answer, mask[:])
	got := sha256.Sum256(first)
	return subtle.ConstantTimeCompare(got[:], fast) == 1, true
}

// checkPassword holds the password itself against the account and remembers its digest.
func (a *Account) checkPassword(password []byte) bool {
	ok := false
	switch {
	case a.empty:
		return len(password) == 0
	case a.crypt != "":
		ok = checkCrypt(a.crypt, password)
	case a.once != nil:
		ok = subtle.ConstantTimeCompare(nativeDigest(password), a.once) == 1
	}
	if ok {
		a.mu.Lock()
		a.fast = fastDigest(password)
		a.mu.Unlock()
	}
	return ok
}

func nativeDigest(password []byte) []byte {
	first := sha1.Sum(password)
	second := sha1.Sum(first[:])
	return second[:]
}

func fastDigest(password []byte) []byte {
	first := sha256.Sum256(password)
	second := sha256.Sum256(first[:])
	return second[:]
}

// AccountList is a fixed set of accounts.
type AccountList []*Account

// Account implements Accounts.
func (l AccountList) Account(user string) *Account {
	for _, a := range l {
		if a.Name == user {
			return a
		}
	}
	return nil
}

// Open tells whether some account has no password.
func (l AccountList) Open() bool {
	for _, a := range l {
		if a.empty {
			return true
		}
	}
	return false
}

// ReadAccounts reads a file of lines "user:password", where the password may be a stored digest (see StoredAccount). Empty lines and
// lines that begin with # are left out. A file that others than its owner can read is refused.
func ReadAccounts(path string) (AccountList, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others than its owner: chmod 600 it", path)
	}
	return parseAccounts(file, path)
}

func parseAccounts(from io.Reader, name string) (AccountList, error) {
	var list AccountList
	lines := bufio.NewScanner(from)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		user, password, ok := strings.Cut(line, ":")
		switch {
		case !ok || user == "" || password == "":
			return nil, fmt.Errorf("%s:%d: user:password is wanted", name, number)
		case list.Account(user) != nil:
			return nil, fmt.Errorf("%s:%d: user %s stands twice", name, number, user)
		}
		account := NewAccount(user, password)
		if strings.HasPrefix(password, "$A$") || len(password) == 41 && password[0] == '*' {
			stored, err := StoredAccount(user, password)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, number, err)
			}
			account = stored
		}
		list = append(list, account)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no account: lines user:password are wanted", name)
	}
	return list, nil
}
