package batch

import (
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
)

// ExtraColumns names the columns that a job reads besides the URLs. Sources decode them, also
// where the other columns pass through. A source without such a column is an error.
type ExtraColumns struct {
	// Weight is a column of numbers, for Batch.Weights; empty for none.
	Weight string
	// Time is a column of times, for Batch.Times; empty for none.
	Time string
}

// Numbers is a column of numbers, one a row: Ints or Floats has them, whichever is not
// nil. The number of a null row may be anything.
type Numbers struct {
	Ints []int64
	// Unsigned says that Ints are the bits of 64-bit numbers without a sign.
	Unsigned bool
	Floats   []float64
	// Validity and ValidityOffset are as in Column.
	Validity       []byte
	ValidityOffset int
	// NotNumbers is the number of null rows that hold something that is no number.
	NotNumbers int
}

// Null reports whether row i has no number.
func (n *Numbers) Null(i int) bool {
	i += n.ValidityOffset
	return n.Validity != nil && n.Validity[i>>3]>>(i&7)&1 == 0
}

// finite reports whether the number of row i, which is not null, is neither NaN nor
// infinite.
func (n *Numbers) finite(i int) bool { return n.Floats == nil || n.Floats[i]-n.Floats[i] == 0 }

// Sum adds numbers up. Its zero value is 0. Integers are added exactly, in 128 bits,
// which no number of rows can exceed. Floats are added with what each addition rounds
// off (Neumaier's sum), so a sum does not depend on how many workers there are: a job
// adds its batches in their order.
type Sum struct {
	high, low uint64  // of the integers, in two's complement
	float     float64 // of the floats, as far as one float64 holds it
	rest      float64 // what the additions to float rounded off
	inexact   bool    // a float was added
}

// AddInt adds an integer.
func (s *Sum) AddInt(n int64) {
	s.addUint(uint64(n))
	s.high += uint64(n >> 63) // the sign, in all bits
}

// addUint adds an integer without a sign.
func (s *Sum) addUint(n uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, n, 0)
	s.high += carry
}

// AddFloat adds a number that is neither infinite nor NaN. What the addition rounds off is
// exact if it is computed from the larger of both operands (Neumaier 1974).
func (s *Sum) AddFloat(x float64) {
	sum := s.float + x
	if math.Abs(s.float) >= math.Abs(x) {
		s.rest += s.float - sum + x
	} else {
		s.rest += x - sum + s.float
	}
	s.float, s.inexact = sum, true
}

// Add adds another sum.
func (s *Sum) Add(other Sum) {
	s.addUint(other.low)
	s.high += other.high
	if other.inexact {
		s.AddFloat(other.float)
		s.rest += other.rest
	}
}

// integer returns the sum of the integers. The upper half has the sign.
func (s *Sum) integer() *big.Int {
	n := big.NewInt(int64(s.high))
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(s.low))
}

// Float returns the sum, rounded. It is infinite if the sum of floats exceeds a float64.
func (s *Sum) Float() float64 {
	whole, _ := new(big.Float).SetInt(s.integer()).Float64()
	if math.IsInf(s.float, 0) {
		return s.float // rest is NaN then
	}
	return whole + (s.float + s.rest)
}

// Integer returns the exact sum of the integers. ok is false if a float was added.
func (s *Sum) Integer() (digits string, ok bool) {
	return s.integer().String(), !s.inexact
}

// MarshalJSON writes a number: all digits of a sum of integers; null when it is infinite.
func (s Sum) MarshalJSON() ([]byte, error) {
	if digits, ok := s.Integer(); ok {
		return []byte(digits), nil
	}
	if f := s.Float(); !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Sum) UnmarshalJSON(text []byte) error {
	*s = Sum{}
	if string(text) == "null" {
		s.float, s.inexact = math.Inf(1), true
		return nil
	}
	if n, ok := new(big.Int).SetString(string(text), 10); ok && n.BitLen() < 128 {
		// Rsh and And treat a negative number as two's complement.
		s.high, s.low = uint64(new(big.Int).Rsh(n, 64).Int64()), new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		return nil
	}
	s.inexact = true
	return json.Unmarshal(text, &s.float)
}

// Weights are the sums of one agent's rows by their verdicts.
type Weights struct {
	Allowed Sum `json:"allowed"`
	Denied  Sum `json:"denied"`
	Unknown Sum `json:"unknown"`
}

// Add adds another agent's, or other rows'.
func (w *Weights) Add(other *Weights) {
	w.Allowed.Add(other.Allowed)
	w.Denied.Add(other.Denied)
	w.Unknown.Add(other.Unknown)
}

// weigh adds a batch's weights to the sums of each agent by verdict, and sets the counts of rows
// without a weight.
func (s *Stats) weigh(n *Numbers, v *Verdicts) {
	nulls := 0
	for row := range v.Rows {
		switch {
		case n.Null(row):
			nulls++
		case !n.finite(row):
			s.WeightNotNumbers++
		}
	}
	s.WeightNulls += int64(nulls - n.NotNumbers) // rows that hold no number are null, too
	s.WeightNotNumbers += int64(n.NotNumbers)
	for i := range v.Agents {
		a, w := &v.Agents[i], &s.Agents[i].Weights
		for row := range v.Rows {
			if n.Null(row) || !n.finite(row) {
				continue
			}
			sum := &w.Denied
			switch allowed, known := a.Verdict(row); {
			case !known:
				sum = &w.Unknown
			case allowed:
				sum = &w.Allowed
			}
			sum.addRow(n, row)
		}
	}
	if v.Members > 0 {
		s.weighMembers(n, v)
	}
}

// addRow adds the number of a row, which must not be null, NaN or infinite.
func (s *Sum) addRow(n *Numbers, row int) {
	switch {
	case n.Floats != nil:
		s.AddFloat(n.Floats[row])
	case n.Unsigned:
		s.addUint(uint64(n.Ints[row]))
	default:
		s.AddInt(n.Ints[row])
	}
}

// weighMembers adds a batch's weights by verdict to the sums of the agents whose verdicts were
// combined: s.Agents[1:], after countMembers.
func (s *Stats) weighMembers(n *Numbers, v *Verdicts) {
	sums := make([]Sum, len(v.Denied)) // of the rows with each list
	for row, list := range v.DeniedOf {
		if list >= 0 && !n.Null(row) && n.finite(row) {
			sums[list].addRow(n, row)
		}
	}
	members := s.Agents[1:]
	for i := range members {
		members[i].Weights.Unknown = s.Agents[0].Weights.Unknown
	}
	for list, sum := range sums {
		denied := v.Denied[list] // in order
		for agent := range members {
			w := &members[agent].Weights
			if len(denied) > 0 && int(denied[0]) == agent {
				denied = denied[1:]
				w.Denied.Add(sum)
			} else {
				w.Allowed.Add(sum)
			}
		}
	}
}
