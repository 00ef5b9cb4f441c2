package sqlengine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// A folder of tables is opened, a query's rows are read batch by batch, and an error is told by its class.
func Example() {
	ctx := context.Background()
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: "../testdata/warehouse", Memory: "1GB", ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}

	result, err := session.Execute(ctx, "SELECT id, name FROM people WHERE name IS NOT NULL ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	for _, column := range result.Columns {
		fmt.Println(column.Name, column.Type, column.Nullable)
	}
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		id, name := batch.Vector(0), batch.Vector(1)
		for row := range batch.Len() {
			fmt.Println(id.Int64(row), name.Text(row))
		}
	}

	_, err = session.Execute(ctx, "SELECT * FROM peple")
	var fault *protocol.Error
	if errors.As(err, &fault) {
		fmt.Println(fault.Class, "-", fault.Hint)
	}
	// Output:
	// id int false
	// name string true
	// 1 Ada
	// 2 Grace
	// 3 Édgar
	// DELTA_TABLE_NOT_FOUND - did you mean default.people?
}

// Time travel is part of a table's name in SQL, and a session variable for a whole session.
func ExampleSession_Execute_timeTravel() {
	ctx := context.Background()
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: "../testdata/warehouse", Memory: "1GB"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.NewSession(sqlengine.SessionOptions{Settings: map[string]string{"deltasql_as_of": "1"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, sql := range []string{"SELECT count(*) FROM people", "SELECT count(*) FROM people VERSION AS OF 3"} {
		result, err := session.Execute(ctx, sql)
		if err != nil {
			log.Fatal(err)
		}
		batch, err := result.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Vector(0).Int64(0))
		result.Close()
	}
	// Output:
	// 2
	// 4
}
