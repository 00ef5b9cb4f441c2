package sqlengine

import (
	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
)

// steps runs what a change of a table needs in commits of its own.
func (st *statement) steps(t target, table *log.Table, list []ddl.Step) error {
	return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "%s is not supported by this version", list[0])
}

// rewriteFiles writes files anew inside a transaction, without changing rows.
func (st *statement) rewriteFiles(tx *txn.Transaction, view *log.Snapshot, files ddl.FileSet) error {
	if files == ddl.FilesNone || view.Files().Len() == 0 {
		return nil
	}
	return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the change needs %s to be written anew, which this version does not do", files)
}

// dropFeature is ALTER TABLE ... DROP FEATURE.
func (st *statement) dropFeature(t target, table *log.Table, a *parse.DropFeature) (*Result, error) {
	return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "DROP FEATURE is not supported by this version").At(a.Pos.Line, a.Pos.Column)
}
