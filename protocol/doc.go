// Package protocol is the Delta protocol as values and pure functions: actions, schema, features, versions, properties,
// column mapping, partition values, deletion vectors, domains, log file names, paths and error classes.
// It does no I/O, reads no clock and draws no random number; it takes bytes and gives values.
//
// What it promises:
//
//   - Values do not change after they were made and share no memory with the bytes they were read from, so they may be
//     used from many goroutines.
//   - Whatever comes from outside has limits (nesting, sizes, counts) and never causes a panic; the fuzz targets hold this.
//   - Unknown actions, members, properties and domains are no errors; what is ambiguous or malformed is one, and names the
//     place (protocol, "Requirements for Readers").
//   - P1: Protocol.Normalize gives the weakest protocol that holds the same features.
//   - P2: an unknown reader feature blocks reading, an unknown writer feature blocks writing, and nothing else does.
//
// Names of the schema are LogicalName; names in files, statistics and partition values are PhysicalName. Supported (listed
// or implied by the versions) and active (supported and switched on by the metadata) are different questions:
// TableConfig.Supports and TableConfig.Active.
//
// Read actions.go, datatype.go with schema.go, and table_config.go (protocol and metadata joined) first; features.go with duties.go
// says what a feature asks of readers and writers, protocol_algebra.go how protocols are raised and lowered. What is read from the log
// goes through action_parse.go over json_cursor.go, what is written through action_encode.go, which checksum_encode.go,
// commit_info.go and domain_encode.go share.
package protocol
