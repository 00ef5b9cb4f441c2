package sqlengine

import (
	"context"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
)

func TestCheckTakesNamesOfTheCatalog(t *testing.T) {
	engine := openEngine(t, Options{Catalog: "../testdata/warehouse"})
	session := openSession(t, engine, SessionOptions{})
	for _, name := range []string{"default.people", "people", "DEFAULT.People"} {
		if err := session.Check(context.Background(), name, check.Options{}, func(f check.Fault) { t.Errorf("%s: %v", name, f) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, class := range map[string]protocol.Class{
		"default.nobody": "DELTA_PATH_DOES_NOT_EXIST", "../testdata": "DELTA_TABLE_ONLY_OPERATION", "s3://b/t": "DELTASQL_STORAGE",
	} {
		err := session.Check(context.Background(), name, check.Options{}, func(f check.Fault) { t.Errorf("%s: %v", name, f) })
		if protocol.ClassOf(err) != class {
			t.Errorf("%s: %v, want %s", name, err, class)
		}
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	session := openSession(t, openEngine(t, Options{}), SessionOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := session.Check(ctx, "../testdata/warehouse/default/clustered", check.Options{}, func(f check.Fault) { t.Errorf("%v", f) })
	if protocol.ClassOf(err) != "DELTASQL_CANCELLED" {
		t.Errorf("got %v", err)
	}
}
