package log

import (
	"fmt"
	"strconv"
	"strings"
)

// The SQL over a checkpoint's Parquet files is made from the columns that are there: old writers leave out optional
// fields, foreign ones name the children of maps in their own way, and statistics come as JSON, as a struct, or both.
// What is absent reads as NULL; every column of a result is VARCHAR or BIGINT.

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// fileList is the argument of read_parquet: a list of paths in which no character is a wildcard.
func fileList(paths []string) string {
	escape := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")
	quoted := make([]string, len(paths))
	for i, path := range paths {
		quoted[i] = quoteText(escape.Replace(path))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// readParquet reads checkpoint files; some writers leave out the annotation that makes bytes a text.
func readParquet(paths []string) string {
	return "read_parquet(" + fileList(paths) + ", hive_partitioning=false, binary_as_string=true)"
}

func describeSQL(path string) string {
	return "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + readParquet([]string{path}) + ")"
}

// columnExpr is a place in a row: its SQL and its type.
type columnExpr struct {
	sql      string
	duckType *duckType
}

func (c *columnExpr) field(name string) *columnExpr {
	if c == nil || c.duckType.name != "STRUCT" {
		return nil
	}
	if field := c.duckType.field(name); field != nil {
		return &columnExpr{"struct_extract(" + c.sql + ", " + quoteText(name) + ")", field}
	}
	return nil
}

func (c *columnExpr) text() string {
	if c == nil {
		return "NULL::VARCHAR"
	}
	return "CAST(" + c.sql + " AS VARCHAR)"
}

func (c *columnExpr) integer() string {
	if c == nil {
		return "NULL::BIGINT"
	}
	return "CAST(" + c.sql + " AS BIGINT)"
}

// mapJSON is a map as a JSON object. Children are found by position, whatever their names, and a map without its
// annotation, which reads as a list of two-member structs or a struct around one, is a map all the same.
func (c *columnExpr) mapJSON() string {
	sql, ok := c.mapSQL()
	if !ok {
		return "NULL::VARCHAR"
	}
	return "CAST(to_json(" + sql + ") AS VARCHAR)"
}

func (c *columnExpr) mapSQL() (string, bool) {
	if c == nil {
		return "", false
	}
	t := c.duckType
	if t.name == "MAP" {
		return c.sql, true
	}
	list := c.sql
	if t.name == "STRUCT" && len(t.fields) == 1 {
		list = "struct_extract(" + c.sql + ", " + quoteText(t.fields[0].name) + ")"
		t = &t.fields[0].duckType
	}
	if t.name != "LIST" || t.value.name != "STRUCT" || len(t.value.fields) != 2 {
		return "", false
	}
	side := func(position int) string {
		return fmt.Sprintf("list_transform(%s, lambda entry: struct_extract_at(entry, %d))", list, position)
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN map(%s, %s) END", list, side(1), side(2)), true
}

// mapFields are the members of actions that are maps.
var mapFields = map[string]bool{"configuration": true, "options": true, "tags": true, "partitionValues": true}

// actionJSON is a struct as JSON, its maps as objects.
func (c *columnExpr) actionJSON() string { return "CAST(to_json(" + c.withMaps() + ") AS VARCHAR)" }

// withMaps rebuilds a struct whose maps lack their annotation, and is the struct itself otherwise.
func (c *columnExpr) withMaps() string {
	if c.duckType.name != "STRUCT" || !c.hasListedMap() {
		return c.sql
	}
	members := make([]string, len(c.duckType.fields))
	for i, f := range c.duckType.fields {
		member := c.field(f.name)
		sql, ok := "", false
		if mapFields[f.name] {
			sql, ok = member.mapSQL()
		}
		if !ok {
			sql = member.withMaps()
		}
		members[i] = quoteName(f.name) + " := " + sql
	}
	return "CASE WHEN " + c.sql + " IS NOT NULL THEN struct_pack(" + strings.Join(members, ", ") + ") END"
}

func (c *columnExpr) hasListedMap() bool {
	for _, f := range c.duckType.fields {
		if mapFields[f.name] && f.duckType.name != "MAP" {
			return true
		}
		if member := c.field(f.name); f.duckType.name == "STRUCT" && member.hasListedMap() {
			return true
		}
	}
	return false
}

// singleActions are the actions of a checkpoint that are not files, each with a member that no such action lacks.
var singleActions = []struct{ column, marker string }{
	{"protocol", "minReaderVersion"},
	{"metaData", "id"},
	{"txn", "appId"},
	{"domainMetadata", "domain"},
	{"sidecar", "path"},
}

// singlesSQL gives the non-file actions: one column of JSON for each kind that the files have, and their names.
func singlesSQL(columns *duckType, paths []string) (sql string, kinds []string) {
	var selected, filters []string
	for _, action := range singleActions {
		t := columns.field(action.column)
		if t == nil {
			continue
		}
		column := &columnExpr{quoteName(action.column), t}
		marker := column.field(action.marker)
		if marker == nil {
			continue
		}
		kinds = append(kinds, action.column)
		isAction := marker.sql + " IS NOT NULL"
		filters = append(filters, isAction)
		selected = append(selected, "CASE WHEN "+isAction+" THEN "+column.actionJSON()+" END")
	}
	if len(kinds) == 0 {
		return "", nil
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM " + readParquet(paths) +
		" WHERE " + strings.Join(filters, " OR "), kinds
}

// The columns of addsSQL.
const (
	addPath = iota
	addSize
	addModification
	addStats
	addPartition
	addTags
	addBaseRowID
	addRowCommitVersion
	addProvider
	addVectorType
	addVectorPath
	addVectorOffset
	addVectorSize
	addVectorCardinality
	addColumns // their number, and the place of the first partition value
)

// addsSQL gives the add actions; false where the files can hold none. The partition values come as one JSON map, or, if
// partition names are given, each in a column of its own after the others, which is three times faster.
func addsSQL(add *columnExpr, paths []string, partitions []string, footers footers) (string, bool) {
	path := add.field("path")
	if path == nil {
		return "", false
	}
	// A member of which no row holds a value need not be read: vectors, tags and row ids are absent from most checkpoints.
	member := func(name string) *columnExpr {
		if footers.allNull("add, " + name) {
			return nil
		}
		return add.field(name)
	}
	vector := member("deletionVector")
	values := member("partitionValues")
	partition := "NULL::VARCHAR"
	if partitions == nil {
		partition = values.mapJSON()
	}
	selected := []string{
		path.text(), add.field("size").integer(), add.field("modificationTime").integer(),
		statsSQL(add, footers), partition, member("tags").mapJSON(),
		member("baseRowId").integer(), member("defaultRowCommitVersion").integer(), member("clusteringProvider").text(),
		vector.field("storageType").text(), vector.field("pathOrInlineDv").text(), vector.field("offset").integer(),
		vector.field("sizeInBytes").integer(), vector.field("cardinality").integer(),
	}
	for _, name := range partitions {
		text := "NULL::VARCHAR"
		if values != nil {
			text = "CAST(map_extract_value(" + values.sql + ", " + quoteText(name) + ") AS VARCHAR)"
		}
		selected = append(selected, text)
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM " + readParquet(paths) +
		" WHERE " + path.sql + " IS NOT NULL", true
}

// footersSQL gives for each leaf under add, from the footers alone, how many of its values are NULL, how many there are,
// and in how many row groups that is not recorded.
func footersSQL(paths []string) string {
	return `SELECT path_in_schema, CAST(sum(stats_null_count) AS BIGINT), CAST(sum(num_values) AS BIGINT),
		count(*) FILTER (stats_null_count IS NULL)
		FROM parquet_metadata(` + fileList(paths) + `) WHERE starts_with(path_in_schema, 'add, ') GROUP BY path_in_schema`
}

// footers is what footersSQL found, by leaf ("add, stats").
type footers map[string]leafCounts

// leafCounts are a leaf's numbers of NULLs and of values; they mean nothing unless every row group records them.
type leafCounts struct {
	nulls, values int64
	known         bool
}

// allNull tells for certain that every leaf of a member is NULL everywhere.
func (f footers) allNull(member string) bool {
	found := false
	for leaf, counts := range f {
		if leaf != member && !strings.HasPrefix(leaf, member+", ") {
			continue
		}
		if !counts.known || counts.nulls != counts.values {
			return false
		}
		found = true
	}
	return found
}

// adds is the number of add actions, 0 where it is not recorded.
func (f footers) adds() int {
	paths := f["add, path"]
	if !paths.known {
		return 0
	}
	return int(max(0, paths.values-paths.nulls))
}

// completeStats tells for certain that each add has its statistics as JSON.
func (f footers) completeStats() bool {
	paths, stats := f["add, path"], f["add, stats"]
	return paths.known && stats.known && paths == stats
}

// statsSQL is the statistics as JSON text: the string where there is one, else the struct put into the same form.
func statsSQL(add *columnExpr, footers footers) string {
	text, parsed := add.field("stats"), add.field("stats_parsed")
	if text != nil && (parsed == nil || footers.completeStats() || footers.allNull("add, stats_parsed")) {
		return text.text()
	}
	if parsed == nil {
		return "NULL::VARCHAR"
	}
	rebuilt, ok := parsed.statsValue(0)
	if !ok {
		return text.text()
	}
	if footers.allNull("add, stats") {
		text = nil
	}
	rebuilt = "CASE WHEN " + parsed.sql + " IS NOT NULL THEN CAST(to_json(" + rebuilt + ") AS VARCHAR) END"
	if text == nil {
		return rebuilt
	}
	return "coalesce(" + text.text() + ", " + rebuilt + ")"
}

// statsValue is a member of stats_parsed as a value that to_json spells as statistics JSON does (protocol, "Per-file
// Statistics"); false for types that have no bounds there. Decimals stay exact: to_json writes their digits.
func (c *columnExpr) statsValue(depth int) (string, bool) {
	switch t := c.duckType; t.name {
	case "STRUCT":
		var members []string
		for _, f := range t.fields {
			if sql, ok := c.field(f.name).statsValue(depth + 1); ok {
				members = append(members, quoteName(f.name)+" := "+sql)
			}
		}
		if len(members) == 0 {
			return "", false
		}
		packed := "struct_pack(" + strings.Join(members, ", ") + ")"
		if depth == 0 {
			return packed, true
		}
		return "CASE WHEN " + c.sql + " IS NOT NULL THEN " + packed + " END", true
	case "TIMESTAMP WITH TIME ZONE":
		return "strftime(make_timestamp(epoch_us(" + c.sql + ")), '%Y-%m-%dT%H:%M:%S.%fZ')", true
	case "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S":
		return "strftime(CAST(" + c.sql + " AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%f')", true
	case "FLOAT", "DOUBLE":
		return fmt.Sprintf(`CASE WHEN isfinite(%[1]s) THEN to_json(%[1]s) WHEN isnan(%[1]s) THEN to_json('NaN')
			WHEN %[1]s > 0 THEN to_json('Infinity') WHEN %[1]s < 0 THEN to_json('-Infinity') END`, c.sql), true
	case "DECIMAL":
		return c.decimalValue(), true
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR", "DATE":
		return c.sql, true
	}
	return "", false
}

// decimalValue is a decimal for to_json, which writes its digits but no zero before the point of a type without integer
// digits: no JSON. One more digit cures that, and where there is no room for it a string, which readers take as well.
func (c *columnExpr) decimalValue() string {
	width, scale, _ := strings.Cut(c.duckType.parameters, ",")
	if width != scale || width == "" {
		return c.sql
	}
	if width == "38" {
		return fmt.Sprintf("CASE WHEN %[1]s < 0 THEN '-0' || substr(CAST(%[1]s AS VARCHAR), 2) ELSE '0' || CAST(%[1]s AS VARCHAR) END", c.sql)
	}
	digits, err := strconv.Atoi(width)
	if err != nil {
		return c.sql
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(%d, %s))", c.sql, digits+1, scale)
}
