package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/lint"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// Defaults and least values of the sizes on the command line.
const (
	defaultMemory = 512 << 20
	leastMemory   = 16 << 20
	defaultRows   = 65536
	leastLine     = 1 << 10
	// mostWorkers is how many workers a processor can keep busy: some wait for objects
	// of a store while others compute.
	mostWorkers = 32
)

// rulesConfig is what the command line says of the rules.
type rulesConfig struct {
	folders []string
	agents  []matcher.Chain
	listed  int // how many of agents, the last ones, are of -agents
	profile matcher.Profile
	limit   int64
	missing access.Missing
	policy  access.Policy // for captures
	asOf    time.Time     // zero: the newest fetch, which openRules puts here
	// asOfColumn has the time of each row; empty where all have the same.
	asOfColumn string
	// history keeps of captures what held at any time.
	history bool
	maxAge  time.Duration
	// storeTimeout is how long an object store may make no progress; 0 is the
	// default.
	storeTimeout time.Duration
	// forHost is the host of a -rules that is a single robots.txt; single are its URLs.
	forHost string
	single  []string
	// fetchList names what a crawler asked for; empty for none.
	fetchList string
	// allowNoRules goes on when no -rules has any.
	allowNoRules bool
}

// jobConfig is the main job's command line.
type jobConfig struct {
	rulesConfig

	in        []string
	filesFrom string
	inFormat  format.Format // Unknown: by content and name
	urlColumn string
	weight    string // the column that is summed up; empty for none
	maxLine   int64  // bytes
	separator byte   // of csv; 0: told from the header
	// acceptTruncated takes the rows of inputs that end too early.
	acceptTruncated bool

	out            string
	outFormat      format.Format // Unknown: by name
	compression    compress.Codec
	level          int
	hasCompression bool
	recode         bool // columns that could pass through are decoded and encoded
	emit           batch.Emit
	keep           batch.Keep
	hasKeep        bool
	prefix         string
	explain        bool
	with           []*batch.ColumnKind
	uses           []usage.Use
	stats          statsConfig
	agentsFile     string
	combine        batch.Combine
	agentsAs       agentsAs
	columns        []batch.VerdictColumn // follows from agents, combine, agentsAs, explain, uses, with and prefix

	// against is the agent of the new side of a comparison, and newProfile its profile.
	against    matcher.Chain
	newProfile matcher.Profile
	// table is the one to export.
	table *export.Table
	// changes makes a survey one of what changed.
	changes bool

	// With asOfColumn: beforeFirst makes the first capture hold before, everDenied
	// counts denials of later times.
	// compareNewest counts what the newest rules say, too.
	beforeFirst, everDenied, compareNewest bool

	maxInvalid  cli.Allowance
	workers     int
	batchRows   int
	memory      int64
	summaryJSON string
	reportFile  string // HTML
	manifest    bool
	resume      bool
	sharding
	// listing says that a list of URLs may be written with all rows: it has no verdicts.
	listing bool
	json    bool // of explain and lint
	linting lintConfig
	// given are the flags that decide about the outputs' bytes, with their
	// values.
	given    map[string][]string
	progress console.When
	logJSON  bool
	quiet    bool
	// partitions is how many parts rules are divided into.
	partitions int
	// oneLine leaves stderr to the line that says why a pipe fails, unless verbose.
	oneLine, verbose bool
}

// newConfig is a command line without flags.
func newConfig() *jobConfig {
	c := &jobConfig{maxInvalid: cli.Unlimited, linting: lintConfig{failOn: lint.Error}, memory: defaultMemory, maxLine: lines.DefaultMaxLine, out: "-", given: make(map[string][]string)}
	c.maxAge = evaluate.DefaultMaxAge * time.Second
	return c
}

// parseJob reads the main job's arguments. The error is flag.ErrHelp when help
// was asked for, else a usageError; the flags before the mistake are set.
func parseJob(args []string) (*jobConfig, error) {
	c := newConfig()
	fs := program.FlagSet(&program.Main, c)
	if err := cli.Parse(fs, args); err != nil {
		return c, err
	}
	if fs.NArg() > 0 {
		return c, option.Usagef("unexpected argument %q: write -in %[1]s if it is an input, and quote a pattern: -in \"*.arrow\"", blob.Shown(fs.Arg(0)))
	}
	return c, c.check()
}

var profiles = []cli.Word[matcher.Profile]{{Name: "rfc9309", Value: robotstxt.RFC9309}, {Name: "google", Value: robotstxt.Google}}

func profileName(p matcher.Profile) string { return cli.NameOf(profiles, p) }

var missings = []cli.Word[access.Missing]{
	{Name: "allow", Value: access.MissingAllow}, {Name: "deny", Value: access.MissingDeny}, {Name: "null", Value: access.MissingNull},
}

// check finds what is wrong with the flags together, and fills in defaults.
func (c *jobConfig) check() error {
	if err := c.addAgents(); err != nil {
		return err
	}
	if err := c.rulesConfig.check(); err != nil {
		return err
	}
	if err := c.checkTimes(); err != nil {
		return err
	}
	switch {
	case len(c.in) == 0 && c.filesFrom == "":
		return option.Usagef("-in is missing: name a file, a folder or - for stdin")
	case c.out == "":
		return option.Usagef("-out is empty: name a file, a folder or - for stdout")
	case slices.Contains(c.in, blob.Stdio) && slices.Contains(c.folders, blob.Stdio):
		return option.Usagef("stdin is read twice: name - only once")
	case c.summaryJSON == "-":
		return option.Usagef("-summary-json takes a file: stdout is for data")
	case c.reportFile == "-":
		return option.Usagef("-report takes a file: stdout is for data")
	case c.reportFile != "" && (c.reportFile == c.out || c.reportFile == c.summaryJSON):
		return option.Usagef("-report and another flag name the same file %s", c.reportFile)
	case c.summaryJSON != "" && c.summaryJSON == c.out:
		return option.Usagef("-summary-json and -out name the same file %s", c.out)
	}
	for flag, names := range map[string][]*string{"in": pointers(c.in), "out": {&c.out}, "files-from": {&c.filesFrom}, "summary-json": {&c.summaryJSON}, "report": {&c.reportFile}} {
		if err := resolveNames(flag, names...); err != nil {
			return err
		}
	}
	if most := min(c.batchMemory()/2, 1<<30); c.maxLine > most {
		return option.Usagef("-max-line %s is more than a batch may have: with this -memory it is at most %s", cli.SizeText(c.maxLine), cli.SizeText(most))
	}
	if c.out == "/dev/stdout" {
		c.out = "-"
	}
	if c.resume && slices.Contains(c.folders, blob.Stdio) {
		return option.Usagef("-resume cannot tell whether stdin has the same rules: name a file with -rules")
	}
	if c.out == "-" && (c.manifest || c.resume) {
		return option.Usagef("-manifest and -resume need an -out that stays: name a file or a folder")
	}
	if err := c.checkShard(os.Getenv); err != nil {
		return err
	}
	if c.shard == nil && blob.IsURL(c.out) && (c.manifest || c.resume) {
		return option.Usagef("-manifest and -resume need an -out on this machine: %s is in an object store", blob.Shown(c.out))
	}
	if err := c.nameColumns(); err != nil {
		return err
	}
	c.setWork()
	return nil
}

// setWork fills in how much is worked on at once.
func (c *jobConfig) setWork() {
	if c.workers == 0 {
		c.workers = runtime.GOMAXPROCS(0)
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	if c.batchRows == 0 {
		c.batchRows = defaultRows
	}
}

// nameColumns names the verdict columns.
func (c *jobConfig) nameColumns() error {
	if err := c.checkAgents(); err != nil {
		return err
	}
	columns, err := batch.VerdictColumns(batch.ColumnOptions{
		Agents: c.agentNames(), Combined: c.combined() != batch.CombineNone, ListOnly: c.agentsAs == agentsInList,
		Explain: c.explain, With: c.columnKinds(), Prefix: c.prefix,
	})
	if err != nil {
		return &option.UsageError{Err: err}
	}
	if len(c.uses) > 0 && c.emit != batch.EmitPermitted && c.writing().WantsText() {
		return option.Usagef("-use adds columns, and text has URLs only: choose another -out-format, or -emit permitted")
	}
	if c.emit == batch.EmitPermitted && len(c.uses) == 0 {
		return option.Usagef("-emit permitted leaves out what may not be used: say for what with -use, such as -use train-ai")
	}
	c.columns = columns
	return nil
}

// checkTimes finds what is wrong with the flags about the times of rows.
func (c *jobConfig) checkTimes() error {
	if c.asOfColumn == "" && (c.beforeFirst || c.everDenied) {
		return option.Usagef("-before-first and -ever-denied are about the times of rows: name their column with -as-of column:NAME")
	}
	if c.asOfColumn == "" && c.compareNewest {
		return option.Usagef("-compare-newest compares with the rules of the rows' own times: name their column with -as-of column:NAME")
	}
	c.history = c.asOfColumn != ""
	return nil
}

// checkOneTime refuses times of rows, which only the main job has.
func (c *rulesConfig) checkOneTime() error {
	if c.asOfColumn != "" {
		return option.Usagef("-as-of column:%s is for the main job and pipe, whose rows have times: here it takes one time", c.asOfColumn)
	}
	return c.check()
}

func (c *rulesConfig) check() error {
	if len(c.folders) == 0 {
		return option.Usagef("-rules is missing: name a folder of robots.txt files or a rule pack")
	}
	if err := resolveNames("rules", pointers(c.folders)...); err != nil {
		return err
	}
	if c.limit != 0 && c.profile == robotstxt.Google {
		return option.Usagef("-robots-limit has no meaning under -profile google, which reads a body of any size: leave one out")
	}
	if len(c.agents) == 0 {
		c.agents = []matcher.Chain{{matcher.Everyone}}
	}
	var err error
	if c.forHost != "" {
		c.single, err = ruleset.ParseFor(c.forHost)
	}
	return err
}

// agentNames are the first names of the agents' chains, which name the columns.
func (c *rulesConfig) agentNames() []string {
	names := make([]string, len(c.agents))
	for i, chain := range c.agents {
		names[i] = chain[0]
	}
	return names
}

// agentChains are the agents as they were asked for.
func (c *rulesConfig) agentChains() []string {
	chains := make([]string, len(c.agents))
	for i, chain := range c.agents {
		chains[i] = strings.Join(chain, ",")
	}
	return chains
}
