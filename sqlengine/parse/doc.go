// Package parse turns SQL text of both dialects, Spark's and MySQL's, into a syntax tree, and nothing more: no name is
// resolved, no type checked, no setting read beyond Options.
//
// What the grammar does not know is an error with a line and a column; what it knows and this product does not run is
// *Unsupported or UNSUPPORTED_FEATURE. No text makes it panic, and its limits (Options) bound stack and memory.
package parse
