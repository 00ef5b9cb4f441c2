package sqlengine

import (
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/parse"
)

// copyOptions are COPY INTO's options, after they have been checked.
type copyOptions struct {
	format        string // "csv", "json", "parquet"
	force         bool   // loads files that have been loaded already
	evolve        bool   // COPY_OPTIONS mergeSchema
	skipCorrupt   bool   // ignoreCorruptFiles
	text          textFormat
	header        bool
	infer         bool // inferSchema
	null, empty   string
	dateFormat    string
	timeFormat    string
	timeNTZFormat string
	mode          string // "PERMISSIVE", "DROPMALFORMED", "FAILFAST"
}

// refusedFormats are FILEFORMATs of the reference that are not read here.
var refusedFormats = []string{"AVRO", "BINARYFILE", "ORC", "TEXT", "XML"}

// csvOptions and the others are the options of each format in lower case.
var (
	csvOptions = []string{
		"header", "sep", "delimiter", "quote", "escape", "nullvalue", "emptyvalue", "dateformat", "timestampformat", "timestampntzformat", "inferschema",
		"multiline", "encoding", "charset", "comment", "ignoreleadingwhitespace", "ignoretrailingwhitespace", "linesep", "mode",
	}
	jsonOptions  = []string{"multiline", "encoding", "charset", "dateformat", "timestampformat", "timestampntzformat", "inferschema", "mode"}
	filesOptions = []string{"ignorecorruptfiles", "mergeschema", "recursivefilelookup"}
)

// copyOptionsOf reads the format and both lists of options. What is not known is refused by name.
func copyOptionsOf(s *parse.CopyInto) (*copyOptions, error) {
	o := &copyOptions{format: strings.ToLower(s.Format), mode: "FAILFAST"}
	known := slices.Clone(filesOptions)
	switch s.Format {
	case "CSV":
		known = append(known, csvOptions...)
	case "JSON":
		known = append(known, jsonOptions...)
	case "PARQUET":
	case "":
		return nil, protocol.NewError("PARSE_SYNTAX_ERROR", "COPY INTO needs FILEFORMAT = CSV, JSON or PARQUET")
	default:
		if slices.Contains(refusedFormats, s.Format) {
			return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "FILEFORMAT = %s is not supported", s.Format).WithHint("CSV, JSON and PARQUET are")
		}
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "FILEFORMAT = %s is not known", s.Format).WithHint("CSV, JSON and PARQUET are supported")
	}
	o.text = textFormat{fieldEnd: []byte(","), quote: '"', escape: '\\'}
	if err := eachOption("FORMAT_OPTIONS", s.FormatOptions, known, o.setFormat); err != nil {
		return nil, err
	}
	if o.text.recordEnd != nil && string(o.text.recordEnd) == string(o.text.fieldEnd) {
		return nil, protocol.NewError("INVALID_PARAMETER_VALUE", "fields and lines cannot end with the same %q", o.text.fieldEnd)
	}
	return o, eachOption("COPY_OPTIONS", s.CopyOptions, []string{"force", "mergeschema"}, func(key, value string) error {
		if key == "force" {
			return boolOption(key, value, &o.force)
		}
		return boolOption(key, value, &o.evolve)
	})
}

// eachOption calls set for each option, in lower case. A name that is not known, or that stands twice, is an error.
func eachOption(clause string, list []parse.Property, known []string, set func(key, value string) error) error {
	seen := map[string]bool{}
	for _, p := range list {
		key := strings.ToLower(p.Key)
		if !slices.Contains(known, key) {
			err := protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the option '%s' of %s is not supported", p.Key, clause)
			if near := parse.Meant(key, known); near != "" {
				return err.WithHint("did you mean '%s'?", near)
			}
			return err.WithHint("supported here are %s", strings.Join(known, ", "))
		}
		if seen[key] {
			return protocol.NewError("DUPLICATE_KEY", "the option '%s' of %s is given twice", p.Key, clause)
		}
		seen[key] = true
		if err := set(key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

func boolOption(key, value string, into *bool) error {
	on, err := parseBoolean(value)
	if err != nil {
		return protocol.NewError("INVALID_PARAMETER_VALUE", "the option '%s' is true or false, not %q", key, value)
	}
	*into = on
	return nil
}

// charOption takes one character of one byte; the empty text is none.
func charOption(key, value string, into *byte) error {
	if len(value) > 1 {
		return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the option '%s' takes one character of one byte, not %q", key, value)
	}
	if *into = 0; value != "" {
		*into = value[0]
	}
	return nil
}

func (o *copyOptions) setFormat(key, value string) error {
	switch key {
	case "header":
		return boolOption(key, value, &o.header)
	case "inferschema":
		return boolOption(key, value, &o.infer)
	case "multiline":
		return boolOption(key, value, &o.text.multiLine)
	case "ignoreleadingwhitespace":
		return boolOption(key, value, &o.text.trimStart)
	case "ignoretrailingwhitespace":
		return boolOption(key, value, &o.text.trimEnd)
	case "ignorecorruptfiles":
		return boolOption(key, value, &o.skipCorrupt)
	case "quote":
		return charOption(key, value, &o.text.quote)
	case "escape":
		return charOption(key, value, &o.text.escape)
	case "comment":
		return charOption(key, value, &o.text.comment)
	case "sep", "delimiter", "linesep":
		if value == "" || len(value) > 16 {
			return protocol.NewError("INVALID_PARAMETER_VALUE", "the option '%s' is a text of 1 to 16 bytes, not %q", key, value)
		}
		if key == "linesep" {
			o.text.recordEnd = []byte(value)
		} else {
			o.text.fieldEnd = []byte(unescapedSeparator(value))
		}
	case "nullvalue":
		o.null = value
	case "emptyvalue":
		o.empty = value
	case "dateformat":
		o.dateFormat = value
	case "timestampformat":
		o.timeFormat = value
	case "timestampntzformat":
		o.timeNTZFormat = value
	case "encoding", "charset":
		if name := strings.ToUpper(value); name != "UTF-8" && name != "UTF8" && name != "US-ASCII" {
			return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the encoding %s is not supported: text is UTF-8", value)
		}
	case "mode":
		if o.mode = strings.ToUpper(value); o.mode != "PERMISSIVE" && o.mode != "DROPMALFORMED" && o.mode != "FAILFAST" {
			return protocol.NewError("INVALID_PARAMETER_VALUE", "the option 'mode' is PERMISSIVE, DROPMALFORMED or FAILFAST, not %q", value)
		}
		if o.mode == "PERMISSIVE" && o.format == "json" {
			return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "'mode' = 'PERMISSIVE' is not supported for JSON: records that cannot be read would become rows of NULLs").
				WithHint("FAILFAST, which is the default, stops at them, DROPMALFORMED leaves them out")
		}
	case "mergeschema": // the columns of all files are always taken together
		var on bool
		return boolOption(key, value, &on)
	case "recursivefilelookup":
		on := true
		if err := boolOption(key, value, &on); err != nil || on {
			return err
		}
		return protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "'recursiveFileLookup' = 'false' is not supported: folders are always read with what is below them").
			WithHint("PATTERN = '*' takes the files of the folder itself")
	}
	return nil
}

// unescapedSeparator reads the one escape that separators are written with.
func unescapedSeparator(value string) string {
	if value == `\t` {
		return "\t"
	}
	return value
}
