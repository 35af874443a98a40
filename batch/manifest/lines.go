package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

var (
	// errDamaged says that a line is not what was written.
	errDamaged = errors.New("the manifest is damaged")
	// errVersion says that a newer program wrote the manifest.
	errVersion = errors.New("the manifest is of a newer version of the program")
)

// line is a line of the file; one of its fields is set, or none in a line of a newer program.
type line struct {
	Job       *Job       `json:"job,omitempty"`
	RuleFiles []RuleFile `json:"rule_files,omitempty"`
	Output    *Output    `json:"output,omitempty"`
	End       *end       `json:"end,omitempty"`
}

type end struct {
	Outputs int `json:"outputs"`
}

// filesInLine is the most files in a line of rule files.
const filesInLine = 1000

// AppendJob appends the first line to dst.
func AppendJob(dst []byte, j *Job) []byte { return appendLine(dst, line{Job: j}) }

// AppendRuleFiles appends lines that say which files were read.
func AppendRuleFiles(dst []byte, files []RuleFile) []byte {
	for len(files) > 0 {
		n := min(len(files), filesInLine)
		dst = appendLine(dst, line{RuleFiles: files[:n]})
		files = files[n:]
	}
	return dst
}

// AppendOutput appends the line of an output that is complete.
func AppendOutput(dst []byte, o *Output) []byte { return appendLine(dst, line{Output: o}) }

// AppendEnd appends the last line of a job with that number of outputs.
func AppendEnd(dst []byte, outputs int) []byte { return appendLine(dst, line{End: &end{outputs}}) }

// A line ends with its checksum.
const (
	sumBegin = `,"crc32c":"`
	sumEnd   = `"}`
	sumSize  = len(sumBegin) + 8 + len(sumEnd)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine appends a line as JSON, with the checksum of all that comes before it as the last
// field, and LF.
func appendLine(dst []byte, l line) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // there is nothing in a line that cannot be written
	}
	text = text[:len(text)-1] // without the brace
	dst = append(dst, text...)
	return fmt.Appendf(dst, "%s%08x%s\n", sumBegin, crc32.Checksum(text, castagnoli), sumEnd)
}

// parseLine parses a line without its LF. It is an error if its checksum does not match.
func parseLine(text []byte) (l line, err error) {
	at := len(text) - sumSize
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(sumBegin)) ||
		string(text[at+len(sumBegin):]) != fmt.Sprintf("%08x%s", crc32.Checksum(text[:at], castagnoli), sumEnd) {
		return l, errors.New("its checksum does not match")
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return line{}, err
	}
	return l, nil
}

// Read reads a manifest. It leaves out a last line that is cut (see Manifest.Cut). Any
// other damaged line is errDamaged; the error names it.
func Read(r io.Reader) (*Manifest, error) {
	m := &Manifest{}
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, err := readLine(lines)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == io.EOF && len(text) == 0 {
			break
		}
		noLF := err == io.EOF
		l, err := parseLine(bytes.TrimSuffix(text, []byte{'\n'}))
		_, after := lines.Peek(1)
		if noLF || err != nil && after == io.EOF { // the last line, which a killed job did not finish
			m.Cut = true
			break
		}
		if err == nil {
			err = m.addLine(&l, number)
		}
		if errors.Is(err, errVersion) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", errDamaged, number, err)
		}
	}
	if m.Job.Manifest == 0 {
		return nil, fmt.Errorf("%w: there is no first line", errDamaged)
	}
	return m, nil
}

// maxLine is the most bytes of a line, which names all inputs of an output.
var maxLine = 256 << 20

// readLine returns the next line with its LF, as bufio.Reader.ReadBytes does, unless it is too long.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for len(line) <= maxLine {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
	return nil, fmt.Errorf("%w: it has a line of more than %d bytes", errDamaged, maxLine)
}

// ReadBytes reads a manifest that is in memory.
func ReadBytes(text []byte) (*Manifest, error) { return Read(bytes.NewReader(text)) }

// addLine adds a parsed line to the manifest; number is its line number, from 1. It is an error if
// the line is not allowed there, or contradicts the lines before.
func (m *Manifest) addLine(l *line, number int) error {
	switch {
	case (l.Job != nil) != (number == 1):
		return errors.New("the first line, and no other, says what the job is")
	case m.Ended:
		return errors.New("it comes after the end")
	case l.Job != nil:
		if l.Job.Manifest > Version {
			return fmt.Errorf("%w: format %d, and this program reads %d", errVersion, l.Job.Manifest, Version)
		}
		m.Job = *l.Job
		for _, rules := range m.Job.Rules {
			for i := range rules.Files {
				rules.Files[i].restoreName()
			}
		}
	case l.Output != nil:
		l.Output.Output.restoreName()
		for i := range l.Output.Inputs {
			l.Output.Inputs[i].restoreName()
		}
		m.Outputs = append(m.Outputs, *l.Output)
		return l.Output.check()
	case l.End != nil:
		m.Ended = true
		names := make(map[string]bool)
		for i := range m.Outputs {
			names[m.Outputs[i].Output.Name] = true
		}
		if n := len(m.Outputs); l.End.Outputs != n || len(names) != n {
			return fmt.Errorf("%d outputs were written; %d are listed, with %d names", l.End.Outputs, n, len(names))
		}
	}
	for _, f := range l.RuleFiles {
		if f.Source < 0 || f.Source >= len(m.Job.Rules) {
			return fmt.Errorf("%s is a file of no rules of the job", f.Name)
		}
	}
	m.RuleFiles = append(m.RuleFiles, l.RuleFiles...)
	return nil
}

// check returns an error unless the parts follow one another and make up the whole.
func (o *Output) check() error {
	end, sound := int64(0), true
	for _, p := range o.Parts {
		sound = sound && p.Offset == end && p.Size >= 0 && p.Rows >= 0
		end += p.Size
	}
	if !sound || end != o.Output.Size {
		return fmt.Errorf("the parts of %s", o.Output.Name)
	}
	return nil
}
