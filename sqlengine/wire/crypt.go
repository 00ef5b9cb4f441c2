package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strconv"
	"strings"
)

// The stored form of caching_sha2_password is "$A$", the rounds in thousands as three hexadecimal digits, "$", a salt of 20 bytes and
// the 43 characters of the SHA-256 crypt of the password (Drepper, "Unix crypt using SHA-256 and SHA-512").
const (
	cryptSalt   = 20
	cryptDigest = 43
)

func parseCrypt(stored string) (rounds int, salt, digest string, err error) {
	rest, ok := strings.CutPrefix(stored, "$A$")
	count, rest, found := strings.Cut(rest, "$")
	if n, parseError := strconv.ParseInt(count, 16, 32); ok && found && len(count) == 3 && parseError == nil && n > 0 && len(rest) == cryptSalt+cryptDigest {
		return int(n) * 1000, rest[:cryptSalt], rest[cryptSalt:], nil
	}
	return 0, "", "", fmt.Errorf("a stored digest is \"*\" and 40 hexadecimal digits, or \"$A$005$\" with salt and digest")
}

// checkCrypt tells whether a password has the stored form.
func checkCrypt(stored string, password []byte) bool {
	rounds, salt, digest, err := parseCrypt(stored)
	if err != nil || len(password) > maxPassword {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(cryptSHA256(password, []byte(salt), rounds)), []byte(digest)) == 1
}

// maxPassword bounds the work of a digest, as MySQL does.
const maxPassword = 256

// cryptSHA256 is the digest. The names follow the published description: A and B are digests of password and salt, P and S are byte
// sequences of the password's and the salt's length made of digests.
func cryptSHA256(password, salt []byte, rounds int) string {
	b := sha256.New()
	b.Write(password)
	b.Write(salt)
	b.Write(password)
	sumB := b.Sum(nil)

	a := sha256.New()
	a.Write(password)
	a.Write(salt)
	for left := len(password); left > 0; left -= sha256.Size {
		a.Write(sumB[:min(left, sha256.Size)])
	}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 {
			a.Write(sumB)
		} else {
			a.Write(password)
		}
	}
	sum := a.Sum(nil)

	dp := sha256.New()
	for range password {
		dp.Write(password)
	}
	p := repeatTo(dp.Sum(nil), len(password))
	ds := sha256.New()
	for range 16 + int(sum[0]) {
		ds.Write(salt)
	}
	s := repeatTo(ds.Sum(nil), len(salt))

	for i := range rounds {
		c := sha256.New()
		if i&1 == 1 {
			c.Write(p)
		} else {
			c.Write(sum)
		}
		if i%3 != 0 {
			c.Write(s)
		}
		if i%7 != 0 {
			c.Write(p)
		}
		if i&1 == 1 {
			c.Write(sum)
		} else {
			c.Write(p)
		}
		sum = c.Sum(sum[:0])
	}
	return encodeCrypt(sum)
}

func repeatTo(digest []byte, length int) []byte {
	out := make([]byte, 0, length)
	for len(out) < length {
		out = append(out, digest[:min(len(digest), length-len(out))]...)
	}
	return out
}

// encodeCrypt writes the digest in crypt's own base 64 and its own order of bytes.
func encodeCrypt(sum []byte) string {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var out []byte
	emit := func(high, mid, low byte, characters int) {
		word := uint32(high)<<16 | uint32(mid)<<8 | uint32(low)
		for range characters {
			out = append(out, alphabet[word&63])
			word >>= 6
		}
	}
	for i := range 10 {
		triple := [3]int{i, i + 10, i + 20}
		// Each group begins one place further on than the one before it.
		x, y, z := triple[i*2%3], triple[(i*2+1)%3], triple[(i*2+2)%3]
		emit(sum[x], sum[y], sum[z], 4)
	}
	emit(0, sum[31], sum[30], 3)
	return string(out)
}
