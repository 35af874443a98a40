// Package option names what a job can be asked for, whoever asks. An error or a warning that
// names an option holds the name and no word of a command line: whoever shows the message
// replaces the name by what its reader writes to give the option, such as a flag.
package option

import "strings"

// Name is an option. Its text stands in messages that nobody puts into other words.
type Name string

// The options that messages name.
const (
	AcceptTruncated Name = "accept-truncated"
	Against         Name = "against"
	Agent           Name = "agent"
	Agents          Name = "agents"
	AgentsAs        Name = "agents-as"
	AllowNoRules    Name = "allow-no-rules"
	As              Name = "as"
	AsOf            Name = "as-of"
	Assume          Name = "assume"
	BatchRows       Name = "batch-rows"
	By              Name = "by"
	Changes         Name = "changes"
	Columns         Name = "columns"
	Compression     Name = "compression"
	Counts          Name = "counts"
	Delimiter       Name = "delimiter"
	Emit            Name = "emit"
	EverDenied      Name = "ever-denied"
	FetchList       Name = "fetch-list"
	FilesFrom       Name = "files-from"
	For             Name = "for"
	History         Name = "history"
	In              Name = "in"
	InFormat        Name = "in-format"
	JSON            Name = "json"
	Limit           Name = "limit"
	Manifest        Name = "manifest"
	MaxInvalid      Name = "max-invalid"
	MaxLine         Name = "max-line"
	MaxNoRobots     Name = "max-no-robots"
	Memory          Name = "memory"
	Merge           Name = "merge"
	NewProfile      Name = "new-profile"
	Out             Name = "out"
	OutFormat       Name = "out-format"
	Partitions      Name = "partitions"
	Prefix          Name = "prefix"
	Profile         Name = "profile"
	Rank            Name = "rank"
	Report          Name = "report"
	Resume          Name = "resume"
	RobotsLimit     Name = "robots-limit"
	Rules           Name = "rules"
	SARIF           Name = "sarif"
	Shard           Name = "shard"
	StoreTimeout    Name = "store-timeout"
	SummaryJSON     Name = "summary-json"
	Table           Name = "table"
	URLColumn       Name = "url-column"
	Update          Name = "update"
	Use             Name = "use"
	WARCBase        Name = "warc-base"
	Weight          Name = "weight"
)

// With returns the option with a value.
func (n Name) With(value string) Given { return Given{n, value} }

// Given is an option with its value.
type Given struct {
	Name  Name
	Value string // empty for the option alone
}

func (g Given) String() string { return strings.TrimSuffix(string(g.Name)+" "+g.Value, " ") }

// Words puts an option into the words by which a reader gives it.
type Words func(Given) string
