// Package ddl turns statements that define and change tables into protocol, metadata and domains. It is pure: no I/O, and
// the clock and the maker of ids are passed in.
//
// UpdateMetadata is the one place where properties and a schema become a protocol, column mapping ids and the names of row
// tracking's columns; CREATE, REPLACE, every ALTER and schema evolution pass through it.
//
// What the package promises:
//
//   - M1: the protocol that results is the weakest that supports what was there, what was asked for and what the metadata need.
//   - M2: keys that configure the protocol (delta.minReaderVersion, delta.minWriterVersion, delta.feature.*,
//     delta.ignoreProtocolDefaults) are never stored.
//   - M3: under column mapping every field has an id and a physical name of its own, and neither is ever given twice in the
//     life of a table, because delta.columnMapping.maxColumnId never falls.
//   - M4: an error leaves nothing changed; arguments are never modified.
//   - M5: a plan of DROP FEATURE is a function of the table as it is. Steps that were done are not in a new plan, so that a
//     drop that was interrupted anywhere ends the same way when it is run again.
//
// Read env.go (what comes in and goes out) and metadata.go with mapping.go, iceberg.go, properties.go and schema.go (the one place)
// first. create.go with create_check.go makes tables; alter.go runs actions, one file each, over paths (alter_path.go); evolve.go and
// widen.go change schemas for writes; drop_feature.go plans, drop_feature_table.go has a row for each feature, drop_feature_step.go
// says what a step is. restore.go and clone.go make definitions out of others.
package ddl
