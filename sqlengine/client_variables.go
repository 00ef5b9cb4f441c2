package sqlengine

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// variables is every setting of a session.
var variables = slices.Concat(ownVariables, clientVariables)

// clientVariables are those that MySQL clients ask for when they connect and that say something true of this server.
var clientVariables = []variable{
	{name: "auto_increment_increment", initial: "1", integer: true, fixed: true, help: "the step of numbers that MySQL's tables would count"},
	{name: "character_set_database", initial: "utf8mb4", fixed: true, help: "text is UTF-8"},
	{name: "character_set_server", initial: "utf8mb4", fixed: true, help: "text is UTF-8"},
	{name: "character_set_system", initial: "utf8mb4", fixed: true, help: "text is UTF-8"},
	{name: "collation_database", initial: "utf8mb4_bin", fixed: true, help: "comparison is binary unless deltasql_mysql_compare is on"},
	{name: "collation_server", initial: "utf8mb4_bin", fixed: true, help: "comparison is binary unless deltasql_mysql_compare is on"},
	{name: "default_storage_engine", initial: "Delta", fixed: true, help: "tables are Delta tables"},
	{name: "group_concat_max_len", initial: noGroupConcatLimit, integer: true, check: isGroupConcatLimit, help: "bytes that GROUP_CONCAT gives at most; the default, unlike MySQL's 1024, cuts nothing"},
	{name: "have_openssl", initial: "YES", fixed: true, help: "the server can do TLS"},
	{name: "have_ssl", initial: "YES", fixed: true, help: "the server can do TLS"},
	{name: "init_connect", initial: "", fixed: true, help: "no statement runs when a client connects"},
	{name: "interactive_timeout", initial: "28800", integer: true, check: isSeconds, help: "seconds after which the connection of an idle interactive client ends"},
	{name: "license", initial: "Apache-2.0", fixed: true, help: "of this program"},
	{name: "max_error_count", initial: "1024", integer: true, check: isWarningCount, help: "warnings of a statement that are kept for SHOW WARNINGS; all are counted"},
	{name: "max_execution_time", initial: "0", integer: true, check: isMillis, help: "milliseconds that a statement of a MySQL client may run; 0: as long as the server lets it"},
	{name: "net_write_timeout", initial: "60", integer: true, check: isSeconds, help: "seconds that a client may take to accept what it is sent"},
	{name: "performance_schema", initial: "0", integer: true, fixed: true, help: "there is none"},
	{name: "protocol_version", initial: "10", integer: true, fixed: true, help: "of the handshake"},
	{name: "system_time_zone", initial: "UTC", fixed: true, help: "the zone SYSTEM"},
	{name: "version_compile_machine", initial: runtime.GOARCH, fixed: true, help: "what the program was built for"},
	{name: "version_compile_os", initial: runtime.GOOS, fixed: true, help: "what the program was built for"},
	{name: "error_count", initial: "0", integer: true, fixed: true, help: "errors of the statement before"},
	{name: "timestamp", initial: "0", check: isUnixTime, help: "seconds since 1970 that now() and its kin tell; 0: the clock's. Commits always carry the clock's"},
	{name: "warning_count", initial: "0", integer: true, fixed: true, help: "warnings and errors of the statement before"},
	{name: "basedir", initial: "", fixed: true, help: "not told"},
	{name: "innodb_version", initial: serverVersion, fixed: true, help: "there is no InnoDB; clients compare it with the version"},
	{name: "wait_timeout", initial: "28800", integer: true, check: isSeconds, help: "seconds after which the connection of an idle client ends"},

	{name: "foreign_key_checks", initial: "1", boolean: true, integer: true, idle: true, check: isBoolean, help: "foreign keys inform and are not checked"},
	{name: "information_schema_stats_expiry", initial: "86400", integer: true, idle: true, help: "statistics are never cached for so long"},
	{name: "net_read_timeout", initial: "30", integer: true, idle: true, check: isSeconds, help: "what a client sends is waited for like its next statement"},
	{name: "optimizer_switch", initial: "", idle: true, help: "DuckDB chooses its plans itself"},
	{name: "profiling", initial: "0", boolean: true, integer: true, idle: true, check: isBoolean, help: "EXPLAIN ANALYZE tells where time goes"},
	{name: "sql_auto_is_null", initial: "0", boolean: true, integer: true, idle: true, check: isBoolean, help: "IS NULL means just that"},
	{name: "sql_notes", initial: "1", boolean: true, integer: true, idle: true, check: isBoolean, help: "notes are always kept"},
	{name: "sql_safe_updates", initial: "0", boolean: true, integer: true, idle: true, check: isBoolean, help: "no statement needs a key"},
	{name: "unique_checks", initial: "1", boolean: true, integer: true, idle: true, check: isBoolean, help: "unique keys inform and are not checked"},
}

// noGroupConcatLimit is the greatest value of group_concat_max_len, at which nothing is cut.
const noGroupConcatLimit = "4294967295"

func isGroupConcatLimit(text string) error { return inRange(text, 4, 1<<32-1, "bytes") }

// groupConcatLimit is how many bytes GROUP_CONCAT gives at most, 0 for no limit.
func (s *settings) groupConcatLimit() int64 {
	text := strings.TrimSpace(s.get("group_concat_max_len"))
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || text == noGroupConcatLimit {
		return 0
	}
	return n
}

// isUnixTime takes seconds since 1970 up to the end of year 9999, with a fraction.
func isUnixTime(text string) error {
	if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !(n >= 0 && n < 253_402_300_800) {
		return fmt.Errorf("it is a number of seconds since 1970")
	}
	return nil
}

// maxSeconds is the longest timeout, MySQL's own.
const maxSeconds = 31_536_000

func isSeconds(text string) error { return inRange(text, 1, maxSeconds, "seconds") }

func isMillis(text string) error { return inRange(text, 0, maxSeconds*1000, "milliseconds") }

func inRange(text string, low, high int64, unit string) error {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err != nil || n < low || n > high {
		return fmt.Errorf("it is a number of %s from %d to %d", unit, low, high)
	}
	return nil
}
