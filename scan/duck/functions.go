package duck

/*
#include "digest.h"
#include "notes.h"
#include "rowset.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// cFunction is one of the C functions that every database has.
type cFunction struct {
	name    string
	params  []bindings.Type
	answer  bindings.Type
	address unsafe.Pointer
	nulls   bool // called for NULL arguments too; DuckDB answers NULL itself for the others
	each    bool // called for every row, even where its arguments are constants
}

// registerFunctions makes the C functions known to a database.
func registerFunctions(conn *connection) error {
	rows := []bindings.Type{bindings.TypeBigInt, bindings.TypeUBigInt, bindings.TypeBigInt}
	column := []bindings.Type{bindings.TypeBigInt, bindings.TypeInteger, bindings.TypeUBigInt}
	note := []bindings.Type{bindings.TypeBigInt, bindings.TypeInteger, bindings.TypeVarchar}
	for _, f := range []cFunction{
		{name: "delta_live", params: rows, answer: bindings.TypeBoolean, address: C.deltasql_delta_live()},
		{name: "delta_int", params: column, answer: bindings.TypeBigInt, address: C.deltasql_delta_int()},
		{name: "delta_str", params: column, answer: bindings.TypeVarchar, address: C.deltasql_delta_str()},
		{name: "delta_note", params: note, answer: bindings.TypeVarchar, address: C.deltasql_delta_note(), nulls: true},
		{name: "delta_note_each", params: note, answer: bindings.TypeVarchar, address: C.deltasql_delta_note(), nulls: true, each: true},
		{name: "delta_sha2", params: []bindings.Type{bindings.TypeBlob, bindings.TypeInteger}, answer: bindings.TypeVarchar, address: C.deltasql_delta_sha2()},
		{name: "delta_inet6_aton", params: []bindings.Type{bindings.TypeVarchar}, answer: bindings.TypeBlob, address: C.deltasql_delta_inet6_aton()},
		{name: "delta_inet6_ntoa", params: []bindings.Type{bindings.TypeBlob}, answer: bindings.TypeVarchar, address: C.deltasql_delta_inet6_ntoa()},
		{name: "delta_json_merge", params: []bindings.Type{bindings.TypeVarchar, bindings.TypeVarchar}, answer: bindings.TypeVarchar, address: C.deltasql_delta_json_merge()},
	} {
		if err := f.register(conn); err != nil {
			return err
		}
	}
	return nil
}

func (f cFunction) register(conn *connection) error {
	function := bindings.CreateScalarFunction()
	defer bindings.DestroyScalarFunction(&function)
	bindings.ScalarFunctionSetName(function, f.name)
	for _, param := range f.params {
		paramType := bindings.CreateLogicalType(param)
		bindings.ScalarFunctionAddParameter(function, paramType)
		bindings.DestroyLogicalType(&paramType)
	}
	answer := bindings.CreateLogicalType(f.answer)
	bindings.ScalarFunctionSetReturnType(function, answer)
	bindings.DestroyLogicalType(&answer)
	bindings.ScalarFunctionSetFunction(function, f.address)
	if f.nulls {
		bindings.ScalarFunctionSetSpecialHandling(function)
	}
	if f.each {
		bindings.ScalarFunctionSetVolatile(function)
	}
	if bindings.RegisterScalarFunction(conn.handle, function) != bindings.StateSuccess {
		return fmt.Errorf("open DuckDB: cannot register %s", f.name)
	}
	return nil
}
