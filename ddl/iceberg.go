package ddl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

const propIcebergCompat = "delta.enableIcebergCompatV"

// icebergVersions are the versions of Iceberg compatibility that a configuration switches on, lowest first; more than one is
// a fault that icebergRules reports.
func icebergVersions(config map[string]string) []int {
	var on []int
	for version := 1; version <= 3; version++ {
		if isOn(config, propIcebergCompat+strconv.Itoa(version)) {
			on = append(on, version)
		}
	}
	return on
}

// icebergVersion is the version that is on, 0 for none.
func icebergVersion(config map[string]string) int {
	if on := icebergVersions(config); len(on) > 0 {
		return on[0]
	}
	return 0
}

// violation is a broken rule of Iceberg compatibility.
func violation(version int, class, format string, args ...any) *protocol.Error {
	args = append([]any{version}, args...)
	return protocol.NewError(protocol.Class("DELTA_ICEBERG_COMPAT_VIOLATION."+class), "IcebergCompatV%d: "+format, args...)
}

// universalFormat: a table that Iceberg readers read must be compatible; where compatibility is switched off, the format
// goes with it. Hudi has no deletion vectors and fewer types.
func (u *update) universalFormat() error {
	text, _ := setting(u.config, propUniversalFormats)
	formats := strings.Split(text, ",")
	if slices.Contains(formats, "hudi") {
		fail := func(class, format string, args ...any) error {
			return protocol.NewError(protocol.Class("DELTA_UNIVERSAL_FORMAT_VIOLATION."+class), "Universal Format (Hudi): "+format, args...)
		}
		if isOn(u.config, propVectors) {
			return fail("HUDI_DELETE_VECTORS_NOT_SUPPORTED", "deletion vectors must be off (%s)", propVectors)
		}
		for _, kind := range []protocol.Kind{protocol.KindVoid, protocol.KindByte, protocol.KindShort, protocol.KindTimestampNTZ, protocol.KindGeometry, protocol.KindGeography, protocol.KindFile} {
			if u.schema.Holds(kind) {
				return fail("HUDI_UNSUPPORTED_DATA_TYPE", "the schema has the type %s", protocol.DataType{Kind: kind})
			}
		}
	}
	if !slices.Contains(formats, "iceberg") || icebergVersion(u.config) > 0 {
		return nil
	}
	if icebergVersion(u.oldConfig()) == 0 {
		return protocol.NewError("DELTA_UNIVERSAL_FORMAT_VIOLATION.ICEBERG_COMPAT_REQUIRED", "Universal Format (Iceberg) needs a version of Iceberg compatibility").
			WithHint("set delta.enableIcebergCompatV2 = true as well")
	}
	formats = slices.DeleteFunc(formats, func(f string) bool { return f == "iceberg" })
	if len(formats) == 0 {
		delete(u.config, propUniversalFormats)
	} else {
		u.config[propUniversalFormats] = strings.Join(formats, ",")
	}
	return nil
}

// icebergSettings switches on what compatibility rests on, where a table is made and the user has not said otherwise. A
// table that is there is told what it lacks instead.
func (u *update) icebergSettings() error {
	for _, version := range icebergVersions(u.config) {
		if mode := u.mode(); mode != protocol.MappingName && mode != protocol.MappingID {
			if _, said := setting(u.config, propMappingMode); said || !u.creating {
				return violation(version, "WRONG_REQUIRED_TABLE_PROPERTY", "the table property %s must be name; it is %s", propMappingMode, mode)
			}
			u.config[propMappingMode] = string(protocol.MappingName)
		}
		if version >= 3 && !isOn(u.config, propRowTracking) {
			_, said := setting(u.config, propRowTracking)
			// Rows of files that are there have no ids yet: giving them some is a statement's own work.
			if said || u.old != nil && !u.creating && u.old.NumFiles > 0 {
				return violation(version, "WRONG_REQUIRED_TABLE_PROPERTY", "the table property %s must be true", propRowTracking).
					WithHint("set both properties in one statement")
			}
			u.config[propRowTracking] = "true"
		}
		if _, said := setting(u.config, propAtomicConversion); !said && u.creating {
			u.config[propAtomicConversion] = "true"
			if was, ok := setting(u.oldConfig(), propAtomicConversion); ok {
				u.config[propAtomicConversion] = was
			}
		}
	}
	return nil
}

// icebergRules checks the table as it will be against the version that is on (protocol digest, "Iceberg compatibility").
func (u *update) icebergRules(config *protocol.TableConfig) error {
	was, now := icebergVersion(u.oldConfig()), icebergVersions(u.config)
	if was >= 3 && !slices.ContainsFunc(now, func(v int) bool { return v >= 3 }) {
		return violation(was, "DISABLING_REQUIRED_TABLE_FEATURE", "it cannot be switched off again")
	}
	if len(now) == 0 {
		return nil
	}
	version := now[0]
	if len(now) > 1 {
		return violation(version, "VERSION_MUTUAL_EXCLUSIVE", "only one version of Iceberg compatibility can be on").
			WithHint("set %s%d = false", propIcebergCompat, now[1])
	}
	if u.old != nil && !u.creating && version >= 3 && was < 3 && u.old.Config.Active("rowTracking") {
		return violation(version, "INCOMPATIBLE_TABLE_FEATURE", "it cannot be switched on while row tracking is on already").
			WithHint("switch %s off first", propRowTracking)
	}
	if err := icebergTypes(version, config); err != nil {
		return err
	}
	if u.old != nil {
		before := u.old.Config.Metadata.PartitionColumns
		if len(before) > 0 && !slices.Equal(before, config.Metadata.PartitionColumns) {
			return violation(version, "REPLACE_TABLE_CHANGE_PARTITION_NAMES", "a table partitioned by (%s) cannot be partitioned by (%s)",
				strings.Join(before, ", "), strings.Join(config.Metadata.PartitionColumns, ", "))
		}
	}
	if version < 3 {
		if config.Active("deletionVectors") || u.old != nil && u.old.Config.Active("deletionVectors") {
			return violation(version, "DELETION_VECTORS_SHOULD_BE_DISABLED", "deletion vectors must be switched off first (%s = false)", propVectors).
				WithHint("then run REORG TABLE ... APPLY (PURGE)")
		}
		if u.old != nil && !u.creating && u.old.NumVectors > 0 {
			return violation(version, "DELETION_VECTORS_NOT_PURGED", "%d files still have deletion vectors", u.old.NumVectors).
				WithHint("run REORG TABLE ... APPLY (PURGE)")
		}
	}
	if err := icebergWidening(version, config.Schema); err != nil {
		return err
	}
	if u.icebergRewrite(was, version, config) {
		return violation(version, "CHANGE_VERSION_NEED_REWRITE", "the %d data files of the table were written without it, and may lack what it asks of files", u.old.NumFiles).
			WithHint("create a table with %s%d = true and copy the rows into it", propIcebergCompat, version)
	}
	if version >= 3 {
		for _, f := range config.Schema.Fields {
			if text, ok := f.Metadata.CurrentDefault(); ok && !literalText.MatchString(strings.TrimSpace(text)) {
				return violation(version, "UNSUPPORTED_DATA_TYPE", "the default of the column %s must be a literal, not %s", f.Name, text)
			}
		}
	}
	return nil
}

// icebergRewrite tells whether a version is switched on over files that need not be as it asks: with partition columns in them, from
// the second version on with field ids of elements, keys and values, and instants of 64 bits. The reference takes the first version
// over any files, for its own always hold the partition columns.
func (u *update) icebergRewrite(was, version int, config *protocol.TableConfig) bool {
	if u.old == nil || u.creating || u.old.NumFiles == 0 || was >= version {
		return false
	}
	return version >= 2 || len(config.PartitionColumns) > 0
}

// literalText are the literals of SQL, as far as a default may be one: numbers, texts, booleans, NULL, typed texts.
var literalText = regexp.MustCompile(`(?is)^([+-]? *[0-9.]+(e[+-]?[0-9]+)?(l|s|y|f|d|bd)?|null|true|false|(r|x|date|timestamp|timestamp_ntz|timestamp_ltz)? *('([^'\\]|\\.|'')*'|"([^"\\]|\\.)*"))$`)

func icebergTypes(version int, config *protocol.TableConfig) error {
	allowed := func(kind protocol.Kind, partition bool) bool {
		switch kind {
		case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindFloat, protocol.KindDouble, protocol.KindDecimal,
			protocol.KindString, protocol.KindBinary, protocol.KindBoolean, protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
			return true
		case protocol.KindStruct:
			return !partition
		case protocol.KindArray, protocol.KindMap:
			return !partition && version >= 2
		case protocol.KindVariant, protocol.KindGeometry, protocol.KindGeography:
			return !partition && version >= 3
		}
		return false
	}
	for kind := protocol.KindVoid; kind <= protocol.KindStruct; kind++ {
		if config.Schema.Holds(kind) && !allowed(kind, false) {
			return violation(version, "UNSUPPORTED_DATA_TYPE", "the schema has the type %s", kindName(kind))
		}
	}
	for _, i := range config.PartitionColumns {
		if f := config.Schema.Fields[i]; !allowed(f.Type.Kind, true) {
			return violation(version, "UNSUPPORTED_PARTITION_DATA_TYPE", "the partition column %s has the type %s", f.Name, f.Type)
		}
	}
	return nil
}

func kindName(kind protocol.Kind) string {
	switch kind {
	case protocol.KindArray:
		return "array"
	case protocol.KindMap:
		return "map"
	case protocol.KindStruct:
		return "struct"
	}
	return protocol.DataType{Kind: kind}.String()
}

// icebergWidening refuses recorded changes of types that Iceberg does not know.
func icebergWidening(version int, schema protocol.DataType) error {
	return walk(&schema, func(path Path, f *protocol.Field) error {
		changes, err := f.Metadata.TypeChanges()
		if err != nil {
			return err
		}
		for _, c := range changes {
			if !icebergFollows(c.From, c.To) && protocol.CanWiden(c.From, c.To) {
				return violation(version, "UNSUPPORTED_TYPE_WIDENING", "the column %s was changed from %s to %s", path, c.From, c.To)
			}
		}
		return nil
	})
}
