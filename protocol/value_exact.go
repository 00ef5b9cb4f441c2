package protocol

import "math/big"

// ratCompare compares n*10^-scale with a finite double exactly.
func ratCompare(n Int128, scale int, f float64) int {
	hi, lo := n.abs()
	num := new(big.Int).SetUint64(hi)
	num.Lsh(num, 64).Or(num, new(big.Int).SetUint64(lo))
	if n.Hi < 0 {
		num.Neg(num)
	}
	left := new(big.Rat).SetFrac(num, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, 0))), nil))
	right := new(big.Rat)
	right.SetFloat64(f)
	return left.Cmp(right)
}
