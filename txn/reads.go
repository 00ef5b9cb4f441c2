package txn

import (
	"maps"
	"slices"

	"deltasql/protocol"
	"deltasql/stats"
)

// reads is what a transaction depends on.
type reads struct {
	all        bool
	predicates []stats.Predicate
	files      map[string]bool // canonical paths
	apps       map[string]bool
}

func (r *reads) file(path string) {
	if r.files == nil {
		r.files = map[string]bool{}
	}
	r.files[protocol.PathKey(path)] = true
}

func (r *reads) app(id string) {
	if r.apps == nil {
		r.apps = map[string]bool{}
	}
	r.apps[id] = true
}

// rows tells whether any rows were read: a transaction that read none and only adds files is a blind append.
func (r *reads) rows() bool { return r.all || len(r.predicates) > 0 || len(r.files) > 0 }

func (r *reads) clone() reads {
	return reads{all: r.all, predicates: slices.Clone(r.predicates), files: maps.Clone(r.files), apps: maps.Clone(r.apps)}
}

// matching finds the first of a winner's files whose rows the transaction read or would have read, -1 for none. Partition
// values and statistics of the file decide, by the same rules as skipping (S1): what they cannot rule out matches.
// config is the table's as the predicates know it.
func (r *reads) matching(config *protocol.TableConfig, files []protocol.AddFile) int {
	if r.all && len(files) > 0 {
		return 0
	}
	if len(r.predicates) == 0 || len(files) == 0 {
		return -1
	}
	first := slices.IndexFunc(files, func(f protocol.AddFile) bool { return !placed(config, f.PartitionValues) })
	table := stats.NewTable(addedFiles(files), config)
	for _, p := range r.predicates {
		if keep := table.Prune(p).Keep; len(keep) > 0 && (first < 0 || int(keep[0]) < first) {
			first = int(keep[0])
		}
	}
	return first
}

// placed tells whether the values of all partition columns are known; a remove need not have them.
func placed(config *protocol.TableConfig, values map[string]*string) bool {
	return !slices.ContainsFunc(config.PartitionColumns, func(i int) bool {
		_, ok := values[string(config.PhysicalName(i))]
		return !ok
	})
}

// addedFiles gives the files of a commit to stats.
type addedFiles []protocol.AddFile

// NumFiles implements stats.Source.
func (f addedFiles) NumFiles() int { return len(f) }

// RawStats implements stats.Source.
func (f addedFiles) RawStats(i int) []byte { return []byte(f[i].Stats) }

// PartitionValue implements stats.Source.
func (f addedFiles) PartitionValue(i int, name protocol.PhysicalName) (string, bool) {
	if value := f[i].PartitionValues[string(name)]; value != nil {
		return *value, false
	}
	return "", true
}

// DeletedRows implements stats.Source.
func (f addedFiles) DeletedRows(i int) int64 {
	if dv := f[i].DeletionVector; dv != nil {
		return dv.Cardinality
	}
	return 0
}
