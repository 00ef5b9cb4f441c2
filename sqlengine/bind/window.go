package bind

import (
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
)

// WindowSpec resolves what stands in OVER: a named window, a refinement of one, or a window of its own.
func (e *env) WindowSpec(spec *parse.WindowSpec) (expr.WindowSpec, error) {
	full, err := e.refine(spec, 0)
	if err != nil {
		return expr.WindowSpec{}, err
	}
	inner := *e
	inner.inside = "window"
	var out expr.WindowSpec
	for _, x := range full.PartitionBy {
		bound, err := expr.Bind(&inner, x)
		if err != nil {
			return out, err
		}
		if t := bound.Type(); t.Holds(protocol.KindFile) {
			return out, expr.WithPart(fail("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", x.At(), "PARTITION BY cannot use a value of type %s", t), t)
		}
		key, err := expr.CollationKey(bound, e.place.context)
		if err != nil {
			return out, located(err, x.At())
		}
		out.PartitionBy = append(out.PartitionBy, key)
	}
	for _, o := range full.OrderBy {
		bound, err := expr.Bind(&inner, o.Expr)
		if err != nil {
			return out, err
		}
		order, err := ordered(o, bound, e.place.context)
		if err != nil {
			return out, err
		}
		out.OrderBy = append(out.OrderBy, order)
	}
	if full.Frame != nil {
		return out, inner.frame(full.Frame, &out)
	}
	return out, nil
}

// refine merges a window with the named one it builds on: PARTITION BY comes from the base, ORDER BY may be added once, a
// frame may not be replaced unless the name stands alone.
func (e *env) refine(spec *parse.WindowSpec, depth int) (*parse.WindowSpec, error) {
	if spec.Base == nil {
		return spec, nil
	}
	if depth > 50 || e.block == nil {
		return nil, fail("CYCLIC_WINDOW_REFERENCE", spec.Base.Pos, "the window `%s` refers to itself", spec.Base.Name)
	}
	for i := range e.block.ast.Windows {
		w := &e.block.ast.Windows[i]
		if !strings.EqualFold(w.Name.Name, spec.Base.Name) {
			continue
		}
		base, err := e.refine(&w.Spec, depth+1)
		if err != nil {
			return nil, err
		}
		merged := *base
		switch {
		case len(spec.PartitionBy) > 0:
			return nil, fail("INVALID_WINDOW_REFINEMENT", spec.Base.Pos, "PARTITION BY cannot be added to the window `%s`", spec.Base.Name)
		case len(spec.OrderBy) > 0 && len(base.OrderBy) > 0:
			return nil, fail("INVALID_WINDOW_REFINEMENT", spec.Base.Pos, "the window `%s` has an ORDER BY already", spec.Base.Name)
		}
		if len(spec.OrderBy) > 0 {
			merged.OrderBy = spec.OrderBy
		}
		if spec.Frame != nil {
			if base.Frame != nil {
				return nil, fail("INVALID_WINDOW_REFINEMENT", spec.Base.Pos, "the window `%s` has a frame already", spec.Base.Name)
			}
			merged.Frame = spec.Frame
		}
		return &merged, nil
	}
	return nil, fail("MISSING_WINDOW_SPECIFICATION", spec.Base.Pos, "the window `%s` is not defined in WINDOW", spec.Base.Name)
}

// frame writes the frame clause; its offsets become bounds.
func (e *env) frame(f *parse.Frame, out *expr.WindowSpec) error {
	order := map[parse.BoundKind]int{parse.UnboundedPreceding: 0, parse.Preceding: 1, parse.CurrentRow: 2, parse.Following: 3, parse.UnboundedFollowing: 4}
	bound := func(b parse.FrameBound) (string, error) {
		switch b.Kind {
		case parse.UnboundedPreceding:
			return "UNBOUNDED PRECEDING", nil
		case parse.UnboundedFollowing:
			return "UNBOUNDED FOLLOWING", nil
		case parse.CurrentRow:
			return "CURRENT ROW", nil
		}
		offset, err := expr.Bind(e, b.Offset)
		if err != nil {
			return "", err
		}
		if contains(offset, func(x expr.Expr) bool { _, ok := x.(*expr.Column); return ok }) {
			return "", fail("SPECIFIED_WINDOW_FRAME_INVALID_BOUND", b.Offset.At(), "the offset of a window frame must be constant")
		}
		out.Bounds = append(out.Bounds, offset)
		text := "{" + strconv.Itoa(len(out.Bounds)-1) + "}"
		if b.Kind == parse.Preceding {
			return text + " PRECEDING", nil
		}
		return text + " FOLLOWING", nil
	}
	if order[f.Start.Kind] > order[f.End.Kind] {
		at := parse.Pos{}
		if f.Start.Offset != nil {
			at = f.Start.Offset.At()
		}
		return fail("SPECIFIED_WINDOW_FRAME_INVALID_BOUND", at, "the frame ends before it begins")
	}
	start, err := bound(f.Start)
	if err != nil {
		return err
	}
	end, err := bound(f.End)
	if err != nil {
		return err
	}
	unit := [...]string{parse.FrameRows: "ROWS", parse.FrameRange: "RANGE", parse.FrameGroups: "GROUPS"}[f.Unit]
	out.Frame = unit + " BETWEEN " + start + " AND " + end
	if f.Exclude != "" {
		out.Frame += " EXCLUDE " + f.Exclude
	}
	return nil
}
