// Notes: what a statement's functions have to tell about values that they bent, gathered while DuckDB computes. See notes.go for the
// contract.
#ifndef DELTASQL_NOTES_H
#define DELTASQL_NOTES_H

#include <stdint.h>

typedef struct {
	int32_t code;
	uint32_t length;
	char *text;
} deltasql_note;

// A new collector that keeps up to limit notes and counts all; 0 when memory is short.
int64_t deltasql_notes_open(uint64_t limit);
// Takes what was gathered since the last call: the notes kept, to be given to deltasql_notes_free, and how many there were.
deltasql_note *deltasql_notes_take(int64_t id, uint64_t *kept, uint64_t *total);
void deltasql_notes_free(deltasql_note *notes, uint64_t kept);
// Forgets a collector; calls that still name it note nothing.
void deltasql_notes_close(int64_t id);

// The function's address, for registration.
void *deltasql_delta_note(void);

#endif
