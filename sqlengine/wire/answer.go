package wire

// okay is what an OK packet tells.
type okay struct {
	affected, insertID uint64
	status             uint16
	warnings           int
	info               string
	database           string // the new current database, where the statement changed it and the client tracks that
	changed            bool
}

// sendOK writes an OK packet; as is its first byte, 0xfe where it ends a result set.
func (c *conn) sendOK(o okay, as byte) error {
	c.out.begin()
	out := append(c.out.out, as)
	out = appendLength(out, o.affected)
	out = appendLength(out, o.insertID)
	tracked := c.has(clientSessionTrack) && o.changed
	if tracked {
		o.status |= statusSessionChanged
	}
	out = appendUint16(out, o.status)
	out = appendUint16(out, warningCount(o.warnings))
	switch {
	case c.has(clientSessionTrack) && (o.info != "" || tracked):
		out = appendText(out, o.info)
		if tracked {
			out = appendText(out, appendText([]byte{trackSchema}, appendText(nil, o.database)))
		}
	default:
		out = append(out, o.info...)
	}
	c.out.out = out
	return c.out.end()
}

// trackSchema marks a change of the current database among the changes of a session's state.
const trackSchema = 0x01

// endOfRows ends a result set.
func (c *conn) endOfRows(status uint16, warnings int) error {
	if c.has(clientDeprecateEOF) {
		return c.sendOK(okay{status: status, warnings: warnings}, 0xfe)
	}
	return c.sendEOF(status, warnings)
}

// endOfColumns stands between column definitions and rows for clients that expect it.
func (c *conn) endOfColumns(status uint16) error {
	if c.has(clientDeprecateEOF) {
		return c.out.err
	}
	return c.sendEOF(status, 0)
}

func (c *conn) sendEOF(status uint16, warnings int) error {
	c.out.begin()
	c.out.out = append(c.out.out, 0xfe)
	c.out.out = appendUint16(c.out.out, warningCount(warnings))
	c.out.out = appendUint16(c.out.out, status)
	return c.out.end()
}

// sendError writes an ERR packet.
func (c *conn) sendError(err error) error {
	f := faultOf(err)
	c.out.begin()
	c.out.out = append(appendUint16(append(c.out.out, 0xff), f.errno), '#')
	c.out.out = append(append(c.out.out, f.state...), f.message...)
	return c.out.end()
}

func warningCount(n int) uint16 { return uint16(min(n, 65535)) }
