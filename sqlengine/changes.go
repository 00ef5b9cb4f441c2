package sqlengine

import (
	"context"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/parse"
	"deltasql/txn/log"
)

// TableFunction implements bind.Catalog: table_changes, table_changes_by_path and list_files.
func (st *statement) TableFunction(ctx context.Context, fn *parse.TableFunction, arguments bind.Arguments) (bind.Resolved, bool, error) {
	name := strings.ToLower(fn.Name[len(fn.Name)-1].Name)
	if name == answerFunction && st.answer != nil {
		return bind.Resolved{SQL: st.answer}, true, nil
	}
	if name == "list_files" {
		if len(fn.Args) < 1 || len(fn.Args) > 2 {
			return bind.Resolved{}, true, placed(protocol.NewError("INCORRECT_NUMBER_OF_ARGUMENTS", "list_files takes a folder and an optional pattern; it was given %d arguments", len(fn.Args)), fn.Pos)
		}
		args, err := arguments()
		if err != nil {
			return bind.Resolved{}, true, err
		}
		table, err := st.listFiles(ctx, args)
		return bind.Resolved{SQL: table}, true, err
	}
	if name != "table_changes" && name != "table_changes_by_path" {
		return bind.Resolved{}, false, nil
	}
	if len(fn.Args) < 2 || len(fn.Args) > 3 {
		return bind.Resolved{}, true, protocol.NewError("INCORRECT_NUMBER_OF_ARGUMENTS",
			"%s takes a table, a start and an optional end; it was given %d arguments", name, len(fn.Args)).At(fn.Pos.Line, fn.Pos.Column)
	}
	args, err := arguments()
	if err != nil {
		return bind.Resolved{}, true, err
	}
	source, err := st.changes(ctx, name, args)
	return bind.Resolved{Source: source}, true, err
}

func placed(err *protocol.Error, pos parse.Pos) *protocol.Error { return err.At(pos.Line, pos.Column) }

// changes finds the table and works out the range of versions, both ends inclusive.
func (st *statement) changes(ctx context.Context, function string, args []bind.Constant) (*changesSource, error) {
	if args[0].Type.Kind != protocol.KindString || args[0].Value.Null {
		return nil, placed(protocol.NewError("DELTA_INVALID_TABLE_VALUE_FUNCTION", "the first argument of %s is the table's name as a string", function), args[0].Pos)
	}
	for _, arg := range args[1:] {
		if arg.Value.Null {
			return nil, placed(protocol.NewError("DELTA_CDC_READ_NULL_RANGE_BOUNDARY", "a bound of %s is NULL; it must be a version or a time", function), arg.Pos)
		}
	}
	t, err := st.changesTarget(ctx, function, args[0])
	if err != nil {
		return nil, err
	}
	table, err := st.table(t, function)
	if err != nil {
		return nil, placedAt(err, args[0].Pos)
	}
	latest, err := st.snapshot(ctx, t, nil)
	if err != nil {
		return nil, placedAt(withTable(err, t), args[0].Pos)
	}
	from, to, err := st.changesRange(ctx, t, table, latest.Version(), args[1:])
	if err != nil {
		return nil, err
	}
	source, err := newChangesSource(ctx, t, table, from, to)
	return source, placedAt(err, args[0].Pos)
}

func placedAt(err error, pos parse.Pos) error {
	if known, ok := err.(*protocol.Error); ok && known.Line == 0 {
		return placed(known, pos)
	}
	return err
}

// changesTarget reads the first argument: a path, delta.`path`, or a name.
func (st *statement) changesTarget(ctx context.Context, function string, arg bind.Constant) (target, error) {
	text := arg.Value.Str
	if function == "table_changes_by_path" || looksLikePath(text) && !strings.Contains(text, "`") {
		t, err := st.resolvePath("delta", text)
		return t, placedAt(err, arg.Pos)
	}
	t, err := st.resolve(ctx, nameOf(text))
	if known, ok := err.(*protocol.Error); ok && known.Class == "DELTA_TABLE_NOT_FOUND" {
		known.Class = "TABLE_OR_VIEW_NOT_FOUND" // recorded: the name is Spark's to find here
	}
	return t, placedAt(err, arg.Pos)
}

// nameOf reads a dotted name with back quotes out of a string.
func nameOf(text string) parse.Name {
	var name parse.Name
	for text != "" {
		var part parse.Ident
		if strings.HasPrefix(text, "`") {
			part.Quoted = true
			text = text[1:]
			for {
				end := strings.IndexByte(text, '`')
				if end < 0 {
					part.Name, text = part.Name+text, ""
					break
				}
				part.Name, text = part.Name+text[:end], text[end+1:]
				if !strings.HasPrefix(text, "`") {
					break
				}
				part.Name, text = part.Name+"`", text[1:]
			}
			text = strings.TrimPrefix(text, ".")
		} else {
			part.Name, text, _ = strings.Cut(text, ".")
			part.Name = strings.TrimSpace(part.Name)
		}
		name = append(name, part)
	}
	if len(name) == 0 {
		name = parse.Name{{}}
	}
	return name
}

// changesRange turns the bounds into versions. A start in time means the first commit at or after it, an end the last one at or
// before it; an end beyond the latest version is the latest. An empty range has to < from.
func (st *statement) changesRange(ctx context.Context, t target, table *log.Table, latest int64, bounds []bind.Constant) (from, to int64, err error) {
	from, late, err := st.changesStart(ctx, t, table, latest, bounds[0])
	if err != nil {
		return 0, 0, err
	}
	to = latest
	if len(bounds) > 1 {
		if to, err = st.changesEnd(ctx, table, latest, bounds[1]); err != nil {
			return 0, 0, err
		}
		if to < from && !(late && to >= latest) {
			return 0, 0, placed(protocol.NewError("DELTA_INVALID_CDC_RANGE", "the range of changes from version %d to %d is reversed", from, to), bounds[1].Pos)
		}
	}
	if late && !st.session.settings.on("deltasql_changes_out_of_range") {
		return 0, 0, placed(protocol.NewError("DELTA_CDC_START_VERSION_AFTER_LATEST", "changes from version %d on are asked for, but the latest version of %s is %d", from, t.shown(), latest), bounds[0].Pos)
	}
	return from, min(to, latest), nil
}

// changesStart is the first version; late tells that it lies after the latest one.
func (st *statement) changesStart(ctx context.Context, t target, table *log.Table, latest int64, bound bind.Constant) (from int64, late bool, err error) {
	if version, ok := versionBound(bound); ok {
		if version < 0 {
			return 0, false, placed(protocol.NewError("DELTA_VERSION_NOT_FOUND", "version %d of %s is below 0", version, t.shown()), bound.Pos)
		}
		return version, version > latest, nil
	}
	micros, err := st.timeBound(ctx, bound)
	if err != nil {
		return 0, false, err
	}
	// The first commit at or after a time follows the last one before it.
	millis := -floorMillis(-micros)
	from, err = table.VersionFrom(ctx, millis)
	if protocol.ClassOf(err) == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT" && st.session.settings.on("deltasql_changes_out_of_range") {
		return latest + 1, true, nil
	}
	return from, false, placedAt(err, bound.Pos)
}

func (st *statement) changesEnd(ctx context.Context, table *log.Table, latest int64, bound bind.Constant) (int64, error) {
	if version, ok := versionBound(bound); ok {
		return version, nil
	}
	micros, err := st.timeBound(ctx, bound)
	if err != nil {
		return 0, err
	}
	version, err := table.VersionAt(ctx, floorMillis(micros), log.TimeLookup{ClampNewest: true, AnyCommit: true})
	return version, placedAt(err, bound.Pos)
}

// versionBound is a bound given as an integer.
func versionBound(bound bind.Constant) (int64, bool) {
	switch {
	case bound.Type.Kind >= protocol.KindByte && bound.Type.Kind <= protocol.KindLong:
		return bound.Value.Int, true
	case bound.Type.Kind == protocol.KindDecimal && bound.Value.Scale == 0:
		return bound.Value.Dec.Int64()
	}
	return 0, false
}

// timeBound is a bound given as a string, date or timestamp, in microseconds.
func (st *statement) timeBound(ctx context.Context, bound bind.Constant) (int64, error) {
	invalid := placed(protocol.NewError("DELTA_TIMESTAMP_INVALID", "%q is neither a version nor a time", bound.Value.Text()), bound.Pos)
	switch bound.Type.Kind {
	case protocol.KindTimestamp:
		return bound.Value.Int, nil
	case protocol.KindString, protocol.KindDate, protocol.KindTimestampNTZ:
	default:
		return 0, invalid
	}
	// The session's rules for reading a time are the binder's: ask it with the text.
	moment, err := bind.Moment(ctx, &parse.AsOf{Timestamp: &parse.Literal{Kind: parse.StringLiteral, Text: bound.Value.Text()}}, st.bindOptions())
	if err != nil || moment.Timestamp == nil {
		return 0, invalid
	}
	return *moment.Timestamp, nil
}
