// Package sqllogic runs SQL scripts in the sqllogictest manner: statements with their expected outcome in one readable file.
// testdata/slt/README.md specifies the dialect, and is itself run as a test. The package knows no engine: whoever runs scripts
// supplies a Database, so that one script serves the library and, later, the MySQL port.
package sqllogic
