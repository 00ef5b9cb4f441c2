package protocol

import (
	"math"
	"strconv"
	"strings"
)

// tableProperty is a table property with its built-in default; "" is no default.
type tableProperty struct {
	name     string
	fallback string
	rule     propertyRule
}

// tableProperties are the properties with a meaning, with the defaults of the reference. Session defaults play no part in reading:
// they are written into the table when it is made.
var tableProperties = []tableProperty{
	// These three configure the protocol and are never stored.
	{"delta.minReaderVersion", "", between(1, maxReaderVersion)},
	{"delta.minWriterVersion", "", between(1, maxWriterVersion)},
	{"delta.ignoreProtocolDefaults", "false", isBool},
	{"delta.appendOnly", "false", isBool},
	{"delta.autoOptimize", "", isBool},
	{"delta.autoOptimize.autoCompact", "", isAutoCompact},
	{"delta.autoOptimize.optimizeWrite", "", isBool},
	{"delta.checkpointInterval", "10", atLeast(1)},
	{"delta.checkpointRetentionDuration", "interval 2 days", isInterval},
	{"delta.checkpointPolicy", "classic", oneOf("classic", "v2")},
	{"delta.checkpoint.writeStatsAsJson", "true", isBool},
	{"delta.checkpoint.writeStatsAsStruct", "true", isBool},
	{"delta.columnMapping.mode", "none", oneOfFolded("none", "name", "id")},
	{"delta.columnMapping.maxColumnId", "0", isLong},
	{"delta.columnMapping.hasDroppedOrRenamed", "", isBool},
	{"delta.compatibility.symlinkFormatManifest.enabled", "false", isBool},
	{"delta.coordinatedCommits.commitCoordinator-preview", "", isAny},
	{"delta.coordinatedCommits.commitCoordinatorConf-preview", "{}", isTextMap},
	{"delta.coordinatedCommits.tableConf-preview", "{}", isTextMap},
	{"delta.dataSkippingNumIndexedCols", "32", atLeast(-1)},
	{"delta.dataSkippingStatsColumns", "", isColumnList},
	{"delta.dataSkippingStringPrefixLength", "32", atLeast(0)},
	{"delta.deletedFileRetentionDuration", "interval 1 week", isInterval},
	{"delta.dropFeatureTruncateHistory.retentionDuration", "interval 24 hours", isInterval},
	{"delta.enableChangeDataCapture", "false", isBool}, // the old name of the next
	{"delta.enableChangeDataFeed", "false", isBool},
	{"delta.enableDeletionVectors", "false", isBool},
	{"delta.enableExpiredLogCleanup", "true", isBool},
	{"delta.enableFullRetentionRollback", "true", isBool},
	{"delta.enableIcebergCompatV1", "", isBool},
	{"delta.enableIcebergCompatV2", "", isBool},
	{"delta.enableIcebergCompatV3", "", isBool},
	{"delta.enableIcebergWriterCompatV1", "false", isBool},
	{"delta.enableIcebergWriterCompatV3", "false", isBool},
	{"delta.enableInCommitTimestamps", "false", isBool},
	{"delta.inCommitTimestampEnablementVersion", "", isLong},
	{"delta.inCommitTimestampEnablementTimestamp", "", isLong},
	{"delta.enableMaterializePartitionColumnsFeature", "", isBool},
	{"delta.writePartitionColumnsToParquet", "", isBool},
	{"delta.enableRowTracking", "false", isBool},
	{"delta.rowTrackingSuspended", "false", isBool},
	{"delta.rowTracking.materializedRowIdColumnName", "", isAny},
	{"delta.rowTracking.materializedRowCommitVersionColumnName", "", isAny},
	{"delta.enableTypeWidening", "false", isBool},
	{"delta.enableVariantShredding", "false", isBool},
	{"delta.isolationLevel", "Serializable", oneOf("Serializable", "WriteSerializable")},
	{"delta.logRetentionDuration", "interval 30 days", isInterval},
	{"delta.sampleRetentionDuration", "interval 7 days", isInterval},
	{"delta.parquet.compression.codec", "zstd", oneOfFolded("uncompressed", "none", "snappy", "gzip", "lz4", "lz4_raw", "zstd")},
	{"delta.parquet.format.version", "1.0.0", isParquetVersion},
	{"delta.randomizeFilePrefixes", "false", isBool},
	{"delta.randomPrefixLength", "2", atLeast(1)},
	{"delta.redirectReaderWriter-preview", "", isAny},
	{"delta.redirectWriterOnly-preview", "", isAny},
	{"delta.requireCheckpointProtectionBeforeVersion", "0", atLeast(0)},
	{"delta.setTransactionRetentionDuration", "", isInterval},
	{"delta.targetFileSize", "", isByteSize},
	{"delta.tuneFileSizesForRewrites", "", isBool},
	{"delta.universalFormat.enabledFormats", "", isFormatList},
	{"delta.universalFormat.iceberg.atomicConversion.supported", "false", isBool},
	{"delta.castIcebergTimeType", "false", isBool},
	{"delta.ignoreIcebergBucketPartition", "false", isBool},
}

// propertyAliases are old names that still count where the new one is not set.
var propertyAliases = map[string]string{"delta.enablechangedatafeed": "delta.enablechangedatacapture"}

var propertyByFolded = func() map[string]tableProperty {
	m := make(map[string]tableProperty, len(tableProperties))
	for _, p := range tableProperties {
		m[strings.ToLower(p.name)] = p
	}
	return m
}()

func propertyNamed(folded string) tableProperty { return propertyByFolded[folded] }

// foldProperty makes names that start with "delta." comparable, which ignore case; user keys do not.
func foldProperty(name string) string {
	if lower := strings.ToLower(name); strings.HasPrefix(lower, "delta.") {
		return lower
	}
	return name
}

// LookupProperty is the stored value of a property, without defaults.
func (c *TableConfig) LookupProperty(name string) (string, bool) {
	folded := foldProperty(name)
	value, ok := c.properties[folded]
	if alias := propertyAliases[folded]; !ok && alias != "" {
		value, ok = c.properties[alias]
	}
	return value, ok
}

// Property is the stored value of a property, else its built-in default, else "".
func (c *TableConfig) Property(name string) string {
	if value, ok := c.LookupProperty(name); ok {
		return value
	}
	return propertyNamed(foldProperty(name)).fallback
}

func badProperty(name, value, want string) *Error {
	return NewError("DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", "the table property %s is %q; it must be %s", name, shorten(value), want)
}

// BoolProperty reads true or false in any case; a property that is not set and has no default is false.
func (c *TableConfig) BoolProperty(name string) (bool, error) {
	value := c.Property(name)
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, badProperty(name, value, "true or false")
}

// IntProperty reads an integer; false where it is not set and has no default.
func (c *TableConfig) IntProperty(name string) (int64, bool, error) {
	value := c.Property(name)
	if value == "" {
		return 0, false, nil
	}
	v, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, false, badProperty(name, value, "an integer")
	}
	return v, true, nil
}

// DurationProperty reads an interval in milliseconds; false where it is not set and has no default.
func (c *TableConfig) DurationProperty(name string) (millis int64, set bool, err error) {
	value := c.Property(name)
	if value == "" {
		return 0, false, nil
	}
	millis, err = ParseIntervalMillis(value)
	if err != nil {
		return 0, false, badProperty(name, value, `an interval such as "interval 7 days"`).WithCause(err)
	}
	return millis, true, nil
}

var intervalUnitMicros = map[string]int64{
	"microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000,
	"day": 86_400_000_000, "week": 7 * 86_400_000_000,
}

// ParseIntervalMillis reads "[interval] N unit [N unit ...]" with units from microseconds to weeks, singular or plural.
// Months and years have no fixed length and are refused, and so is a negative sum. What is below a millisecond is dropped.
func ParseIntervalMillis(text string) (int64, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 {
		return 0, NewError("DELTA_INVALID_CALENDAR_INTERVAL_EMPTY", "an interval must not be empty")
	}
	bad := func(why string) (int64, error) {
		return 0, NewError("DELTA_INVALID_INTERVAL", "%q is not a usable interval: %s", shorten(text), why)
	}
	if len(words)%2 != 0 {
		return bad("it must be pairs of a number and a unit")
	}
	var micros int64
	for i := 0; i < len(words); i += 2 {
		unit := strings.TrimSuffix(words[i+1], "s")
		size, ok := intervalUnitMicros[unit]
		if !ok {
			if unit == "month" || unit == "year" {
				return bad("months and years have no fixed length")
			}
			return bad("there is no unit " + strconv.Quote(words[i+1]))
		}
		var n int64
		if unit == "second" {
			d, exact := ParseInt128Decimal(words[i], 6)
			v, fits := d.Int64()
			if !exact || !fits {
				return bad(strconv.Quote(words[i]) + " is not a number of seconds")
			}
			n, size = v, 1
		} else {
			v, err := strconv.ParseInt(words[i], 10, 64)
			if err != nil {
				return bad(strconv.Quote(words[i]) + " is not an integer")
			}
			n = v
		}
		if n > math.MaxInt64/size || n < math.MinInt64/size {
			return bad("it is too long")
		}
		sum := micros + n*size
		if n > 0 && sum < micros || n < 0 && sum > micros {
			return bad("it is too long")
		}
		micros = sum
	}
	if micros < 0 {
		return bad("it is negative")
	}
	return micros / 1000, nil
}
