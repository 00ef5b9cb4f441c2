// Package store is the port to the storage that holds a table: nine calls on named objects, and three stores behind it:
// Local (a folder), Memory, and Faults (a wrapper that fails, delays or crashes, for tests). It knows nothing of Delta.
//
// Names are slash-separated and relative to the store's root; a store of a table is rooted at the table's folder.
// Promises that every store keeps:
//
//	O1 PutIfAbsent writes the whole object or nothing, and never over an existing one; when it cannot tell which
//	   happened it says so (Unknown) and the caller reads the object back.
//	O2 An object that PutIfAbsent reported as written survives a crash of the machine, and so does its name.
//	O3 List gives names in ascending byte order.
//	O4 Every error wraps one of the sentinels where one fits, and names the object.
package store
