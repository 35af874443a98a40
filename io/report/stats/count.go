package stats

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"robotsbatch/io/report/export"
	"robotsbatch/matcher/usage"
)

// Base says which sites shares are of.
type Base uint8

const (
	// BaseReached are the sites with an answer of whatever class.
	BaseReached Base = iota
	// BaseRules are the sites with a robots.txt.
	BaseRules
	// BaseAll are all sites, those without an answer among them.
	BaseAll
)

var (
	baseNames = [...]string{"reached", "rules", "all"}
	// baseSites name the sites of a base within a sentence.
	baseSites = [...]string{"that were reached", "with a robots.txt", "that are known"}
)

// String returns the base's name, such as "reached".
func (b Base) String() string { return baseNames[b] }

// Sites says which sites the base has, such as "that were reached".
func (b Base) Sites() string { return baseSites[b] }

// has reports whether sites of a class are in the base.
func (b Base) has(c export.Class) bool {
	switch b {
	case BaseRules:
		return c == export.WithRules
	case BaseAll:
		return true
	}
	return c.Reached()
}

// Count counts sites by how much they deny an agent, or by what they state of a use to it.
type Count struct {
	// Month is one of Options.Months; empty without them.
	Month string
	// Rank is All, Panel, or the rank of a list up to which sites are counted.
	Rank int
	// Listed is the number of different sites that the list has up to Rank; 0 without a list.
	Listed int64
	// Agent is an agent's name, or says which agents are counted together, such as "any of 12".
	Agent string
	// AnyOf is 0 for one agent. Otherwise it is the number of agents that are counted together: a site
	// counts by the most that it denies any of them.
	AnyOf int

	// Classes counts all sites, each in one class.
	Classes [export.Classes]int64
	// Base is how many of them shares are of. All that follows counts only those of the base
	// that were reached.
	Base int64

	// Full, Partial and None count the sites that deny all, some or nothing; of those in Undecided it
	// is not known. If a use is counted, None counts the sites that state nothing about it.
	Full, Partial, None, Undecided int64
	// Root counts the sites that deny the front page.
	Root int64
	// These count the sites of Full and Partial whose group names the agent, and those whose group is
	// for everyone.
	FullNamed, FullEveryone, PartialNamed, PartialEveryone int64

	// Use is one of Options.Uses; the zero value without them.
	Use usage.Use
	// Values counts the sites that state a single value of Use, by the value.
	Values [usage.NumValues]int64
	// Mixed counts those that state several: one for some paths or hosts, and another for others.
	Mixed int64
}

// Sites returns the number of sites.
func (c *Count) Sites() (sites int64) {
	for _, n := range c.Classes {
		sites += n
	}
	return sites
}

// Reached returns the number of sites with an answer.
func (c *Count) Reached() (sites int64) {
	for class, n := range c.Classes {
		if export.Class(class).Reached() {
			sites += n
		}
	}
	return sites
}

// Stated returns the number of sites that state anything of Use.
func (c *Count) Stated() int64 {
	stated := c.Mixed
	for _, n := range c.Values {
		stated += n
	}
	return stated
}

// Headline returns the main figure: the number of sites that deny all, or disallow the use;
// for a use with grades, the number that states any.
func (c *Count) Headline() int64 {
	switch {
	case c.Use == usage.Use{}:
		return c.Full
	case c.Use.Graded():
		return c.Stated()
	}
	return c.Values[usage.Disallowed]
}

// The ranks of counts that no list gives.
const (
	// All is the rank of counts of all sites.
	All = 0
	// Panel is that of counts of the sites with a capture in each month that has captures.
	Panel = -1
)

// state is what is known about a site and an agent. It is a set of bits, because a site may have
// several authorities. From firstClass on there is a bit for each class. The bits below say what the
// authorities that were reached deny; where uses are counted, they are those of usage.Values.
type state uint16

const (
	isNone state = 1 << iota
	isSome
	isAll
	isUndecided
	byName
	byEveryone
	isRootOpen
	// isCaptured: it was fetched in the month.
	isCaptured
	firstClass
)

// statedBits are the bits of usage.Values.
const statedBits = isCaptured - 1

// blockedStates are what the column blocked of a survey says.
var blockedStates = [...]struct {
	word  string
	state state
}{{"none", isNone}, {"all", isAll}, {"some", isSome}, {"", isUndecided}}

// stateOf returns the state of a site from the columns class, blocked, root and by of its row in a survey. A
// site that was not reached has its class alone. It is an error if blocked is no value of that column.
func stateOf(class export.Class, blocked string, root bool, by string) (state, error) {
	s := firstClass << class // the class's bit
	if !class.Reached() {
		return s, nil
	}
	for _, b := range blockedStates {
		if b.word == blocked {
			s |= b.state
		}
	}
	if s == firstClass<<class { // no word of blockedStates
		return 0, fmt.Errorf("the column blocked has %q, instead of none, some or all: this is not a survey", blocked)
	}
	if !root {
		s |= isRootOpen
	}
	if s&(isSome|isAll) != 0 { // else no group denies anything, or it is not known how much
		switch by {
		case "name":
			s |= byName
		case "everyone":
			s |= byEveryone
		}
	}
	return s, nil
}

// useStateOf returns the state of a site that states the values said about a use.
func useStateOf(class export.Class, said usage.Values) state {
	if !class.Reached() {
		return firstClass << class
	}
	return firstClass<<class | state(said)
}

// class returns the class of the site.
func (s state) class() export.Class {
	return export.Class(bits.TrailingZeros16(uint16(s / firstClass)))
}

// denied returns isAll, isSome, isNone or isUndecided for a site that was reached, from the bits of all its
// authorities.
func (s state) denied() state {
	switch how := s & (isNone | isSome | isAll | isUndecided); {
	case how == isAll, how == isNone: // all authorities agree
		return how
	case how&isSome != 0 || how&isAll != 0 && how&isNone != 0: // one denies all and another nothing
		return isSome
	}
	return isUndecided
}

// combine returns the state of a site for several agents together, from its state for each: the most
// that it denies any of them, and by whose groups. The front page is open if it is open to all. Without
// states it returns 0.
func combine(states []state) state {
	var most, classes state
	closed := false // the front page, to one of the agents
	for _, s := range states {
		classes |= s &^ (isCaptured - 1) // isCaptured and the bits of classes, which are above it
		if !s.class().Reached() {
			continue
		}
		closed = closed || s&isRootOpen == 0
		switch now := s.denied(); {
		case most == 0 || openness(now) < openness(most):
			most = now | s&(byName|byEveryone)
		case openness(now) == openness(most):
			most |= s & (byName | byEveryone)
		}
	}
	if most != 0 && !closed {
		most |= isRootOpen
	}
	return classes | most
}

// byOpenness are the results of state.denied, from the one that denies most to the one that denies
// nothing.
var byOpenness = []state{isAll, isSome, isUndecided, isNone}

// openness returns a number that is lower the more a state denies.
func openness(s state) int { return slices.Index(byOpenness, s.denied()) }

// add counts a site: in its class and, if that is in the base, by its state. uses says that the state is
// about a use.
func (c *Count) add(s state, base Base, uses bool) {
	class := s.class()
	c.Classes[class]++
	if !base.has(class) {
		return
	}
	c.Base++
	switch {
	case !class.Reached():
	case uses:
		c.addStated(s)
	default:
		c.addDenied(s)
	}
}

// addDenied counts a site of the base that was reached, by what it denies. A site of which one group names
// the agent and another is for everyone counts as naming it.
func (c *Count) addDenied(s state) {
	named, everyone := bit(s&byName != 0), bit(s&byName == 0 && s&byEveryone != 0)
	c.Root += bit(s&isRootOpen == 0)
	switch s.denied() {
	case isAll:
		c.Full++
		c.FullNamed += named
		c.FullEveryone += everyone
	case isSome:
		c.Partial++
		c.PartialNamed += named
		c.PartialEveryone += everyone
	case isNone:
		c.None++
	default:
		c.Undecided++
	}
}

// addStated counts a site of the base that was reached, by what it states about a use.
func (c *Count) addStated(s state) {
	said := usage.Values(s & statedBits)
	switch value := said.Single(); {
	case said == 0:
		c.None++
	case value == usage.Unknown: // several values
		c.Mixed++
	default:
		c.Values[value]++
	}
}

// bit returns what to add to a count: 1 for true, 0 for false.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// compareClosed orders counts: more agents together first, then more sites that deny all, then
// more that deny some.
func compareClosed(a, b Count) int {
	return cmp.Or(cmp.Compare(b.AnyOf, a.AnyOf), cmp.Compare(b.Full, a.Full), cmp.Compare(b.Partial, a.Partial))
}
