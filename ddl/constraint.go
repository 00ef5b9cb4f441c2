package ddl

import (
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
)

// AddConstraint is ADD CONSTRAINT ... CHECK. The expression is text that the caller has checked and spelled as it is stored,
// its tokens joined by blanks. Every row that is there must satisfy it (Change.Checks).
type AddConstraint struct {
	Name       string // "" picks chk_1, chk_2 and so on
	Expression string
	Refers     []Path
}

// lengthConstraint is a name that the reference keeps for itself.
const lengthConstraint = "__char_varchar_string_length_check__"

func (s AddConstraint) apply(a *alteration) error {
	if s.Name == "" {
		for n := 1; s.Name == ""; n++ {
			name := "chk_" + strconv.Itoa(n)
			if _, taken := a.constraints[name]; !taken && a.key(name) == "" {
				s.Name = name
			}
		}
	}
	name := strings.ToLower(s.Name)
	if name == lengthConstraint {
		return protocol.NewError("DELTA_INVALID_CONSTRAINT_NAME", "%s cannot be the name of a constraint", s.Name)
	}
	if old, ok := a.constraints[name]; ok {
		return constraintExists(s.Name, old)
	}
	if key := a.key(name); key != "" {
		return constraintExists(s.Name, a.metadata.Configuration[key])
	}
	a.constraints[name] = s.Expression
	a.deps.Constraints[name] = s.Refers
	a.metadata.Configuration[protocol.PropertyPrefixConstraint+name] = s.Expression
	a.checks = append(a.checks, Check{Kind: CheckConstraint, Name: s.Name, Expression: s.Expression})
	a.record(entry{operation: "ADD CONSTRAINT", parameters: []protocol.Parameter{textParameter("name", s.Name), textParameter("expr", s.Expression)}})
	return nil
}

func constraintExists(name, old string) *protocol.Error {
	return protocol.NewError("DELTA_CONSTRAINT_ALREADY_EXISTS", "the constraint %s exists already: %s", name, old).
		WithHint("drop it first, or choose another name")
}

// DropConstraint is DROP CONSTRAINT, of a CHECK or of an informational key. The feature stays.
type DropConstraint struct {
	Name     string
	IfExists bool
}

func (s DropConstraint) apply(a *alteration) error {
	name := strings.ToLower(s.Name)
	if text, ok := a.constraints[name]; ok {
		delete(a.constraints, name)
		a.removeProperty(protocol.PropertyPrefixConstraint + name)
		a.checks = slices.DeleteFunc(a.checks, func(c Check) bool { return c.Kind == CheckConstraint && strings.EqualFold(c.Name, s.Name) })
		a.record(entry{operation: "DROP CONSTRAINT", parameters: []protocol.Parameter{
			textParameter("name", s.Name), textParameter("expr", text), textParameter("existed", "true")}})
		return nil
	}
	if key := a.key(name); key != "" {
		a.dropKey(key)
		return nil
	}
	if s.IfExists {
		a.warn("there is no constraint " + s.Name)
		a.record(entry{operation: "DROP CONSTRAINT", parameters: []protocol.Parameter{textParameter("name", s.Name), textParameter("existed", "false")}})
		return nil
	}
	return protocol.NewError("DELTA_CONSTRAINT_DOES_NOT_EXIST", "there is no constraint %s", s.Name).WithHint("DROP CONSTRAINT IF EXISTS passes over it")
}
