package scan

import (
	"fmt"

	"deltasql/protocol"
)

// LogicalColumn does for column i of a table's schema what Relation.Logical does for a relation's column, before the relation
// is built. Where nothing is renamed it gives the expression itself.
func LogicalColumn(config *protocol.TableConfig, i int, expression string) (string, error) {
	template, err := logicalTemplate(config.Schema.Fields[i].Type, config.Mapping)
	if err != nil || template == "" {
		return expression, err
	}
	return fmt.Sprintf(template, expression), nil
}
