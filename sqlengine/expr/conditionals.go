package expr

import (
	"deltasql/sqlengine/parse"
	"strconv"
)

// conditionalFunctions choose among values; the values are brought to one type.
var conditionalFunctions = []*function{
	lazily("if iff", inBoth, "any any any", ifThen),
	custom("coalesce", inBoth, "any+", coalesce),
	custom("nvl ifnull", inBoth, "any any", coalesce),
	custom("nvl2", inBoth, "any any any", func(c *call) (Expr, error) {
		return c.caseOf([]When{{Condition: notNull(c.args[0])}}, c.args[1:], c.at)
	}),
	custom("nullif", inBoth, "any any", nullIf),
	custom("nullifzero", inBoth, "number", func(c *call) (Expr, error) {
		return rawNull(c.args[0].Type(), "nullif({0}, 0)", c.args[0]), nil
	}),
	custom("zeroifnull", inBoth, "number", func(c *call) (Expr, error) {
		zero, err := convert(intLiteral(0), c.args[0].Type(), c.ctx, false)
		return rawOf(c.args[0].Type(), "coalesce({0}, {1})", c.args[0], zero), placed(err, c.at)
	}),
	custom("greatest", inSpark, "ordered ordered+", extreme("greatest")),
	custom("least", inSpark, "ordered ordered+", extreme("least")),
	custom("isnull", inBoth, "any", func(c *call) (Expr, error) { return &IsNull{Typed{tBoolean, false}, c.args[0]}, nil }),
	custom("isnotnull", inBoth, "any", func(c *call) (Expr, error) { return notNull(c.args[0]), nil }),
	custom("nanvl", inSpark, "double double", func(c *call) (Expr, error) {
		return rawOf(tDouble, "CASE WHEN isnan({0}) THEN {1} ELSE {0} END", c.args...), nil
	}),
	custom("equal_null", inSpark, "any any", func(c *call) (Expr, error) {
		return c.compare("IS NOT DISTINCT FROM", c.args[0], c.args[1], c.at)
	}),
	custom("not", inBoth, "boolean", func(c *call) (Expr, error) { return negated(true, c.args[0]), nil }),
	custom("assert_true", inSpark, "boolean [string]", func(c *call) (Expr, error) {
		message := textLiteral("'" + Name(c.node.Args[0].Expr) + "' is not true!")
		if len(c.args) > 1 {
			return raise("CASE WHEN NOT coalesce({0}, false) THEN "+raisedSQL("{1}")+" END", c.args...), nil
		}
		return raise("CASE WHEN NOT coalesce({0}, false) THEN "+raisedSQL("{1}")+" END", c.args[0], message), nil
	}),
	custom("raise_error", inSpark, "string", func(c *call) (Expr, error) {
		return raise(raisedSQL("{0}"), c.args...), nil
	}),
}

// raisedSQL fails with a message of the user's.
func raisedSQL(message string) string {
	return "error('[USER_RAISED_EXCEPTION] ' || coalesce(" + message + ", 'null'))"
}

// raise is a VOID value that is there to fail.
func raise(sql string, args ...Expr) Expr {
	return &Raw{Typed: Typed{tVoid, true}, SQL: "CAST(" + sql + " AS INTEGER)", Args: args, Volatile: true}
}

func notNull(e Expr) Expr {
	return negated(true, &IsNull{Typed{tBoolean, false}, e})
}

func ifThen(c *call) (Expr, error) {
	condition, err := c.condition(c.node.Args[0].Expr)
	if err != nil {
		return nil, err
	}
	results, err := c.bound(c.binder, c.node.Args[1:])
	if err != nil {
		return nil, err
	}
	return c.caseOf([]When{{Condition: condition}}, results, c.at)
}

func coalesce(c *call) (Expr, error) { return throughout(c.args, c.firstOf) }

func (c *call) firstOf(args []Expr) (Expr, error) {
	list, t, err := c.unified(args, c.at)
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		return list[0], nil
	}
	null := true
	for _, e := range list {
		null = null && e.Nullable()
	}
	return &Raw{Typed: Typed{t, null}, SQL: spread("coalesce({*})", len(list)), Args: list}, nil
}

// nullIf keeps the first operand's type and compares in the common one.
func nullIf(c *call) (Expr, error) {
	equal, err := c.compare("=", c.args[0], c.args[1], c.at)
	if err != nil {
		return nil, err
	}
	return throughout(c.args[:1], func(args []Expr) (Expr, error) {
		t := args[0].Type()
		return &Case{Typed: Typed{t, true}, Whens: []When{{equal, Null(t)}}, Else: args[0]}, nil
	})
}

// extreme is greatest and least: Spark leaves NULLs out, as DuckDB does; MySQL gives NULL if any operand is.
func extreme(name string) func(c *call) (Expr, error) {
	one := func(c *call, args []Expr) (Expr, error) {
		list, t, err := c.unified(args, c.at)
		if err != nil {
			return nil, err
		}
		call := spread(name+"({*})", len(list))
		if c.ctx.Dialect == Spark || !anyNullable(list) {
			null := true
			for _, e := range list {
				null = null && e.Nullable()
			}
			return &Raw{Typed: Typed{t, null}, SQL: call, Args: list}, nil
		}
		var nulls []Expr
		for _, e := range list {
			if e.Nullable() {
				nulls = append(nulls, &IsNull{Typed{tBoolean, false}, e})
			}
		}
		condition := nulls[0]
		if len(nulls) > 1 {
			condition = &Logic{Typed{tBoolean, false}, true, nulls}
		}
		return &Case{Typed: Typed{t, true}, Whens: []When{{condition, Null(t)}}, Else: rawOf(t, call, list...)}, nil
	}
	return func(c *call) (Expr, error) {
		return throughout(c.args, func(args []Expr) (Expr, error) { return one(c, args) })
	}
}

// miscFunctions tell about the session and about values.
var miscFunctions = []*function{
	custom("typeof", inSpark, "any", func(c *call) (Expr, error) { return textLiteral(c.args[0].Type().String()), nil }),
	custom("current_database current_schema schema database", inBoth, "", func(c *call) (Expr, error) {
		if c.ctx.Database == "" {
			return Null(tString), nil
		}
		return textLiteral(c.ctx.Database), nil
	}),
	custom("current_catalog", inBoth, "", func(c *call) (Expr, error) { return textLiteral("deltasql"), nil }),
	custom("current_user user session_user", inBoth, "", func(c *call) (Expr, error) { return textLiteral(c.ctx.User), nil }),
	custom("version", inBoth, "", func(c *call) (Expr, error) { return textLiteral(c.ctx.Version), nil }),
	fn("uuid", inBoth, "", asString, "CAST(uuid() AS VARCHAR)").random().total(),
	custom("monotonically_increasing_id", inSpark, "", func(c *call) (Expr, error) {
		return nil, notSupported(c.at, "monotonically_increasing_id is not supported").WithHint("use row_number() OVER (ORDER BY ...)")
	}),
	custom("hash", inSpark, "any+", refused("Spark's hash has no counterpart in DuckDB")),
	custom("xxhash64", inSpark, "any+", refused("Spark's xxhash64 has no counterpart in DuckDB")),
	custom("sha2", inSpark, "bytes int", sha2),
	lazily("collation", inSpark, "any", func(c *call) (Expr, error) {
		e, err := c.bind(c.node.Args[0].Expr)
		if err != nil {
			return nil, err
		}
		if name := e.Type().Collation; name != "" {
			return textLiteral(name), nil
		}
		return textLiteral("UTF8_BINARY"), nil
	}),
	lazily("collate", inSpark, "any any", func(c *call) (Expr, error) {
		name, ok := c.unit(1)
		if !ok {
			return nil, notSupported(c.at, "the collation of collate must be a constant")
		}
		collation := &parse.Collate{Operand: c.node.Args[0].Expr, Collation: parse.Name{{Name: name}}}
		return c.bindCollate(collation)
	}),
	lazily("input_file_name", inSpark, "", func(c *call) (Expr, error) {
		return c.env.Resolve(parse.Name{{Name: "_metadata", Pos: c.at}, {Name: "file_path", Pos: c.at}})
	}),
	lazily("cast", inBoth, "any any", func(c *call) (Expr, error) {
		return nil, fail(c.at, "PARSE_SYNTAX_ERROR", "a cast is written CAST(value AS type)")
	}),
}

func refused(why string) func(c *call) (Expr, error) {
	return func(c *call) (Expr, error) { return nil, notSupported(c.at, "%s is not supported: %s", c.name, why) }
}

func sha2(c *call) (Expr, error) {
	bits, ok := constantInt(c.args[1])
	if !ok {
		return nil, notSupported(c.at, "the length of sha2 must be a constant")
	}
	switch bits {
	case 0, 256:
		return rawOf(tString, "sha256({0})", c.args[0]), nil
	case 224, 384, 512:
		return rawOf(tString, "delta_sha2({0}, "+strconv.FormatInt(bits, 10)+")", asBytes(c.args[0])), nil
	}
	return Null(tString), nil
}
