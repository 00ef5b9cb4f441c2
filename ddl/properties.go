package ddl

import (
	"maps"
	"slices"
	"strings"

	"deltasql/protocol"
)

const sessionDefaultPrefix = "spark.databricks.delta.properties.defaults."

// Keys that configure the protocol (M2) and a few others that the rules below name.
const (
	propMinReader          = "delta.minReaderVersion"
	propMinWriter          = "delta.minWriterVersion"
	propIgnoreDefaults     = "delta.ignoreProtocolDefaults"
	propMappingMode        = "delta.columnMapping.mode"
	propMaxColumnID        = "delta.columnMapping.maxColumnId"
	propRowIDColumn        = "delta.rowTracking.materializedRowIdColumnName"
	propRowVersionColumn   = "delta.rowTracking.materializedRowCommitVersionColumnName"
	propTimestampSince     = "delta.inCommitTimestampEnablementTimestamp"
	propVersionSince       = "delta.inCommitTimestampEnablementVersion"
	propAtomicConversion   = "delta.universalFormat.iceberg.atomicConversion.supported"
	propUniversalFormats   = "delta.universalFormat.enabledFormats"
	propProtectedBefore    = "delta.requireCheckpointProtectionBeforeVersion"
	propRowTracking        = "delta.enableRowTracking"
	propRowTrackingSuspend = "delta.rowTrackingSuspended"
	propVectors            = "delta.enableDeletionVectors"
	propChangeFeed         = "delta.enableChangeDataFeed"
	propTimestamps         = "delta.enableInCommitTimestamps"
	propLogRetention       = "delta.logRetentionDuration"
	propFileRetention      = "delta.deletedFileRetentionDuration"
	propStatsColumns       = "delta.dataSkippingStatsColumns"
	propManifest           = "delta.compatibility.symlinkFormatManifest.enabled"
	propClustering         = protocol.PropertyPrefixFeature + "clustering"
)

// systemProperties are written by writers themselves; a user who sets one would break what it stands for.
var systemProperties = map[string]bool{
	propMaxColumnID: true, propRowIDColumn: true, propRowVersionColumn: true, propTimestampSince: true, propVersionSince: true,
	propProtectedBefore: true, "delta.columnMapping.hasDroppedOrRenamed": true, "delta.coordinatedCommits.tableConf-preview": true,
	"io.unitycatalog.tableId": true, "clusteringColumns": true,
}

// CheckProperties spells what a user set in TBLPROPERTIES as it is stored, and checks names and values (protocol digest,
// "Table properties"). What depends on the schema or on what the table has already is left to UpdateMetadata. The key
// "comment" comes back as it is: it is the table's description.
func CheckProperties(given map[string]string, env Env) (map[string]string, error) {
	out := make(map[string]string, len(given))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		name, known := protocol.CanonicalProperty(key)
		if !known && !env.ArbitraryProperties {
			return nil, unknownProperty(key)
		}
		switch strings.ToLower(name) {
		case "location", "provider", "owner", "external", "is_managed_location":
			return nil, protocol.NewError("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY", "%s is a reserved table property", key).
				WithHint("location and provider have clauses of their own: LOCATION and USING")
		}
		if systemProperties[name] {
			return nil, protocol.NewError("DELTA_CANNOT_MODIFY_TABLE_PROPERTY", "the table property %s is written by the system and cannot be set", name)
		}
		if other, twice := out[name]; twice && other != given[key] {
			return nil, protocol.NewError("DUPLICATE_KEY", "the table property %s is given twice, as %q and %q", name, other, given[key])
		}
		if err := protocol.CheckProperty(name, given[key]); err != nil {
			return nil, err
		}
		if err := refusedProperty(name, given[key]); err != nil {
			return nil, err
		}
		out[name] = given[key]
	}
	return out, nil
}

// refusedProperty are settings whose duties this product does not carry.
func refusedProperty(name, value string) error {
	lacking := ""
	switch name {
	case "delta.enableIcebergWriterCompatV1", "delta.enableIcebergWriterCompatV3":
		if strings.EqualFold(value, "true") {
			lacking = "its rules for physical names and ids are not built"
		}
	case "delta.redirectReaderWriter-preview", "delta.redirectWriterOnly-preview":
		lacking = "redirects are not built"
	case "delta.coordinatedCommits.commitCoordinator-preview", "delta.coordinatedCommits.commitCoordinatorConf-preview":
		lacking = "there is no commit coordinator"
	}
	if lacking == "" {
		return nil
	}
	return protocol.NewError("DELTASQL_UNSUPPORTED_PROPERTY", "the table property %s cannot be set to %q: %s", name, value, lacking)
}

func unknownProperty(key string) error {
	err := protocol.NewError("DELTA_UNKNOWN_CONFIGURATION", "there is no table property %s", key)
	best, distance := "", 1+len(key)/3
	for _, name := range protocol.PropertyNames() {
		if d := editDistance(strings.ToLower(key), strings.ToLower(name), distance); d < distance {
			best, distance = name, d
		}
	}
	if best != "" {
		return err.WithHint("did you mean %s? keys of your own must not start with delta.", best)
	}
	return err.WithHint("keys of your own must not start with delta.")
}

// editDistance counts insertions, deletions and replacements; what reaches the limit counts as the limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}

// isProtocolProperty tells the keys that are never stored (M2).
func isProtocolProperty(name string) bool {
	return name == propMinReader || name == propMinWriter || name == propIgnoreDefaults || strings.HasPrefix(name, protocol.PropertyPrefixFeature)
}

// withSessionDefaults adds the session's defaults to the properties of a table in the making; what the user set wins.
// delta.ignoreProtocolDefaults, from either side, leaves those out that configure the protocol.
func withSessionDefaults(config map[string]string, env Env) (map[string]string, error) {
	defaults := map[string]string{}
	for key, value := range env.SessionDefaults {
		name, known := protocol.CanonicalProperty("delta." + strings.TrimPrefix(key, sessionDefaultPrefix))
		if !known || systemProperties[name] {
			continue // the reference looks for the names it knows and no other
		}
		if err := protocol.CheckProperty(name, value); err != nil {
			return nil, err
		}
		if err := refusedProperty(name, value); err != nil {
			return nil, err
		}
		defaults[name] = value
	}
	ignore, ok := config[propIgnoreDefaults]
	if !ok {
		ignore = defaults[propIgnoreDefaults]
	}
	out := map[string]string{}
	for name, value := range defaults {
		if !isProtocolProperty(name) || !strings.EqualFold(ignore, "true") {
			out[name] = value
		}
	}
	maps.Copy(out, config)
	if strings.EqualFold(ignore, "true") {
		out[propIgnoreDefaults] = "true"
	}
	return out, nil
}

// setting is the value of a property in a configuration, whatever the spelling of its name; "" where it is not set.
func setting(config map[string]string, name string) (string, bool) {
	if value, ok := config[name]; ok {
		return value, true
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if strings.EqualFold(key, name) && strings.HasPrefix(name, "delta.") {
			return config[key], true
		}
	}
	return "", false
}

func isOn(config map[string]string, name string) bool {
	value, _ := setting(config, name)
	return strings.EqualFold(value, "true")
}

// checkRetention keeps tombstones from outliving the log that tells of them.
func checkRetention(config map[string]string) error {
	duration := func(name, fallback string) (int64, string, error) {
		value, ok := setting(config, name)
		if !ok {
			value = fallback
		}
		millis, err := protocol.ParseIntervalMillis(value)
		return millis, value, err
	}
	_, log := setting(config, propLogRetention)
	_, files := setting(config, propFileRetention)
	if !log && !files {
		return nil
	}
	logMillis, logText, err := duration(propLogRetention, "interval 30 days")
	if err != nil {
		return err
	}
	fileMillis, fileText, err := duration(propFileRetention, "interval 1 week")
	if err != nil {
		return err
	}
	if logMillis < fileMillis {
		return protocol.NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "%s (%s) must not be shorter than %s (%s)",
			propLogRetention, logText, propFileRetention, fileText)
	}
	return nil
}
