package evaluate

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

var (
	lists    = flag.Int("lists", 150, "how many random lists TestListsGiveEachRowItsOwnVerdict evaluates")
	listSeed = flag.Uint64("lists.seed", 1, "the seed of the first of these lists")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

// The law of evaluation: each row of a list gets the verdict that it gets alone in a fresh
// evaluator, explained or not. This holds in any order, for any batches, and however often
// the evaluator has seen the list.

// TestListsGiveEachRowItsOwnVerdict checks the law for random lists.
func TestListsGiveEachRowItsOwnVerdict(t *testing.T) {
	var rows, denied, null int
	for i := range must.Short(min(*lists, 40), *lists) {
		seed := *listSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 15))
		l := makeList(rng.IntN)
		verdicts, err := l.check()
		must.Need(t, err == nil, "-lists.seed %d: %v", seed, err)
		rows += len(verdicts)
		for _, verdict := range verdicts {
			denied += strings.Count(verdict, "d")
			null += strings.Count(verdict, "-")
		}
	}
	must.Be(t, denied >= rows/20 && null >= rows/200, "%d of %d rows are denied and %d have no verdict: these lists show little", denied, rows, null)
}

// FuzzLists checks the law for lists that the fuzzer chooses.
func FuzzLists(f *testing.F) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 16))
		choices := make([]byte, 400)
		for i := range choices {
			choices[i] = byte(rng.IntN(256))
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		rng := rand.New(rand.NewPCG(uint64(len(choices)), 17))
		l := makeList(func(n int) int {
			if len(choices) == 0 {
				return rng.IntN(n) // the input is used up
			}
			c := int(choices[0])
			choices = choices[1:]
			return c * n / 256
		})
		must.Get(l.check())(t)
	})
}

// list is rows with their rules, and the way in which they are evaluated.
type list struct {
	choose  func(n int) int // returns one of 0 to n-1
	options Options
	origins *ruletable.Table
	hosts   []string // authorities as URLs spell them
	paths   []string
	rows    []string // "null" for a row without value
	clean   bool     // every row has a URL without blanks around it
	form    int      // of the column
	cut     int      // rows per batch
	block   int      // rows per block
	passes  int
}

const nullRow = "null"

// makeList makes a list of several sections, each with an order of its own.
func makeList(choose func(n int) int) *list {
	l := &list{choose: choose, origins: new(ruletable.Table)}
	l.options = Options{
		Agents:  1 + choose(3),
		Profile: []matcher.Profile{robotstxt.RFC9309, robotstxt.Google}[choose(2)],
		Missing: access.Missing(choose(3)),
	}
	if choose(8) == 0 {
		l.options.Columns = columnsOf(l.options.Agents)
	}
	l.addHosts()
	for range 4 + choose(12) {
		l.paths = append(l.paths, l.path())
	}
	l.clean = choose(3) > 0
	aligned := choose(2) == 0
	for range 2 + choose(6) {
		l.addSection(aligned)
	}
	l.addRunsAcrossBlocks()
	l.form = choose(5)
	l.cut = []int{1 << 16, 255, 256, 257, 512, 640, 1000, 1 + choose(700)}[choose(8)]
	l.block = []int{blockRows, 256, 64, 1 + choose(40)}[choose(4)]
	l.passes = 1 + choose(3)
	return l
}

// addHosts adds few hosts or many, and their origins.
func (l *list) addHosts() {
	chains := []matcher.Chain{{"*"}, {"foobot"}, {"barbot", "foobot"}}[:l.options.Agents]
	var compiled []matcher.Origin
	for range 1 + l.choose(4) {
		body := robotstxt.Parse([]byte(l.body()), robotstxt.Options{Profile: l.options.Profile})
		o := matcher.Origin{Access: access.Rules}
		if l.choose(2) == 0 { // a trie for each agent
			o.Tries = matcher.Compile(body, chains)
		} else {
			compiler := matcher.Compiler{Explain: true}
			o.Tries, o.Of = compiler.Compile(body, matcher.NewAgents(chains))
		}
		compiled = append(compiled, o)
	}
	count := 1 + l.choose(6)
	if l.choose(5) == 0 {
		count = 100 + l.choose(400)
	}
	for i := range count {
		name := fmt.Sprintf("%s%d.test", []string{"h", "www.host", "a-rather-long-name-of-a-host.with.labels"}[l.choose(3)], i)
		o := compiled[l.choose(len(compiled))]
		if choice := l.choose(12); choice < 3 {
			o = matcher.Origin{Access: []access.Outcome{access.AllowAll, access.DisallowAll, access.Unknown}[choice]}
		}
		l.origins.Add([]byte("https://"+name), o)
		host := "https://" + name
		switch l.choose(12) {
		case 0:
			host = "HTTPS://" + strings.ToUpper(name)
		case 1:
			host = "https://me@" + name + ":443"
		case 2:
			host = "http://" + name // an authority that is not in the table
		}
		l.hosts = append(l.hosts, host)
	}
}

// rulePatterns are the patterns of most rules.
var rulePatterns = []string{
	"/", "/*deny", "/*.pdf$", "/x*%20", "/a", "/a/*b", "/*a*b", "/p", "/robots", "/*?q", "/%7e", "/*$", "/a$", "/a b", "/x.pdf ", "/*\t",
	"/a/b/c", "/*/c", "/*%2Fb", "/b*?*=", "*.gif$", "/x", "/index.htm", "/*é",
}

// body returns a robots.txt with few rules or many.
func (l *list) body() string {
	var b strings.Builder
	for _, agent := range []string{"*", "foobot", "barbot"} {
		if agent != "*" && l.choose(2) == 0 {
			continue
		}
		fmt.Fprintf(&b, "User-agent: %s\n", agent)
		many := l.choose(8) == 0 // enough for an index
		if many {
			for i := range 110 {
				fmt.Fprintf(&b, "Disallow: /*lit%d*x\nAllow: /*lit%d*xy\n", i, i)
			}
		}
		for range 1 + l.choose(7) {
			pattern := rulePatterns[l.choose(len(rulePatterns))]
			if l.choose(4) == 0 {
				pattern = "/" + l.text("/ab*$.%20?", 8)
			}
			fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow", "Disallow"}[l.choose(3)], pattern)
		}
	}
	return b.String()
}

// text returns fewer than size letters of an alphabet.
func (l *list) text(alphabet string, size int) string {
	text := make([]byte, l.choose(size))
	for i := range text {
		text[i] = alphabet[l.choose(len(alphabet))]
	}
	return string(text)
}

// pathTexts are the paths of most URLs, or their prefixes.
var pathTexts = []string{
	"", "/", "?q", ";p", "#f", "/a", "/a-deny", "/x.pdf", "/x.pdf #page=2", "/x.pdf\t#", "/x #y", "/x%20", "/x ", "/xy%20z", "/robots.txt", "/robots.txt#x",
	"/%72obots.txt", "/robots.txt?", "/a/b", "/a/b/c", "/a/xb", "/p/q?r=%2Fb", "/~a", "/%7Ea", "/b?c=d", "/y.gif", "/lit7/x", "/lit7/lit9xy", "/caf\u00e9",
	"/a b", "/a ", "/index.html", "/p/a-very-long/path/that/goes/on/and/on/and/on/and/on/and/on/for/more/than/a/vector/of/bytes",
}

func (l *list) path() string {
	path := pathTexts[l.choose(len(pathTexts))]
	switch l.choose(6) {
	case 0:
		path += l.text("/ab.%20?# \tdeny", 10)
	case 1:
		path = "/" + l.text("/abx.%2", 12)
	}
	return path
}

// url returns a URL of host number host, mostly with a path that others have too.
func (l *list) url(host int) string {
	path := l.paths[l.choose(len(l.paths))]
	choice := l.choose(40)
	switch {
	case choice < 2 && l.clean:
	case choice == 0:
		return " " + l.hosts[host] + path + "\t "
	case choice == 1:
		return []string{nullRow, "", "no URL", "gopher://x/", "https://h0.test/a\nb", "https://h0.test/\x00", "https://h0..test/"}[l.choose(7)]
	case choice < 5:
		path = l.path()
	}
	return l.hosts[host] + path
}

// addSection adds rows in one order: grouped by host, sorted, shuffled, or alternating
// among few hosts. An aligned section consists of whole blocks.
func (l *list) addSection(aligned bool) {
	lengths := []int{1, 2, 3, 15, 16, 17, 63, 64, 65, 254, 255, 256, 257, 511, 512, 513}
	n := lengths[l.choose(len(lengths))]
	switch {
	case aligned:
		n = block * (1 + l.choose(3))
	case l.choose(3) == 0:
		n = 1 + l.choose(600)
	}
	first := len(l.rows)
	order := l.choose(5)
	host, path := l.choose(len(l.hosts)), l.choose(len(l.paths))
	for i := range n {
		switch order {
		case 0, 1: // grouped by host, in the second case also sorted
			if l.choose(30) == 0 {
				host = l.choose(len(l.hosts))
			}
			l.rows = append(l.rows, l.url(host))
		case 2: // shuffled
			l.rows = append(l.rows, l.url(l.choose(len(l.hosts))))
		case 3: // alternating, paths with a common prefix
			l.rows = append(l.rows, fmt.Sprintf("%s%s%d", l.hosts[(host+i%2)%len(l.hosts)], l.paths[path], i%13))
		case 4: // alternating among three
			l.rows = append(l.rows, l.hosts[(host+i%3)%len(l.hosts)]+l.paths[(path+i%3)%len(l.paths)])
		}
	}
	if order == 1 {
		slices.Sort(l.rows[first:])
	}
}

// block divides the bounds of blocks and of their parts.
const block = partRows

// addRunsAcrossBlocks puts rows with a common prefix on both sides of a bound between
// blocks.
func (l *list) addRunsAcrossBlocks() {
	for row := block; row < len(l.rows); row += block {
		if l.choose(2) == 0 {
			continue
		}
		url := l.hosts[l.choose(len(l.hosts))] + l.paths[l.choose(len(l.paths))]
		l.rows[row-1] = url
		for i := row; i < min(row+1+l.choose(3), len(l.rows)); i++ {
			l.rows[i] = url + []string{"", "-deny", "b", ".pdf", "#", " "}[l.choose(6)]
		}
	}
}

// columns cuts the rows into columns of the list's form.
func (l *list) columns() []batch.Column {
	var columns []batch.Column
	for part := range slices.Chunk(l.rows, l.cut) {
		columns = append(columns, l.column(part))
	}
	return columns
}

func (l *list) column(rows []string) batch.Column {
	values := make([][]byte, len(rows))
	for i, row := range rows {
		if row != nullRow {
			values[i] = []byte(row)
		}
	}
	if l.form == 0 { // without nulls
		for i := range values {
			values[i] = append([]byte{}, values[i]...)
		}
	}
	c := batchtest.Column(values...)
	switch l.form {
	case 1, 2: // wide offsets
		for _, offset := range c.Offsets32 {
			c.Offsets64 = append(c.Offsets64, int64(offset))
		}
		c.Offsets32 = nil
	case 3: // a dictionary
		numbers := make(map[string]int32)
		var distinct [][]byte
		for i, row := range rows {
			number, ok := numbers[row]
			if !ok {
				number = int32(len(distinct))
				numbers[row] = number
				distinct = append(distinct, append([]byte{}, values[i]...))
			}
			c.Indices = append(c.Indices, number)
		}
		dictionary := batchtest.Column(distinct...)
		c.Data, c.Offsets32 = dictionary.Data, dictionary.Offsets32
	}
	return c
}

// check evaluates the list, with and without explanations, and compares each row with the
// same row alone. It returns the verdicts, a letter per agent.
func (l *list) check() ([]string, error) {
	explain := l.options
	explain.Explain = true
	alone := make(map[string]string)
	plain, explained := New(l.origins, l.options), New(l.origins, explain)
	plain.blockRows, explained.blockRows = l.block, l.block
	combiners := l.combiners()
	columns := l.columns()
	var verdicts []string
	var v, x batch.Verdicts
	for pass := range l.passes {
		verdicts = verdicts[:0]
		for number := range columns {
			b := &batch.Batch{URLs: columns[number]}
			if err := b.URLs.Validate(); err != nil {
				return nil, err
			}
			if err := plain.Evaluate(b, &v); err != nil {
				return nil, err
			}
			if err := explained.Evaluate(b, &x); err != nil {
				return nil, err
			}
			for i := range combiners {
				if err := combiners[i].check(b, &v); err != nil {
					return nil, fmt.Errorf("pass %d, batch %d, under %+v: %w", pass, number, l.options, err)
				}
			}
			if err := checkNoRobots(&v, &x); err != nil {
				return nil, fmt.Errorf("pass %d, batch %d, under %+v: %w", pass, number, l.options, err)
			}
			for row := range v.Rows {
				url := l.rows[len(verdicts)]
				want, ok := alone[url]
				if !ok {
					var err error
					if want, err = l.alone(url); err != nil {
						return nil, err
					}
					alone[url] = want
				}
				if got, why := batchtest.Letters(&v, row), batchtest.Letters(&x, row); got != want || why != want {
					return nil, fmt.Errorf("pass %d, batch %d, row %d, %q under %+v: %s, explained %s, alone %s", pass, number, row, url, l.options, got, why, want)
				}
				verdicts = append(verdicts, want)
			}
		}
	}
	return verdicts, nil
}

// checkNoRobots compares the count of rows of which no robots.txt is known with the reasons
// of an explained batch.
func checkNoRobots(v, explained *batch.Verdicts) error {
	want := int64(0)
	for _, reason := range explained.Agents[0].Reasons {
		if reason == matcher.NoRobots {
			want++
		}
	}
	if v.NoRobots != want || explained.NoRobots != want {
		return fmt.Errorf("%d rows are counted that no robots.txt is known of, explained %d; %d have that reason", v.NoRobots, explained.NoRobots, want)
	}
	return nil
}

// combiner evaluates with combined verdicts.
type combiner struct {
	evaluator *Evaluator
	how       batch.Combine
	verdicts  batch.Verdicts
}

// combiners returns evaluators that combine the list's verdicts.
func (l *list) combiners() []combiner {
	var all []combiner
	for _, how := range []batch.Combine{batch.CombineAnyDenied, batch.CombineAllDenied} {
		for _, explain := range []bool{false, true} {
			o := l.options
			o.Combine, o.Explain = how, explain
			c := combiner{evaluator: New(l.origins, o), how: how}
			c.evaluator.blockRows = l.block
			all = append(all, c)
		}
	}
	return all
}

// check compares the combined verdicts and lists of a batch with the verdicts of each
// agent.
func (c *combiner) check(b *batch.Batch, each *batch.Verdicts) error {
	v := &c.verdicts
	if err := c.evaluator.Evaluate(b, v); err != nil {
		return err
	}
	for row := range v.Rows {
		letters := batchtest.Letters(each, row)
		want, denied := "a", strings.Count(letters, "d")
		switch {
		case c.how == batch.CombineAnyDenied && denied > 0, denied == len(letters):
			want = "d"
		case strings.Contains(letters, "-"):
			want = "-"
		}
		var list []int32
		for agent, letter := range letters {
			if letter == 'd' {
				list = append(list, int32(agent))
			}
		}
		got := batchtest.Letters(v, row)
		if got != want || v.DeniedOf[row] < 0 && want != "-" || want != "-" && !slices.Equal(v.Denied[v.DeniedOf[row]], list) {
			return fmt.Errorf("row %d: %s is combined (%d) to %s of list %d of %v", row, letters, c.how, got, v.DeniedOf[row], v.Denied)
		}
		if reasons := v.Agents[0].Reasons; len(reasons) > 0 && reasons[row] == matcher.NoReason {
			return fmt.Errorf("row %d: no reason", row)
		}
	}
	return nil
}

// alone evaluates one row in fresh evaluators.
func (l *list) alone(url string) (string, error) {
	var v, x batch.Verdicts
	b := &batch.Batch{URLs: l.column([]string{url})}
	explain := l.options
	explain.Explain = true
	if err := New(l.origins, l.options).Evaluate(b, &v); err != nil {
		return "", err
	}
	if err := New(l.origins, explain).Evaluate(b, &x); err != nil {
		return "", err
	}
	got, why := batchtest.Letters(&v, 0), batchtest.Letters(&x, 0)
	if got != why {
		return "", fmt.Errorf("%q alone under %+v: %s, explained %s", url, l.options, got, why)
	}
	return got, nil
}

// TestRunAcrossBlocksKeepsItsPaths: a run of rows that continued from the block before was
// once decided by the paths of other rows of its own block.
func TestRunAcrossBlocksKeepsItsPaths(t *testing.T) {
	var rows []string
	alternate := func(n int) {
		for i := range n {
			rows = append(rows, fmt.Sprintf("https://%c.test/a%d", "xy"[i%2], i))
		}
	}
	alternate(512)
	for i := range 256 {
		rows = append(rows, fmt.Sprintf("https://x.test/a%d", i))
	}
	alternate(255)
	rows = append(rows, "https://z.test/a", "https://z.test/a-deny")
	alternate(255)
	l := &list{rows: rows, cut: len(rows), passes: 2, block: 256, options: Options{Agents: 1}}
	const body = "User-agent: *\nDisallow: /*deny\n"
	l.origins = batchtest.Table(t, map[string]string{"https://x.test": body, "https://y.test": body, "https://z.test": body}, "*")
	verdicts := must.Get(l.check())(t)
	must.Be(t, len(rows) == 1280 && rows[1024] == "https://z.test/a-deny" && verdicts[1024] == "d", "of %d rows, number 1024 is %s: %s", len(rows), rows[1024], verdicts[1024])
}

// TestBlankBeforeFragmentStays: a blank before '#' belongs to the path; it was once cut off
// together with the fragment.
func TestBlankBeforeFragmentStays(t *testing.T) {
	for _, test := range []struct{ rule, path, want string }{
		{"Disallow: /*.pdf$", "/x.pdf #page=2", "a"},
		{"Disallow: /*.pdf$", "/x.pdf#page=2 ", "d"},
		{"Disallow: /x*%20", "/x.pdf #page=2", "d"},
		{"Disallow: /x*%20", "/x.pdf ", "a"},
		{"Disallow: /x*%09", "/x.pdf\t#", "d"},
	} {
		l := &list{rows: []string{"https://h.test" + test.path}, cut: 1, passes: 1, block: 256, options: Options{Agents: 1}}
		l.origins = batchtest.Table(t, map[string]string{"https://h.test": "User-agent: *\n" + test.rule}, "*")
		verdicts, err := l.check()
		must.Be(t, err == nil && verdicts[0] == test.want, "%s for %q: %v, want %s (%v)", test.rule, test.path, verdicts, test.want, err)
	}
}

// TestBytesAroundURLsDoNotMatter: no verdict depends on the bytes around a URL. A list and
// its copy in one byte array get the same verdicts.
func TestBytesAroundURLsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 15))
	l := makeList(rng.IntN)
	l.form, l.cut, l.passes = 0, 1<<16, 1
	c := l.columns()[0]
	shifted := c
	shifted.Data = slices.Concat(bytes.Repeat([]byte("https://h0.test/a*b"), 9), c.Data, []byte("/deny#?"))
	shifted.Offsets32 = slices.Clone(c.Offsets32)
	for i := range shifted.Offsets32 {
		shifted.Offsets32[i] += 9 * int32(len("https://h0.test/a*b"))
	}
	var v, w batch.Verdicts
	e := New(l.origins, l.options)
	must.Do(t, e.Evaluate(&batch.Batch{URLs: c}, &v))
	must.Do(t, e.Evaluate(&batch.Batch{URLs: shifted}, &w))
	for row := range v.Rows {
		got, want := batchtest.Letters(&w, row), batchtest.Letters(&v, row)
		must.Need(t, got == want, "row %d, %q: %s, not %s", row, c.Value(row), got, want)
	}
}

// TestExampleOfPackageComment checks the example of the package comment.
func TestExampleOfPackageComment(t *testing.T) {
	rules := batchtest.Table(t, map[string]string{
		"https://a.test": "User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n", "https://b.test": "",
	}, "*")
	rows := []string{
		"https://a.test/news/1", "https://a.test/news/2.pdf", "https://b.test/", "https://a.test/news/3", "https://a.test/private/x",
		"mailto:somebody", "https://a.test/news/4",
	}
	e := New(rules, Options{})
	var v batch.Verdicts
	must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(rows...)}, &v))
	var got strings.Builder
	for row := range rows {
		got.WriteString(batchtest.Letters(&v, row))
	}
	must.Equal(t, got.String(), "adaad-a", "verdicts")
}

// nearRobotsTxt are paths that share a prefix with /robots.txt, and that path in all its
// spellings.
var nearRobotsTxt = []string{
	"", "/", "/r", "/robots", "/robots.tx", "/robots.txt", "/robots.txt?", "/robots.txt?x", "/robots.txtx", "/robots.txt/", "/robots.txt#x",
	"/robots.txt%", "/robots.txt%2", "/robots.txt%20", "/robots.txt ", "/robots.tx%74", "/robots.tx%7", "/robots.tx%75", "/%72obots.txt", "/%72obots.txtx",
	"/%2Frobots.txt", "/robots%2etxt#x", "/robots%2Etxt?x", "/Robots.txt", "//robots.txt", "?/robots.txt", ";/robots.txt", "#/robots.txt",
	".other/", ":81/", // other authorities, which are not in the table
}

// robotsTxtBodies decide these paths differently.
var robotsTxtBodies = []string{
	"User-agent: *\nDisallow: /\n",
	"User-agent: *\nDisallow: /robots\n",
	"User-agent: *\nDisallow: /robots.txt\n",
	"User-agent: *\nDisallow: /robots.txt$\n",
	"User-agent: *\nAllow: /robots.txt\nDisallow: /r\nDisallow: /*x$\n",
	"User-agent: *\nDisallow: /*?x\n",
	"User-agent: *\nDisallow: /*.txt\nAllow: /robots.txtx\n",
	"User-agent: *\nDisallow: /robots.txtx\nDisallow: /robots.txt?\n",
	"",
}

// TestVerdictsNearRobotsTxt: a verdict is reused for the next URL with the same prefix.
// /robots.txt, which RFC9309 always allows, must neither take a verdict from its neighbours
// nor give them its own, whatever rule decides these.
func TestVerdictsNearRobotsTxt(t *testing.T) {
	const authority = "http://a.example"
	sequences := pathSequences()
	for _, profile := range []struct {
		engine    matcher.Profile
		reference reference.Profile
	}{{robotstxt.RFC9309, reference.RFC9309}, {robotstxt.Google, reference.Google}} {
		check := func(origin matcher.Origin, missing access.Missing, what string, allowed func(path string) bool) {
			var rules ruletable.Table
			rules.Add([]byte(authority), origin)
			want := make(map[string]bool)
			for _, path := range nearRobotsTxt {
				of, split, _ := reference.SplitURL(authority + path)
				if want[path] = allowed(split); of != authority {
					want[path] = missing == access.MissingAllow
				}
			}
			e := New(&rules, Options{Profile: profile.engine, Missing: missing})
			var v batch.Verdicts
			for _, paths := range sequences {
				lines := make([]string, len(paths))
				for i, path := range paths {
					lines[i] = authority + path
				}
				must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(lines...)}, &v))
				for row, path := range paths {
					must.Equal(t, v.Agents[0].Allowed[row>>3]>>(row&7)&1 == 1, want[path], profile.engine, what, row, "of", paths, "is allowed")
				}
			}
		}
		for _, body := range robotsTxtBodies {
			f := robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine})
			known := reference.Parse([]byte(body), profile.reference, 0)
			origin := matcher.Origin{Access: access.Rules, Tries: matcher.Compile(f, []matcher.Chain{{matcher.Everyone}})}
			check(origin, access.MissingAllow, body, func(path string) bool {
				return reference.Decide(known, []string{"*"}, path, profile.reference).Allowed
			})
		}
		only := func(path string) bool { return profile.reference == reference.RFC9309 && reference.IsRobotsTxt(path) }
		check(matcher.Origin{Access: access.DisallowAll}, access.MissingAllow, "unreachable", only)
		check(matcher.Origin{}, access.MissingDeny, "nothing known", only)
		check(matcher.Origin{Access: access.AllowAll}, access.MissingDeny, "unavailable", func(string) bool { return true })
	}
}

// pathSequences returns all pairs of paths, and longer random sequences.
func pathSequences() [][]string {
	var sequences [][]string
	for _, a := range nearRobotsTxt {
		for _, b := range nearRobotsTxt {
			sequences = append(sequences, []string{a, b})
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		paths := make([]string, 100)
		for i := range paths {
			paths[i] = nearRobotsTxt[rng.IntN(len(nearRobotsTxt))]
		}
		sequences = append(sequences, paths)
	}
	return sequences
}
