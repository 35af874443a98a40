// Package option names what a job can be asked for, whoever asks. An error or a warning that
// names an option holds the name and no word of a command line: whoever shows the message
// puts in the words by which its reader gives the option, such as flags.
package option

import (
	"fmt"
	"strings"
)

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
	Emit            Name = "emit"
	EverDenied      Name = "ever-denied"
	FetchList       Name = "fetch-list"
	FilesFrom       Name = "files-from"
	For             Name = "for"
	History         Name = "history"
	In              Name = "in"
	InFormat        Name = "in-format"
	JSON            Name = "json"
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
	Recode          Name = "recode"
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
	Use             Name = "use"
	Weight          Name = "weight"
)

// With is the option with a value.
func (n Name) With(value string) Given { return Given{n, value} }

// Given is an option with its value.
type Given struct {
	Name  Name
	Value string // empty for the option alone
}

func (g Given) String() string { return strings.TrimSuffix(string(g.Name)+" "+g.Value, " ") }

// Words puts an option into the words by which a reader gives it.
type Words func(Given) string

// Message is a text that may name options.
type Message struct {
	format string
	args   []any
}

// Messagef returns a message, formatted as by [fmt.Sprintf]. Its arguments may be a [Name],
// a [Given], other messages, and errors.
func Messagef(format string, args ...any) Message {
	return Message{format, args}
}

// Join puts a separator between messages.
func Join(messages []Message, separator string) Message {
	args := make([]any, len(messages))
	for i, m := range messages {
		args[i] = m
	}
	return Message{strings.TrimSuffix(strings.Repeat("%s"+strings.ReplaceAll(separator, "%", "%%"), len(args)), separator), args}
}

func (m Message) String() string {
	return fmt.Sprintf(strings.ReplaceAll(m.format, "%w", "%v"), m.args...)
}

// In is the message in a reader's words.
func (m Message) In(words Words) string {
	args := make([]any, len(m.args))
	for i, arg := range m.args {
		switch arg := arg.(type) {
		case Name:
			args[i] = words(Given{Name: arg})
		case Given:
			args[i] = words(arg)
		case Message:
			args[i] = arg.In(words)
		case error:
			args[i] = Text(arg, words)
		default:
			args[i] = arg
		}
	}
	return Message{m.format, args}.String()
}

// Part is a piece of a message: a text, or an option.
type Part struct {
	Text   string `json:"text,omitempty"`
	Option Name   `json:"option,omitempty"`
	Value  string `json:"value,omitempty"` // of the option
}

// mark stands around each option in a message that is cut into parts. It is a code point that
// stands for no character, so ordinary text does not have it.
const mark = "\uFDD0"

// Parts cuts a message at its options, for a program that has words of its own for them. say
// returns the message in given words. An option for which words has the value alone stays text.
// Parts is nil for a message that names no option, or that quotes what might be taken for the
// marks.
func Parts(words Words, say func(Words) string) (parts []Part) {
	if strings.Contains(say(words), mark) {
		return nil
	}
	pieces := strings.Split(say(func(g Given) string {
		if word := words(g); word == g.Value {
			return word
		}
		return mark + g.String() + mark
	}), mark)
	if len(pieces) == 1 {
		return nil
	}
	for i, piece := range pieces {
		switch {
		case i%2 == 1:
			name, value, _ := strings.Cut(piece, " ")
			parts = append(parts, Part{Option: Name(name), Value: value})
		case piece != "":
			parts = append(parts, Part{Text: piece})
		}
	}
	return parts
}

// Unmarked is a text without the marks of [Parts].
func Unmarked(text string) string { return strings.ReplaceAll(text, mark, "") }

// Empty tells whether the message says nothing.
func (m Message) Empty() bool { return m.format == "" }

// worded is an error with a message that may name options.
type worded interface {
	error
	Message() Message
}

// messageError is an error that has only its message and what it wraps.
type messageError struct {
	message Message
	wrapped error // the same by fmt, which knows what is wrapped
}

// Errorf returns an error whose message [Text] puts into words, formatted as by [fmt.Errorf] and
// [Messagef].
func Errorf(format string, args ...any) error {
	return &messageError{Message{format, args}, fmt.Errorf(format, args...)}
}

// Message implements worded.
func (e *messageError) Message() Message { return e.message }

func (e *messageError) Error() string { return e.wrapped.Error() }

func (e *messageError) Unwrap() error { return e.wrapped }

// UsageError is a mistake in what was asked for, and not in a file or in what happened to
// it.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a *[UsageError], formatted as by [Errorf].
func Usagef(format string, args ...any) error { return &UsageError{Errorf(format, args...)} }

// Text is an error's text in a reader's words: that of each error from [Errorf], or with a method
// Message that returns a [Message], in the text of what wraps it.
func Text(err error, words Words) string {
	var below []error
	switch e := err.(type) {
	case worded:
		return e.Message().In(words)
	case interface{ Unwrap() error }:
		below = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		below = e.Unwrap()
	}
	text := err.Error()
	for _, inner := range below {
		if inner != nil {
			text = strings.Replace(text, inner.Error(), Text(inner, words), 1)
		}
	}
	return text
}
