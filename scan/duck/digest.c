#include "digest.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "duckdb_api.h"

static void set_null(handle output, uint64_t row) {
	duckdb_vector_ensure_validity_writable(output);
	duckdb_vector_get_validity(output)[row >> 6] &= ~((uint64_t)1 << (row & 63));
}

// The constants of FIPS 180-4: fractions of the cube roots of the first 80 primes, and of the square roots of the first 16. The digests
// of 32-bit words use halves of them.
static const uint64_t roots[80] = {
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};
static const uint64_t start512[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};
static const uint64_t start384[8] = {
	0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
	0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4,
};

#define ROTATE(x, n, bits) ((x) >> (n) | (x) << ((bits) - (n)))

static void block512(uint64_t *h, const uint8_t *p) {
	uint64_t w[80], s[8];
	for (int i = 0; i < 16; i++, p += 8) {
		w[i] = 0;
		for (int k = 0; k < 8; k++) {
			w[i] = w[i] << 8 | p[k];
		}
	}
	for (int i = 16; i < 80; i++) {
		uint64_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] + (ROTATE(a, 1, 64) ^ ROTATE(a, 8, 64) ^ a >> 7) + (ROTATE(b, 19, 64) ^ ROTATE(b, 61, 64) ^ b >> 6);
	}
	memcpy(s, h, sizeof s);
	for (int i = 0; i < 80; i++) {
		uint64_t a = s[0], e = s[4];
		uint64_t t = s[7] + (ROTATE(e, 14, 64) ^ ROTATE(e, 18, 64) ^ ROTATE(e, 41, 64)) + ((e & s[5]) ^ (~e & s[6])) + roots[i] + w[i];
		uint64_t u = (ROTATE(a, 28, 64) ^ ROTATE(a, 34, 64) ^ ROTATE(a, 39, 64)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t;
		s[0] = t + u;
	}
	for (int i = 0; i < 8; i++) {
		h[i] += s[i];
	}
}

static void block256(uint32_t *h, const uint8_t *p) {
	uint32_t w[64], s[8];
	for (int i = 0; i < 16; i++, p += 4) {
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	}
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] + (ROTATE(a, 7, 32) ^ ROTATE(a, 18, 32) ^ a >> 3) + (ROTATE(b, 17, 32) ^ ROTATE(b, 19, 32) ^ b >> 10);
	}
	memcpy(s, h, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[0], e = s[4];
		uint32_t t = s[7] + (ROTATE(e, 6, 32) ^ ROTATE(e, 11, 32) ^ ROTATE(e, 25, 32)) + ((e & s[5]) ^ (~e & s[6])) + (uint32_t)(roots[i] >> 32) + w[i];
		uint32_t u = (ROTATE(a, 2, 32) ^ ROTATE(a, 13, 32) ^ ROTATE(a, 22, 32)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t;
		s[0] = t + u;
	}
	for (int i = 0; i < 8; i++) {
		h[i] += s[i];
	}
}

// digest writes the digest of so many bits, 224, 384 or 512, and gives its length in bytes; 0 for other sizes.
static int digest(const uint8_t *data, uint64_t length, int bits, uint8_t *out) {
	int word = bits == 224 ? 4 : 8, block = word * 16;
	uint64_t wide[8];
	uint32_t narrow[8];
	switch (bits) {
	case 512:
		memcpy(wide, start512, sizeof wide);
		break;
	case 384:
	case 224:
		memcpy(wide, start384, sizeof wide);
		break;
	default:
		return 0;
	}
	for (int i = 0; i < 8; i++) {
		narrow[i] = (uint32_t)wide[i];
	}
	uint8_t tail[256] = {0};
	uint64_t whole = length / block * block, rest = length - whole;
	if (rest) {
		memcpy(tail, data + whole, rest);
	}
	tail[rest] = 0x80;
	uint64_t end = rest + 1 + 2 * word <= (uint64_t)block ? block : 2 * block;
	for (int k = 0; k < 8; k++) {
		tail[end - 1 - k] = (uint8_t)(length << 3 >> (8 * k));
	}
	tail[end - 9] = word == 8 ? (uint8_t)(length >> 61) : tail[end - 9];
	for (uint64_t i = 0; i < whole + end; i += block) {
		const uint8_t *p = i < whole ? data + i : tail + (i - whole);
		if (word == 8) {
			block512(wide, p);
		} else {
			block256(narrow, p);
		}
	}
	for (int i = 0; i < bits / 8; i++) {
		out[i] = word == 8 ? (uint8_t)(wide[i / 8] >> (56 - i % 8 * 8)) : (uint8_t)(narrow[i / 4] >> (24 - i % 4 * 8));
	}
	return bits / 8;
}

// delta_sha2(bytes, bits) is the digest in hexadecimal digits; NULL for another size than 224, 384 and 512.
static void delta_sha2(handle info, handle input, handle output) {
	(void)info;
	uint64_t n = duckdb_data_chunk_get_size(input);
	handle vector = duckdb_data_chunk_get_vector(input, 0), sizes = duckdb_data_chunk_get_vector(input, 1);
	const duckdb_text *texts = duckdb_vector_get_data(vector);
	const int32_t *bits = duckdb_vector_get_data(sizes);
	const uint64_t *valid = duckdb_vector_get_validity(vector), *valid_size = duckdb_vector_get_validity(sizes);
	for (uint64_t i = 0; i < n; i++) {
		uint8_t out[64];
		char shown[128];
		int length = 0;
		if (!is_null(valid, i) && !is_null(valid_size, i)) {
			length = digest((const uint8_t *)bytes_of(&texts[i]), texts[i].near.length, bits[i], out);
		}
		if (length == 0) {
			set_null(output, i);
			continue;
		}
		for (int k = 0; k < length; k++) {
			shown[2 * k] = "0123456789abcdef"[out[k] >> 4];
			shown[2 * k + 1] = "0123456789abcdef"[out[k] & 15];
		}
		duckdb_vector_assign_string_element_len(output, i, shown, 2 * (uint64_t)length);
	}
}

// delta_inet6_aton(text) is the address as 4 or 16 bytes; NULL for what is none.
static void delta_inet6_aton(handle info, handle input, handle output) {
	(void)info;
	uint64_t n = duckdb_data_chunk_get_size(input);
	handle vector = duckdb_data_chunk_get_vector(input, 0);
	const duckdb_text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	for (uint64_t i = 0; i < n; i++) {
		char text[INET6_ADDRSTRLEN], address[16];
		uint32_t length = texts[i].near.length;
		if (is_null(valid, i) || length >= sizeof text || memchr(bytes_of(&texts[i]), 0, length)) {
			set_null(output, i);
			continue;
		}
		memcpy(text, bytes_of(&texts[i]), length);
		text[length] = 0;
		if (inet_pton(AF_INET, text, address) == 1) {
			duckdb_vector_assign_string_element_len(output, i, address, 4);
		} else if (inet_pton(AF_INET6, text, address) == 1) {
			duckdb_vector_assign_string_element_len(output, i, address, 16);
		} else {
			set_null(output, i);
		}
	}
}

// delta_inet6_ntoa(bytes) is the text of an address of 4 or 16 bytes; NULL for bytes of another length.
static void delta_inet6_ntoa(handle info, handle input, handle output) {
	(void)info;
	uint64_t n = duckdb_data_chunk_get_size(input);
	handle vector = duckdb_data_chunk_get_vector(input, 0);
	const duckdb_text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	for (uint64_t i = 0; i < n; i++) {
		char text[INET6_ADDRSTRLEN], address[16];
		uint32_t length = texts[i].near.length;
		if (is_null(valid, i) || (length != 4 && length != 16)) {
			set_null(output, i);
			continue;
		}
		memcpy(address, bytes_of(&texts[i]), length);
		if (!inet_ntop(length == 4 ? AF_INET : AF_INET6, address, text, sizeof text)) {
			set_null(output, i);
			continue;
		}
		duckdb_vector_assign_string_element_len(output, i, text, strlen(text));
	}
}

void *deltasql_delta_sha2(void) { return (void *)delta_sha2; }
void *deltasql_delta_inet6_aton(void) { return (void *)delta_inet6_aton; }
void *deltasql_delta_inet6_ntoa(void) { return (void *)delta_inet6_ntoa; }
