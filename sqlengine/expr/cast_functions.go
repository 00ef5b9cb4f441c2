package expr

import "deltasql/protocol"

// castFunctions are Spark's functions named like types: double('NaN') is CAST('NaN' AS DOUBLE).
var castFunctions = []*function{
	castFunction("boolean", inSpark, tBoolean),
	castFunction("tinyint", inSpark, tByte),
	castFunction("smallint", inSpark, tShort),
	castFunction("int", inSpark, tInt),
	castFunction("bigint", inSpark, tLong),
	castFunction("float", inSpark, tFloat),
	castFunction("double", inSpark, tDouble),
	castFunction("decimal", inSpark, decimalOf(10, 0)),
	castFunction("string", inSpark, tString),
	castFunction("binary", inSpark, tBinary),
	castFunction("date", inSpark, tDate),
	castFunction("timestamp", inSpark, tTimestamp),
}

func castFunction(name string, in dialects, to protocol.DataType) *function {
	return custom(name, in, "any", func(c *call) (Expr, error) {
		return c.cast(c.args[0], to, false, c.at)
	})
}
