package protocol

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// LastCheckpoint is the hint in _last_checkpoint (protocol, "Last Checkpoint File").
type LastCheckpoint struct {
	Version          int64
	Size             int64  // actions in the checkpoint
	Parts            *int64 // multi-part checkpoints only
	SizeInBytes      *int64
	NumOfAddFiles    *int64
	CheckpointSchema json.RawMessage // a struct in schema JSON; nil where absent
	Tags             map[string]string
	V2               *V2CheckpointHint
	Checksum         string // as stored; empty where absent
}

// V2CheckpointHint is the member v2Checkpoint of the hint.
type V2CheckpointHint struct {
	Path             string
	SizeInBytes      int64
	ModificationTime int64
	NonFileActions   []Action  // nil where left out
	SidecarFiles     []Sidecar // nil where left out
}

const (
	// maxHintBytes bounds the hint; writers leave out what would make it long.
	maxHintBytes = 4 << 20
	// maxCanonicalBytes bounds its canonical form, in which a leaf repeats the names of all that it is in.
	maxCanonicalBytes = 64 << 20
)

// ParseLastCheckpoint reads the hint. Every error means the same to a reader: ignore the hint and list the log.
func ParseLastCheckpoint(data []byte) (LastCheckpoint, error) {
	var h LastCheckpoint
	bad := func(err error) (LastCheckpoint, error) {
		return LastCheckpoint{}, NewError("DELTA_INVALID_LOG_FILE", "%s is malformed", LastCheckpointName).WithCause(err)
	}
	if len(data) > maxHintBytes {
		return LastCheckpoint{}, NewError("DELTA_INVALID_LOG_FILE", "%s has %d bytes", LastCheckpointName, len(data))
	}
	c := jsonCursor{data: data}
	names := []string{"version", "size", "parts", "sizeInBytes", "numOfAddFiles", "checkpointSchema", "tags", "v2Checkpoint", "checksum"}
	err := members(&c, names, 1<<0|1<<1, func(place int) error {
		switch place {
		case 0:
			return c.intoInt(&h.Version)
		case 1:
			return c.intoInt(&h.Size)
		case 2:
			return c.intoIntPtr(&h.Parts)
		case 3:
			return c.intoIntPtr(&h.SizeInBytes)
		case 4:
			return c.intoIntPtr(&h.NumOfAddFiles)
		case 5:
			raw, err := c.raw()
			h.CheckpointSchema = bytes.Clone(raw)
			return err
		case 6:
			return c.intoTexts(&h.Tags)
		case 7:
			return c.intoV2Hint(&h.V2)
		}
		return c.intoText(&h.Checksum)
	})
	if err == nil {
		err = c.end()
	}
	if err == nil && h.Version < 0 {
		err = within("version", c.fault("%d is negative", h.Version))
	}
	if err != nil {
		return bad(err)
	}
	if h.Checksum != "" {
		actual, err := JSONChecksum(data)
		if err != nil {
			return LastCheckpoint{}, err
		}
		if !strings.EqualFold(actual, h.Checksum) {
			return LastCheckpoint{}, NewError("DELTA_INVALID_LOG_FILE", "%s has checksum %s, its content gives %s", LastCheckpointName, shorten(h.Checksum), actual)
		}
	}
	return h, nil
}

func (c *jsonCursor) intoV2Hint(at **V2CheckpointHint) error {
	v := &V2CheckpointHint{}
	names := []string{"path", "sizeInBytes", "modificationTime", "nonFileActions", "sidecarFiles"}
	err := members(c, names, 1<<0, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&v.Path)
		case 1:
			return c.intoInt(&v.SizeInBytes)
		case 2:
			return c.intoInt(&v.ModificationTime)
		case 3:
			v.NonFileActions = []Action{}
			return c.array(func(int) error {
				a, err := parseAction(c)
				v.NonFileActions = append(v.NonFileActions, a)
				return err
			})
		}
		v.SidecarFiles = []Sidecar{}
		return c.array(func(int) error {
			s, err := readSidecar(c)
			v.SidecarFiles = append(v.SidecarFiles, *s)
			return err
		})
	})
	*at = v
	return err
}

// JSONChecksum is the MD5, in hex, of a JSON object's canonical form (protocol, "JSON checksum"): the leaves as path=value,
// path segments joined by '+', keys and strings quoted and percent-encoded, array positions bare, other values verbatim,
// the pairs sorted by bytes and joined by ','. A top-level member "checksum" is left out; a key given twice is an error.
func JSONChecksum(data []byte) (string, error) {
	text, err := canonicalJSON(data)
	if err != nil {
		return "", NewError("DELTA_INVALID_LOG_FILE", "the JSON text has no checksum").WithCause(err)
	}
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}

func canonicalJSON(data []byte) (string, error) {
	c := jsonCursor{data: data}
	var pairs []string
	total := 0
	pair := func(path, value []byte) error {
		if total += len(path) + len(value) + 2; total > maxCanonicalBytes {
			return c.fault("the canonical form exceeds %d bytes", maxCanonicalBytes)
		}
		pairs = append(pairs, string(path)+"="+string(value))
		return nil
	}
	var walk func(path []byte, top bool) error
	walk = func(path []byte, top bool) error {
		segment := func(text []byte) []byte {
			next := slices.Clip(path)
			if len(path) > 0 {
				next = append(next, '+')
			}
			return append(next, text...)
		}
		switch c.peek() {
		case '{':
			seen := map[string]bool{}
			return c.object(func(name []byte) error {
				key := string(name)
				if seen[key] {
					return within(key, c.fault("given twice"))
				}
				seen[key] = true
				if top && key == "checksum" {
					return c.skip()
				}
				return walk(segment(canonicalText(key)), false)
			})
		case '[':
			return c.array(func(i int) error { return walk(segment(strconv.AppendInt(nil, int64(i), 10)), false) })
		case '"':
			s, err := c.str()
			if err != nil {
				return err
			}
			return pair(path, canonicalText(s))
		}
		raw, err := c.raw()
		if err != nil {
			return err
		}
		return pair(path, raw)
	}
	if c.peek() != '{' {
		return "", c.expected("an object")
	}
	if err := walk(nil, true); err != nil {
		return "", err
	}
	if err := c.end(); err != nil {
		return "", err
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ","), nil
}

// canonicalText quotes a key or string and percent-encodes all but RFC 3986's unreserved characters.
func canonicalText(s string) []byte {
	out := append(make([]byte, 0, len(s)+2), '"')
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '.' || b == '_' || b == '~' {
			out = append(out, b)
		} else {
			out = append(out, '%', upperHex[b>>4], upperHex[b&15])
		}
	}
	return append(out, '"')
}
