package protocol

// Value is one typed scalar: a decoded partition value, a statistics bound, or a literal of a predicate.
//
//	KindBoolean                              Int is 0 or 1
//	KindByte .. KindLong                     Int
//	KindFloat, KindDouble                    Float
//	KindDecimal                              Dec is the unscaled value, Scale its scale
//	KindString, KindBinary                   Str (bytes)
//	KindDate                                 Int, days since 1970-01-01
//	KindTimestamp, KindTimestampNTZ          Int, microseconds since 1970-01-01T00:00:00
//	KindIntervalYearMonth / DayTime          Int, months / microseconds
//
// Null with any Kind is the typed NULL.
type Value struct {
	Kind  Kind
	Null  bool
	Int   int64
	Float float64
	Str   string
	Dec   Int128
	Scale int
}

// Int128 is a two's complement 128-bit integer, high word first.
type Int128 struct {
	Hi int64
	Lo uint64
}
