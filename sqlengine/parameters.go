package sqlengine

import (
	"bytes"
	"encoding/json"

	"deltasql/protocol"
)

// jsonOf is a value as JSON text, with <, > and & as they are: the form in which commits keep conditions and lists of columns.
// It is for values that always have a JSON form.
func jsonOf(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "null"
	}
	return string(bytes.TrimRight(out.Bytes(), "\n"))
}

// textOf is jsonOf as the value of an operation's parameter, which is a string.
func textOf(v any) json.RawMessage { return protocol.JSONText(jsonOf(v)) }
