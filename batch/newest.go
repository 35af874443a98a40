package batch

// Newest are rows by two verdicts: the one that they have, and that of the newest rules;
// see Verdicts.Newest.
type Newest struct {
	// OfAllowed are the rows that are allowed, by the verdict of the newest rules;
	// OfDenied and OfUnknown likewise those that are denied or have no verdict.
	OfAllowed Split `json:"of_allowed"`
	OfDenied  Split `json:"of_denied"`
	OfUnknown Split `json:"of_unknown"`
}

// Split are rows by a verdict.
type Split struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Unknown int64 `json:"unknown"`
	// Weights are the sums of the rows' weights, absent where they are 0.
	Weights Weights `json:"weight,omitzero"`
}

// verdict is what a row was answered: allowed, denied, or nothing.
type verdict uint8

const (
	allowed verdict = iota
	denied
	unknown
	verdicts // how many there are
)

// of returns the rows of a verdict.
func (n *Newest) of(then verdict) *Split {
	return [...]*Split{&n.OfAllowed, &n.OfDenied, &n.OfUnknown}[then]
}

// add adds rows of two verdicts, and the sum of their weights.
func (n *Newest) add(then, now verdict, rows int64, weight Sum) {
	s := n.of(then)
	*[...]*int64{&s.Allowed, &s.Denied, &s.Unknown}[now] += rows
	[...]*Sum{&s.Weights.Allowed, &s.Weights.Denied, &s.Weights.Unknown}[now].Add(weight)
}

// Add adds other rows'.
func (n *Newest) Add(other *Newest) {
	for then := range verdicts {
		s, o := n.of(then), other.of(then)
		s.Allowed += o.Allowed
		s.Denied += o.Denied
		s.Unknown += o.Unknown
		s.Weights.Add(&o.Weights)
	}
}

// at returns the verdict of a row.
func (a *AgentVerdicts) at(row int) verdict {
	switch bit := byte(1) << (row & 7); {
	case a.Valid[row>>3]&bit == 0:
		return unknown
	case a.Allowed[row>>3]&bit != 0:
		return allowed
	}
	return denied
}

// compare counts a batch's rows by their verdicts and those of the newest rules.
func (s *Stats) compare(b *Batch, v *Verdicts) {
	weights := &b.Weights
	if weights.Ints == nil && weights.Floats == nil {
		weights = nil
	}
	for i := range v.Agents {
		then, now := &v.Agents[i], &v.Newest.Agents[i]
		c := newCrossing(weights, int(verdicts*verdicts))
		for row := range v.Rows {
			c.count(row, int(then.at(row)*verdicts+now.at(row)))
		}
		s.Agents[i].Newest = new(Newest)
		for cell := range verdicts * verdicts {
			s.Agents[i].Newest.add(cell/verdicts, cell%verdicts, c.rows[cell], c.sums[cell])
		}
	}
	if v.Members > 0 {
		s.compareMembers(weights, v)
	}
}

// compareMembers does it for the agents whose verdicts were combined: for all rows with
// the same two lists of denied agents at once.
func (s *Stats) compareMembers(weights *Numbers, v *Verdicts) {
	newest := len(v.Newest.Denied) + 1 // lists, with that of no verdict
	numbers := make(map[int]int)       // of pairs of lists
	var pairs []int
	c := newCrossing(weights, 0)
	for row := range v.Rows {
		pair := int(v.DeniedOf[row]+1)*newest + int(v.Newest.DeniedOf[row]+1)
		number, ok := numbers[pair]
		if !ok {
			number = len(pairs)
			numbers[pair], pairs = number, append(pairs, pair)
			c.rows, c.sums = append(c.rows, 0), append(c.sums, Sum{})
		}
		c.count(row, number)
	}
	then, now := make([]verdict, v.Members), make([]verdict, v.Members)
	members := s.Agents[1:]
	for i := range members {
		members[i].Newest = new(Newest)
	}
	for number, pair := range pairs {
		verdictsOf(then, v, pair/newest-1)
		verdictsOf(now, v.Newest, pair%newest-1)
		for i := range members {
			members[i].Newest.add(then[i], now[i], c.rows[number], c.sums[number])
		}
	}
}

// verdictsOf sets the verdicts of agents by a list of those that are denied, -1 for no
// verdict.
func verdictsOf(all []verdict, v *Verdicts, list int) {
	if list < 0 {
		for i := range all {
			all[i] = unknown
		}
		return
	}
	clear(all)
	for _, agent := range v.Denied[list] {
		all[agent] = denied
	}
}

// crossing counts rows by number, and adds their weights up.
type crossing struct {
	weights *Numbers // nil for none
	rows    []int64
	sums    []Sum
}

func newCrossing(weights *Numbers, numbers int) *crossing {
	return &crossing{weights: weights, rows: make([]int64, numbers), sums: make([]Sum, numbers)}
}

// count counts a row for a number.
func (c *crossing) count(row, number int) {
	c.rows[number]++
	if c.weights != nil && !c.weights.Null(row) && c.weights.finite(row) {
		c.sums[number].addRow(c.weights, row)
	}
}
