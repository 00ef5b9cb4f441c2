package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var rewrite = flag.Bool("rewrite", false, "write the outputs that testdata/script compares with anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"deltasql": main})
}

// TestScripts runs testdata/script: each is a session of a command line, with the files it needs below it.
func TestScripts(t *testing.T) {
	warehouse, err := filepath.Abs("../../testdata/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *rewrite,
		Setup: func(env *testscript.Env) error {
			env.Setenv("WAREHOUSE", warehouse)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus, "interrupt": interruptLong},
	})
}

// expectStatus runs `status N deltasql ARGUMENTS...`, which must end with exit status N.
func expectStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.String()[len("exit status "):]
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// interruptLong runs `interrupt FILE deltasql ARGUMENTS...` and sends Ctrl-C's signal once the output file is not empty; the process
// must end with status 130.
func interruptLong(ts *testscript.TestScript, _ bool, args []string) {
	out, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer out.Close()
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	command := exec.Command(program, args[2:]...)
	command.Stdout, command.Stderr, command.Dir = out, out, ts.Getenv("WORK")
	stdin, err := command.StdinPipe() // stays open: the process waits for more statements
	ts.Check(err)
	defer stdin.Close()
	ts.Check(command.Start())
	defer command.Process.Kill()
	_, err = stdin.Write([]byte("SELECT 'begun';\n" + ts.Getenv("THEN")))
	ts.Check(err)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if info, err := out.Stat(); err == nil && info.Size() > 0 {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no output within 30 s")
		}
	}
	ts.Check(command.Process.Signal(os.Interrupt))
	err = command.Wait()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitInterrupted {
		ts.Fatalf("ended with %v, want exit status %d", err, exitInterrupted)
	}
}
