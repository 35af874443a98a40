package evaluate

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/io/store/panics"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/urls"
)

// Options say what an Evaluator finds out.
type Options struct {
	// Agents is the number of agents that origins have rules for. Zero means one.
	Agents int
	// Combine, if it is not batch.CombineNone, makes one verdict of those of all agents,
	// and lists the agents that are denied in Verdicts.Denied.
	Combine batch.Combine
	// ListMemory is the number of bytes that these lists may take of a batch; more are an error. 0
	// means a quarter of batch.DefaultMemory.
	ListMemory int64
	// Profile is the one that the rules were compiled for.
	Profile matcher.Profile
	// Missing is the verdict where nothing is known of an authority, at any time.
	Missing access.Missing
	// AllowUnreadable permits rows whose robots.txt states a use in a form that cannot be read:
	// Verdicts.Unpermitted does not have them.
	AllowUnreadable bool
	// Explain fills Reasons, Rules and Explanations.
	Explain bool
	// Columns are set in Verdicts.Columns, except those that are views of the verdicts
	// (ColumnKind.IsSet).
	Columns []batch.VerdictColumn
	// Misses, if not nil, collects authorities that the rules do not know.
	Misses *Misses
	// AsOf is the time that ages are counted up to, in seconds since 1970; 0
	// for none.
	AsOf int64
	// MaxAge is the age in seconds that a fetch may have at AsOf before
	// Counters.Outdated counts its rows; 0 means DefaultMaxAge.
	MaxAge int64

	// Timelines, if not nil, decides each row by what was known at its own time,
	// batch.Batch.Times. Ages are counted up to that time. The
	// origins given to New are not asked.
	Timelines matcher.Historical
	// BeforeFirst decides the rows from before the first time at which something is known of their
	// authority.
	BeforeFirst access.BeforeFirst
	// EverDenied denies a row that was denied at any moment from its time on up to AsOf. Verdicts
	// are combined of agents that were each denied at any moment.
	EverDenied bool
}

// DefaultMaxAge is how long a robots.txt may be used, in seconds (RFC 9309
// §2.4).
const DefaultMaxAge = 24 * 60 * 60

// Evaluator turns batches of URLs into verdicts. It is one goroutine's, and
// implements [batch.Evaluator].
type Evaluator struct {
	options Options
	origins matcher.Origins
	// bulk are the origins and bulkTimelines Options.Timelines, if they take many keys at a time; else nil.
	bulk          matcher.BulkOrigins
	bulkTimelines matcher.BulkHistorical
	mapped        matcher.Mapped // what is asked, if its rules are mapped; else nil

	want      batch.Want // the same for all batches
	blockRows int        // the constant, except in tests
	groups    groups
	found     [lookupSize]matcher.Origin // of the groups that are evaluated
	early     bool                       // the rows of the group that is evaluated are from before its first capture
	decider   *matcher.Decider
	allowed   [][]byte // for each verdict of a row, its bits in the verdicts of the batch
	spreads   bool     // rows are decided by trie, for the spreader
	spreader  spreader
	scratch   urls.Scratch
	target    matcher.Target
	values    values // of a block of a dictionary column
	explainer explainer
	history   history  // with Options.Timelines
	outdated  outdated // with Options.Timelines
	columns   columns
	uses      uses
}

const (
	// blockRows is the number of rows that are grouped by authority at a time: with more, groups
	// are larger, and fewer bytes of them are still in the cache.
	blockRows = 4096
	// lookupSize is the number of authorities that are looked up at a time: with more, the
	// first one's rules leave the cache before they are asked.
	lookupSize = 64
)

// New returns an evaluator that asks origins or, if o.Timelines is not nil, that alone.
func New(origins matcher.Origins, o Options) *Evaluator {
	o.Agents = max(1, o.Agents)
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	o.MaxAge = min(o.MaxAge, math.MaxInt64/2) // so that it can be added to a time
	if o.ListMemory <= 0 {
		o.ListMemory = batch.DefaultMemory / 4
	}
	want := batch.Want{Agents: o.Agents, Explain: o.Explain, Columns: o.Columns}
	if o.Combine != batch.CombineNone {
		want.Agents, want.Members = 1, o.Agents
	}
	bulk, _ := origins.(matcher.BulkOrigins)
	mapped, _ := origins.(matcher.Mapped)
	var bulkTimelines matcher.BulkHistorical
	if o.Timelines != nil {
		mapped, _ = o.Timelines.(matcher.Mapped)
		bulkTimelines, _ = o.Timelines.(matcher.BulkHistorical)
	}
	return &Evaluator{
		options: o, origins: origins, bulk: bulk, bulkTimelines: bulkTimelines, mapped: mapped, want: want, blockRows: blockRows,
		decider: matcher.NewDecider(o.Profile),
		uses:    newUses(o),
		allowed: make([][]byte, want.Agents),
		spreads: o.Agents > 1 || o.Combine != batch.CombineNone, spreader: spreader{lists: make(map[string]int32)},
	}
}

// Evaluate sets v to the verdicts for the rows of b, whose URLs must be valid
// (Column.Validate). It reuses v's memory. With Options.Timelines it shares b.Times with v, and replaces
// batch.TooFine in them. An error means that the rules could not be read, that lists of agents take too
// much memory, or that rows have no times; it names the row if it is about one.
func (e *Evaluator) Evaluate(b *batch.Batch, v *batch.Verdicts) (err error) {
	if e.mapped != nil { // a file that is cut or fails while it is mapped is an error, and no crash
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer panics.Recover(&err, e.mapped.Fault)
	}
	rows := b.URLs.Len()
	v.Reset(rows, e.want)
	v.AsOf = e.options.AsOf
	if e.options.Timelines != nil {
		if len(b.Times) != rows {
			return errNoTimes
		}
		if err := checkTimes(b.Times); err != nil {
			return err
		}
		v.Times = b.Times
	}
	if e.options.Combine != batch.CombineNone {
		e.spreader.memory = listMemory{grant: b.Grant, left: e.options.ListMemory}
	}
	for agent := range v.Agents {
		e.allowed[agent] = v.Agents[agent].Allowed
	}
	e.explainer.reset(v)
	defer e.forget()
	for low := 0; low < rows; {
		high, row, err := e.evaluateBlock(&b.URLs, v, low)
		if err == nil && e.spreader.memory.err != nil {
			row, err = low, e.spreader.memory.err // which is about the block, so its first row stands for it
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", b.FirstRow+int64(row), err)
		}
		low = high
	}
	return e.spreader.memory.settle()
}

// forget drops all references to a batch, so that its bytes can be collected before the next.
func (e *Evaluator) forget() {
	e.groups.reset()
	e.groups.forget()
	e.decider.Reset(nil, nil)
	e.target.Forget()
	clear(e.allowed)
	e.values.forget()
	e.spreader.forget()
	e.history.forget()
	e.columns.host = batch.Host{}
	e.uses.forget()
}

// evaluateBlock evaluates the rows [low, high) and returns high. With an error it returns the
// row that failed. A block ends after e.blockRows rows, or earlier; see values.copy.
func (e *Evaluator) evaluateBlock(c *batch.Column, v *batch.Verdicts, low int) (high, row int, err error) {
	high = min(low+e.blockRows, v.Rows)
	var nulls *batch.Column
	if c.Validity != nil {
		nulls = c
	}
	switch {
	case c.Indices != nil: // a null row is copied as an empty text, which gets the same verdict
		high = e.values.copy(c, low, high)
		row, err = evaluateRows(e, &rows[int64]{data: e.values.data, offsets: e.values.offsets, first: low}, v)
	case c.Offsets64 != nil:
		row, err = evaluateRows(e, &rows[int64]{data: c.Data, offsets: c.Offsets64[low : high+1], first: low, nulls: nulls}, v)
	default:
		row, err = evaluateRows(e, &rows[int32]{data: c.Data, offsets: c.Offsets32[low : high+1], first: low, nulls: nulls}, v)
	}
	return high, row, err
}

// evaluateRows sets the verdicts and columns of a block. It groups the rows by authority, and where rows have
// times by span as well, and evaluates a group at a time; the rules of lookupSize groups are looked up at a
// time. With an error it returns the row that failed.
func evaluateRows[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts) (row int, err error) {
	groupRows(e, r, v)
	e.describeAuthorities(v)
	if len(e.columns.byURL) > 0 {
		describeURLs(e, r, v)
	}
	timed := e.options.Timelines != nil
	if timed {
		if row, err := e.cutGroups(v); err != nil {
			return row, err
		}
	}
	g := &e.groups
	allowed := e.allowed
	if e.spreads { // the decider sets bits by trie, which e.spread makes bits by agent
		allowed = e.spreader.reset(r.first, len(r.offsets)-1, len(g.all), e.options.Agents)
	}
	e.decider.Reset(r.data, allowed)
	for low := 0; low < len(g.all); low += lookupSize {
		high := min(low+lookupSize, len(g.all))
		if i, err := e.lookup(low, high); err != nil {
			return g.firstRow(low + i), err
		}
		for i := low; i < high; i++ {
			evaluateGroup(e, r, v, i, &e.found[i-low])
		}
	}
	e.decider.Finish()
	if e.spreads && !e.options.Explain { // explained rows have the verdicts of all agents already
		e.spread(v)
	}
	if timed && e.options.EverDenied {
		if row, err := e.denyEver(r.url, v); err != nil {
			return row, err
		}
	}
	setUses(e, r, v)
	return 0, nil
}

// lookup sets e.found to the origins of groups [low, high), at most lookupSize, at the times of
// the groups if they have one. With an error it returns the index in e.found.
func (e *Evaluator) lookup(low, high int) (int, error) {
	if e.options.Timelines != nil {
		return e.openSpans(low, high)
	}
	keys := e.groups.keys[low:high]
	if e.bulk != nil {
		return e.bulk.LookupAll(keys, e.found[:len(keys)])
	}
	for i := range keys {
		if err := e.origins.Lookup(keys[i].Text, &e.found[i]); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// evaluateGroup decides the rows of a group, given by its number, sets their columns and counts their
// authority; o is what the rules say of that. The decider and the spreader set some of the verdicts at the
// end of the block only.
func evaluateGroup[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, number int, o *matcher.Origin) {
	g := &e.groups
	e.early = o.NotYet                             // for outcome
	known := e.early || o.Access != access.Unknown // whether the rules know the authority, at any time
	if e.options.Timelines != nil {
		e.decider.ChangeRules() // the group before may be of the same authority
		known = e.history.groupSpans[number].known
		e.early = e.early || e.history.groupSpans[number].early
	}
	if o.Access != access.Unknown {
		e.describe(v, number, o)
	}
	v.AddAuthority(g.keys[number].Hash, known)
	if !known && e.options.Misses != nil {
		// matcher.HashOf has a key of this process, which would sample other authorities in each run.
		e.options.Misses.add(g.keys[number].Text, xxh3.Hash(g.keys[number].Text))
	}
	if e.spreads {
		e.spreader.obey(number, o)
	}
	if len(e.columns.byUse) > 0 && o.Facts.Usage != nil {
		e.uses.addGroup(g, number, o.Facts.Usage)
	}
	pathStart := len(g.all[number].written)
	w := g.walk(number)
	for w.next() {
		low, high := w.low, w.high
		switch {
		case e.options.Explain:
			explainRows(e, r, v, o, low, high, pathStart)
		case o.Access == access.Rules: // the decider counts rows from the bitmaps' first bit on
			matcher.DecideRows(e.decider, o.Tries, r.offsets[low-r.first:high-r.first+1], low-e.spreader.first, pathStart)
		default:
			applyOutcome(e, r, v, o, low, high, pathStart)
		}
	}
}
