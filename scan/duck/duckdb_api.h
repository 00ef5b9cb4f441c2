#ifndef DELTASQL_DUCKDB_API_H
#define DELTASQL_DUCKDB_API_H

#include <stdint.h>

// The part of DuckDB's C API that the functions of this package call. Handles are opaque pointers; the bindings' archive has the code.
typedef void *handle;
extern uint64_t duckdb_data_chunk_get_size(handle chunk);
extern handle duckdb_data_chunk_get_vector(handle chunk, uint64_t column);
extern void *duckdb_vector_get_data(handle vector);
extern uint64_t *duckdb_vector_get_validity(handle vector);
extern void duckdb_vector_ensure_validity_writable(handle vector);
extern void duckdb_vector_assign_string_element_len(handle vector, uint64_t row, const char *bytes, uint64_t length);
extern void duckdb_scalar_function_set_error(handle info, const char *message);

// How DuckDB lays out text and bytes: a length, and behind it either up to 12 bytes or a prefix of four and a pointer.
typedef union {
	struct {
		uint32_t length;
		char bytes[12];
	} near;
	struct {
		uint32_t length;
		char prefix[4];
		const char *bytes;
	} far;
} duckdb_text;

static inline const char *bytes_of(const duckdb_text *t) {
	return t->near.length <= sizeof t->near.bytes ? t->near.bytes : t->far.bytes;
}

// is_null tells whether a row is NULL by a validity mask, which is absent where none is.
static inline int is_null(const uint64_t *valid, uint64_t row) { return valid && !(valid[row >> 6] >> (row & 63) & 1); }

#endif
