// Row sets: per-file facts about the rows of one scan, looked up by DuckDB's scalar functions delta_live, delta_int and
// delta_str. See rowset.go for the contract.
#ifndef DELTASQL_ROWSET_H
#define DELTASQL_ROWSET_H

#include <stdint.h>

typedef struct deltasql_rowset deltasql_rowset;

// A new set over files; 0 columns of each kind may be asked for. NULL when memory is short.
deltasql_rowset *deltasql_rowset_new(uint64_t files, uint64_t int_columns, uint64_t str_columns);
void deltasql_rowset_free(deltasql_rowset *set);

// Copies the bits of the deleted rows of a file. Zero when memory is short.
int deltasql_rowset_deleted(deltasql_rowset *set, uint64_t file, const uint64_t *words, uint64_t n);
// Copies a column: a value and a byte that says "not NULL" for each file.
int deltasql_rowset_ints(deltasql_rowset *set, uint64_t column, const int64_t *values, const uint8_t *valid);
// Copies a column of strings: file i has bytes[offsets[i] .. offsets[i+1]).
int deltasql_rowset_strs(deltasql_rowset *set, uint64_t column, const char *bytes, const uint64_t *offsets,
                         const uint8_t *valid);

// Makes the set visible under an id (0 when memory is short); retract hides it again, waits for calls in progress, and
// frees it.
int64_t deltasql_rowset_publish(deltasql_rowset *set);
void deltasql_rowset_retract(int64_t id);

// The functions' addresses, for registration.
void *deltasql_delta_live(void);
void *deltasql_delta_int(void);
void *deltasql_delta_str(void);

#endif
