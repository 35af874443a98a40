package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/report"
	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// URL explains the verdicts on a URL, in the form of the JSON output.
type URL struct {
	URL string `json:"url"`
	// Authority and Path are the parts of the URL, and Normalised is the path as rules are
	// compared with it. All are empty if the URL is invalid.
	Authority  string `json:"authority,omitempty"`
	Path       string `json:"path,omitempty"`
	Normalised string `json:"normalised,omitempty"`
	// Hash is the hash of the authority, 0 without one. Partition is its partition; nil if
	// Options.Partitions is 0.
	Hash      int64 `json:"authority_hash,omitempty"`
	Partition *int  `json:"partition,omitempty"`
	// Access is the meaning of the fetch of robots.txt: rules, allow_all, disallow_all or
	// unknown. Stale means that the rules are an older copy.
	Access string `json:"access,omitempty"`
	Stale  bool   `json:"stale,omitempty"`
	// Near is a known authority that may have been meant, if this one is unknown; empty for
	// none.
	Near string `json:"near,omitempty"`
	// Status is that of the fetch, 0 if unknown; Fetched is its time and Age how many
	// seconds ago it was, nil if unknown.
	Status  int        `json:"status,omitempty"`
	Fetched *time.Time `json:"fetched_at,omitempty"`
	Age     *int64     `json:"age_seconds,omitempty"`
	TooOld  bool       `json:"too_old,omitempty"`
	// File is the file, pack or captures that the rules come from; empty for none.
	File string `json:"file,omitempty"`
	// BodyKind is html or binary if the rules were read from such a body; else empty.
	BodyKind string `json:"body_kind,omitempty"`
	// Sitemaps are some of the sitemap records; see matcher.Records.
	Sitemaps     []string `json:"sitemaps,omitempty"`
	MoreSitemaps bool     `json:"more_sitemaps,omitempty"`
	// Agents has an element for each agent of the job.
	Agents []Agent `json:"agents"`

	partitions int           // Options.Partitions
	maxAge     time.Duration // Options.MaxAge, if Age is known
	notYet     time.Time     // the time for which the URL is explained, if all captures are later; else zero
	inText     bool          // File is the robots.txt itself
}

// Agent explains the verdict for an agent.
type Agent struct {
	Agent string `json:"agent"`
	// Allowed is the verdict, nil for none.
	Allowed *bool          `json:"allowed"`
	Reason  matcher.Reason `json:"reason"`
	// Rule is the rule that decides; nil for none.
	Rule *Rule `json:"rule,omitempty"`
	// Group is the group that the agent obeys; nil if the rules do not decide.
	Group *Group `json:"group,omitempty"`
	// Others are all other rules that match, the most specific first.
	Others []Rule `json:"others,omitempty"`
	// Context are the lines around that of Rule. For a rule pack or captures they are the
	// nearest rules that the agent obeys. Without Rule there are none.
	Context    []Line   `json:"context,omitempty"`
	CrawlDelay *float64 `json:"crawl_delay,omitempty"`
	// Uses are what is said of uses of the URL, if it may be fetched; Licenses are those
	// that the agent is offered.
	Uses     []Use    `json:"uses,omitempty"`
	Licenses []string `json:"licenses,omitempty"`
}

// Rule is a rule that matches.
type Rule struct {
	// Text is the rule as written, Pattern its pattern as it is compared, and Length the
	// length that counts (see matcher.Traced).
	Text    string `json:"text"`
	Line    int    `json:"line"`
	Allow   bool   `json:"allow"`
	Pattern string `json:"pattern"`
	Length  int    `json:"length"`
	// Agent is the value of the user-agent line of its group.
	Agent string `json:"agent"`
}

// These are the values of Group.Why.
const (
	namedGroup     = "named"    // the group names the agent
	everyonesGroup = "everyone" // no group names the agent, and this one is for everyone
	noGroup        = "none"     // no group names the agent, and none is for everyone
)

// Group is the merged groups that an agent obeys.
type Group struct {
	// Why is named, everyone or none.
	Why string `json:"why"`
	// Name is the agent's name in the groups, or "*".
	Name string `json:"name,omitempty"`
	// Lines are the user-agent lines with that name, one for each group. Their numbers are
	// 0 for rule packs and captures, which do not keep them.
	Lines []Line `json:"lines,omitempty"`
	// Joined are records that stand between user-agent lines of the groups and do not end the group;
	// nil if the text is not known.
	Joined []Joined `json:"joined,omitempty"`
	// Near is the name of another group with almost the same name; empty for none.
	Near string `json:"near,omitempty"`
}

// Joined is a record between two user-agent lines of a group, which it does not end.
type Joined struct {
	// Record is its key as written, Line its line, and With the next user-agent line.
	Record string `json:"record"`
	Line   int    `json:"line"`
	With   int    `json:"with"`
}

// Line is a line of a robots.txt, or its value.
type Line struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// WriteJSON writes u as JSON, on one line.
func (u *URL) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(u)
}

// Style is how text looks on a terminal. The zero value is for what is no terminal.
type Style struct {
	Width int  // columns, at which lines are wrapped; 0 for no end
	Color bool // shows the verdict and the rule that decides in color
}

// WriteText writes u as text for people.
func (u *URL) WriteText(w io.Writer, style Style) error {
	p := printer{style: style}
	p.printHead(u)
	for i := range u.Agents {
		p.printAgent(u, &u.Agents[i])
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// printHead prints what is the same for all agents: the URL, its parts, and the fetch of
// robots.txt.
func (p *printer) printHead(u *URL) {
	p.printWrapped("", report.Printable(u.URL), false) // not colored
	if u.Authority != "" {
		p.field("authority", u.Authority)
		p.field("path", u.Path)
		p.field("normalised", u.Normalised)
		p.printLine("  hash        %d", u.Hash)
		if u.Partition != nil {
			p.printLine("  partition   %d of %d", *u.Partition, u.partitions)
		}
		p.printFetch(u)
	}
}

// WriteTable writes u as text for people, with a line for each agent.
func (u *URL) WriteTable(w io.Writer, style Style) error {
	p := printer{style: style}
	p.printHead(u)
	width := len("agent")
	for i := range u.Agents {
		width = max(width, utf8.RuneCountInString(report.Printable(u.Agents[i].Agent)))
	}
	p.printLine("  %-*s  %-7s  %-15s  %s", width, "agent", "verdict", "reason", "rule")
	for i := range u.Agents {
		a, rule := &u.Agents[i], ""
		if a.Rule != nil {
			rule = fmt.Sprintf("%s  (line %d)", report.Printable(clip(a.Rule.Text)), a.Rule.Line)
		}
		p.printLine("  %-*s  %-7s  %-15s  %s", width, report.Printable(a.Agent), a.verdict(), a.Reason, rule)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// verdict returns the agent's verdict in a word.
func (a *Agent) verdict() string {
	switch {
	case a.Allowed == nil:
		return "none"
	case *a.Allowed:
		return "allowed"
	}
	return "denied"
}

// printer collects lines of text.
type printer struct {
	strings.Builder
	style Style
}

// printLine prints a line, formatted as by fmt.Printf, without blanks at its end.
func (p *printer) printLine(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// field prints a line with a name and a value, which may be text from outside.
func (p *printer) field(name, value string) {
	p.printWrapped(fmt.Sprintf("  %-11s ", name), report.Printable(value), name == "verdict")
}

// printWrapped prints text after a label, broken into lines of the style's width: one even for an empty text.
// Further lines have blanks in place of the label. colored says that the text is shown in colour if the style
// has any.
func (p *printer) printWrapped(label, text string, colored bool) {
	for line, first := "", true; first || text != ""; first = false {
		line, text = cutLine(text, p.style.Width-len(label))
		if colored && p.style.Color {
			line = "\x1b[35m" + line + "\x1b[0m"
		}
		p.printLine("%s%s", label, line)
		label = strings.Repeat(" ", max(len(label), 2))
	}
}

// cutLine splits a line of at most width characters from text: after the last slash or blank
// of the line, if there is one. It does not split if width is too small for any text.
func cutLine(text string, width int) (line, rest string) {
	const least = 8
	if width < least || utf8.RuneCountInString(text) <= width {
		return text, ""
	}
	end := 0 // in bytes
	for range width {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if last := strings.LastIndexAny(text[:end], "/ "); last > 0 && strings.Trim(text[:last], "/ ") != "" { // not after "//" alone
		end = last + 1
	}
	return text[:end], text[end:]
}

// printFetch prints the outcome of the fetch of robots.txt, what is known of it, and its sitemaps.
func (p *printer) printFetch(u *URL) {
	access := strings.ReplaceAll(u.Access, "_", " ")
	switch {
	case u.Stale:
		access += ", of an older copy"
	case !u.notYet.IsZero():
		access += ": the rules have no capture of this host from " + u.notYet.Format(time.RFC3339) + " or before"
	case u.Near != "":
		access += ": the rules do not have this host; they have " + u.Near
	case u.File == "":
		access += ": the rules do not have this host"
	}
	p.field("access", access)
	if u.Status != 0 {
		p.field("status", fmt.Sprint(u.Status))
	}
	if u.Fetched != nil {
		p.field("fetched", u.Fetched.Format(time.RFC3339))
	}
	if u.Age != nil {
		age := report.Age(time.Duration(*u.Age) * time.Second)
		if u.TooOld {
			age += ", more than " + report.Age(u.maxAge)
		}
		p.field("age", age)
	}
	if u.File != "" {
		p.field("file", u.File)
	}
	if u.BodyKind != "" {
		p.field("body", u.BodyKind+", not a robots.txt: its lines are read as rules where they can be")
	}
	for _, sitemap := range u.Sitemaps {
		p.field("sitemap", sitemap)
	}
	if u.MoreSitemaps {
		p.field("sitemap", "… and more")
	}
}

// hint returns what to do about a URL with a reason, after a colon; empty if there is nothing to do.
func hint(url string, reason matcher.Reason) string {
	if reason == matcher.InvalidURL && format.Schemeless([]byte(url)) != nil {
		return ": the scheme is missing: write https://" + url
	}
	if help := reason.Help(); help != "" {
		return ": " + help
	}
	return ""
}

// printAgent prints the explanation for an agent: the verdict, the group that it obeys, the rule that decides
// with the lines around it, the other rules that match, and what is said of uses.
func (p *printer) printAgent(u *URL, a *Agent) {
	p.field("agent", a.Agent)
	p.field("verdict", a.verdict())
	p.field("reason", a.Reason.String()+hint(u.URL, a.Reason))
	if a.Group != nil {
		p.field("group", a.Group.text(a.Agent))
		for _, j := range a.Group.Joined {
			p.field("", fmt.Sprintf("joined with the group of line %d: %s (line %d) does not end a group", j.With, clip(j.Record), j.Line))
		}
	}
	if a.Rule != nil {
		p.field("rule", fmt.Sprintf("%s  (%s)", clip(a.Rule.Text), a.Rule.size()))
		if a.Rule.isRespelt() {
			p.field("compared as", clip(a.Rule.Pattern))
		}
		if u.inText {
			p.field("at", fmt.Sprintf("%s:%d", u.File, a.Rule.Line))
		} else {
			p.field("at", fmt.Sprintf("line %d of %s/robots.txt", a.Rule.Line, u.Authority))
		}
		for _, line := range a.Context {
			mark, decides := " ", line.Line == a.Rule.Line
			if decides {
				mark = ">"
			}
			p.printWrapped(fmt.Sprintf("      %s %5d  ", mark, line.Line), report.Printable(clip(line.Text)), decides)
		}
	}
	for i := range a.Others {
		o := &a.Others[i]
		p.field("beaten", fmt.Sprintf("%s  (%s, line %d)", clip(o.Text), o.size(), o.Line))
	}
	if a.CrawlDelay != nil {
		p.field("crawl-delay", fmt.Sprintf("%g s", *a.CrawlDelay))
	}
	p.printUses(a)
}

func (r *Rule) size() string { return report.Count(int64(r.Length), "byte", "bytes") }

// isRespelt reports whether the pattern was normalised, and so differs from how it is written.
func (r *Rule) isRespelt() bool { return !strings.HasSuffix(r.Text, r.Pattern) }

// text says which group applies to an agent, given as its chain, and why.
func (g *Group) text(agent string) string {
	near := ""
	if g.Near != "" {
		near = fmt.Sprintf("; one names %s", g.Near)
	}
	switch {
	case g.Why == noGroup && agent == matcher.Everyone:
		return "none: there is none for everyone"
	case g.Why == noGroup:
		return fmt.Sprintf("none: no group names %s%s, and there is none for everyone", agent, near)
	}
	var values []string
	for _, line := range g.Lines {
		value := clip(line.Text)
		if line.Line > 0 {
			value += fmt.Sprintf(" (line %d)", line.Line)
		}
		values = append(values, value)
	}
	text := strings.Join(values, ", ")
	if len(values) > 1 {
		text += fmt.Sprintf(", %d groups as one", len(values))
	}
	switch {
	case g.Why == everyonesGroup:
		text += fmt.Sprintf(": no group names %s%s", agent, near)
	case g.Name != agent:
		text += ": the first of the names that has a group"
	}
	return text
}

// clip cuts a text, which is UTF-8, after 500 bytes, between characters.
func clip(text string) string {
	const most = 500 // bytes
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Use is what a robots.txt says of a use of a URL that may be fetched.
type Use struct {
	// Use is its name, such as train-ai or signal:ai-train.
	Use string `json:"use"`
	// Value is allowed, disallowed or unknown, or the grade of the signal use.
	Value string `json:"value"`
	// Line is the number of the line that says so, and Text the line.
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Wanted is what rules must be opened with for Agent.Uses and Agent.Licenses.
func Wanted() matcher.UsageOptions {
	return matcher.UsageOptions{Uses: uses, Licenses: true, Explain: true}
}

// uses are all that the vocabularies define.
var uses = append(usage.Vocabulary(usage.ContentUsage), usage.Vocabulary(usage.ContentSignal)...)

// setUses sets a.Uses and a.Licenses from what the robots.txt says, which is nil if it says nothing.
// agent is the agent's index. Uses of the path about which its groups say nothing are left out.
func (a *Agent) setUses(said *matcher.Usage, agent int, path []byte, p matcher.Profile) {
	a.Licenses = said.Licenses(agent)
	if said == nil {
		return
	}
	var target matcher.Target
	target.Set(path, p)
	for i, use := range uses {
		if found := said.Explain(&target, agent, i); found.Line > 0 {
			a.Uses = append(a.Uses, Use{Use: use.String(), Value: found.Value.String(), Line: found.Line, Text: string(found.Text)})
		}
	}
}

// printUses prints what the robots.txt says about uses, and the licences.
func (p *printer) printUses(a *Agent) {
	for _, u := range a.Uses {
		p.field(u.Use, fmt.Sprintf("%s  (line %d: %s)", u.Value, u.Line, clip(u.Text)))
	}
	for _, license := range a.Licenses {
		p.field("license", license)
	}
}
