// Command deltasql reads Delta Lake tables with SQL: an interactive shell, a runner of scripts, and a checker of tables.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// Exit statuses, an interface for scripts.
const (
	exitFailed      = 1 // a statement failed, or a checked table has a fault
	exitUsage       = 2
	exitInterrupted = 130
)

// exitStatus ends the process with a status; what there was to say has been printed already.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func main() {
	err := rootCommand().Execute()
	var status exitStatus
	switch {
	case err == nil:
	case errors.As(err, &status):
		os.Exit(int(status))
	default:
		fmt.Fprintln(os.Stderr, "deltasql:", err)
		os.Exit(exitUsage)
	}
}

// rootCommand is the shell, with the other commands below it.
func rootCommand() *cobra.Command {
	var options sessionFlags
	root := &cobra.Command{
		Use:   "deltasql [CATALOG]",
		Short: "SQL for Delta Lake tables",
		Long: "deltasql opens a shell on a folder of Delta tables (default: the current folder).\n" +
			"Each sub-folder of CATALOG is a database, each folder in it with a _delta_log is a table;\n" +
			"any statement may also name a table by its path: SELECT * FROM delta.`/path/to/table`.",
		Args:          cobra.MaximumNArgs(1),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, args []string) error {
			return runShell(command.Context(), options, catalogOf(args))
		},
	}
	options.register(root.Flags())
	root.AddCommand(execCommand(), serveCommand(), checkCommand(), versionCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// catalogOf is the catalog argument, by default the current folder.
func catalogOf(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}
