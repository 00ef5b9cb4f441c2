package ddl

import (
	"slices"
	"strings"

	"deltasql/protocol"
)

func geoColumns(s *DropState) []string {
	return columnsOfType(s, protocol.KindGeometry, protocol.KindGeography)
}

func leftGeo(s *DropState) string { return strings.Join(geoColumns(s), ", ") }

var identityKeys = []string{"delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert", metaKeyHighWaterMark}

func columnsOf(schema protocol.DataType, keys ...string) []string {
	var names []string
	_ = walk(&schema, func(path Path, f *protocol.Field) error {
		if slices.ContainsFunc(keys, func(key string) bool { _, ok := f.Metadata[key]; return ok }) {
			names = append(names, path.String())
		}
		return nil
	})
	return names
}

func columnsWith(keys ...string) func(*DropState) []string {
	return func(s *DropState) []string { return columnsOf(s.Config.Schema, keys...) }
}

// invariantColumns are the fields, inside collections too, that keep NULL out or have an invariant.
func invariantColumns(s *DropState) []string {
	names := columnsOf(s.Config.Schema, metaKeyInvariants)
	_ = walk(&s.Config.Schema, func(path Path, f *protocol.Field) error {
		if !f.Nullable {
			names = append(names, path.String())
		}
		return nil
	})
	return names
}

func columnsOfType(s *DropState, kinds ...protocol.Kind) []string {
	var names []string
	for _, f := range s.Config.Schema.Fields {
		if slices.ContainsFunc(kinds, f.Type.Holds) {
			names = append(names, string(f.Name))
		}
	}
	return names
}

func leftColumns(columns func(*DropState) []string) func(*DropState) string {
	return func(s *DropState) string { return strings.Join(columns(s), ", ") }
}

// inUse refuses as long as columns use the feature: what the table's columns are is the user's to change.
func inUse(feature, what, hint string, columns func(*DropState) []string) func(*DropState) error {
	return func(s *DropState) error {
		names := columns(s)
		if len(names) == 0 {
			return nil
		}
		e := protocol.NewError("DELTASQL_FEATURE_IN_USE", "the table feature %s cannot be dropped: there is %s: %s", feature, what, strings.Join(names, ", "))
		if hint != "" {
			e = e.WithHint("%s", hint)
		}
		return e
	}
}

// otherName is the feature's second name: a preview and its stable successor stand for one another.
func otherName(feature string) string {
	if stable, preview := strings.CutSuffix(feature, "-preview"); preview {
		return stable
	}
	return feature + "-preview"
}

func typeColumns(feature string, kind protocol.Kind) func(*DropState) []string {
	return func(s *DropState) []string {
		if s.Config.Supports(otherName(feature)) {
			return nil
		}
		return columnsOfType(s, kind)
	}
}

func typeInUse(feature string, kind protocol.Kind) func(*DropState) error {
	return inUse(feature, "a column of the type "+protocol.DataType{Kind: kind}.String(), "drop the columns first", typeColumns(feature, kind))
}

func leftType(feature string, kind protocol.Kind) func(*DropState) string {
	return leftColumns(typeColumns(feature, kind))
}

func metadataTrace(uses func(*protocol.Metadata) bool) func(protocol.Action) bool {
	return func(a protocol.Action) bool { return a.Metadata != nil && uses(a.Metadata) }
}

func typeTrace(kind protocol.Kind) func(protocol.Action) bool {
	return metadataTrace(func(m *protocol.Metadata) bool {
		schema, err := protocol.ParseSchema(m.SchemaString)
		return err != nil || schema.Holds(kind)
	})
}
