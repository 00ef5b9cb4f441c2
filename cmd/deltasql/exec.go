package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"deltasql/protocol"
)

// source is one place that statements come from, in the order of the command line.
type source struct {
	file string // a file's name; "" for the text of -e
	text string
}

// sourceFlag collects -e and -f into one list, so that they run in the order given.
type sourceFlag struct {
	sources *[]source
	file    bool
}

func (f sourceFlag) String() string { return "" }
func (f sourceFlag) Type() string {
	if f.file {
		return "FILE"
	}
	return "SQL"
}

func (f sourceFlag) Set(value string) error {
	if f.file {
		*f.sources = append(*f.sources, source{file: value})
	} else {
		*f.sources = append(*f.sources, source{text: value})
	}
	return nil
}

func execCommand() *cobra.Command {
	var (
		options   sessionFlags
		sources   []source
		keepGoing bool
	)
	command := &cobra.Command{
		Use:   "exec [flags] [CATALOG]",
		Short: "run statements from -e, -f or standard input, then exit",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runScript(command.Context(), options, catalogOf(args), sources, keepGoing)
		},
	}
	options.register(command.Flags())
	command.Flags().VarP(sourceFlag{&sources, false}, "execute", "e", "statements to run (repeatable)")
	command.Flags().VarP(sourceFlag{&sources, true}, "file", "f", "file of statements to run (repeatable)")
	command.Flags().BoolVar(&keepGoing, "continue", false, "go on after a failed statement")
	return command
}

// runScript runs the sources in order, or standard input where there are none.
func runScript(ctx context.Context, options sessionFlags, catalog string, sources []source, keepGoing bool) error {
	format := options.format
	if format == "auto" {
		format = "tsv"
		if isatty.IsTerminal(os.Stdout.Fd()) {
			format = "table"
		}
	}
	target, err := newWriter(format, bufio.NewWriterSize(os.Stdout, 1<<16), os.Stderr, 0)
	if err != nil {
		return err
	}
	for _, from := range sources {
		if info, err := os.Stat(from.file); from.file != "" && (err != nil || info.IsDir()) {
			if err == nil {
				err = fmt.Errorf("%s is a folder", from.file)
			}
			return err
		}
	}
	engine, session, err := options.open(catalog, nil)
	if err != nil {
		return startFailed(err)
	}
	defer engine.Close()
	defer session.Close() // rolls back what is open
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	run := &runner{session: session, target: target, keepGoing: keepGoing, timing: options.timing}
	return run.all(ctx, sources, os.Stdin)
}

// startFailed prints an error of the catalog or the session and ends with the status of a failed statement.
func startFailed(err error) error {
	var fault *protocol.Error
	if !errors.As(err, &fault) {
		return err
	}
	fmt.Fprint(os.Stderr, errorText(err, ""))
	return exitStatus(exitFailed)
}
