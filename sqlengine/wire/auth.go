package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
)

// Bytes of the exchange of caching_sha2_password.
const (
	moreData        = 0x01 // leads every packet of the server
	fastOK          = 0x03 // the server knew the password's digest and agrees
	fullNeeded      = 0x04 // the server wants the password
	publicKeyWanted = 0x02 // the client wants the key to encrypt it with
)

// decoy stands in for an account that does not exist, so that names cannot be told from the exchange.
var decoy = &Account{once: make([]byte, sha1.Size), fast: make([]byte, sha256.Size)}

// authenticate holds what a client sent, and sends on request, against its account.
func (c *conn) authenticate(user, method string, response []byte) error {
	account := c.server.options.Accounts.Account(user)
	real := account != nil
	if !real {
		account = decoy
	}
	if account.empty && !c.local() {
		c.server.log.Warn("an account without a password was refused beyond this machine", "user", user)
		real = false
	}
	ok, used, err := c.exchange(account, method, response)
	if err != nil {
		return err
	}
	if !ok || !real {
		word := "NO"
		if used {
			word = "YES"
		}
		return protocolFault(1045, fmt.Sprintf("Access denied for user '%s'@'%s' (using password: %s)", user, c.host(), word))
	}
	c.user = user
	return nil
}

// local tells whether the client is on this machine.
func (c *conn) local() bool {
	switch at := c.raw.RemoteAddr().(type) {
	case *net.TCPAddr:
		return at.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return c.raw.RemoteAddr().Network() == "pipe"
}

// private tells whether nobody can listen on the way.
func (c *conn) private() bool { return c.secure || c.raw.RemoteAddr().Network() == "unix" }

// exchange runs the method that client and account have in common; used tells whether the client sent a password at all.
func (c *conn) exchange(account *Account, method string, response []byte) (ok, used bool, err error) {
	wanted := methodSHA2
	switch {
	case method == methodNative && (account.once != nil || account.empty), account.once != nil && account.crypt == "" && account.fast == nil && !c.private():
		wanted = methodNative
	case method == methodClear && c.private():
		wanted = methodClear
	}
	if method != wanted {
		if c.capabilities&clientPluginAuth == 0 {
			if account.once == nil && !account.empty {
				return false, len(response) > 0, nil
			}
			return account.checkNative(c.nonce, response), len(response) > 0, nil
		}
		if response, err = c.switchMethod(wanted); err != nil {
			return false, false, err
		}
	}
	switch wanted {
	case methodNative:
		return account.checkNative(c.nonce, response), len(response) > 0, nil
	case methodClear:
		password := bytes.TrimSuffix(response, []byte{0})
		return account.checkPassword(password), len(password) > 0, nil
	}
	return c.exchangeSHA2(account, response)
}

// switchMethod asks the client for another method. The nonce stays that of the greeting, as in MySQL: clients mix it with the password
// of COM_CHANGE_USER whatever has been switched before.
func (c *conn) switchMethod(method string) ([]byte, error) {
	c.out.begin()
	c.out.out = append(append(append(c.out.out, 0xfe), method...), 0)
	if method != methodClear {
		c.out.out = append(append(c.out.out, c.nonce...), 0)
	}
	return c.ask()
}

// ask ends the packet that has been begun, sends it and reads the client's answer.
func (c *conn) ask() ([]byte, error) {
	if err := c.out.end(); err != nil {
		return nil, err
	}
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	return c.receive()
}

// exchangeSHA2 is caching_sha2_password: by the digest where it is known, else by the password, which travels over TLS or a local
// socket as it is, and over anything else encrypted with the server's key.
func (c *conn) exchangeSHA2(account *Account, response []byte) (ok, used bool, err error) {
	response = bytes.TrimSuffix(response, []byte{0})
	if len(response) == 0 {
		return account.empty, false, nil
	}
	agreed, known := account.checkFast(c.nonce, response)
	if known {
		if !agreed {
			return false, true, nil
		}
		c.out.begin()
		c.out.out = append(c.out.out, moreData, fastOK)
		return true, true, c.out.end()
	}
	c.out.begin()
	c.out.out = append(c.out.out, moreData, fullNeeded)
	answer, err := c.ask()
	if err != nil {
		return false, true, err
	}
	if c.private() {
		return account.checkPassword(bytes.TrimSuffix(answer, []byte{0})), true, nil
	}
	key, err := c.server.key()
	if err != nil {
		return false, true, err
	}
	if len(answer) == 1 && answer[0] == publicKeyWanted {
		der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			return false, true, err
		}
		c.out.begin()
		c.out.out = append(append(c.out.out, moreData), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
		if answer, err = c.ask(); err != nil {
			return false, true, err
		}
	}
	masked, err := rsa.DecryptOAEP(sha1.New(), rand.Reader, key, answer, nil)
	if err != nil {
		return false, true, nil // a password in the clear ends here as well
	}
	for i := range masked {
		masked[i] ^= c.nonce[i%nonceLength]
	}
	return account.checkPassword(bytes.TrimSuffix(masked, []byte{0})), true, nil
}
