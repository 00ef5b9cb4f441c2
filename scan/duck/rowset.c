#include "rowset.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duckdb_api.h"

typedef struct {
	uint64_t *words; // bit r: row r is deleted; NULL: none is
	uint64_t n;
} bitset;

typedef struct {
	int64_t *values;
	uint8_t *valid;
} int_column;

typedef struct {
	char *bytes;
	uint64_t *offsets;
	uint8_t *valid;
} str_column;

struct deltasql_rowset {
	uint64_t files;
	uint64_t int_columns, str_columns;
	bitset *deleted;
	int_column *ints;
	str_column *strs;
};

// How DuckDB lays out a string: a length and either the bytes themselves or a prefix and a pointer (duckdb_string_t).
typedef struct {
	uint64_t words[2];
} duckdb_string;

// The registry: slots of published sets. An id is generation * SLOT_STEP + slot, so that a stale id finds nothing.
#define SLOT_STEP 1048576
typedef struct {
	deltasql_rowset *set;
	int64_t generation;
} slot;
static pthread_rwlock_t registry_lock = PTHREAD_RWLOCK_INITIALIZER;
static slot *slots;
static int64_t slot_count;

deltasql_rowset *deltasql_rowset_new(uint64_t files, uint64_t int_columns, uint64_t str_columns) {
	deltasql_rowset *set = calloc(1, sizeof *set);
	if (!set) {
		return NULL;
	}
	set->files = files;
	set->int_columns = int_columns;
	set->str_columns = str_columns;
	set->deleted = calloc(files + 1, sizeof *set->deleted);
	set->ints = calloc(int_columns + 1, sizeof *set->ints);
	set->strs = calloc(str_columns + 1, sizeof *set->strs);
	if (!set->deleted || !set->ints || !set->strs) {
		deltasql_rowset_free(set);
		return NULL;
	}
	return set;
}

void deltasql_rowset_free(deltasql_rowset *set) {
	if (!set) {
		return;
	}
	if (set->deleted) {
		for (uint64_t i = 0; i < set->files; i++) {
			free(set->deleted[i].words);
		}
	}
	if (set->ints) {
		for (uint64_t i = 0; i < set->int_columns; i++) {
			free(set->ints[i].values);
			free(set->ints[i].valid);
		}
	}
	if (set->strs) {
		for (uint64_t i = 0; i < set->str_columns; i++) {
			free(set->strs[i].bytes);
			free(set->strs[i].offsets);
			free(set->strs[i].valid);
		}
	}
	free(set->deleted);
	free(set->ints);
	free(set->strs);
	free(set);
}

static void *copy(const void *source, uint64_t size) {
	void *target = malloc(size ? size : 1);
	if (target && size) {
		memcpy(target, source, size);
	}
	return target;
}

int deltasql_rowset_deleted(deltasql_rowset *set, uint64_t file, const uint64_t *words, uint64_t n) {
	set->deleted[file].words = copy(words, n * sizeof *words);
	set->deleted[file].n = n;
	return set->deleted[file].words != NULL;
}

int deltasql_rowset_ints(deltasql_rowset *set, uint64_t column, const int64_t *values, const uint8_t *valid) {
	int_column *c = &set->ints[column];
	c->values = copy(values, set->files * sizeof *values);
	c->valid = copy(valid, set->files);
	return c->values && c->valid;
}

int deltasql_rowset_strs(deltasql_rowset *set, uint64_t column, const char *bytes, const uint64_t *offsets,
                         const uint8_t *valid) {
	str_column *c = &set->strs[column];
	c->bytes = copy(bytes, offsets[set->files]);
	c->offsets = copy(offsets, (set->files + 1) * sizeof *offsets);
	c->valid = copy(valid, set->files);
	return c->bytes && c->offsets && c->valid;
}

int64_t deltasql_rowset_publish(deltasql_rowset *set) {
	pthread_rwlock_wrlock(&registry_lock);
	int64_t at = 0;
	while (at < slot_count && slots[at].set) {
		at++;
	}
	if (at == slot_count) {
		int64_t more = slot_count ? slot_count * 2 : 64;
		slot *grown = more <= SLOT_STEP ? realloc(slots, more * sizeof *slots) : NULL;
		if (!grown) {
			pthread_rwlock_unlock(&registry_lock);
			return 0;
		}
		memset(grown + slot_count, 0, (more - slot_count) * sizeof *slots);
		slots = grown;
		slot_count = more;
	}
	slots[at].set = set;
	slots[at].generation++;
	int64_t id = slots[at].generation * SLOT_STEP + at;
	pthread_rwlock_unlock(&registry_lock);
	return id;
}

// find looks a set up; the caller holds the lock.
static deltasql_rowset *find(int64_t id) {
	int64_t at = id % SLOT_STEP;
	if (id <= 0 || at >= slot_count || slots[at].generation != id / SLOT_STEP) {
		return NULL;
	}
	return slots[at].set;
}

void deltasql_rowset_retract(int64_t id) {
	pthread_rwlock_wrlock(&registry_lock);
	deltasql_rowset *set = find(id);
	if (set) {
		slots[id % SLOT_STEP].set = NULL;
	}
	pthread_rwlock_unlock(&registry_lock);
	deltasql_rowset_free(set);
}

static void fail(handle info, const char *what, int64_t number) {
	char message[160];
	snprintf(message, sizeof message, "%s %lld", what, (long long)number);
	duckdb_scalar_function_set_error(info, message);
}

// Rows are answered in blocks of up to so many.
#define BLOCK 64

// consecutive says whether the n rows, all of one file, follow each other.
static int consecutive(const uint64_t *files, const int64_t *rows, uint64_t n) {
	uint64_t other = 0;
	for (uint64_t i = 0; i < n; i++) {
		other |= (files[i] ^ files[0]) | ((uint64_t)rows[i] ^ ((uint64_t)rows[0] + i));
	}
	return !other;
}

// bits_from gives the bits of the 64 rows from row on; rows behind the last word are not deleted.
static uint64_t bits_from(const bitset *deleted, uint64_t row) {
	uint64_t word = row >> 6, shift = row & 63;
	if (!deleted->words || word >= deleted->n) {
		return 0;
	}
	uint64_t bits = deleted->words[word] >> shift;
	if (shift && word + 1 < deleted->n) {
		bits |= deleted->words[word + 1] << (64 - shift);
	}
	return bits;
}

// spread gives a byte of 1 for each clear bit of the eight lowest and of 0 for the others, the lowest bit first in memory (on the
// little-endian processors that DuckDB is built for).
static uint64_t spread(uint64_t bits) {
	uint64_t set = ((bits & 0xff) * 0x0101010101010101) & 0x8040201008040201;
	return ~((set + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101;
}

// Arguments come flattened, and NULL arguments never reach a function (DuckDB answers NULL for them, but still calls
// for the row, so every index is checked).
static void delta_live(handle info, handle input, handle output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) {
		return;
	}
	const int64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
	const uint64_t *files = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
	const int64_t *rows = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 2));
	uint8_t *live = duckdb_vector_get_data(output);
	pthread_rwlock_rdlock(&registry_lock);
	const deltasql_rowset *set = find(ids[0]);
	if (!set) {
		fail(info, "delta_live: there is no row set", ids[0]);
	}
	for (uint64_t i = 0; set && i < n;) {
		uint64_t end = n - i < BLOCK ? n : i + BLOCK;
		if (rows[i] >= 0 && files[i] < set->files && consecutive(files + i, rows + i, end - i)) {
			uint64_t bits = bits_from(&set->deleted[files[i]], (uint64_t)rows[i]);
			for (; i + 8 <= end; i += 8, bits >>= 8) {
				uint64_t bytes = spread(bits);
				memcpy(live + i, &bytes, 8);
			}
			for (; i < end; i++, bits >>= 1) {
				live[i] = ~bits & 1;
			}
			continue;
		}
		for (; i < end; i++) {
			if (files[i] >= set->files) {
				fail(info, "delta_live: the row set has no file", (int64_t)files[i]);
				set = NULL;
				break;
			}
			live[i] = ~bits_from(&set->deleted[files[i]], (uint64_t)rows[i]) & 1;
		}
	}
	pthread_rwlock_unlock(&registry_lock);
}

static void set_null(handle output, uint64_t **mask, uint64_t row) {
	if (!*mask) {
		duckdb_vector_ensure_validity_writable(output);
		*mask = duckdb_vector_get_validity(output);
	}
	(*mask)[row >> 6] &= ~((uint64_t)1 << (row & 63));
}

static void delta_int(handle info, handle input, handle output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) {
		return;
	}
	const int64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
	const int32_t *columns = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
	const uint64_t *files = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 2));
	int64_t *values = duckdb_vector_get_data(output);
	uint64_t *mask = NULL;
	pthread_rwlock_rdlock(&registry_lock);
	const deltasql_rowset *set = find(ids[0]);
	if (!set || columns[0] < 0 || (uint64_t)columns[0] >= set->int_columns) {
		fail(info, "delta_int: there is no such column in row set", ids[0]);
	} else {
		const int_column *column = &set->ints[columns[0]];
		for (uint64_t i = 0; i < n; i++) {
			if (files[i] >= set->files) {
				fail(info, "delta_int: the row set has no file", (int64_t)files[i]);
				break;
			}
			values[i] = column->values[files[i]];
			if (!column->valid[files[i]]) {
				set_null(output, &mask, i);
			}
		}
	}
	pthread_rwlock_unlock(&registry_lock);
}

static void delta_str(handle info, handle input, handle output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) {
		return;
	}
	const int64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
	const int32_t *columns = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
	const uint64_t *files = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 2));
	uint64_t *mask = NULL;
	pthread_rwlock_rdlock(&registry_lock);
	const deltasql_rowset *set = find(ids[0]);
	if (!set || columns[0] < 0 || (uint64_t)columns[0] >= set->str_columns) {
		fail(info, "delta_str: there is no such column in row set", ids[0]);
	} else {
		const str_column *column = &set->strs[columns[0]];
		duckdb_string *texts = duckdb_vector_get_data(output);
		uint64_t i = 0;
		while (i < n) {
			uint64_t file = files[i];
			if (file >= set->files) {
				fail(info, "delta_str: the row set has no file", (int64_t)file);
				break;
			}
			if (!column->valid[file]) {
				set_null(output, &mask, i++);
				continue;
			}
			// The text is copied into the vector once a run of rows of the file; the other rows share it.
			uint64_t from = column->offsets[file], first = i;
			duckdb_vector_assign_string_element_len(output, i, column->bytes + from, column->offsets[file + 1] - from);
			for (i++; i < n && files[i] == file; i++) {
				texts[i] = texts[first];
			}
		}
	}
	pthread_rwlock_unlock(&registry_lock);
}

void *deltasql_delta_live(void) { return (void *)delta_live; }
void *deltasql_delta_int(void) { return (void *)delta_int; }
void *deltasql_delta_str(void) { return (void *)delta_str; }
