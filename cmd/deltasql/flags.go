package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"deltasql/sqlengine"
)

// sessionFlags are the flags that shell and exec share.
type sessionFlags struct {
	format   string
	readOnly bool
	database string
	dialect  string
	settings []string
	memory   string
	threads  int
	temp     string
	timing   bool
}

func (f *sessionFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "format", "auto", "output: "+strings.Join(formats, "|"))
	f.registerEngine(flags)
	flags.BoolVar(&f.timing, "timing", false, "print each statement's time to standard error")
}

// registerEngine are the flags that every door has.
func (f *sessionFlags) registerEngine(flags *pflag.FlagSet) {
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse statements that change anything")
	flags.StringVar(&f.database, "database", "", "the current database at start (default \"default\")")
	flags.StringVar(&f.dialect, "dialect", "auto", "meaning of ambiguous SQL: auto|mysql|spark")
	flags.StringArrayVar(&f.settings, "set", nil, "NAME=VALUE, a session setting (repeatable)")
	flags.StringVar(&f.memory, "memory", "", "memory limit, for example 1GB (default: 60 % of the machine's)")
	flags.IntVar(&f.threads, "threads", 0, "threads of a query (default: one a processor)")
	flags.StringVar(&f.temp, "temp", "", "folder for spilling (default: the system's temporary folder)")
}

// engine is what the flags say of the engine, and the variables of its sessions.
func (f *sessionFlags) engine(catalog string) (sqlengine.Options, map[string]string, error) {
	settings := make(map[string]string, len(f.settings))
	for _, text := range f.settings {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return sqlengine.Options{}, nil, fmt.Errorf("--set %q: NAME=VALUE is wanted", text)
		}
		settings[name] = value
	}
	now, err := testNow()
	return sqlengine.Options{
		Catalog: catalog, Memory: f.memory, Threads: f.threads, TempDir: f.temp, ReadOnly: f.readOnly, TestNow: now,
	}, settings, err
}

// open makes the engine and a session of it; the caller closes the engine. Progress may be nil.
func (f *sessionFlags) open(catalog string, progress func(float64)) (*sqlengine.Engine, *sqlengine.Session, error) {
	options, settings, err := f.engine(catalog)
	if err != nil {
		return nil, nil, err
	}
	engine, err := sqlengine.Open(options)
	if err != nil {
		return nil, nil, err
	}
	session, err := engine.NewSession(sqlengine.SessionOptions{
		Database: f.database, Dialect: f.dialect, Settings: settings, Progress: progress,
	})
	if err != nil {
		engine.Close()
		return nil, nil, err
	}
	return engine, session, nil
}

// testNow is the clock of sessions with deltasql_test_clock on, from DELTASQL_NOW (RFC 3339); zero where that is not set.
func testNow() (time.Time, error) {
	text := os.Getenv("DELTASQL_NOW")
	if text == "" {
		return time.Time{}, nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("DELTASQL_NOW=%q: a time such as 2026-01-31T12:00:00Z is wanted", text)
	}
	return now, nil
}
