package frontier

import (
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/store/compress"
)

// Passage says whether the columns of inputs go to an output as they lie, undecoded: an
// input passes if the output is the same kind of table and nothing in its schema
// prevents it. The first input of a [Concatenation] decides for all. A nil Passage
// decodes all columns.
type Passage struct {
	// Output returns the output's format, given the input's.
	Output func(input format.Format) format.Format
	// Selects says that rows may be left out.
	Selects bool
	// Several says that several inputs go into the output.
	Several bool

	// decided says that the first input has decided that all pass.
	decided bool
}

// passColumns makes an input pass its columns undecoded, if it can. The format's source then closes
// the file, because its pieces read from it after the last Next.
func (p *Passage) passColumns(s *Source) error {
	if p == nil {
		return nil
	}
	output := p.Output(s.Format)
	switch table := s.Source.(type) {
	case *arrowipc.Source:
		if !output.IsArrow() || !p.decided && !table.CanPassThrough(output == format.ArrowS, p.Several) {
			return p.decline(s)
		}
		s.Passing = true
		if s.file == nil || s.Codec != compress.None {
			return table.PassThrough(nil, p.Selects)
		}
		s.leaveFile()
		return table.PassThrough(s.file, p.Selects)
	case *parquetio.Source:
		if output != format.Parquet || !p.decided && !table.CanPassThrough() {
			return p.decline(s)
		}
		s.Passing = true
		return table.PassThrough()
	}
	return nil
}

// decline leaves an input to be decoded. It returns an error if inputs before it passed
// undecoded.
func (p *Passage) decline(s *Source) error {
	if !p.decided {
		return nil
	}
	return option.Usagef("%s is %s, unlike the inputs before it: give %s, so that all are decoded", s.Input.Name(), s.Format.Family(), option.Compression.With("zstd"))
}
