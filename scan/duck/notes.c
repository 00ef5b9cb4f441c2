#include "notes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "duckdb_api.h"

// A note's text is cut to so many bytes.
#define LONGEST 512

typedef struct {
	deltasql_note *notes;
	uint64_t kept, room, limit, total;
	int64_t id; // 0: the place is free
} collector;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static collector *collectors;
static uint64_t places;
static int64_t last_id;

// find looks a collector up; the caller holds the lock.
static collector *find(int64_t id) {
	for (uint64_t i = 0; id > 0 && i < places; i++) {
		if (collectors[i].id == id) {
			return &collectors[i];
		}
	}
	return NULL;
}

int64_t deltasql_notes_open(uint64_t limit) {
	pthread_mutex_lock(&lock);
	uint64_t at = 0;
	while (at < places && collectors[at].id) {
		at++;
	}
	if (at == places) {
		uint64_t more = places ? places * 2 : 16;
		collector *grown = realloc(collectors, more * sizeof *grown);
		if (!grown) {
			pthread_mutex_unlock(&lock);
			return 0;
		}
		memset(grown + places, 0, (more - places) * sizeof *grown);
		collectors = grown;
		places = more;
	}
	memset(&collectors[at], 0, sizeof collectors[at]);
	collectors[at].limit = limit;
	collectors[at].id = ++last_id;
	int64_t id = last_id;
	pthread_mutex_unlock(&lock);
	return id;
}

deltasql_note *deltasql_notes_take(int64_t id, uint64_t *kept, uint64_t *total) {
	deltasql_note *notes = NULL;
	*kept = *total = 0;
	pthread_mutex_lock(&lock);
	collector *c = find(id);
	if (c) {
		notes = c->notes;
		*kept = c->kept;
		*total = c->total;
		c->notes = NULL;
		c->kept = c->room = c->total = 0;
	}
	pthread_mutex_unlock(&lock);
	return notes;
}

void deltasql_notes_free(deltasql_note *notes, uint64_t kept) {
	for (uint64_t i = 0; i < kept; i++) {
		free(notes[i].text);
	}
	free(notes);
}

void deltasql_notes_close(int64_t id) {
	pthread_mutex_lock(&lock);
	collector *c = find(id);
	if (c) {
		deltasql_notes_free(c->notes, c->kept);
		memset(c, 0, sizeof *c);
	}
	pthread_mutex_unlock(&lock);
}

// keep adds a note. Where memory is short it is counted and not kept.
static void keep(collector *c, int32_t code, const char *text, uint32_t length) {
	c->total++;
	if (c->kept >= c->limit) {
		return;
	}
	if (c->kept == c->room) {
		uint64_t more = c->room ? c->room * 2 : 16;
		deltasql_note *grown = realloc(c->notes, more * sizeof *grown);
		if (!grown) {
			return;
		}
		c->notes = grown;
		c->room = more;
	}
	if (length > LONGEST) { // not within a character
		for (length = LONGEST; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80; length--) {
		}
	}
	char *own = malloc(length + 1);
	if (!own) {
		return;
	}
	memcpy(own, text, length);
	c->notes[c->kept++] = (deltasql_note){code, length, own};
}

// delta_note(collector, code, text) notes something for each row that it is called for and is NULL. The collector is one and the same
// for all rows.
static void delta_note(handle info, handle input, handle output) {
	(void)info;
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) {
		return;
	}
	const int64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
	const int32_t *codes = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
	handle vector = duckdb_data_chunk_get_vector(input, 2);
	const duckdb_text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	pthread_mutex_lock(&lock);
	collector *c = find(ids[0]);
	for (uint64_t i = 0; c && i < n; i++) {
		if (is_null(valid, i)) {
			keep(c, codes[i], "", 0);
			continue;
		}
		const duckdb_text *t = &texts[i];
		keep(c, codes[i], bytes_of(t), t->near.length);
	}
	pthread_mutex_unlock(&lock);
	duckdb_vector_ensure_validity_writable(output);
	memset(duckdb_vector_get_validity(output), 0, (n + 63) / 64 * sizeof(uint64_t));
}

void *deltasql_delta_note(void) { return (void *)delta_note; }
