package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"deltasql/protocol"
	"deltasql/txn/store"
)

const (
	// maxLineBytes bounds one action; the largest lawful ones, schemas of very wide tables, stay far below.
	maxLineBytes = 64 << 20
	// wholeFileBytes is up to which size a file of actions is read in one piece.
	wholeFileBytes = 32 << 20
	// rangeBytes is the piece in which larger ones are read.
	rangeBytes = 16 << 20
	// readers is how many commits are read and parsed at a time; with remote stores it hides their latency.
	readers = 16
	// readAheadBytes bounds the size of the commits that are read ahead of the one being applied.
	readAheadBytes = 256 << 20
)

// commit is a parsed file of actions: a commit, a compaction of several, or the manifest of a V2 checkpoint.
type commit struct {
	version       int64
	file          string // for messages
	actions       []protocol.Action
	adds, removes int
}

// logFile is a file of the log that was listed.
type logFile struct {
	store.FileInfo
	protocol.LogFile
}

// readActions reads and parses one file of JSON actions.
func readActions(ctx context.Context, st store.Store, name string, size int64) (*commit, error) {
	c := &commit{file: name}
	if size > wholeFileBytes {
		return c, c.readLarge(ctx, st, size)
	}
	data, err := st.Read(ctx, name, wholeFileBytes)
	if errors.Is(err, store.ErrTooLarge) {
		info, statErr := st.Stat(ctx, name)
		if statErr != nil {
			return nil, storageError(name, statErr)
		}
		return c, c.readLarge(ctx, st, info.Size)
	}
	if err != nil {
		return nil, storageError(name, err)
	}
	if len(data) == 0 {
		return nil, protocol.NewError("DELTA_INVALID_LOG_FILE", "%s is empty", name)
	}
	if _, err := c.parseLines(data, 0); err == nil {
		return c, nil
	} else if !c.parseValues(data) {
		return nil, err
	}
	return c, nil
}

// parseLines parses one action a line, the first line being number line+1, and gives the number of the last.
func (c *commit) parseLines(data []byte, line int) (int, error) {
	for len(data) > 0 {
		text := data
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			text, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		line++
		if len(text) > maxLineBytes {
			return line, c.tooLong(line)
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		action, err := protocol.ParseAction(text)
		if err != nil {
			return line, protocol.NewError(protocol.ClassOf(err), "%s, line %d", c.file, line).WithCause(plain(err))
		}
		c.add(action)
	}
	return line, nil
}

// parseValues takes files that are not one action a line but still JSON values one after another, as people who format
// or join files by hand leave them; nothing about them is ambiguous.
func (c *commit) parseValues(data []byte) bool {
	c.actions, c.adds, c.removes = nil, 0, 0
	for action, err := range protocol.ParseActions(data) {
		if err != nil {
			return false
		}
		c.add(action)
	}
	return true
}

func (c *commit) add(action protocol.Action) {
	if action == (protocol.Action{}) {
		return // an action that is not known
	}
	if action.Add != nil {
		c.adds++
	}
	if action.Remove != nil {
		c.removes++
	}
	c.actions = append(c.actions, action)
}

// readLarge reads a file in pieces that end at line ends, so that a file of one enormous line is refused at its limit.
func (c *commit) readLarge(ctx context.Context, st store.Store, size int64) error {
	var carried []byte
	line := 0
	for offset := int64(0); offset < size; {
		piece, err := st.ReadRange(ctx, c.file, offset, rangeBytes)
		if err != nil {
			return storageError(c.file, err)
		}
		if len(piece) == 0 { // the file is shorter than it was listed: what there is must be whole
			_, err := c.parseLines(carried, line)
			return err
		}
		offset += int64(len(piece))
		end := bytes.LastIndexByte(piece, '\n') + 1
		if end == 0 && offset < size {
			carried = append(carried, piece...)
			if len(carried) > maxLineBytes {
				return c.tooLong(line + 1)
			}
			continue
		}
		if offset >= size {
			end = len(piece)
		}
		if line, err = c.parseLines(append(carried, piece[:end]...), line); err != nil {
			return err
		}
		carried = append([]byte(nil), piece[end:]...)
	}
	return nil
}

func (c *commit) tooLong(line int) error {
	return protocol.NewError("DELTA_LOG_FILE_TOO_LARGE", "%s, line %d: the action is larger than the limit of %d MiB",
		c.file, line, maxLineBytes>>20)
}

// plain drops the class of an error whose text goes into another one of the same class.
func plain(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return errors.New(e.Text())
	}
	return err
}

// storageError gives the class to a failed call of the store; the store's text names the file.
func storageError(name string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, store.ErrNotFound):
		return protocol.NewError("DELTA_LOG_FILE_NOT_FOUND", "the log file %s is not there", name).WithCause(err)
	case errors.Is(err, store.ErrTooLarge):
		return protocol.NewError("DELTA_LOG_FILE_TOO_LARGE", "the log file %s is too large", name).WithCause(err)
	}
	return protocol.NewError("DELTASQL_STORAGE", "the log file %s cannot be read", name).WithCause(err)
}

// readCommits reads and parses files, several at a time, and gives them in the order of the argument.
// The iteration ends at the first error.
func readCommits(ctx context.Context, st store.Store, files []logFile) iter.Seq2[*commit, error] {
	type outcome struct {
		commit *commit
		err    error
	}
	return func(yield func(*commit, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		pending := make([]chan outcome, 0, readers)
		next, ahead := 0, int64(0)
		for done := range files {
			for next < len(files) && len(pending) < readers && (len(pending) == 0 || ahead+files[next].Size <= readAheadBytes) {
				file, result := files[next], make(chan outcome, 1)
				group.Go(func() {
					c, err := readActions(ctx, st, file.Name, file.Size)
					result <- outcome{c, err}
				})
				pending = append(pending, result)
				ahead += file.Size
				next++
			}
			result := <-pending[0]
			pending = pending[1:]
			ahead -= files[done].Size
			if result.err == nil {
				result.commit.version = files[done].EndVersion
			}
			if !yield(result.commit, result.err) || result.err != nil {
				return
			}
		}
	}
}

// named is a file's name for messages that concern the log folder.
func named(name string) string { return fmt.Sprintf("%s/%s", protocol.LogFolder, name) }
