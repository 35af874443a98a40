package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/rules/agentlist"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Rules is what a command line says of rules, and for whom they are.
type Rules struct {
	// Options say how they are opened. A zero AsOf stands for the time of the newest fetch, which replaces
	// it when they are open.
	ruleset.Options
	// Classes maps a chain to the agent's class, if the file of -agents states one.
	Classes    map[string]string
	AgentsFile string
	// Added are the chains of that file that -agent does not give, once Check has read it.
	Added   []string
	Missing access.Missing
	// AsOfColumn has the time of each row; empty where all have the same.
	AsOfColumn string
	// BeforeFirst and EverDenied need AsOfColumn. BeforeFirst decides rows from before the first
	// capture, and EverDenied denies rows that any later capture denies.
	BeforeFirst access.BeforeFirst
	EverDenied  bool
	// AllowUnreadable permits uses that are stated in a form that cannot be read.
	AllowUnreadable bool
	MaxAge          time.Duration
	// Host is the value of -for: the host that a single robots.txt is of. Options.Single is parsed from it.
	Host string
}

// NewRules are the rules as they are without flags.
func NewRules() Rules { return Rules{MaxAge: evaluate.DefaultMaxAge * time.Second} }

// Flags returns the flags for rules and agents.
func (c *Rules) Flags() cli.Flags {
	return cli.Flags{{
		Name: "rules", Argument: "RULES", Topic: RulesTopic, Common: true, Repeat: true, Files: true, Unrecorded: true, Value: &c.Sources,
		Short: "folder of robots.txt files named by host, rule pack, captures",
		More:  RuleForms + " With several -rules the first that knows a host decides; redirects may lead into any captures. With -for it is a single robots.txt, or - for stdin.",
	}, {
		Name: "agent", Argument: "NAME", Topic: RulesTopic, Common: true, Repeat: true, Value: c.addAgent,
		Short: "crawler's product token, such as CCBot", Standard: "*, the rules for everyone",
		More: "Several by commas are one agent, the most specific first: Googlebot-News,Googlebot. Each -agent has a verdict of its own.",
	}, {
		Name: "agents", Argument: "FILE", Topic: RulesTopic, Files: true, Unrecorded: true, Value: &c.AgentsFile,
		Short: "file with many agents: one a line, or the JSON of ai.robots.txt",
		More:  "They follow those of -agent. The file may have comments (#) and chains (robotsbatch help agents).",
	}, {
		Name: "for", Argument: "HOST", Topic: RulesTopic, Value: &c.Host,
		Short: "host that the single robots.txt in -rules belongs to",
		More:  "example.com means http and https; https://example.com means https alone.",
	}, {
		Name: "allow-no-rules", Rare: true, Topic: RulesTopic, Value: &c.AllowNone,
		Short: "go on if -rules contains no rules, which is otherwise an error",
		More:  "Nothing is known of any host then.",
	}, {
		Name: "profile", Argument: "NAME", Topic: RulesTopic, Standard: "rfc9309", Value: cli.OneOf(&c.Profile, Profiles...),
		Short: "how to read a robots.txt: as rfc9309 says, or as google's parser does",
		More:  "A rule pack keeps the profile and the -robots-limit that it was compiled with.",
	}, LimitFlag(&c.Limit), {
		Name: "fetch-list", Rare: true, Argument: "FILE", Topic: RulesTopic, Files: true, Unrecorded: true, Value: &c.Asked,
		Short: "robots.txt files that were requested: hosts in it without any capture are unreachable",
		More: "A URL or host a line, as the command hosts writes it. Crawlers such as wget write no record if a host refuses the connection. " +
			"Without the list such a host is allowed, because nothing is known about it; with the list it is denied, as RFC 9309 asks.",
	}, {
		Name: "warc-base", Rare: true, Argument: "FOLDER", Topic: RulesTopic, Files: true, Unrecorded: true, Value: &c.WARCBase,
		Short: "folder or store with the WARC files whose records a table in -rules names",
		More: "Such as s3://commoncrawl/ for rows of Common Crawl's index, or CDXJ with filename, offset and length: only the records " +
			"are read (robotsbatch help captures).",
	}, c.assumeFlag(missingCase, status429, redirectCase, beforeFirst, unreadable), {
		Name: "as-of", Argument: "TIME", Topic: RulesTopic, Standard: "the newest fetch", Value: cli.TimeOrColumn(&c.AsOf, &c.AsOfColumn),
		Short: "judge as of this time: ignore later captures, measure ages up to it",
		More: "2026-03-01T12:00:00Z, or a day, meaning its end. column:NAME decides each row by what was known at its own time: " +
			"timestamps, dates, seconds, 14 digits or text. A pack knows earlier times only if compiled with -history (robotsbatch help history).",
	}, {
		Name: "ever-denied", Rare: true, Topic: RulesTopic, Value: &c.EverDenied,
		Short: "also deny rows that were denied at any later time",
		More:  "Needs -as-of column:NAME.",
	}, {
		Name: "max-age", Rare: true, Argument: "SPAN", Topic: RulesTopic, Standard: "24h, as RFC 9309 advises", Value: cli.Age(&c.MaxAge),
		Short: "count rows decided by a robots.txt older than this, such as 36h or 7d",
	}}
}

// RuleForms is the help on what -rules takes.
const RuleForms = "Files are called example.com, example.com.txt, example.com/robots.txt, with a port example.com_8443. Captures are WARC files or tables " +
	"(Arrow, Parquet, csv, tsv, jsonl) with url or authority, body, status, fetched_at, location, error: a file, a folder or a quoted pattern."

// OneTimeFlags returns the flags for rules and agents of a command that judges as of one time, and not
// each row as of its own. asOf is the help of -as-of.
func (c *Rules) OneTimeFlags(asOf string) cli.Flags {
	return c.Flags().Without("ever-denied").Replacing(c.assumeFlag(missingCase, status429, redirectCase)).Saying("as-of", asOf,
		"2026-03-01T12:00:00Z, or a day, meaning its end. A pack knows earlier times only if compiled with -history (robotsbatch help history).")
}

// PlainFlags returns the flags for rules of a command that judges no rows.
func (c *Rules) PlainFlags() cli.Flags {
	return c.OneTimeFlags("use captures up to this time: ignore later ones").Without("max-age").Replacing(c.assumeFlag(status429, redirectCase))
}

// LimitFlag is -robots-limit.
func LimitFlag(dst *int) cli.Flag {
	return cli.Flag{
		Name: "robots-limit", Rare: true, Argument: "SIZE", Topic: RulesTopic, Standard: "500KiB, the least there is",
		Short: "read this much of a robots.txt",
		Value: cli.Size(dst, robotstxt.DefaultLimit),
	}
}

// Profiles are the words for profiles.
var Profiles = cli.WordsOf(robotstxt.RFC9309, robotstxt.Google)

// addAgent adds the agent that a value of -agent names.
func (c *Rules) addAgent(s string) error {
	chain, err := matcher.ParseChain(s)
	c.Chains = append(c.Chains, chain)
	return err
}

// Check reads the agents of -agents, sets defaults, and returns an error for flags of rules that do not
// go together.
func (c *Rules) Check(ctx context.Context) (err error) {
	if err := c.addAgents(ctx); err != nil {
		return err
	}
	switch {
	case len(c.Sources) == 0:
		return option.Usagef("%s is missing: name a folder of robots.txt files, a rule pack or captures", option.Rules)
	case IsStdin(c.Asked): // it may be read again, and its version is recorded
		return option.Usagef("%s takes a file: stdin is for data", option.FetchList)
	case c.Limit != 0 && c.Profile == robotstxt.Google:
		return option.Usagef("%s has no meaning under %s, which reads a body of any size: leave one out", option.RobotsLimit, option.Profile.With(robotstxt.Google.String()))
	}
	if err := cmp.Or(ResolveNames(option.Rules, pointers(c.Sources)...), ResolveNames(option.WARCBase, &c.WARCBase)); err != nil {
		return err
	}
	if len(c.Chains) == 0 {
		c.Chains = []matcher.Chain{{matcher.Everyone}}
	}
	if c.Host != "" {
		c.Single, err = ruleset.ParseFor(c.Host)
	}
	return err
}

// CheckOneTime is Check for commands that judge as of one time.
func (c *Rules) CheckOneTime(ctx context.Context) error {
	if c.AsOfColumn != "" {
		return option.Usagef("%s is for the main job and pipe, where rows have times: here it takes one time", option.AsOf.With("column:"+c.AsOfColumn))
	}
	return c.Check(ctx)
}

// addAgents adds the agents of the -agents file that -agent does not give to c.Chains and c.Added, and
// sets c.Classes.
func (c *Rules) addAgents(ctx context.Context) error {
	if c.AgentsFile == "" {
		return nil
	}
	if IsStdin(c.AgentsFile) {
		return option.Usagef("%s takes a file: stdin is for data", option.Agents)
	}
	text, err := readList(ctx, c.AgentsFile)
	if errors.Is(err, fs.ErrNotExist) && !blob.IsURL(c.AgentsFile) && !strings.ContainsAny(c.AgentsFile, "./\\") {
		return errNames(c.AgentsFile)
	}
	if err != nil {
		return option.Errorf("%s: %w", option.Agents, err)
	}
	agents, err := agentlist.Parse(text)
	if err != nil {
		return option.Usagef("%s: %w", option.Agents.With(blob.Shown(c.AgentsFile)), err)
	}
	c.Classes = make(map[string]string)
	for _, agent := range agents {
		name := agent.Chain.String()
		given := c.spelling(name)
		if given == "" {
			c.Chains = append(c.Chains, agent.Chain)
			c.Listed++
			c.Added = append(c.Added, name)
			given = name
		}
		if agent.Class != "" {
			c.Classes[given] = agent.Class
		}
	}
	return nil
}

// errNames returns the error for a -agents file that does not exist and is likely names of agents: it says
// how to give these.
func errNames(file string) error {
	names := strings.FieldsFunc(file, func(r rune) bool { return r == ',' || r == ' ' })
	flags := cli.Map(names, func(name string) option.Message { return option.Messagef("%s", option.Agent.With(name)) })
	err := option.Errorf("%s takes a file with an agent a line, and there is no file %s: to name agents here write %s", option.Agents, file, option.Join(flags, " "))
	if len(names) > 1 {
		return &option.UsageError{Err: err}
	}
	return err
}

// spelling returns the agent of c.Chains that equals chain but for the case of letters; "" if there is
// none.
func (c *Rules) spelling(chain string) string {
	for _, other := range c.AgentChains() {
		if strings.EqualFold(other, chain) {
			return other
		}
	}
	return ""
}

// readList reads a list of agents from a file or object, decompressed. It stops a byte after
// agentlist.MaxSize, so that the parser sees that a list is too long.
func readList(ctx context.Context, name string) ([]byte, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := compress.OpenText(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, agentlist.MaxSize+1))
}

// AgentNames returns the first name of each agent's chain, after which columns are named.
func (c *Rules) AgentNames() []string {
	return cli.Map(c.Chains, func(chain matcher.Chain) string { return chain[0] })
}

// AgentChains returns each agent's chain, its names joined by commas.
func (c *Rules) AgentChains() []string {
	return cli.Map(c.Chains, matcher.Chain.String)
}

// AsOfSeconds returns AsOf in seconds since 1970; 0 if it is not set.
func (c *Rules) AsOfSeconds() int64 {
	if c.AsOf.IsZero() {
		return 0
	}
	return c.AsOf.Unix()
}

// TakePaths returns the operands of explain as URLs: it puts the host of -for before a path. If -for is
// given without -rules, the first operand is the robots.txt, and becomes c.Sources.
func (c *Rules) TakePaths(operands []string) ([]string, error) {
	if c.Host != "" && len(c.Sources) == 0 {
		if len(operands) < 2 {
			return nil, option.Usagef("explain %s needs the robots.txt and a path: explain %[1]s robots.txt /a", option.For.With(c.Host))
		}
		c.Sources, operands = operands[:1], operands[1:]
	}
	for i, operand := range operands {
		if !strings.HasPrefix(operand, "/") {
			continue
		}
		if c.Host == "" {
			return nil, option.Usagef("%s is a path: give a URL, or say of which host with %s", operand, option.For.With("example.com"))
		}
		operands[i] = c.Host + operand
		if !strings.Contains(c.Host, "://") {
			operands[i] = "https://" + operands[i]
		}
	}
	return operands, nil
}

// Fallbacks calls warn for each agent of several names that have nothing in common, which were likely
// meant to be several agents.
func (c *Rules) Fallbacks(warn func(option.Message)) {
	for _, chain := range c.Chains {
		if !chain.Related() {
			warn(option.Messagef("%s is one agent with a fallback: the rules for %s count only where a robots.txt has none for %s. For a verdict on each, give the names one by one, without the comma",
				option.Agent.With(chain.String()), strings.Join(chain[1:], " and "), chain[0]))
		}
	}
}

// The cases of -assume.
const (
	missingCase  = "missing"
	status429    = "429"
	redirectCase = "redirect"
	beforeFirst  = "before-first"
	unreadable   = "unreadable"
)

// assumption is a case of -assume: its name, and for the help when it applies and the default verdict.
type assumption struct {
	name, when, standard string
	formerly             string     // a flag that earlier versions had for this case alone
	verdict              cli.Choice // which verdicts there are, and where to put them
}

// The verdicts of cases. allowed is for a field that is true where a URL is allowed, denied for one that
// is true where it is denied.
var (
	missings = []cli.Word[access.Missing]{
		{Name: "allow", Value: access.MissingAllow}, {Name: "deny", Value: access.MissingDeny}, {Name: "null", Value: access.MissingNull},
	}
	firsts = []cli.Word[access.BeforeFirst]{
		{Name: "use", Value: access.BeforeUse}, {Name: "allow", Value: access.BeforeAllow}, {Name: "deny", Value: access.BeforeDeny}, {Name: "null", Value: access.BeforeNull},
	}
	allowed = []cli.Word[bool]{{Name: "allow", Value: true}, {Name: "deny", Value: false}}
	denied  = []cli.Word[bool]{{Name: "allow", Value: false}, {Name: "deny", Value: true}}
)

// assumptions returns all cases, which write to c.
func (c *Rules) assumptions() []assumption {
	return []assumption{
		{missingCase, "no robots.txt is known for the host", "allow", "missing", cli.OneOf(&c.Missing, missings...)},
		{status429, "a capture has this status", "deny", "on-429", cli.OneOf(&c.Policy.Allow429, allowed...)},
		{redirectCase, "the redirects of a capture end nowhere", "allow", "on-unresolved-redirect", cli.OneOf(&c.Policy.DenyUnresolved, denied...)},
		{beforeFirst, "a row is older than the first capture of its host, which use takes; needs -as-of column:NAME", "as missing", "before-first", cli.OneOf(&c.BeforeFirst, firsts...)},
		{unreadable, "a use is stated in a form that cannot be read, for -emit permitted", "deny", "", cli.OneOf(&c.AllowUnreadable, allowed...)},
	}
}

// assumeFlag returns the flag -assume of a command that needs a verdict in these cases.
func (c *Rules) assumeFlag(cases ...string) cli.Flag {
	f := cli.Flag{
		Name: "assume", Argument: "CASES", Topic: RulesTopic, Repeat: true, Answers: make(map[string]string),
		Short: "the verdict where nothing is certain, such as missing=null,429=allow",
	}
	if !slices.Contains(cases, missingCase) { // the others are about captures
		f.For, f.Short = captureRules, "what captures mean where nothing is certain, such as 429=allow"
	}
	chosen := slices.DeleteFunc(c.assumptions(), func(a assumption) bool { return !slices.Contains(cases, a.name) })
	var texts, words []string
	for _, a := range chosen {
		texts = append(texts, fmt.Sprintf("%s: %s (%s; default %s)", a.name, cli.InWords(a.verdict.Words, "or"), a.when, a.standard))
		if a.formerly != "" {
			f.Answers[a.formerly] = a.name + "=VERDICT"
		}
		for _, verdict := range a.verdict.Words {
			words = append(words, a.name+"="+verdict)
		}
	}
	f.More = "CASE=VERDICT, by commas. " + strings.Join(texts, ". ") + "."
	f.Value = cli.Choice{Words: words, Set: setAssumptions(chosen)}
	return f
}

// setAssumptions returns the function for a flag that takes CASE=VERDICT, separated by commas. A case
// can be given once.
func setAssumptions(cases []assumption) func(string) error {
	names, given := cli.Map(cases, func(a assumption) string { return a.name }), make(map[string]bool)
	return func(s string) error {
		for _, item := range strings.Split(s, ",") {
			name, verdict, _ := strings.Cut(item, "=")
			at := slices.Index(names, name)
			switch {
			case at < 0:
				return fmt.Errorf("want a case and its verdict, such as %s=allow; the cases are %s", names[0], cli.InWords(names, "and"))
			case given[name]:
				return fmt.Errorf("%s has two verdicts", name)
			}
			given[name] = true
			if err := cases[at].verdict.Set(verdict); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
}
