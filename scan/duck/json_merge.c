#include "digest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "duckdb_api.h"

// A stretch of a document: a value, or a key with its quotes.
typedef struct {
	const char *from, *to;
} span;

typedef struct {
	span key, value;
	int taken;
} member;

typedef struct {
	char *bytes;
	uint64_t length, room;
	int failed; // memory was short, or a document too deep
} text;

// Documents nested deeper are refused, as in MySQL.
#define DEEPEST 100

static void put(text *out, const char *bytes, uint64_t n) {
	if (out->failed) {
		return;
	}
	if (out->length + n > out->room) {
		uint64_t more = (out->length + n) * 2 + 64;
		char *grown = realloc(out->bytes, more);
		if (!grown) {
			out->failed = 1;
			return;
		}
		out->bytes = grown;
		out->room = more;
	}
	memcpy(out->bytes + out->length, bytes, n);
	out->length += n;
}

static void put_span(text *out, span s) { put(out, s.from, (uint64_t)(s.to - s.from)); }

static const char *blanks(const char *p, const char *end) {
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
		p++;
	}
	return p;
}

// value reads a value of a document that is known to be valid, without blanks around it.
static span value(const char *p, const char *end) {
	span s = {blanks(p, end), end};
	int depth = 0, quoted = 0;
	for (p = s.from; p < end; p++) {
		if (quoted) {
			if (*p == '\\') {
				p++;
			} else if (*p == '"') {
				quoted = 0;
			}
		} else if (*p == '"') {
			quoted = 1;
		} else if (*p == '[' || *p == '{') {
			depth++;
			continue;
		} else if (*p == ']' || *p == '}') {
			if (depth == 0) {
				break;
			}
			depth--;
		} else if (depth == 0 && (*p == ',' || *p == ':')) {
			break;
		}
	}
	s.to = p < end ? p : end;
	while (s.to > s.from && (s.to[-1] == ' ' || s.to[-1] == '\t' || s.to[-1] == '\n' || s.to[-1] == '\r')) {
		s.to--;
	}
	return s;
}

static int by_key(const void *x, const void *y) {
	const span *a = &(*(member *const *)x)->key, *b = &(*(member *const *)y)->key;
	uint64_t n = (uint64_t)(a->to - a->from), m = (uint64_t)(b->to - b->from);
	int order = memcmp(a->from, b->from, n < m ? n : m);
	return order ? order : (n > m) - (n < m);
}

// members reads an object; the caller frees them. NULL where there is none, or no memory.
static member *members(span object, uint64_t *count) {
	member *list = NULL;
	uint64_t room = 0;
	*count = 0;
	for (const char *p = blanks(object.from + 1, object.to); p < object.to && *p != '}';) {
		if (*count == room) {
			room = room ? room * 2 : 8;
			member *grown = realloc(list, room * sizeof *grown);
			if (!grown) {
				free(list);
				*count = 0;
				return NULL;
			}
			list = grown;
		}
		member *m = &list[(*count)++];
		m->key = value(p, object.to);
		p = blanks(m->key.to, object.to);
		m->value = value(p + 1, object.to);
		m->taken = 0;
		p = blanks(m->value.to, object.to);
		if (p < object.to && *p == ',') {
			p = blanks(p + 1, object.to);
		}
	}
	return list;
}

static span items(span array) {
	span s = {blanks(array.from + 1, array.to), array.to - 1};
	while (s.to > s.from && (s.to[-1] == ' ' || s.to[-1] == '\t' || s.to[-1] == '\n' || s.to[-1] == '\r')) {
		s.to--;
	}
	return s;
}

// list puts a value's items: those of an array, or the value itself.
static void list(text *out, span v, int first) {
	span s = *v.from == '[' ? items(v) : v;
	if (s.from == s.to) {
		return;
	}
	if (!first) {
		put(out, ",", 1);
	}
	put_span(out, s);
}

static void merge(text *out, span a, span b, int depth);

static void merge_objects(text *out, span a, span b, int depth) {
	uint64_t n, m;
	member *left = members(a, &n), *right = members(b, &m);
	member **sorted = malloc((m + 1) * sizeof *sorted);
	if (!sorted || (!left && blanks(a.from + 1, a.to) < a.to - 1) || (!right && blanks(b.from + 1, b.to) < b.to - 1)) {
		out->failed = 1;
	}
	for (uint64_t i = 0; !out->failed && i < m; i++) {
		sorted[i] = &right[i];
	}
	if (!out->failed && m) {
		qsort(sorted, m, sizeof *sorted, by_key);
	}
	put(out, "{", 1);
	for (uint64_t i = 0; !out->failed && i < n; i++) {
		member *key = &left[i], **found = m ? bsearch(&key, sorted, m, sizeof *sorted, by_key) : NULL;
		put(out, ",", i ? 1 : 0);
		put_span(out, key->key);
		put(out, ":", 1);
		if (found) {
			(*found)->taken = 1;
			merge(out, key->value, (*found)->value, depth + 1);
		} else {
			put_span(out, key->value);
		}
	}
	for (uint64_t i = 0, written = n; !out->failed && i < m; i++) {
		if (!right[i].taken) {
			put(out, ",", written++ ? 1 : 0);
			put_span(out, right[i].key);
			put(out, ":", 1);
			put_span(out, right[i].value);
		}
	}
	put(out, "}", 1);
	free(left);
	free(right);
	free(sorted);
}

// merge joins two values: objects member by member, everything else to one array.
static void merge(text *out, span a, span b, int depth) {
	if (depth > DEEPEST) {
		out->failed = 1;
	} else if (*a.from == '{' && *b.from == '{') {
		merge_objects(out, a, b, depth);
	} else {
		put(out, "[", 1);
		uint64_t before = out->length;
		list(out, a, 1);
		list(out, b, out->length == before);
		put(out, "]", 1);
	}
}

// delta_json_merge(a, b) joins two valid documents and keeps all values, as MySQL's JSON_MERGE_PRESERVE does.
static void delta_json_merge(handle info, handle input, handle output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	const duckdb_text *texts[2];
	const uint64_t *valid[2];
	for (int k = 0; k < 2; k++) {
		handle vector = duckdb_data_chunk_get_vector(input, (uint64_t)k);
		texts[k] = duckdb_vector_get_data(vector);
		valid[k] = duckdb_vector_get_validity(vector);
	}
	text out = {0};
	for (uint64_t i = 0; i < n; i++) {
		span sides[2];
		int null = 0;
		for (int k = 0; k < 2; k++) {
			const duckdb_text *t = &texts[k][i];
			if (is_null(valid[k], i)) {
				null = 1;
				continue;
			}
			const char *bytes = bytes_of(t);
			sides[k] = value(bytes, bytes + t->near.length);
			null = null || sides[k].from == sides[k].to;
		}
		if (null) {
			duckdb_vector_ensure_validity_writable(output);
			duckdb_vector_get_validity(output)[i >> 6] &= ~((uint64_t)1 << (i & 63));
			continue;
		}
		out.length = 0;
		merge(&out, sides[0], sides[1], 1);
		if (out.failed) {
			duckdb_scalar_function_set_error(info, "[DELTASQL_LIMIT_EXCEEDED] a JSON document is nested more than 100 deep, or there is no memory to merge it");
			break;
		}
		duckdb_vector_assign_string_element_len(output, i, out.bytes, out.length);
	}
	free(out.bytes);
}

void *deltasql_delta_json_merge(void) { return (void *)delta_json_merge; }
