package protocol

// MarkAfter is the high-water mark of an identity column that has the value: the value itself, or the next one behind it that the
// column can generate. It is false where the mark stays: for a value before the start, or before the mark that is there.
//
// Errors: ARITHMETIC_OVERFLOW where no value behind it fits BIGINT.
func (i Identity) MarkAfter(value int64) (mark int64, moved bool, err error) {
	up := i.Step > 0
	behind := func(a, b int64) bool { return up && a > b || !up && a < b }
	if behind(i.Start, value) {
		return 0, false, nil
	}
	// The distances fit 64 bits without sign, whatever the operands are.
	distance, step := uint64(value)-uint64(i.Start), uint64(i.Step)
	if !up {
		distance, step = -distance, -step
	}
	mark = value
	if over := distance % step; over != 0 {
		if up {
			mark = int64(uint64(value) + (step - over))
		} else {
			mark = int64(uint64(value) - (step - over))
		}
		if !behind(mark, value) {
			return 0, false, NewError("ARITHMETIC_OVERFLOW", "the identity column has no value behind %d", value)
		}
	}
	if i.HighWaterMark != nil && !behind(mark, *i.HighWaterMark) {
		return 0, false, nil
	}
	return mark, true, nil
}
