package protocol

import (
	"bytes"
	"encoding/json"
	"iter"
)

// ParseAction reads one line of a commit. Unknown actions give the zero Action, unknown members are ignored and null
// counts as absent (protocol, "Requirements for Readers"). What is ambiguous or malformed is DELTA_INVALID_LOG_FILE with
// the member's path: a known member given twice, a value of the wrong type, a missing path, two actions in one object.
// The result shares no memory with line.
func ParseAction(line []byte) (Action, error) {
	c := jsonCursor{data: line}
	a, err := parseAction(&c)
	if err == nil {
		err = c.end()
	}
	return a, actionError(err)
}

// ParseActions reads a whole commit: JSON values one after another. The protocol wants one a line, but files with
// indented values and with several on a line exist and nothing about them is ambiguous, so white space alone separates.
// The iteration ends at the first error, whose message has the byte offset within data.
func ParseActions(data []byte) iter.Seq2[Action, error] {
	return func(yield func(Action, error) bool) {
		c := jsonCursor{data: bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))}
		for c.peek() != 0 || c.pos < len(c.data) {
			a, err := parseAction(&c)
			if !yield(a, actionError(err)) || err != nil {
				return
			}
		}
	}
}

func actionError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return e
	}
	return NewError("DELTA_INVALID_LOG_FILE", "malformed action: %v", err)
}

func parseAction(c *jsonCursor) (Action, error) {
	var a Action
	known := ""
	err := c.object(func(name []byte) error {
		read := actionReaders[string(name)]
		if read == nil {
			return c.skip()
		}
		if c.null() {
			return nil
		}
		action := string(name)
		if known != "" {
			return within(action, c.fault("stands in one object with %q", known))
		}
		known = action
		return within(action, read(c, &a))
	})
	return a, err
}

var actionReaders map[string]func(*jsonCursor, *Action) error

func init() {
	actionReaders = map[string]func(*jsonCursor, *Action) error{
		"add":            func(c *jsonCursor, a *Action) (err error) { a.Add, err = readAdd(c); return },
		"remove":         func(c *jsonCursor, a *Action) (err error) { a.Remove, err = readRemove(c); return },
		"cdc":            func(c *jsonCursor, a *Action) (err error) { a.CDC, err = readCDC(c); return },
		"metaData":       func(c *jsonCursor, a *Action) (err error) { a.Metadata, err = readMetadata(c); return },
		"protocol":       func(c *jsonCursor, a *Action) (err error) { a.Protocol, err = readProtocol(c); return },
		"txn":            func(c *jsonCursor, a *Action) (err error) { a.Txn, err = readTxn(c); return },
		"domainMetadata": func(c *jsonCursor, a *Action) (err error) { a.Domain, err = readDomain(c); return },
		"commitInfo":     func(c *jsonCursor, a *Action) (err error) { a.CommitInfo, err = readCommitInfo(c); return },
		"checkpointMetadata": func(c *jsonCursor, a *Action) (err error) {
			a.CheckpointMetadata, err = readCheckpointMetadata(c)
			return
		},
		"sidecar": func(c *jsonCursor, a *Action) (err error) { a.Sidecar, err = readSidecar(c); return },
	}
}

// members reads an object whose known members have fixed places in order. read is called with a known member's place;
// required are the places (bits) without which the action means nothing. Null counts as absent.
func members(c *jsonCursor, names []string, required uint32, read func(place int) error) error {
	var seen, set uint32
	start := c.pos
	err := c.object(func(name []byte) error {
		place := -1
		for i, n := range names {
			if n == string(name) {
				place = i
				break
			}
		}
		if place < 0 {
			return c.skip()
		}
		bit := uint32(1) << place
		if seen&bit != 0 {
			return within(names[place], c.fault("given twice"))
		}
		seen |= bit
		if c.null() {
			return nil
		}
		set |= bit
		if err := read(place); err != nil {
			return within(names[place], err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, n := range names {
		if required&(1<<i) != 0 && set&(1<<i) == 0 {
			c.pos = start
			return within(n, c.fault("missing"))
		}
	}
	return nil
}

// The readers of single values, in a form that assigns.
func (c *jsonCursor) intoText(at *string) (err error) { *at, err = c.str(); return }
func (c *jsonCursor) intoInt(at *int64) (err error)   { *at, err = c.int(); return }
func (c *jsonCursor) intoBool(at *bool) (err error)   { *at, err = c.bool(); return }

func (c *jsonCursor) intoIntPtr(at **int64) error {
	v, err := c.int()
	*at = &v
	return err
}

func (c *jsonCursor) intoBoolPtr(at **bool) error {
	v, err := c.bool()
	*at = &v
	return err
}

func (c *jsonCursor) intoTextPtr(at **string) error {
	v, err := c.str()
	*at = &v
	return err
}

// intoTexts reads an object of strings. A null value is left out; numbers and booleans are taken as their text, because
// writers of tags and properties were not always careful.
func (c *jsonCursor) intoTexts(at *map[string]string) error {
	var out map[string]string
	err := c.object(func(name []byte) error {
		key := string(name)
		if _, twice := out[key]; twice {
			return within(key, c.fault("given twice"))
		}
		if out == nil {
			out = map[string]string{}
		}
		switch b := c.peek(); {
		case b == 'n':
			return within(key, c.skip())
		case b == '"':
			s, err := c.str()
			out[key] = s
			return within(key, err)
		case b == '{' || b == '[':
			return within(key, c.expected("a string"))
		}
		raw, err := c.raw()
		out[key] = string(raw)
		return within(key, err)
	})
	if out != nil {
		*at = out
	}
	return err
}

// intoPartition reads partition values: strings or null, nothing else, for their text is their value.
func (c *jsonCursor) intoPartition(at *map[string]*string) error {
	var out map[string]*string
	err := c.object(func(name []byte) error {
		key := string(name)
		if _, twice := out[key]; twice {
			return within(key, c.fault("given twice"))
		}
		if out == nil {
			out = map[string]*string{}
		}
		if c.null() {
			out[key] = nil
			return nil
		}
		s, err := c.str()
		out[key] = &s
		return within(key, err)
	})
	*at = out
	return err
}

func (c *jsonCursor) intoTextList(at *[]string) error {
	out := []string{}
	err := c.array(func(int) error {
		s, err := c.str()
		out = append(out, s)
		return err
	})
	*at = out
	return err
}

var addNames = []string{"path", "partitionValues", "size", "modificationTime", "dataChange", "stats", "tags", "deletionVector",
	"baseRowId", "defaultRowCommitVersion", "clusteringProvider"}

func readAdd(c *jsonCursor) (*AddFile, error) {
	f := &AddFile{}
	err := members(c, addNames, 1<<0|1<<2, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&f.Path)
		case 1:
			return c.intoPartition(&f.PartitionValues)
		case 2:
			return c.intoInt(&f.Size)
		case 3:
			return c.intoInt(&f.ModificationTime)
		case 4:
			return c.intoBool(&f.DataChange)
		case 5:
			return c.intoText(&f.Stats)
		case 6:
			return c.intoTexts(&f.Tags)
		case 7:
			return c.intoVector(&f.DeletionVector)
		case 8:
			return c.intoIntPtr(&f.BaseRowID)
		case 9:
			return c.intoIntPtr(&f.DefaultRowCommitVersion)
		}
		return c.intoText(&f.ClusteringProvider)
	})
	if err == nil && f.Size < 0 {
		err = within("size", c.fault("%d is negative", f.Size))
	}
	return f, err
}

var removeNames = []string{"path", "deletionTimestamp", "dataChange", "extendedFileMetadata", "partitionValues", "size", "stats",
	"tags", "deletionVector", "baseRowId", "defaultRowCommitVersion"}

func readRemove(c *jsonCursor) (*RemoveFile, error) {
	f := &RemoveFile{}
	err := members(c, removeNames, 1<<0, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&f.Path)
		case 1:
			return c.intoIntPtr(&f.DeletionTimestamp)
		case 2:
			return c.intoBool(&f.DataChange)
		case 3:
			return c.intoBoolPtr(&f.ExtendedFileMetadata)
		case 4:
			return c.intoPartition(&f.PartitionValues)
		case 5:
			return c.intoIntPtr(&f.Size)
		case 6:
			return c.intoText(&f.Stats)
		case 7:
			return c.intoTexts(&f.Tags)
		case 8:
			return c.intoVector(&f.DeletionVector)
		case 9:
			return c.intoIntPtr(&f.BaseRowID)
		}
		return c.intoIntPtr(&f.DefaultRowCommitVersion)
	})
	return f, err
}

var cdcNames = []string{"path", "partitionValues", "size", "dataChange", "tags"}

func readCDC(c *jsonCursor) (*AddCDCFile, error) {
	f := &AddCDCFile{}
	err := members(c, cdcNames, 1<<0|1<<2, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&f.Path)
		case 1:
			return c.intoPartition(&f.PartitionValues)
		case 2:
			return c.intoInt(&f.Size)
		case 3:
			return c.intoBool(&f.DataChange)
		}
		return c.intoTexts(&f.Tags)
	})
	return f, err
}

var metadataNames = []string{"id", "name", "description", "format", "schemaString", "partitionColumns", "configuration", "createdTime"}

// readMetadata asks for no member: the reference's own test tables have metaData without schemaString.
func readMetadata(c *jsonCursor) (*Metadata, error) {
	m := &Metadata{Provider: "parquet", FormatOptions: map[string]string{}, Configuration: map[string]string{}}
	err := members(c, metadataNames, 0, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&m.ID)
		case 1:
			return c.intoTextPtr(&m.Name)
		case 2:
			return c.intoTextPtr(&m.Description)
		case 3:
			return members(c, []string{"provider", "options"}, 0, func(place int) error {
				if place == 0 {
					return c.intoText(&m.Provider)
				}
				return c.intoTexts(&m.FormatOptions)
			})
		case 4:
			return c.intoText(&m.SchemaString)
		case 5:
			return c.intoTextList(&m.PartitionColumns)
		case 6:
			return c.intoTexts(&m.Configuration)
		}
		return c.intoIntPtr(&m.CreatedTime)
	})
	return m, err
}

var protocolNames = []string{"minReaderVersion", "minWriterVersion", "readerFeatures", "writerFeatures"}

func readProtocol(c *jsonCursor) (*Protocol, error) {
	p := &Protocol{}
	version := func(at *int) error {
		v, err := c.int()
		if err == nil && (v < 0 || v > 1<<31-1) {
			err = c.fault("%d is no version", v)
		}
		*at = int(v)
		return err
	}
	err := members(c, protocolNames, 1<<0|1<<1, func(place int) error {
		switch place {
		case 0:
			return version(&p.MinReaderVersion)
		case 1:
			return version(&p.MinWriterVersion)
		case 2:
			return c.intoTextList(&p.ReaderFeatures)
		}
		return c.intoTextList(&p.WriterFeatures)
	})
	return p, err
}

var txnNames = []string{"appId", "version", "lastUpdated"}

func readTxn(c *jsonCursor) (*SetTransaction, error) {
	t := &SetTransaction{}
	err := members(c, txnNames, 1<<0|1<<1, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&t.AppID)
		case 1:
			return c.intoInt(&t.Version)
		}
		return c.intoIntPtr(&t.LastUpdated)
	})
	return t, err
}

var domainNames = []string{"domain", "configuration", "removed"}

func readDomain(c *jsonCursor) (*DomainMetadata, error) {
	d := &DomainMetadata{}
	err := members(c, domainNames, 1<<0, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&d.Domain)
		case 1:
			return c.intoText(&d.Configuration)
		}
		return c.intoBool(&d.Removed)
	})
	return d, err
}

func readCommitInfo(c *jsonCursor) (*CommitInfo, error) {
	if c.peek() != '{' {
		return nil, c.expected("an object")
	}
	raw, err := c.raw()
	return &CommitInfo{Raw: json.RawMessage(bytes.Clone(raw))}, err
}

func readCheckpointMetadata(c *jsonCursor) (*CheckpointMetadata, error) {
	m := &CheckpointMetadata{}
	err := members(c, []string{"version", "tags"}, 1<<0, func(place int) error {
		if place == 0 {
			return c.intoInt(&m.Version)
		}
		return c.intoTexts(&m.Tags)
	})
	return m, err
}

var sidecarNames = []string{"path", "sizeInBytes", "modificationTime", "tags"}

func readSidecar(c *jsonCursor) (*Sidecar, error) {
	s := &Sidecar{}
	err := members(c, sidecarNames, 1<<0, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&s.Path)
		case 1:
			return c.intoInt(&s.SizeInBytes)
		case 2:
			return c.intoInt(&s.ModificationTime)
		}
		return c.intoTexts(&s.Tags)
	})
	return s, err
}

var vectorNames = []string{"storageType", "pathOrInlineDv", "offset", "sizeInBytes", "cardinality"}

func (c *jsonCursor) intoVector(at **DeletionVector) error {
	d := &DeletionVector{}
	err := members(c, vectorNames, 1<<0|1<<1|1<<3|1<<4, func(place int) error {
		switch place {
		case 0:
			return c.intoText(&d.StorageType)
		case 1:
			return c.intoText(&d.PathOrInline)
		case 2:
			return c.intoIntPtr(&d.Offset)
		case 3:
			return c.intoInt(&d.SizeInBytes)
		}
		return c.intoInt(&d.Cardinality)
	})
	*at = d
	return err
}
