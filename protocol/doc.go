// Package protocol is the Delta protocol as values and pure functions: actions, schema, features, versions, properties,
// column mapping, partition values, deletion vectors, domains, log file names, paths and error classes.
// It does no I/O, reads no clock and draws no random number; it takes bytes and gives values.
package protocol
