package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// dotCommand is a command of the shell itself.
type dotCommand struct {
	name, args, help string
	run              func(ctx context.Context, s *shell, arg string) error
}

// dotCommands returns them in the order of .help.
func dotCommands() []dotCommand {
	return []dotCommand{
		{".help", "", "this list", func(_ context.Context, s *shell, _ string) error { return s.help() }},
		{".databases", "", "the databases of the catalog", statementCommand("SHOW DATABASES", "")},
		{".tables", "[DATABASE]", "the tables of a database", func(ctx context.Context, s *shell, arg string) error {
			if arg != "" {
				arg = " IN " + arg
			}
			s.runText(ctx, "SHOW TABLES"+arg, "")
			return nil
		}},
		{".schema", "TABLE", "a table's columns", statementCommand("DESCRIBE TABLE", "a table")},
		{".detail", "TABLE", "a table's size, features and properties", statementCommand("DESCRIBE DETAIL", "a table")},
		{".history", "TABLE", "a table's versions", statementCommand("DESCRIBE HISTORY", "a table")},
		{".format", "NAME", "how results are shown: " + strings.Join(formats[1:], ", "), setFormat},
		{".timing", "on|off", "show how long statements take", func(_ context.Context, s *shell, arg string) error {
			return onOff(arg, &s.timing)
		}},
		{".pager", "on|off", "show long results in $PAGER", func(_ context.Context, s *shell, arg string) error {
			return onOff(arg, &s.paging)
		}},
		{".read", "FILE", "run the statements of a file", readFile},
		{".open", "CATALOG", "change to another folder of tables", openCatalog},
		{".quit", "", "leave (also Ctrl-D)", func(context.Context, *shell, string) error { return errQuit }},
	}
}

// command runs a line that begins with a dot.
func (s *shell) command(ctx context.Context, line string) error {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSuffix(strings.TrimSpace(arg), ";")
	if name == ".exit" {
		name = ".quit"
	}
	for _, command := range dotCommands() {
		if command.name == name {
			return command.run(ctx, s, arg)
		}
	}
	return fmt.Errorf("there is no command %s; .help lists them", name)
}

// commandHelp gives the names and their help in turn, for completion.
func commandHelp() []string {
	var out []string
	for _, command := range dotCommands() {
		out = append(out, command.name, command.help)
	}
	return out
}

func (s *shell) help() error {
	for _, command := range dotCommands() {
		fmt.Printf("%-22s %s\n", strings.TrimSpace(command.name+" "+command.args), command.help)
	}
	fmt.Print("\nStatements end with a semicolon and may run over several lines. Tab completes, Ctrl-R searches the history,\n" +
		"Ctrl-C cancels the running statement. EXPLAIN ANALYZE shows which files a query skipped and why.\n")
	return nil
}

// statementCommand runs a statement with the argument behind it; wanted names the argument where there must be one.
func statementCommand(statement, wanted string) func(context.Context, *shell, string) error {
	return func(ctx context.Context, s *shell, arg string) error {
		if arg == "" && wanted != "" {
			return fmt.Errorf("%s is wanted behind the command; .help lists them", wanted)
		}
		s.runText(ctx, statement+" "+arg, "")
		return nil
	}
}

func setFormat(_ context.Context, s *shell, arg string) error {
	if arg == "auto" {
		arg = "table"
	}
	if !slices.Contains(formats, arg) {
		return fmt.Errorf("unknown format %q: one of %s", arg, strings.Join(formats[1:], ", "))
	}
	s.format = arg
	return nil
}

func onOff(arg string, target *bool) error {
	switch arg {
	case "on":
		*target = true
	case "off":
		*target = false
	default:
		return fmt.Errorf("on or off is wanted, not %q", arg)
	}
	return nil
}

func readFile(ctx context.Context, s *shell, arg string) error {
	if arg == "" {
		return errors.New("a file is wanted behind the command")
	}
	text, err := os.ReadFile(arg)
	if err != nil {
		return err
	}
	s.runText(ctx, string(text), arg)
	return nil
}

// openCatalog replaces the engine; the old one stays if the new folder cannot be opened.
func openCatalog(_ context.Context, s *shell, arg string) error {
	if arg == "" {
		return errors.New("a folder of tables is wanted behind the command")
	}
	engine, session, err := s.options.open(arg, s.fraction.set)
	if err != nil {
		return errors.New(strings.TrimSpace(errorText(err, "")))
	}
	s.close()
	s.engine, s.session, s.names = engine, session, newNameCache(session)
	return nil
}
