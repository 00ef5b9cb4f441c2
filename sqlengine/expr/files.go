package expr

import (
	"fmt"
	"strings"

	"deltasql/protocol"
)

var tFile = protocol.DataType{Kind: protocol.KindFile}

// fileFunctions make file values and look into them. A value that refers to bytes elsewhere is checked where it is made: file_fault
// has the rules.
var fileFunctions = []*function{
	custom("file", inBoth, "[string] [bigint] [bigint] [string] [string]", fileOf(false)).withNames("uri", "offset", "size", "content_type", "checksum"),
	custom("try_file", inBoth, "[string] [bigint] [bigint] [string] [string]", fileOf(true)).withNames("uri", "offset", "size", "content_type", "checksum"),
	custom("file_inline", inBoth, "binary [string] [string]", inlineFile).withNames("bytes", "content_type", "checksum"),
}

// withNames lets a call name the function's arguments: file(uri => 'file:/a', size => 3).
func (f *function) withNames(names ...string) *function { f.named = names; return f }

// comparing are functions that compare their arguments, or what is in them, as wholes.
var comparing = map[string]bool{
	"approx_count_distinct": true, "collect_set": true, "mode": true, "histogram": true, "map": true, "map_from_arrays": true, "map_from_entries": true,
	"array_contains": true, "array_distinct": true, "array_except": true, "array_intersect": true, "array_union": true, "array_position": true,
	"array_remove": true, "arrays_overlap": true, "array_sort": true, "sort_array": true, "array_max": true, "array_min": true, "greatest": true, "least": true,
}

// comparesFiles refuses calls that would compare file values, which have no order and no equality.
func (c *call) comparesFiles(args []Expr) error {
	if !comparing[c.name] && (c.node == nil || !c.node.Distinct) {
		return nil
	}
	for i, e := range args {
		if t := e.Type(); t.Holds(protocol.KindFile) && (c.name != "map" || i%2 == 0) {
			return WithPart(mismatch(c.at, "INVALID_ORDERING_TYPE", "%s compares its arguments, and values of type %s cannot be compared", c.name, t), t)
		}
	}
	return nil
}

// padded are the call's arguments with NULL for those that are left out.
func (c *call) padded() []Expr {
	args := append([]Expr(nil), c.args...)
	for i := len(args); i < len(c.f.args); i++ {
		args = append(args, Null(acceptedTypes[c.f.args[i].accepts]))
	}
	return args
}

// fileOf is file(...) and try_file(...): the value of its public members, or an error, or NULL, where it breaks a rule.
func fileOf(try bool) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) {
		pack := `struct_pack(uri := {0}, "offset" := {1}, "size" := {2}, content_type := {3}, checksum := {4}, inline := NULL::BLOB)`
		return rawNull(tFile, checkedFile(pack, try), c.padded()...), nil
	}
}

// inlineFile is a value that holds its bytes; NULL for none.
func inlineFile(c *call) (Expr, error) {
	pack := `struct_pack(uri := NULL::VARCHAR, "offset" := NULL::BIGINT, "size" := NULL::BIGINT, content_type := {1}, checksum := {2}, inline := {0})`
	return rawNull(tFile, "CASE WHEN {0} IS NOT NULL THEN "+checkedFile(pack, false)+" END", c.padded()...), nil
}

// checkedFile is a file value that is held against the rules.
func checkedFile(x string, try bool) string {
	if try {
		return "file_tried(" + x + ")"
	}
	return "file_checked(" + x + ")"
}

// toFile casts to a file: a struct with exactly the public members, or a variant that is such an object.
func (c *casting) toFile(from protocol.DataType, x string) (string, bool) {
	switch from.Kind {
	case protocol.KindVariant:
		item := func(name, kind string) string {
			return fmt.Sprintf(`"%[1]s" := CASE WHEN variant_exists(%[2]s, '%[1]s') THEN CAST(variant_extract(%[2]s, '%[1]s') AS %[3]s) END`, name, x, kind)
		}
		items := strings.Join([]string{item("uri", "VARCHAR"), item("offset", "BIGINT"), item("size", "BIGINT"), item("content_type", "VARCHAR"), item("checksum", "VARCHAR")}, ", ")
		return "CASE WHEN starts_with(variant_typeof(" + x + "), 'OBJECT') THEN " + checkedFile("struct_pack("+items+", inline := NULL::BLOB)", c.try) + " ELSE " + c.noFile(x) + " END", true
	case protocol.KindStruct:
		leaves := protocol.FileLeaves()
		if len(from.Fields) != len(leaves) {
			return "", false
		}
		items := make([]string, len(leaves))
		for i, leaf := range leaves {
			at := from.Lookup(string(leaf.Name))
			if at < 0 {
				return "", false
			}
			item, ok := c.sql(from.Fields[at].Type, leaf.Type, member(x, from.Fields[at].Name))
			if !ok {
				return "", false
			}
			items[i] = quoteIdent(string(leaf.Name)) + " := " + item
		}
		return "CASE WHEN " + x + " IS NOT NULL THEN " + checkedFile("struct_pack("+strings.Join(items, ", ")+", inline := NULL::BLOB)", c.try) + " END", true
	}
	return "", false
}

// noFile is what a variant that is no object casts to.
func (c *casting) noFile(x string) string {
	if c.try {
		return "NULL"
	}
	return "CASE WHEN " + x + " IS NULL OR variant_is_null(" + x + ") THEN NULL ELSE " + failSQL("INVALID_VARIANT_CAST", "the variant is no object with the members of a file, uri among them") + " END"
}

// fromFile casts a file: to text as it is shown, to a variant or JSON with its public members.
func (c *casting) fromFile(to protocol.DataType, x string) (string, bool) {
	switch to.Kind {
	case protocol.KindString:
		return "file_text(" + x + ")", true
	case protocol.KindVariant:
		return "CAST(file_public(" + x + ") AS VARIANT)", true
	}
	return "", false
}

// FileFault is the text of what is wrong with a file value that is to be stored, NULL where nothing is. e must be a file.
func FileFault(e Expr) Expr { return rawNull(tString, "file_fault({0})", e) }

// FileChecked is the DuckDB expression of a file value that fails where it must not be stored.
func FileChecked(x string) string { return checkedFile(x, false) }

// FileShown is the DuckDB expression of a file value as results carry it: its public members and how many bytes it holds itself. A value
// that cannot be resolved is NULL, or with strict an error.
func FileShown(x string, strict bool) string {
	if strict {
		return "file_shown_strict(" + x + ")"
	}
	return "file_shown(" + x + ")"
}

// FileShownType is the type of FileShown.
const FileShownType = `STRUCT("uri" VARCHAR, "offset" BIGINT, "size" BIGINT, "content_type" VARCHAR, "checksum" VARCHAR, "inline_bytes" BIGINT)`

// fileMacros have the rules of file values (protocol digest 9.3). A text of file_misfit or file_fault begins with the member that is
// at fault.
var fileMacros = []string{
	// What keeps a stored value from being resolved. A range without a URI is one of the data file that the value is in.
	`CREATE MACRO file_misfit_of(f) AS CASE WHEN f IS NULL THEN NULL
WHEN f."offset" < 0 THEN 'offset: it must not be negative'
WHEN f."size" < 0 THEN 'size: it must not be negative'
WHEN f."offset" IS NOT NULL AND f."size" IS NULL THEN 'size: it must be set where offset is'
WHEN f."offset" > 9223372036854775807 - f."size" THEN 'size: the range ends beyond 9223372036854775807'
WHEN coalesce(f.uri, '') = '' AND f."size" IS NOT NULL AND (f."offset" IS NULL OR f.inline IS NOT NULL) THEN 'uri: it must be set where offset or size is'
WHEN coalesce(f.uri, '') = '' AND f."size" IS NULL AND f.inline IS NULL THEN 'uri: it must be set where the value holds no bytes itself'
WHEN f.uri <> '' AND f.inline IS NULL AND NOT regexp_matches(f.uri, '^[A-Za-z][A-Za-z0-9+.-]*:') THEN 'uri: it must be absolute, with a scheme such as s3: or file:' END`,
	`CREATE MACRO file_misfit(f) AS list_transform([f], lambda v: file_misfit_of(v))[1]`,
	`CREATE MACRO file_digest_length(algorithm) AS CASE algorithm WHEN 'MD5' THEN 32 WHEN 'CRC32' THEN 8 WHEN 'CRC32C' THEN 8 WHEN 'SHA-256' THEN 64 END`,
	// What keeps a value from being stored: beside the above what RFC 3986 asks of a URI, credentials, and what could break texts.
	`CREATE MACRO file_fault_of(f) AS coalesce(file_misfit_of(f), CASE WHEN f IS NULL THEN NULL
WHEN coalesce(f.uri, '') = '' AND f.inline IS NULL THEN 'uri: it must be set where offset or size is; a range of the data file itself cannot be written'
WHEN octet_length(encode(f.uri)) > 32768 THEN 'uri: it is longer than 32768 bytes'
WHEN f.inline IS NULL AND NOT regexp_full_match(f.uri, '[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&''()*+,;=-]|%[0-9A-Fa-f]{2})+') THEN 'uri: RFC 3986 does not allow one of its characters; write it as %XX'
WHEN regexp_matches(f.uri, '[\x00-\x1f\x7f]') THEN 'uri: it has control characters'
WHEN regexp_matches(f.uri, '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#@]*:[^/?#@]*@') THEN 'uri: it has a password in it, which everyone who reads the table would see'
WHEN regexp_matches(f.uri, '(?i)[?&](x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|signature|sig|awsaccesskeyid)=') THEN 'uri: it has a signature in it, which everyone who reads the table would see'
WHEN octet_length(encode(f.content_type)) > 1024 THEN 'content_type: it is longer than 1024 bytes'
WHEN regexp_matches(f.content_type, '[\x00-\x1f\x7f]') THEN 'content_type: it has control characters'
WHEN f.checksum IS NULL OR f.checksum = '' THEN NULL
WHEN octet_length(encode(f.checksum)) > 1024 THEN 'checksum: it is longer than 1024 bytes'
WHEN NOT regexp_matches(f.checksum, '^[A-Za-z0-9_-]+:[^\x00-\x1f\x7f]+$') THEN 'checksum: it must be an algorithm, a colon and the digest, such as MD5:d41d8cd98f00b204e9800998ecf8427e'
WHEN file_digest_length(split_part(f.checksum, ':', 1)) IS NOT NULL AND NOT (length(f.checksum) - length(split_part(f.checksum, ':', 1)) - 1 = file_digest_length(split_part(f.checksum, ':', 1)) AND regexp_full_match(substring(f.checksum, length(split_part(f.checksum, ':', 1)) + 2), '[0-9a-f]+')) THEN 'checksum: a digest of ' || split_part(f.checksum, ':', 1) || ' has ' || file_digest_length(split_part(f.checksum, ':', 1)) || ' digits from 0 to 9 and a to f' END)`,
	`CREATE MACRO file_fault(f) AS list_transform([f], lambda v: file_fault_of(v))[1]`,
	`CREATE MACRO file_checked(f) AS list_transform([f], lambda v: CASE WHEN file_fault_of(v) IS NOT NULL THEN error('[DELTASQL_INVALID_FILE_VALUE] no valid file value: ' || file_fault_of(v)) ELSE v END)[1]`,
	`CREATE MACRO file_tried(f) AS list_transform([f], lambda v: CASE WHEN file_fault_of(v) IS NULL THEN v END)[1]`,
	`CREATE MACRO file_public(f) AS list_transform([f], lambda v: CASE WHEN v IS NOT NULL THEN struct_pack(uri := v.uri, "offset" := v."offset", "size" := v."size", content_type := v.content_type, checksum := v.checksum) END)[1]`,
	`CREATE MACRO file_packed(v) AS struct_pack(uri := v.uri, "offset" := v."offset", "size" := v."size", content_type := v.content_type, checksum := v.checksum, inline_bytes := octet_length(v.inline))`,
	`CREATE MACRO file_shown(f) AS list_transform([f], lambda v: CASE WHEN v IS NOT NULL AND file_misfit_of(v) IS NULL THEN file_packed(v) END)[1]`,
	`CREATE MACRO file_shown_strict(f) AS list_transform([f], lambda v: CASE WHEN file_misfit_of(v) IS NOT NULL THEN error('[DELTASQL_INVALID_FILE_VALUE] no valid file value: ' || file_misfit_of(v)) WHEN v IS NOT NULL THEN file_packed(v) END)[1]`,
	// A file as text: its URI, the range where there is one, and how much the value holds itself.
	`CREATE MACRO file_text(f) AS list_transform([f], lambda v: CASE WHEN v IS NULL OR file_misfit_of(v) IS NOT NULL THEN NULL ELSE concat_ws(' ', nullif(v.uri, ''), CASE WHEN v."size" IS NOT NULL THEN '[' || coalesce(v."offset", 0) || ', ' || coalesce(v."offset", 0) + v."size" || ')' END, CASE WHEN v.inline IS NOT NULL THEN 'inline, ' || octet_length(v.inline) || ' bytes' END) END)[1]`,
}
