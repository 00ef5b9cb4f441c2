package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// manifestFolder is where engines that know no Delta look for lists of the table's files.
const manifestFolder = "_symlink_format_manifest/"

// WriteManifests writes a list of the snapshot's files for each partition, and deletes the lists of partitions that are gone. The table
// must have neither deletion vectors nor mapped columns, which such engines would not honour.
func WriteManifests(ctx context.Context, snapshot *log.Snapshot) error {
	config, files, table := snapshot.Config(), snapshot.Files(), snapshot.Table()
	root, err := TableFolder(ctx, table)
	if err != nil {
		return err
	}
	failed := func(name string, err error) error {
		if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return protocol.NewError("DELTASQL_STORAGE", "the manifest %s of the table %s cannot be written", name, table.Name()).WithTable(table.Name()).WithCause(err)
	}
	lists := map[string][]int{}
	if len(config.PartitionColumns) == 0 {
		lists[manifestFolder+"manifest"] = nil
	}
	for i := range files.Len() {
		var folder strings.Builder
		folder.WriteString(manifestFolder)
		for _, column := range config.PartitionColumns {
			value, null := files.PartitionValue(i, config.PhysicalName(column))
			if null || value == "" {
				value = hiveDefault
			}
			fmt.Fprintf(&folder, "%s=%s/", escapeHive(string(config.Schema.Fields[column].Name)), escapeHive(value))
		}
		name := folder.String() + "manifest"
		lists[name] = append(lists[name], i)
	}
	for name, numbers := range lists {
		err := table.Store().PutFrom(ctx, name, func(w io.Writer) error {
			for _, i := range numbers {
				decoded, absolute, err := protocol.DecodePath(files.Path(i))
				if err != nil {
					return err
				}
				line := decoded
				if !absolute {
					line = filepath.ToSlash(filepath.Join(root, filepath.FromSlash(decoded)))
				}
				if !strings.Contains(line, "://") {
					line = "file:" + line
				}
				if _, err := io.WriteString(w, line+"\n"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return failed(name, err)
		}
	}
	var stale []string
	var walk func(folder string) error
	walk = func(folder string) error {
		for info, err := range table.Store().List(ctx, folder, "") {
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return failed(folder, err)
			}
			if info.IsFolder() {
				if err := walk(info.Name); err != nil {
					return err
				}
			} else if _, current := lists[info.Name]; !current && strings.HasSuffix(info.Name, "/manifest") {
				stale = append(stale, info.Name)
			}
		}
		return nil
	}
	if err := walk(manifestFolder); err != nil {
		return err
	}
	slices.Sort(stale)
	for _, name := range stale {
		if err := table.Store().Delete(ctx, name); err != nil {
			return failed(name, err)
		}
	}
	return nil
}
