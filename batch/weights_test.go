package batch

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"robotsbatch/io/store/must"
)

func TestSumOfIntegersIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sum Sum
		want := new(big.Int)
		for range random.IntN(50) {
			n := int64(random.Uint64()) >> random.IntN(64)
			sum.AddInt(n)
			want.Add(want, big.NewInt(n))
			u := random.Uint64() >> random.IntN(64)
			sum.addUint(u)
			want.Add(want, new(big.Int).SetUint64(u))
		}
		digits, ok := sum.Integer()
		must.Need(t, ok && digits == want.String(), "%s, want %s", digits, want)
		var half, both Sum
		half.Add(sum)
		both.Add(sum)
		both.Add(half)
		digits, _ = both.Integer()
		must.Need(t, digits == new(big.Int).Add(want, want).String(), "twice %s is %s", want, digits)
		sameAfterJSON(t, sum)
	}
}

func sameAfterJSON(t *testing.T, sum Sum) {
	t.Helper()
	text := must.Get(json.Marshal(sum))(t)
	var again Sum
	err := json.Unmarshal(text, &again)
	must.Need(t, err == nil && again.Float() == sum.Float(), "%s: %v, %g", text, err, again.Float())
	digits, ok := sum.Integer()
	must.Need(t, !ok || string(text) == digits, "%s is written as %s", digits, text)
}

// What an addition rounds off is not lost: the sum of floats is that of big.Float,
// rounded once.
func TestSumOfFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var sum, part Sum
		want := new(big.Float).SetPrec(4000)
		for i := range 1000 {
			x := math.Ldexp(random.Float64(), random.IntN(80))
			want.Add(want, big.NewFloat(x))
			part.AddFloat(x)
			if i%7 == 0 {
				sum.Add(part)
				part = Sum{}
			}
		}
		sum.Add(part)
		exact, _ := want.Float64()
		must.Need(t, math.Abs(sum.Float()-exact) <= math.Abs(exact)*0x1p-52, "%g, want %g", sum.Float(), exact)
		sameAfterJSON(t, sum)
	}
	var sum Sum
	for _, x := range []float64{1e100, 1, -1e100} {
		sum.AddFloat(x)
	}
	sum.AddInt(2)
	must.Equal(t, sum.Float(), 3, "1e100 + 1 - 1e100 + 2 =")
	sum.AddFloat(math.MaxFloat64)
	sum.AddFloat(math.MaxFloat64)
	must.Be(t, math.IsInf(sum.Float(), 1), "twice the largest float is %g", sum.Float())
	sameAfterJSON(t, sum)
}

// TestMembersOfCombinedVerdicts: of agents whose verdicts were combined, each has counts
// and weights as it has alone.
func TestMembersOfCombinedVerdicts(t *testing.T) {
	v := &Verdicts{}
	v.Reset(4, Want{Agents: 1, Members: 3})
	v.Agents[0].Set(0, true)
	v.SetNull(3, 0)
	v.Denied = append(v.Denied, []int32{1}, []int32{1, 2})
	v.DeniedOf[1], v.DeniedOf[2] = 1, 2
	s := statsOf(&Batch{Weights: Numbers{Ints: []int64{1, 10, 100, 1000}}}, v)
	var total Stats
	total.add(&s)
	total.add(&s)
	for agent, want := range []string{"2 4 2 2/220/2000", "6 0 2 222/0/2000", "2 4 2 2/220/2000", "4 2 2 22/200/2000"} {
		c := total.Agents[agent]
		got := fmt.Sprintf("%d %d %d %.0f/%.0f/%.0f", c.Allowed, c.Denied, c.Unknown, c.Weights.Allowed.Float(), c.Weights.Denied.Float(), c.Weights.Unknown.Float())
		must.Equal(t, got, want, "agent", agent)
	}
}

func TestWeigh(t *testing.T) {
	v := &Verdicts{}
	v.Reset(6, Want{Agents: 2})
	for row := range 3 {
		v.Agents[0].Set(row, true)
	}
	v.Agents[1].Set(5, true)
	v.SetNull(3, 0)
	ints := Numbers{Ints: []int64{0, 1, 10, 100, 1000, 10000, 77}, Validity: []byte{0b1011_1111}, ValidityOffset: 1, NotNumbers: 1}
	ints.Ints = ints.Ints[:6]
	floats := Numbers{Floats: []float64{math.NaN(), 1, 10, 100, 1000, math.Inf(1)}}
	unsigned := Numbers{Ints: []int64{-1, -1, 0, -1, -1, -1}, Unsigned: true}
	for _, test := range []struct {
		what              string
		numbers           Numbers
		nulls, notNumbers int64
		want              string
	}{
		{"integers, of which row 5 is text", ints, 0, 1, `{"allowed":11,"denied":1000,"unknown":100} {"allowed":0,"denied":1011,"unknown":100}`},
		{"floats", floats, 0, 2, `{"allowed":11,"denied":1000,"unknown":100} {"allowed":0,"denied":1011,"unknown":100}`},
		{
			"integers without a sign", unsigned, 0, 0,
			`{"allowed":36893488147419103230,"denied":36893488147419103230,"unknown":18446744073709551615} ` +
				`{"allowed":18446744073709551615,"denied":55340232221128654845,"unknown":18446744073709551615}`,
		},
	} {
		s := statsOf(&Batch{Weights: test.numbers}, v)
		var total Stats
		total.add(&s)
		first, _ := json.Marshal(total.Agents[0].Weights)
		second, _ := json.Marshal(total.Agents[1].Weights)
		got := string(first) + " " + string(second)
		must.Be(t, got == test.want && total.WeightNulls == test.nulls && total.WeightNotNumbers == test.notNumbers, "%s: %s, %d nulls, %d no numbers", test.what, got, total.WeightNulls, total.WeightNotNumbers)
	}
}
