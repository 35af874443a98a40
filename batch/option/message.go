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
func Join(messages []Message, separator string) (joined Message) {
	for i, m := range messages {
		if i > 0 {
			m = Messagef("%s%s%s", joined, separator, m)
		}
		joined = m
	}
	return joined
}

// Empty tells whether the message says nothing.
func (m Message) Empty() bool { return m.format == "" }

// Parts cuts the message at its options.
func (m Message) Parts() (p Parts) {
	p.addMessage(m)
	return p
}

func (m Message) String() string { return m.Parts().In(Given.String) }

// messageError is fmt's error, which has the text and what it wraps, with the message of that text.
type messageError struct {
	message Message
	error
}

// Errorf returns an error with a message that may name options, formatted as by [fmt.Errorf] and
// [Messagef].
func Errorf(format string, args ...any) error {
	return &messageError{Message{format, args}, fmt.Errorf(format, args...)}
}

// Message is what PartsOf asks an error for.
func (e *messageError) Message() Message { return e.message }

func (e *messageError) Unwrap() error { return e.error }

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

// PartsOf returns an error's message on one line, cut at its options. It finds the options that errors
// from [Errorf], and others with a method Message, name, wherever they are wrapped. The message names
// no system call, and no file twice.
func PartsOf(err error) (p Parts) {
	p.addError(err)
	return p
}

// In returns the message in a reader's words.
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

// addText adds a text to the last part if that is one.
func (p *Parts) addText(s string) {
	if last := len(*p) - 1; last >= 0 && (*p)[last].Option == "" {
		(*p)[last].Text += s
	} else if s != "" {
		*p = append(*p, Part{Text: s})
	}
}

func (p *Parts) addOption(g Given) { *p = append(*p, Part{Option: g.Name, Value: g.Value}) }

// verb matches a verb of a format, or %%. Its groups are the flags, the index of the argument from 1
// if that is given in brackets, and the letter.
var verb = regexp.MustCompile(`%([-+# 0-9.]*)(?:\[(\d+)\])?([a-zA-Z%])`)

// addMessage adds a formatted message. Arguments that have options in them are added as parts,
// others as text.
func (p *Parts) addMessage(m Message) {
	at, arg := 0, 0                                                   // the end of the last verb; the index of the next argument
	for _, v := range verb.FindAllStringSubmatchIndex(m.format, -1) { // the bounds of the verb and of its three groups
		p.addText(m.format[at:v[0]])
		at = v[1]
		flags, letter := m.format[v[2]:v[3]], m.format[v[6]:v[7]]
		if v[4] >= 0 { // the verb has an index, from 1 on
			arg, _ = strconv.Atoi(m.format[v[4]:v[5]])
			arg--
		}
		if letter == "%" || arg >= len(m.args) {
			p.addText(strings.ReplaceAll(m.format[v[0]:at], "%%", "%"))
			continue
		}
		switch arg := m.args[arg].(type) {
		case Name:
			p.addOption(Given{Name: arg})
		case Given:
			p.addOption(arg)
		case Message:
			p.addMessage(arg)
		case error:
			p.addError(arg)
		default: // the verb without the index, because Sprintf has this argument alone
			p.addText(fmt.Sprintf("%"+flags+letter, arg))
		}
		arg++
	}
	p.addText(m.format[at:])
}

// addError adds an error without the names of system calls; see PartsOf.
func (p *Parts) addError(err error) {
	switch e := err.(type) {
	case interface{ Message() Message }:
		p.addMessage(e.Message())
	case *fs.PathError:
		p.addFileError(e.Path, e.Err)
	case *os.LinkError:
		p.addFileError(e.New, e.Err)
	case *os.SyscallError:
		p.addError(e.Err)
	case interface{ Named() (string, error) }:
		p.addFileError(e.Named())
	case interface{ Unwrap() error }:
		p.addWrapping(err.Error(), e.Unwrap())
	case interface{ Unwrap() []error }:
		p.addWrapping(err.Error(), e.Unwrap()...)
	default:
		p.addText(err.Error())
	}
}

// addWrapping adds the text of an error that wraps errs. In place of the text of each of these, in
// order, it adds that error's parts, so that options stay options.
func (p *Parts) addWrapping(text string, errs ...error) {
	for _, err := range errs {
		if err == nil {
			continue
		}
		if before, after, found := strings.Cut(text, err.Error()); found {
			if before == "\n" { // of errors.Join
				before = "; "
			}
			p.addText(before)
			p.addError(err)
			text = after
		}
	}
	p.addText(text)
}

// addFileError adds what is wrong with a file, and its name where that does not stand before it as a
// word, or before a colon.
func (p *Parts) addFileError(name string, err error) {
	before := " " + p.In(Given.String) + " "
	if name != "" && !strings.Contains(before, " "+name+" ") && !strings.Contains(before, " "+name+":") {
		p.addText(name + ": ")
	}
	p.addError(err)
}
