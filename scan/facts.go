package scan

import (
	"fmt"

	"deltasql/scan/duck"
)

// setMark stands for the id of the branch's row set until that is made.
const setMark = "\x00set\x00"

// facts collects the per-file values that a branch's expressions ask for; each key is one column of the row set.
type facts struct {
	files   []*dataFile
	ints    []duck.IntColumn
	strings []duck.StrColumn
	byKey   map[int]string
}

// integer is the expression of a BIGINT that value gives for each file.
func (f *facts) integer(key int, value func(*dataFile) (int64, bool)) string {
	return f.once(key, func() string {
		column := duck.IntColumn{Values: make([]int64, len(f.files)), Valid: make([]bool, len(f.files))}
		for i, file := range f.files {
			column.Values[i], column.Valid[i] = value(file)
		}
		f.ints = append(f.ints, column)
		return fmt.Sprintf("delta_int(%s, %d, file_index)", setMark, len(f.ints)-1)
	})
}

// text is the expression of a VARCHAR that value gives for each file.
func (f *facts) text(key int, value func(*dataFile) string) string {
	return f.nullableText(key, func(file *dataFile) (string, bool) { return value(file), true })
}

func (f *facts) nullableText(key int, value func(*dataFile) (string, bool)) string {
	return f.once(key, func() string {
		column := duck.StrColumn{Values: make([]string, len(f.files)), Valid: make([]bool, len(f.files))}
		for i, file := range f.files {
			column.Values[i], column.Valid[i] = value(file)
		}
		f.strings = append(f.strings, column)
		return fmt.Sprintf("delta_str(%s, %d, file_index)", setMark, len(f.strings)-1)
	})
}

func (f *facts) once(key int, make func() string) string {
	if e, ok := f.byKey[key]; ok {
		return e
	}
	if f.byKey == nil {
		f.byKey = map[int]string{}
	}
	e := make()
	f.byKey[key] = e
	return e
}

// newSet makes the branch's row set; nil where nothing asks for one.
func (w *branchWriter) newSet() (*duck.Set, error) {
	if w.branch.rows == allRows && len(w.facts.ints) == 0 && len(w.facts.strings) == 0 {
		return nil, nil
	}
	spec := duck.SetSpec{Files: len(w.branch.files), Ints: w.facts.ints, Strings: w.facts.strings}
	if w.branch.rows != allRows {
		spec.Deleted = make([][]uint64, len(w.branch.files))
		for i, f := range w.branch.files {
			spec.Deleted[i] = f.deleted
			if w.branch.rows == onlyRows {
				spec.Deleted[i] = f.only
			}
		}
	}
	return duck.NewSet(spec)
}
