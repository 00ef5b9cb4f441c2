package sqlengine

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// variable is one session setting. A setting has one canonical name; Spark's configuration key for the same thing and the
// MySQL name, where there are any, mean the same variable.
type variable struct {
	name    string
	conf    string // Spark's key, "" where there is none
	initial string
	integer bool // shown as a number by @@name
	boolean bool // shown as ON or OFF by SHOW VARIABLES
	fixed   bool // cannot be set
	idle    bool // can be set, without an effect: a warning says so
	help    string
	check   func(text string) error // nil: any text
}

// ownVariables are the settings that deltasql means something by. Settings that rule only writing come with the statements that write.
var ownVariables = []variable{
	{name: "deltasql_dialect", initial: "auto", check: oneOf("auto", "mysql", "spark"), help: "which dialect decides where MySQL and Spark differ; auto is the door's own"},
	{name: "deltasql_mysql_compare", initial: "off", check: isBoolean, help: "in the MySQL dialect, case- and accent-insensitive comparison of strings, as its default collation"},
	{name: "deltasql_as_of", initial: "", check: nil, help: "reads every table as of this version number or time; empty for the latest"},
	{name: "deltasql_skipping", conf: "spark.databricks.delta.stats.skipping", initial: "on", check: isBoolean, help: "skips files by partition values and statistics"},
	{name: "deltasql_file_roots", initial: "", check: nil, help: "folders, separated by commas, whose files list_files may list; empty for the catalog's own"},
	{name: "deltasql_file_strict", initial: "off", check: isBoolean, help: "makes a stored file value that cannot be resolved an error; off shows it as NULL"},
	{name: "deltasql_metadata_answers", conf: "spark.databricks.delta.optimizemetadataquery.enabled", initial: "on", check: isBoolean, help: "answers count(*), min and max from exact statistics without opening data files"},
	{name: "deltasql_time_travel_guard", initial: "auto", check: oneOf("auto", "on", "off", "true", "false"), help: "refuses versions older than delta.deletedFileRetentionDuration; auto does so for tables that set it themselves"},
	{name: "deltasql_clamp_timestamps", initial: "off", check: isBoolean, help: "reads the latest version for a time after the last commit instead of failing"},
	{name: "deltasql_changes_out_of_range", conf: "spark.databricks.delta.changedatafeed.timestampoutofrange.enabled", initial: "off", check: isBoolean, help: "table_changes that starts after the latest version is empty instead of an error"},
	{name: "deltasql_wide_decimals", initial: "off", check: isBoolean, help: "computes every decimal in 128 bits; off does so where 64 bits overflow before the first row"},
	{name: "deltasql_user_metadata", conf: "spark.databricks.delta.commitinfo.usermetadata", initial: "", check: nil, help: "text that commits carry as userMetadata"},
	{name: "deltasql_txn_app_id", conf: "spark.databricks.delta.write.txnappid", initial: "", check: nil, help: "with deltasql_txn_version: writes carry this transaction id, and one whose version the table has already is skipped"},
	{name: "deltasql_txn_version", conf: "spark.databricks.delta.write.txnversion", initial: "", check: isOptionalNumber, help: "the version of deltasql_txn_app_id"},
	{name: "partition_overwrite_mode", conf: "spark.sql.sources.partitionoverwritemode", initial: "static", check: oneOf("static", "dynamic"), help: "whether INSERT OVERWRITE replaces the whole table or only the partitions in the data"},
	{name: "deltasql_schema_evolution", conf: "spark.databricks.delta.schema.automerge.enabled", initial: "off", check: isBoolean, help: "writes add columns that the table lacks, as WITH SCHEMA EVOLUTION does for one statement"},
	{name: "deltasql_replace_where_check", conf: "spark.databricks.delta.replacewhere.constraintcheck.enabled", initial: "on", check: isBoolean, help: "rows of REPLACE WHERE must satisfy its condition"},
	{name: "deltasql_log_compaction", initial: "0", check: isOptionalNumber, help: "every so many commits of this session to a table are also written as one compacted file of its log; 0 never"},
	{name: "deltasql_fast_drop_feature", initial: "on", check: isBoolean, help: "DROP FEATURE without TRUNCATE HISTORY keeps the history and protects its checkpoints; off waits for the log's retention"},
	{name: "deltasql_optimize_file_size", conf: "spark.databricks.delta.optimize.maxfilesize", initial: "", check: isOptionalNumber, help: "bytes of the files that OPTIMIZE makes; empty: the table's delta.targetFileSize, else 1 GiB"},
	{name: "deltasql_optimize_small_file", conf: "spark.databricks.delta.optimize.minfilesize", initial: "", check: isOptionalNumber, help: "files of as many bytes or more are left alone by OPTIMIZE; empty: three quarters of the target"},
	{name: "deltasql_optimize_deleted_ratio", conf: "spark.databricks.delta.optimize.maxdeletedrowsratio", initial: "0.05", check: isShare, help: "OPTIMIZE writes files anew of which a greater share of the rows is deleted"},
	{name: "deltasql_clustering_cube_size", conf: "spark.databricks.delta.optimize.clustering.mergestrategy.mincubesize.threshold", initial: "107374182400", check: isOptionalNumber, help: "bytes of clustered files from which on OPTIMIZE does not cluster them again together with new ones"},
	{name: "deltasql_zorder_check_statistics", conf: "spark.databricks.delta.optimize.zorder.checkstatscollection.enabled", initial: "on", check: isBoolean, help: "ZORDER BY refuses columns of which files keep no statistics"},
	{name: "deltasql_retention_check", conf: "spark.databricks.delta.retentiondurationcheck.enabled", initial: "on", check: isBoolean, help: "VACUUM refuses RETAIN 0 HOURS, which deletes what running statements read and write"},
	{name: "deltasql_ignore_missing_files", conf: "spark.sql.files.ignoremissingfiles", initial: "off", check: isBoolean, help: "RESTORE leaves out files that are gone instead of failing"},
	{name: "deltasql_test_clock", initial: "off", check: isBoolean, help: "lets DELTASQL_NOW and deltasql_clock_advance move the clock (tests)"},
	{name: "deltasql_clock_advance", initial: "", check: isClockAdvance, help: "moves this session's clock forward, as 'INTERVAL 7 DAYS' (tests)"},
	{name: "time_zone", conf: "spark.sql.session.timezone", initial: "UTC", check: isTimeZone, help: "the zone in which times are read and shown"},
	{name: "sql_mode", initial: "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", check: isSQLMode, help: "MySQL's modes, for the MySQL dialect; sqlModes says which matter"},
	{name: "spark.sql.ansi.enabled", initial: "true", check: isAlwaysTrue, help: "always true: overflow and bad casts are errors"},
	{name: "autocommit", initial: "1", boolean: true, integer: true, check: isBoolean, help: "every statement is its own transaction"},
	{name: "character_set_client", initial: "utf8mb4", check: isUTF8, help: "text is UTF-8"},
	{name: "character_set_connection", initial: "utf8mb4", check: isUTF8, help: "text is UTF-8"},
	{name: "character_set_results", initial: "utf8mb4", check: isUTF8, help: "text is UTF-8"},
	{name: "collation_connection", initial: "utf8mb4_bin", check: isCollation, help: "comparison is binary unless deltasql_mysql_compare is on"},
	{name: "transaction_isolation", initial: "REPEATABLE-READ", check: isIsolation, help: "a transaction reads one version of each table, whatever this says; conflicts, also with what its queries have read of the table that it changes, go by the table's delta.isolationLevel"},
	{name: "transaction_read_only", initial: "0", integer: true, check: isBoolean, help: "transactions may only read"},
	{name: "tx_isolation", initial: "REPEATABLE-READ", check: isIsolation, help: "the same under its older name"},
	{name: "version", initial: serverVersion, fixed: true, help: "the MySQL version that clients compare with"},
	{name: "version_comment", initial: "deltasql", fixed: true, help: "the product"},
	{name: "lower_case_table_names", initial: "2", integer: true, fixed: true, help: "names keep their case and match without it"},
	{name: "max_allowed_packet", initial: "67108864", integer: true, fixed: true, help: "bytes of one statement"},
}

// serverVersion is what clients see as the server's version: MySQL's, then ours.
const serverVersion = "8.0.40-deltasql"

// variableIndex finds a variable by its own or by Spark's name, in lower case.
var variableIndex = func() map[string]*variable {
	index := map[string]*variable{}
	for i := range variables {
		v := &variables[i]
		index[v.name] = v
		if v.conf != "" {
			index[v.conf] = v
		}
	}
	return index
}()

// settings are the variables of one session. They are safe for concurrent use.
type settings struct {
	mu     sync.Mutex
	values map[string]string    // by canonical name, what the session has set
	conf   map[string]string    // spark.* keys without a meaning here, as written: accepted, shown again, else ignored
	user   map[string]userValue // @name, in lower case
}

// userValue is what a user variable holds.
type userValue struct {
	value protocol.Value
	of    protocol.DataType
}

func newSettings() *settings {
	return &settings{values: map[string]string{}, conf: map[string]string{}, user: map[string]userValue{}}
}

// get is the value of a variable that is in the table.
func (s *settings) get(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.values[name]; ok {
		return text
	}
	return variableIndex[name].initial
}

// on is the value of a boolean variable.
func (s *settings) on(name string) bool {
	on, _ := parseBoolean(s.get(name))
	return on
}

// newValue is a new value of a variable, or its return to the initial one.
type newValue struct {
	name, text string
	reset      bool
}

// check tells whether changes can be stored. Keys that start with spark. always can, as in Spark.
func (s *settings) check(changes []newValue) error {
	for _, c := range changes {
		lower := strings.ToLower(c.name)
		v, ok := variableIndex[lower]
		switch {
		case !ok && strings.HasPrefix(lower, "spark."):
		case !ok:
			return unknownVariable(c.name)
		case v.fixed:
			return protocol.NewError("INVALID_PARAMETER_VALUE", "variable %s cannot be set", v.name)
		case v.check != nil && !c.reset:
			if err := v.check(c.text); err != nil {
				return protocol.NewError("INVALID_PARAMETER_VALUE", "variable %s cannot be %q: %v", v.name, c.text, err).WithErrno(1231)
			}
		}
	}
	return nil
}

// store makes changes that have been checked, all at once.
func (s *settings) store(changes []newValue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		switch v, ok := variableIndex[strings.ToLower(c.name)]; {
		case !ok:
			s.conf[c.name] = c.text
		case c.reset:
			delete(s.values, v.name)
		default:
			s.values[v.name] = c.text
		}
	}
}

// set checks and stores one variable.
func (s *settings) set(name, text string) error {
	changes := []newValue{{name: name, text: text}}
	if err := s.check(changes); err != nil {
		return err
	}
	s.store(changes)
	return nil
}

// show is the value of a name, and whether it has one.
func (s *settings) show(name string) (string, bool) {
	if v, ok := variableIndex[strings.ToLower(name)]; ok {
		return s.get(v.name), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.conf[name]
	return text, ok
}

// reset puts a variable back to its initial value; the empty name does so for all.
func (s *settings) reset(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		clear(s.values)
		clear(s.conf)
		return nil
	}
	lower := strings.ToLower(name)
	v, ok := variableIndex[lower]
	switch {
	case ok:
		delete(s.values, v.name)
	case strings.HasPrefix(lower, "spark."):
		delete(s.conf, name)
	default:
		return unknownVariable(name)
	}
	return nil
}

// all lists names with their values in the order of names.
func (s *settings) all() [][2]string {
	var out [][2]string
	for i := range variables {
		text := s.get(variables[i].name)
		if variables[i].boolean {
			text = map[bool]string{true: "ON", false: "OFF"}[s.on(variables[i].name)]
		}
		out = append(out, [2]string{variables[i].name, text})
	}
	s.mu.Lock()
	for name, text := range s.conf {
		out = append(out, [2]string{name, text})
	}
	s.mu.Unlock()
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

// userVariable is the value of @name.
func (s *settings) userVariable(name string) (userValue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.user[strings.ToLower(name)]
	return v, ok
}

func (s *settings) setUser(name string, v userValue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user[strings.ToLower(name)] = v
}

// system is the typed value of @@name.
func (s *settings) system(name string) (protocol.Value, protocol.DataType, error) {
	v, ok := variableIndex[strings.ToLower(name)]
	if !ok {
		return protocol.Value{}, protocol.DataType{}, unknownVariable(name)
	}
	text := s.get(v.name)
	if v.integer {
		number := int64(0)
		if on, err := parseBoolean(text); err == nil && on {
			number = 1
		} else if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			number = n
		}
		return protocol.Value{Kind: protocol.KindLong, Int: number}, protocol.DataType{Kind: protocol.KindLong}, nil
	}
	return protocol.Value{Kind: protocol.KindString, Str: text}, protocol.DataType{Kind: protocol.KindString}, nil
}

func unknownVariable(name string) error {
	names := make([]string, len(variables))
	for i := range variables {
		names[i] = variables[i].name
	}
	err := protocol.NewError("UNRESOLVED_VARIABLE", "there is no variable %s", name)
	if near := parse.Meant(name, names); near != "" {
		return err.WithHint("did you mean %s? SHOW VARIABLES lists all", near)
	}
	return err.WithHint("SHOW VARIABLES lists all; names that start with spark. are always accepted")
}

// ---- checks ----

func oneOf(allowed ...string) func(string) error {
	return func(text string) error {
		for _, a := range allowed {
			if strings.EqualFold(a, text) {
				return nil
			}
		}
		return fmt.Errorf("it is one of %s", strings.Join(allowed, ", "))
	}
}

func parseBoolean(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "on", "true", "1", "yes":
		return true, nil
	case "off", "false", "0", "no":
		return false, nil
	}
	return false, fmt.Errorf("it is on or off")
}

func isBoolean(text string) error {
	_, err := parseBoolean(text)
	return err
}

// isIsolation takes MySQL's levels, all of which a snapshot of each table satisfies.
func isIsolation(text string) error {
	return oneOf("REPEATABLE-READ", "SERIALIZABLE", "READ-COMMITTED", "READ-UNCOMMITTED")(strings.ReplaceAll(text, " ", "-"))
}

// isAlwaysTrue guards a mode that has only one side here: answering in the other silently would be wrong.
func isAlwaysTrue(text string) error {
	if on, err := parseBoolean(text); err != nil || !on {
		return fmt.Errorf("overflow and invalid casts are always errors here; use try_cast and the try_ functions")
	}
	return nil
}

func isUTF8(text string) error {
	switch strings.ToLower(text) {
	case "utf8", "utf8mb3", "utf8mb4", "binary", "null", "":
		return nil
	}
	return fmt.Errorf("text is UTF-8 here")
}

// isCollation takes the names of MySQL's UTF-8 collations.
func isCollation(text string) error {
	lower := strings.ToLower(text)
	if character, _, _ := strings.Cut(lower, "_"); lower == "binary" || character != lower && isUTF8(character) == nil && character != "" {
		return nil
	}
	return fmt.Errorf("text is UTF-8 here; utf8mb4_bin is its collation")
}

// isOptionalNumber takes a whole number, or nothing.
func isOptionalNumber(text string) error {
	if text == "" {
		return nil
	}
	_, err := wholeNumber("", text)
	return err
}

// wholeNumber reads the value of a variable that is a whole number and not negative.
func wholeNumber(name, text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, protocol.NewError("INVALID_PARAMETER_VALUE", "variable %s is %q; it is a whole number", name, text)
	}
	return n, nil
}

// isShare holds a number from 0 to 1.
func isShare(text string) error {
	if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !(n >= 0 && n <= 1) {
		return fmt.Errorf("it is a number from 0 to 1")
	}
	return nil
}

func isClockAdvance(text string) error {
	_, err := parseClockAdvance(text)
	return err
}

func isTimeZone(text string) error {
	if text == "" {
		return fmt.Errorf("it is a zone such as Europe/Paris or an offset such as +02:00")
	}
	_, err := expr.Zone(text)
	return err
}
