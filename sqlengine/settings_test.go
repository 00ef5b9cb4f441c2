package sqlengine

import (
	"testing"
	"time"

	"deltasql/protocol"
)

func TestSettings(t *testing.T) {
	for _, test := range []struct{ name, value, class string }{
		{"deltasql_dialect", "mysql", ""},
		{"DELTASQL_DIALECT", "Spark", ""},
		{"deltasql_dialect", "oracle", "INVALID_PARAMETER_VALUE"},
		{"deltasql_dialekt", "mysql", "UNRESOLVED_VARIABLE"},
		{"spark.sql.session.timeZone", "Europe/Berlin", ""},
		{"time_zone", "+02:00", ""},
		{"time_zone", "Mars/Olympus", "INVALID_PARAMETER_VALUE"},
		{"spark.databricks.delta.properties.defaults.enableDeletionVectors", "true", ""},
		{"spark.sql.ansi.enabled", "true", ""},
		{"spark.sql.ansi.enabled", "false", "INVALID_PARAMETER_VALUE"},
		{"version", "9", "INVALID_PARAMETER_VALUE"},
		{"deltasql_clock_advance", "INTERVAL 7 DAYS", ""},
		{"deltasql_clock_advance", "7 moons", "INVALID_PARAMETER_VALUE"},
	} {
		err := newSettings().set(test.name, test.value)
		if test.class == "" && err != nil || test.class != "" && string(protocol.ClassOf(err)) != test.class {
			t.Errorf("SET %s = %s: %v, want %q", test.name, test.value, err, test.class)
		}
	}
}

func TestSettingsShareNames(t *testing.T) {
	s := newSettings()
	if err := s.set("spark.databricks.delta.stats.skipping", "false"); err != nil || s.on("deltasql_skipping") {
		t.Errorf("the Spark key does not set deltasql_skipping: %v", err)
	}
	if value, ok := s.show("deltasql_skipping"); !ok || value != "false" {
		t.Errorf("deltasql_skipping shows %q", value)
	}
	if err := s.reset("deltasql_skipping"); err != nil || !s.on("deltasql_skipping") {
		t.Errorf("after RESET: %v", err)
	}
	if _, ok := s.show("spark.nothing.such"); ok {
		t.Error("an unset key has a value")
	}
	if err := s.set("spark.nothing.such", "x"); err != nil {
		t.Error(err)
	}
	if value, _ := s.show("spark.nothing.such"); value != "x" {
		t.Errorf("a Spark key without a meaning shows %q", value)
	}
	value, of, err := s.system("autocommit")
	if err != nil || value.Int != 1 || of.Kind != protocol.KindLong {
		t.Errorf("@@autocommit: %v %v %v", value, of, err)
	}
}

func TestEveryVariableStartsValid(t *testing.T) {
	for _, v := range variables {
		if v.check != nil && v.initial != "" {
			if err := v.check(v.initial); err != nil {
				t.Errorf("%s = %q: %v", v.name, v.initial, err)
			}
		}
		if v.help == "" {
			t.Errorf("%s has no help", v.name)
		}
	}
}

func TestParseClockAdvance(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "INTERVAL 7 DAYS": 7 * 24 * time.Hour, "interval '1' week": 7 * 24 * time.Hour, "1 day 2 hours": 26 * time.Hour, "90 seconds": 90 * time.Second,
	} {
		if got, err := parseClockAdvance(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"7", "INTERVAL", "x days", "1 month", "-1 days", "99999999999 weeks"} {
		if got, err := parseClockAdvance(text); err == nil && text != "INTERVAL" {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}
