package rewrite

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"

	"deltasql/filetype"
	"deltasql/protocol"
	"deltasql/scan/duck"
)

// DuckDB writes a file value as the group that it is, without the mark by which readers know the type. The mark is put into the
// footers before the files are synced and get their names.

// maxFooter is up to what length a footer is written anew.
const maxFooter = 256 << 20

// annotate marks the groups of file values in new files.
func (w *writer) annotate(ctx context.Context, files []duck.CopiedFile) error {
	var columns []filetype.Column
	for _, c := range w.layout.columns {
		if c.typ.Holds(protocol.KindFile) {
			columns = append(columns, filetype.Column{Name: c.name, Type: c.typ})
		}
	}
	if len(columns) == 0 {
		return nil
	}
	return inParallel(ctx, len(files), func(i int) error {
		if err := annotateFile(files[i].Path, columns, w.layout.mapping); err != nil {
			return protocol.NewError("DELTASQL_STORAGE", "the footer of a new data file of %s cannot be written", w.tx.Table().Name()).
				WithTable(w.tx.Table().Name()).WithCause(err)
		}
		return nil
	})
}

// annotateFile writes a file's footer anew in its place, which is the end.
func annotateFile(path string, columns []filetype.Column, mode protocol.MappingMode) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	const trailer, mark = 8, "PAR1" // the footer's length, and the format's mark
	end := info.Size() - trailer
	var tail [trailer]byte
	if _, err := f.ReadAt(tail[:], end); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != mark || length > end || length > maxFooter {
		return fmt.Errorf("the file has no footer of the expected form")
	}
	footer := make([]byte, length)
	if _, err := f.ReadAt(footer, end-length); err != nil {
		return err
	}
	annotated, err := filetype.Annotate(footer, columns, mode)
	if err != nil {
		return err
	}
	size := len(annotated)
	annotated = append(binary.LittleEndian.AppendUint32(annotated, uint32(size)), mark...)
	_, err = f.WriteAt(annotated, end-length)
	return err
}
