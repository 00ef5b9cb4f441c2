package parse

// ParseParameters is Parse, and tells how many ? stand in the statement. Those in a statement that is only known by name
// (Unsupported) are not counted.
func ParseParameters(sql string, opts Options) (statement Statement, parameters int, err error) {
	statement, p, err := parseText(sql, opts)
	if err != nil {
		return nil, 0, err
	}
	return statement, p.params, nil
}
