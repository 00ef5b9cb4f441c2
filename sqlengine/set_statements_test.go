package sqlengine

import (
	"testing"
)

func TestVariables(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{Settings: map[string]string{"spark.some.key": "x"}})
	want(t, s, "SET spark.some.key", `["spark.some.key","x"]`)
	want(t, s, "SET spark.other.key", `["spark.other.key","<undefined>"]`)
	want(t, s, "SET deltasql_dialect = mysql")
	want(t, s, "SELECT @@deltasql_dialect, 7 / 2", `["mysql","3.5000"]`)
	want(t, s, "SET deltasql_dialect = 'auto'")
	want(t, s, "SELECT 7 / 2", `[3.5]`)
	want(t, s, "SET @a = 1 + 1, @b = 'x'")
	want(t, s, "SELECT @a, @b, @c", `[2,"x",null]`)
	want(t, s, "SET time_zone = '+02:00'")
	want(t, s, "SELECT @@time_zone", `["+02:00"]`)
	want(t, s, "SET TIME ZONE 'Europe/Berlin'")
	want(t, s, "SHOW VARIABLES LIKE 'time_zone'", `["time_zone","Europe/Berlin"]`)
	want(t, s, "RESET spark.sql.session.timeZone")
	want(t, s, "SELECT @@time_zone, @@autocommit", `["UTC",1]`)
	refuse(t, s, "SET deltasql_dialekt = mysql", "UNRESOLVED_VARIABLE")
	refuse(t, s, "SELECT @@nothing", "UNRESOLVED_VARIABLE")
	refuse(t, s, "SET time_zone = 'Mars'", "INVALID_PARAMETER_VALUE")
	want(t, s, "SELECT 1, 'y' INTO @a, @b")
	want(t, s, "SELECT @a, @b", `[1,"y"]`)
	refuse(t, s, "SELECT 1 INTO @a, @b", "NUM_COLUMNS_MISMATCH")
}

// Of one SET everything is stored or nothing.
func TestSetIsAllOrNothing(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{})
	refuse(t, s, "SET @a = 1, time_zone = '+02:00', deltasql_dialect = 'oracle'", "INVALID_PARAMETER_VALUE")
	want(t, s, "SELECT @a, @@time_zone", `[null,"UTC"]`)
	want(t, s, "SET time_zone = '+02:00'")
	refuse(t, s, "SET time_zone = NULL", "INVALID_PARAMETER_VALUE")
	refuse(t, s, "SET time_zone = ''", "INVALID_PARAMETER_VALUE")
	want(t, s, "SET time_zone = DEFAULT")
	want(t, s, "SELECT @@time_zone", `["UTC"]`)
}

// What clients send as a matter of course is accepted; where it has not the effect of its name a warning says so.
func TestSettingsWithoutEffectWarn(t *testing.T) {
	s := openSession(t, openEngine(t, Options{}), SessionOptions{Dialect: "mysql"})
	for sql, warnings := range map[string]int{
		"SET autocommit = 0": 0, "SET autocommit = 1": 0, "SET NAMES utf8mb4": 0, "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci": 1,
		"SET NAMES utf8mb4 COLLATE utf8mb4_bin": 0, "SET character_set_results = NULL": 0,
	} {
		want(t, s, sql)
		if got := s.Warnings(); len(got) != warnings {
			t.Errorf("%s: warnings %v", sql, got)
		}
	}
	want(t, s, "SET deltasql_dialect = spark, deltasql_mysql_compare = on")
	if len(s.Warnings()) != 1 {
		t.Errorf("deltasql_mysql_compare in the Spark dialect: %v", s.Warnings())
	}
	want(t, s, "SET deltasql_dialect = mysql, deltasql_mysql_compare = off")
	refuse(t, s, "SET collation_connection = latin1_swedish_ci", "INVALID_PARAMETER_VALUE")
	refuse(t, s, "SET sql_mode = 'NO_SUCH_MODE'", "INVALID_PARAMETER_VALUE")
	refuse(t, s, "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'", "INVALID_PARAMETER_VALUE")
	want(t, s, "SET sql_mode = 'ANSI'")
	want(t, s, "SELECT \"x\".\"1\" || 'y' FROM (SELECT 1 AS \"1\") AS \"x\"", `["1y"]`)
	want(t, s, "SET sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'")
	want(t, s, "SELECT \"x\", 1 || 0", `["x",true]`)
}
