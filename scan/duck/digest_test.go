package duck

import (
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"strings"
	"testing"
)

// TestDigests compares digests with the standard library's over lengths around the ends of blocks.
func TestDigests(t *testing.T) {
	in := openTest(t, Config{})
	for n := range 300 {
		text := strings.Repeat("a", n)
		one(t, in, func(b *Batch) {
			for i, want := range []string{
				fmt.Sprintf("%x", sha256.Sum224([]byte(text))), fmt.Sprintf("%x", sha512.Sum384([]byte(text))), fmt.Sprintf("%x", sha512.Sum512([]byte(text))),
			} {
				if got := string(b.Vector(i).Bytes(0)); got != want {
					t.Errorf("%d bytes: %s, want %s", n, got, want)
				}
			}
		}, "SELECT delta_sha2(encode(s), 224), delta_sha2(encode(s), 384), delta_sha2(encode(s), 512) FROM (SELECT $1 AS s)", text)
	}
}

// TestAddresses reads and writes addresses of both kinds, and tells what is none.
func TestAddresses(t *testing.T) {
	in := openTest(t, Config{})
	for text, want := range map[string]string{
		"10.0.5.9": "0A000509 10.0.5.9", "fdfe::5a55:caff:fefa:9089": "FDFE0000000000005A55CAFFFEFA9089 fdfe::5a55:caff:fefa:9089", "::1": "00000000000000000000000000000001 ::1",
		"10.0.5.256": "none", "": "none", "x": "none", "1:2": "none", strings.Repeat("1", 100): "none",
	} {
		one(t, in, func(b *Batch) {
			if got := string(b.Vector(0).Bytes(0)); got != want {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		}, "SELECT coalesce(hex(a) || ' ' || delta_inet6_ntoa(a), 'none') FROM (SELECT delta_inet6_aton($1) AS a)", text)
	}
}
