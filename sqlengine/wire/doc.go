// Package wire is the MySQL server protocol over sessions of package sqlengine: handshake, TLS, authentication, commands, and rows
// that are encoded straight from the columns of a batch into one reused buffer. It knows packets and no SQL.
//
// What it promises:
//
//	W1  A client never takes the rows of a failed statement for success: an error behind rows ends the result set with an ERR packet.
//	W2  No packet, in whatever state of the connection, does more than end that connection: lengths are checked before memory is
//	    taken, and before a client has proved who it is it may send only little.
//	W3  A result is pulled batch by batch as the client reads it. A client that stops reading holds one batch and one buffer,
//	    and after Options.WriteTimeout its connection ends.
//	W4  A connection that is lost, killed or timed out cancels its statement and frees what the statement held.
//	W5  A password never travels in the clear without TLS or a local socket, and is compared in constant time.
//
// One goroutine a connection reads packets and one runs commands, so that the loss of a connection is seen while a statement runs.
package wire
