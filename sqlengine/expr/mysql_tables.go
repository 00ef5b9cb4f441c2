package expr

var mysqlStringFunctions, mysqlMathFunctions, mysqlDateFunctions, mysqlJSONFunctions, mysqlMiscFunctions []*function

func (c *call) mysqlExtract(field string, e Expr) (Expr, error) { return nil, nil }
func (c *call) grouped(e Expr, digits int) (Expr, error)        { return nil, nil }
func jsonArrayAgg(c *call) (Expr, error)                        { return nil, nil }
func jsonObjectAgg(c *call) (Expr, error)                       { return nil, nil }
