package sqlengine

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/check"
)

// Check verifies a table's log and files without changing them, and reports each fault as it is found; package check says what is
// looked at. The name is a path, or database.table of the catalog. The error says why the table could not be checked at all.
func (s *Session) Check(ctx context.Context, name string, options check.Options, report func(check.Fault)) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = recovered(fault)
		}
		if err != nil {
			err = translate(err, "")
		}
	}()
	folder, err := s.tableFolder(ctx, name)
	if err != nil {
		return err
	}
	files, err := s.engine.catalog.store(folder)
	if err != nil {
		return protocol.NewError("DELTASQL_STORAGE", "the folder %s cannot be opened", folder).WithCause(err)
	}
	release, err := s.engine.admit(ctx)
	if err != nil {
		return err
	}
	defer release()
	instance, err := s.engine.duck()
	if err != nil {
		return err
	}
	return check.Table(ctx, check.Target{Name: name, Files: files, DuckDB: instance}, options, report)
}

// tableFolder finds a table by its path, else by its name in the catalog.
func (s *Session) tableFolder(ctx context.Context, name string) (string, error) {
	path, err := localPath(name)
	if err != nil {
		return "", err
	}
	if isTable(path) {
		return path, nil
	}
	database, table := s.Database(), name
	if before, after, ok := strings.Cut(name, "."); ok {
		database, table = before, after
	}
	if found, err := s.engine.catalog.database(ctx, database); err == nil {
		if inCatalog, err := s.engine.catalog.find(ctx, found, table); err == nil && inCatalog != "" {
			return inCatalog, nil
		}
	}
	return "", checkTableFolder(path, name)
}
