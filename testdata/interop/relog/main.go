// Command relog gives a table's log the files that no setting asks for: checkpoints of every form, and compactions. The
// round trip with other engines runs it over tables that deltasql wrote.
//
//	relog TABLE checkpoint [-json] [-sidecar-actions N]
//	relog TABLE compact FROM TO
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relog:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: relog TABLE checkpoint [-json] [-sidecar-actions N] | relog TABLE compact FROM TO")
	}
	temp, err := os.MkdirTemp("", "relog-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	in, err := duck.Open(duck.Config{TempDir: temp})
	if err != nil {
		return err
	}
	defer in.Close()
	local, err := store.NewLocal(args[0])
	if err != nil {
		return err
	}
	table := log.OpenTable(local, args[0], scan.LogParquet{Instance: in})
	switch verb, rest := args[1], args[2:]; verb {
	case "checkpoint":
		return checkpoint(ctx, table, rest)
	case "compact":
		return compact(ctx, table, rest)
	default:
		return fmt.Errorf("there is no %s: it is checkpoint or compact", verb)
	}
}

func checkpoint(ctx context.Context, table *log.Table, args []string) error {
	o := log.Upkeep{Now: time.Now, NewID: newID}
	flags := flag.NewFlagSet("checkpoint", flag.ContinueOnError)
	flags.BoolVar(&o.ManifestJSON, "json", false, "the top-level file is JSON")
	flags.IntVar(&o.SidecarActions, "sidecar-actions", 0, "file actions of a sidecar")
	if err := flags.Parse(args); err != nil {
		return err
	}
	snapshot, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	_, err = table.Checkpoint(ctx, snapshot, o)
	return err
}

func compact(ctx context.Context, table *log.Table, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("compact takes the first and the last version")
	}
	from, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return err
	}
	to, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	return table.Compact(ctx, from, to)
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
