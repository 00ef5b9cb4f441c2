package protocol

import (
	"encoding/binary"
	"strings"
)

const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Digits = func() (digits [256]int8) {
	for i := range digits {
		digits[i] = -1
	}
	for i := range len(z85Alphabet) {
		digits[z85Alphabet[i]] = int8(i)
	}
	return digits
}()

// DecodeZ85 turns each five characters into four bytes; the length must be a multiple of five.
func DecodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 text of %d characters; not a multiple of five", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		var v uint64
		for j := i; j < i+5; j++ {
			digit := z85Digits[text[j]]
			if digit < 0 {
				return nil, NewError("DELTA_INVALID_LOG_FILE", "character %q is not of base 85", text[j])
			}
			v = v*85 + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q exceeds 32 bits", text[i:i+5])
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out, nil
}

// EncodeZ85 is the inverse; data is padded with zeros to a multiple of four bytes.
func EncodeZ85(data []byte) string {
	var out strings.Builder
	for i := 0; i < len(data); i += 4 {
		var word [4]byte
		copy(word[:], data[i:])
		v := binary.BigEndian.Uint32(word[:])
		var digits [5]byte
		for j := 4; j >= 0; j-- {
			digits[j] = z85Alphabet[v%85]
			v /= 85
		}
		out.Write(digits[:])
	}
	return out.String()
}

// z85Pad starts a last group that holds fewer than four bytes in the manner of kernel-rs: n bytes as n+1 digits after 4-n
// of these characters. The protocol pads the bytes with zeros instead. No group of four bytes starts with it.
const z85Pad = '#'

func appendPartialGroup(data []byte, group string, n int) ([]byte, error) {
	var v uint64
	for i := range len(group) {
		digit := z85Digits[group[i]]
		if i < 4-n {
			if group[i] != z85Pad {
				return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q is padded wrongly", group)
			}
			continue
		}
		if digit < 0 {
			return nil, NewError("DELTA_INVALID_LOG_FILE", "character %q is not of base 85", group[i])
		}
		v = v*85 + uint64(digit)
	}
	if v >= 1<<(8*n) {
		return nil, NewError("DELTA_INVALID_LOG_FILE", "base-85 group %q exceeds %d bytes", group, n)
	}
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		data = append(data, byte(v>>shift))
	}
	return data, nil
}
