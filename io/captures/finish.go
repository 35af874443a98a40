package captures

import (
	"cmp"
	"slices"
	"time"

	"robotsbatch/matcher/access"
)

// decision is what is known of a node.
type decision struct {
	fetched    int64 // seconds since 1970 of the capture that decides; 0: unknown
	body       int32 // number of the body whose rules decide, or none
	status     int16 // of that capture; 0: unknown
	outcome    access.Outcome
	stale      bool
	unresolved bool // the outcome is the policy's for a redirect to nowhere
}

// resolver finds the decisions of all nodes.
type resolver struct {
	captures []capture // by node, then by time, then as they came
	asOf     time.Time
	policy   access.Policy
	fetches  []access.Fetch // reused
}

// Finish makes rules of what was collected: for each authority the newest
// capture that is not after asOf decides. The zero time stands for Newest. The
// collector must not be used afterwards.
func (c *Collector) Finish(asOf time.Time, p access.Policy) *Origins {
	if asOf.IsZero() {
		asOf = c.Newest()
	}
	slices.SortFunc(c.captures, func(a, b capture) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.time, b.time), cmp.Compare(a.order, b.order))
	})
	r := resolver{captures: c.captures, asOf: asOf, policy: p}
	o := &Origins{nodes: c.nodes, decisions: r.resolve(len(c.isOrigin)), bodies: c.bodies, stats: c.stats}
	o.keepUsed(c.isOrigin)
	o.count(c.isOrigin)
	return o
}

// resolve decides each node, first as if no redirect led anywhere and then, as
// many times as hops are allowed, with the targets' decisions of the time
// before. So each node is seen a fixed number of times, however redirects cross
// and loop.
func (r *resolver) resolve(nodes int) []decision {
	decisions := make([]decision, nodes)
	for i := range decisions {
		decisions[i].body = none
	}
	var redirected []run
	for start := 0; start < len(r.captures); {
		group := run{start: start, end: start + 1}
		for group.end < len(r.captures) && r.captures[group.end].node == r.captures[start].node {
			group.end++
		}
		decisions[r.captures[start].node] = r.decide(group, nil)
		if slices.ContainsFunc(r.captures[group.start:group.end], func(x capture) bool { return x.target != none }) {
			redirected = append(redirected, group)
		}
		start = group.end
	}
	before := make([]decision, nodes)
	for range access.MaxHops {
		copy(before, decisions)
		for _, group := range redirected {
			decisions[r.captures[group.start].node] = r.decide(group, before)
		}
	}
	return decisions
}

// run is a node's captures.
type run struct{ start, end int }

// decide decides a node, given what is known of the targets; nil is nothing.
func (r *resolver) decide(group run, targets []decision) decision {
	r.fetches = r.fetches[:0]
	for _, x := range r.captures[group.start:group.end] {
		fetch := access.Fetch{Status: int(x.status), Failed: x.failed, Time: timeOf(x.time)}
		if targets != nil && x.target != none && !targets[x.target].unresolved {
			fetch.Target = targets[x.target].outcome
		}
		r.fetches = append(r.fetches, fetch)
	}
	said := r.policy.Decide(r.fetches, r.asOf)
	d := decision{body: none, outcome: said.Outcome, stale: said.Stale}
	if said.Fetch < 0 {
		return d
	}
	x := r.captures[group.start+said.Fetch]
	d.fetched, d.unresolved = seconds(x.time), r.fetches[said.Fetch].Unresolved()
	if !x.failed {
		d.status = max(0, x.status)
	}
	if said.Outcome != access.Rules {
		return d
	}
	d.body = x.body
	if x.target != none {
		d.body = targets[x.target].body
		d.stale = d.stale || targets[x.target].stale
	}
	return d
}

// keepUsed drops the rules that no authority needs.
func (o *Origins) keepUsed(isOrigin []bool) {
	used := make([]bool, len(o.bodies))
	for node, d := range o.decisions {
		if isOrigin[node] && d.body != none {
			used[d.body] = true
		}
	}
	for i := range o.bodies {
		if !used[i] {
			o.bodies[i].tries, o.bodies[i].records = nil, nil
		}
	}
}
