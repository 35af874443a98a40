package option

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Message is a text that may name options.
type Message struct {
	format string
	args   []any
}

// Messagef returns a message, formatted as by [fmt.Sprintf]. Its arguments may be a [Name],
// a [Given], other messages, and errors.
func Messagef(format string, args ...any) Message { return Message{format, args} }

// Join puts a separator between messages.
func Join(messages []Message, separator string) Message {
	args := make([]any, len(messages))
	for i, m := range messages {
		args[i] = m
	}
	return Message{strings.TrimSuffix(strings.Repeat("%s"+strings.ReplaceAll(separator, "%", "%%"), len(args)), separator), args}
}

// Empty tells whether the message says nothing.
func (m Message) Empty() bool { return m.format == "" }

// Parts cuts the message at its options.
func (m Message) Parts() Parts {
	var b builder
	b.message(m)
	return b.parts
}

func (m Message) String() string { return m.Parts().In(Given.String) }

// messageError is an error that has only its message and what it wraps.
type messageError struct {
	message Message
	wrapped error // the same by fmt, which knows what is wrapped
}

// Errorf returns an error with a message that may name options, formatted as by [fmt.Errorf] and
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

// Parts is a message cut at its options, for a reader with words of its own for them.
type Parts []Part

// Part is a piece of a message: a text, or an option.
type Part struct {
	Text   string `json:"text,omitempty"`
	Option Name   `json:"option,omitempty"`
	Value  string `json:"value,omitempty"` // of the option
}

// PartsOf is an error's message on one line. It has the options that errors from [Errorf] name, or those
// with a method Message, wherever they are wrapped. It names no system call, and no file a second
// time.
func PartsOf(err error) Parts {
	var b builder
	b.err(err)
	return b.parts
}

// In is the message in a reader's words.
func (p Parts) In(words Words) string {
	var b strings.Builder
	for _, part := range p {
		if part.Option != "" {
			part.Text = words(Given{part.Option, part.Value})
		}
		b.WriteString(part.Text)
	}
	return b.String()
}

// builder makes the parts of a message.
type builder struct {
	parts Parts
	plain strings.Builder // all so far, with options as they are
}

func (b *builder) text(s string) {
	b.plain.WriteString(s)
	if last := len(b.parts) - 1; last >= 0 && b.parts[last].Option == "" {
		b.parts[last].Text += s
	} else if s != "" {
		b.parts = append(b.parts, Part{Text: s})
	}
}

func (b *builder) option(g Given) {
	b.plain.WriteString(g.String())
	b.parts = append(b.parts, Part{Option: g.Name, Value: g.Value})
}

// verb is what a format has for an argument, whose index is in brackets, or %%.
var verb = regexp.MustCompile(`%[-+# 0-9.]*(\[\d+\])?[a-zA-Z%]`)

func (b *builder) message(m Message) {
	at, arg := 0, 0
	for _, v := range verb.FindAllStringSubmatchIndex(m.format, -1) {
		b.text(m.format[at:v[0]])
		at = v[1]
		if v[2] >= 0 {
			arg, _ = strconv.Atoi(m.format[v[2]+1 : v[3]-1]) // a number: see verb
			arg--
		}
		if m.format[at-1] == '%' || arg >= len(m.args) {
			b.text(strings.ReplaceAll(m.format[v[0]:at], "%%", "%"))
			continue
		}
		switch arg := m.args[arg].(type) {
		case Name:
			b.option(Given{Name: arg})
		case Given:
			b.option(arg)
		case Message:
			b.message(arg)
		case error:
			b.err(arg)
		default:
			b.text(fmt.Sprintf(m.format[v[0]:max(v[0]+1, v[2])]+m.format[max(v[0]+1, v[3]):at], arg))
		}
		arg++
	}
	b.text(m.format[at:])
}

func (b *builder) err(err error) {
	switch e := err.(type) {
	case interface{ Message() Message }:
		b.message(e.Message())
	case *fs.PathError:
		b.named(e.Path, e.Err)
	case *os.LinkError:
		b.named(e.New, e.Err)
	case *os.SyscallError:
		b.err(e.Err)
	case interface{ Named() (string, error) }:
		b.named(e.Named())
	case interface{ Unwrap() error }:
		b.around(err.Error(), e.Unwrap())
	case interface{ Unwrap() []error }:
		b.around(err.Error(), e.Unwrap()...)
	default:
		b.text(err.Error())
	}
}

// around adds the text of an error that wraps errs. Where the text of one of them stands in it, in
// their order, that one's own parts are added instead, so that options in it stay options.
func (b *builder) around(text string, errs ...error) {
	for _, err := range errs {
		if err == nil {
			continue
		}
		if before, after, found := strings.Cut(text, err.Error()); found {
			if before == "\n" { // of errors.Join
				before = "; "
			}
			b.text(before)
			b.err(err)
			text = after
		}
	}
	b.text(text)
}

// named adds what is wrong with a file, and its name where that does not stand before it as a
// word, or before a colon.
func (b *builder) named(name string, err error) {
	before := " " + b.plain.String() + " "
	if name != "" && !strings.Contains(before, " "+name+" ") && !strings.Contains(before, " "+name+":") {
		b.text(name + ": ")
	}
	b.err(err)
}
