package expr

import "deltasql/protocol"

// mysqlMiscFunctions tell about the connection.
var mysqlMiscFunctions = []*function{
	custom("connection_id", inBoth, "", func(c *call) (Expr, error) {
		return constant(tLong, protocol.Value{Int: c.ctx.ConnectionID}), nil
	}),
	custom("system_user", inBoth, "", func(c *call) (Expr, error) { return textLiteral(c.ctx.User), nil }),
	custom("charset", inMySQL, "any", func(c *call) (Expr, error) {
		if c.args[0].Type().Kind == protocol.KindString {
			return textLiteral("utf8mb4"), nil
		}
		return textLiteral("binary"), nil
	}),
	custom("collation", inMySQL, "any", func(c *call) (Expr, error) {
		switch {
		case c.args[0].Type().Kind != protocol.KindString:
			return textLiteral("binary"), nil
		case c.ctx.MySQLCompare:
			return textLiteral("utf8mb4_0900_ai_ci"), nil
		}
		return textLiteral("utf8mb4_bin"), nil
	}),
	custom("last_insert_id", inBoth, "", func(c *call) (Expr, error) {
		return constant(tLong, protocol.Value{Int: c.ctx.LastInsertID}), nil
	}),
	custom("sleep benchmark get_lock release_lock is_free_lock is_used_lock load_file", inMySQL, "any*", refused("it acts on the server")),
}
