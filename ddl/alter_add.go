package ddl

import (
	"encoding/json"
	"slices"
	"strings"

	"deltasql/protocol"
)

// AddColumns is ADD COLUMNS. Rows that are there read NULL in the new columns, whatever default they have.
type AddColumns struct {
	Columns     []NewColumn
	IfNotExists bool // a column that is there is left as it is
}

// NewColumn is a column to add: a field of the table, or of a struct inside it.
type NewColumn struct {
	Parent Path // leads to a struct; empty for a column of the table
	// Field has the name, the type and, in its metadata, the comment, CURRENT_DEFAULT, the type of a CHAR or VARCHAR, the
	// generation expression or the identity. Not nullable is NOT NULL.
	Field protocol.Field
	First bool
	After string // a sibling; "" and not First: behind the others
	// Backfill is for rows that are there to get the default or the generated value too, in the same commit: the caller writes them
	// anew.
	Backfill bool
	// Refers are the columns that a generation expression refers to.
	Refers []Path
}

func (s AddColumns) apply(a *alteration) error {
	seen := map[string]bool{}
	for _, c := range s.Columns {
		path := append(slices.Clone(c.Parent), string(c.Field.Name))
		key := strings.ToLower(strings.Join(path, "\x00"))
		if seen[key] {
			return protocol.NewError("COLUMN_ALREADY_EXISTS", "the column %s is added twice", path)
		}
		seen[key] = true
	}
	e := entry{operation: "ADD COLUMNS", schema: true}
	for _, c := range s.Columns {
		parent := &a.schema
		var at *place
		if len(c.Parent) > 0 {
			var err error
			if at, err = find(&a.schema, c.Parent); err != nil {
				return err
			}
			c.Parent, parent = at.path, at.dataType()
			if err := a.keepsGeneratedType(c.Parent); err != nil {
				return err
			}
		}
		path := append(slices.Clone(c.Parent), string(c.Field.Name))
		if parent.Kind != protocol.KindStruct {
			return notStruct(path, c.Parent)
		}
		if parent.Lookup(string(c.Field.Name)) >= 0 {
			if s.IfNotExists {
				a.warn("the column " + path.String() + " is there already")
				continue
			}
			return protocol.NewError("FIELD_ALREADY_EXISTS", "the column %s cannot be added: it exists already", path)
		}
		f, err := a.newField(path, c, at != nil && (at.inside || at.index < 0))
		if err != nil {
			return err
		}
		index := len(parent.Fields)
		switch {
		case c.First:
			index = 0
		case c.After != "":
			sibling := parent.Lookup(c.After)
			if sibling < 0 {
				return protocol.NewError("FIELD_NOT_FOUND", "there is no column %s for %s to come after", c.After, path).
					WithHint("the names there are: %s", strings.Join(fieldNames(parent), ", "))
			}
			index = sibling + 1
		}
		parent.Fields = slices.Insert(parent.Fields, index, f)
		item := `{"column":` + columnJSON(path, f)
		if at := position(c.First, c.After); at != "" {
			item += `,"position":` + string(jsonText(at))
		}
		e.items = append(e.items, json.RawMessage(item+"}"))
	}
	if len(e.items) > 0 {
		a.record(e)
	}
	return nil
}

// newField is the field as it is stored. What old rows could not satisfy is allowed only where there are none.
func (a *alteration) newField(path Path, c NewColumn, inside bool) (protocol.Field, error) {
	f := c.Field
	f.Type = copyType(f.Type)
	metadata := protocol.FieldMetadata{}
	for key, value := range f.Metadata {
		if !slices.Contains(mappingKeys, key) && key != metaKeyTypeChanges && key != metaKeyExistsDefault {
			metadata[key] = value
		}
	}
	f.Metadata = metadata
	if stripMapping(&f.Type); len(metadata) == 0 {
		f.Metadata = nil
	}
	for _, name := range []string{"delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName"} {
		if internal, ok := a.property(name); ok && internal != "" && strings.EqualFold(internal, string(f.Name)) {
			return f, protocol.NewError("DELTA_ADDING_COLUMN_WITH_INTERNAL_NAME_FAILED", "the column %s cannot be added: row tracking uses the name", f.Name)
		}
	}
	_, generated := f.Metadata.GenerationExpression()
	_, hasIdentity := f.Metadata.Identity()
	_, hasDefault := f.Metadata.CurrentDefault()
	if len(path) > 1 && (generated || hasIdentity || hasDefault) {
		return f, notAllowed("a default, a generation expression or an identity inside the struct of %s", path)
	}
	if err := checkCollations(protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{f}}); err != nil {
		return f, err
	}
	if !f.Nullable && inside {
		return f, nestedNotNull(path)
	}
	var needsEmpty string
	switch {
	case generated:
		if !c.Backfill {
			needsEmpty = "a generated column"
		}
		a.metadata.Configuration[protocol.PropertyPrefixFeature+"generatedColumns"] = "supported"
		a.deps.Generated[string(f.Name)] = c.Refers
	case hasIdentity:
		needsEmpty = "an identity column"
		a.metadata.Configuration[protocol.PropertyPrefixFeature+"identityColumns"] = "supported"
	case !f.Nullable && !c.Backfill:
		needsEmpty = "NOT NULL"
	}
	if needsEmpty != "" {
		refusal := notAllowed("%s in ALTER TABLE ADD COLUMNS (column %s) of a table with rows, which would have NULL there", needsEmpty, path)
		if generated || hasIdentity {
			refusal.WithHint("write the table anew: CREATE OR REPLACE TABLE with the column, and INSERT the rows of the version before")
		} else {
			refusal.WithHint("add a nullable column, fill it by UPDATE, then ALTER COLUMN %s SET NOT NULL", path)
		}
		if a.old.NumFiles > 0 {
			return f, refusal
		}
		a.checks = append(a.checks, Check{Kind: CheckNoRows, Refusal: refusal})
	}
	if c.Backfill && !hasDefault && !generated {
		return f, protocol.NewError(protocol.ClassInternal, "the column %s is to be filled and has no default", path)
	}
	if hasDefault && a.old.NumFiles > 0 && !c.Backfill {
		a.warn("rows that are in the table read NULL in " + path.String() + ": its default is for new rows")
	}
	return f, nil
}

// notAllowed is the class of what the reference does not do on Delta tables.
func notAllowed(format string, args ...any) *protocol.Error {
	e := protocol.NewError("DELTA_OPERATION_NOT_ALLOWED", format, args...)
	e.Message = "not allowed: " + e.Message
	return e
}

func nestedNotNull(path Path) *protocol.Error {
	return protocol.NewError("DELTA_NESTED_NOT_NULL_CONSTRAINT", "%s cannot be NOT NULL: it is inside an array or a map, where that cannot be enforced", path)
}
