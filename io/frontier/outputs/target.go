package outputs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// Options say how outputs are written.
type Options struct {
	// Out is a file, an object, a folder, or "-" for stdout.
	Out string
	// Format is the outputs' format; Unknown means that the name decides, or else the
	// input.
	Format format.Format
	// Inside is the compression inside Arrow and Parquet files.
	Inside compress.Codec
	// Level of zstd inside Parquet files, from 1 to 22; 0 means the standard.
	Level int
	// Encode asks to decode and encode all columns, even if they could be copied undecoded.
	Encode bool
	// Keep says which columns of the input are written; Verdicts are the columns after them.
	Keep     batch.Keep
	Verdicts []batch.VerdictColumn
	// AllRows is [batch.Layout.AllRows].
	AllRows bool
	// Part is appended to the names of outputs in a folder.
	Part string
}

// Plan returns the outputs with their inputs: one with all inputs, or one for each if Out is a
// folder. An error is a [option.UsageError].
func (o *Options) Plan(inputs []frontier.Input) ([]Output, error) {
	if !IsFolder(o.Out) {
		return []Output{{Path: o.Out, Inputs: inputs}}, nil
	}
	taken := make(map[string]frontier.Input)
	var planned []Output
	for _, in := range inputs {
		if !filepath.IsLocal(filepath.FromSlash(in.Stem)) {
			return nil, option.Usagef("%s cannot have an output of that name below %s: name a file with %s", in.Name(), blob.Shown(o.Out), option.Out)
		}
		path := blob.Join(o.Out, withoutEnding(in.Stem)+o.Part)
		if other, ok := taken[path]; ok {
			return nil, option.Usagef("%s and %s would both be written as %s: give them folders of their own", other.Name(), in.Name(), blob.Shown(path))
		}
		taken[path] = in
		planned = append(planned, Output{Path: path, InFolder: true, Format: o.Format, Inputs: []frontier.Input{in}})
	}
	return planned, nil
}

// WantsText reports whether the output will be a list of URLs, without columns.
func (o *Options) WantsText() bool {
	if o.Format != format.Unknown {
		return o.Format == format.Text
	}
	named, _ := format.ByName(blob.Shown(o.Out))
	return named == format.Text && !IsFolder(o.Out)
}

// Target says how one output is written.
type Target struct {
	Path   string
	Format format.Format
	codec  compress.Codec
}

// Name is the output's name for people.
func (t Target) Name() string { return blob.Shown(t.Path) }

// Target decides where and in which format an output is written, from its first input. An
// error is a [option.UsageError].
func (o *Options) Target(out Output, first *frontier.Source) (Target, error) {
	t := Target{Path: out.Path}
	t.Format, t.codec = o.formatOf(out, first.Format)
	if t.Format == format.Unknown {
		refused := option.Messagef("%s: no format has this ending: use %s, or say which with %s", option.Out.With(blob.Shown(out.Path)), inWords(format.Endings()), option.OutFormat)
		if len(out.Inputs) > 0 { // others are one file
			refused = option.Messagef("%s; for a folder, an output for each input, end it with a slash: %s/", refused, blob.Shown(out.Path))
		}
		return Target{}, option.Usagef("%s", refused)
	}
	if out.InFolder { // where names have no endings yet
		if t.codec = compress.None; first.Format.IsLines() && !t.Format.IsBinary() {
			t.codec = first.Codec // lines are compressed as those of the input
		}
		t.Path = withEnding(t.Path, t.Format.Ending()+t.codec.Ending())
	}
	return t, o.check(t)
}

// Paths returns the paths that [Options.Target] may choose for an output, judged by the name of its
// first input. If the name does not tell the input's format, there is one for each format that the
// input may have. in is [frontier.Options.Format].
func (o *Options) Paths(out Output, in format.Format) (paths []string) {
	named, codec := format.ByName(out.Inputs[0].Name())
	possible := []format.Format{cmp.Or(in, named)}
	if possible[0] == format.Unknown {
		possible = format.All(format.Format.Readable)
	}
	for _, f := range possible {
		if t, err := o.Target(out, &frontier.Source{Format: f, Codec: codec}); err == nil && !slices.Contains(paths, t.Path) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// formatOf returns the format of an output whose first input has the format in: what was asked
// for, what the output's name says, or what suits the input; Unknown if none of these tells. codec is
// what the name says.
func (o *Options) formatOf(out Output, in format.Format) (f format.Format, codec compress.Codec) {
	f, codec = format.ByName(blob.Shown(out.Path))
	switch {
	case o.Format != format.Unknown:
		f = o.Format
	case out.Path == blob.Stdio && !out.InFolder && in.IsBinary():
		f = format.ArrowS // a pipe takes no Arrow file and no Parquet file
	case out.InFolder || out.Path == blob.Stdio:
		f = in.Output()
	}
	return f, codec
}

// ReadOptions returns r with Passage and Output set for the inputs of an output. Columns may be copied
// undecoded if some are written, no other encoding is asked for, and the inputs are of one kind of
// table. Output returns the format to write, which the first opened input decides if nothing else
// does. Its error is a [option.UsageError]: the format has no place for the keys of the input's
// objects.
func (o *Options) ReadOptions(out Output, r frontier.Options) frontier.Options {
	if !o.Encode && o.Keep != batch.KeepNone && !areMixed(out.Inputs) {
		r.Passage = &frontier.Passage{Selects: !o.AllRows, Several: len(out.Inputs) > 1}
	}
	written := format.Unknown
	r.Output = func(in format.Format) (format.Format, error) {
		if written == format.Unknown {
			written, _ = o.formatOf(out, in)
		}
		hasPlace := written == format.JSONL || written == format.Text || written == format.Unknown
		if hasPlace || o.Keep != batch.KeepAll || !in.HasObjects() {
			return written, nil
		}
		return written, option.Usagef("%s has no place for the keys of its objects: write jsonl, or leave them out with %s", written, option.Columns.With("url"))
	}
	return r
}

// areMixed reports whether there are both Arrow and Parquet among inputs, by their names.
func areMixed(inputs []frontier.Input) bool {
	var families []string
	for _, in := range inputs {
		if f, _ := format.ByName(in.Stem); f.IsBinary() && !slices.Contains(families, f.Family()) {
			families = append(families, f.Family())
		}
	}
	return len(families) > 1
}

// withEnding appends an ending to the name of a file or to the key in an object's URL.
func withEnding(name, ending string) string {
	if u, err := blob.ParseURL(name); blob.IsURL(name) && err == nil {
		return u.Below(ending).String()
	}
	return name + ending
}

// withoutEnding removes the endings of a name that stand for a format and a compression.
func withoutEnding(name string) string {
	_, plain := compress.ByName(name)
	if f, _ := format.ByName(plain); f != format.Unknown {
		return strings.TrimSuffix(plain, filepath.Ext(plain))
	}
	return plain
}

// inWords lists choices for a message, such as "a, b or c".
func inWords[T any](choices []T) string {
	var text strings.Builder
	for i, choice := range choices {
		switch {
		case i > 0 && i == len(choices)-1:
			text.WriteString(" or ")
		case i > 0:
			text.WriteString(", ")
		}
		fmt.Fprint(&text, choice)
	}
	return text.String()
}

// check returns an error if the target's format cannot be written, or not with its
// compression.
func (o *Options) check(t Target) error {
	switch {
	case !t.Format.Writable():
		return option.Usagef("%s: writing %s is not available in this version", option.Out.With(t.Name()), t.Format)
	case t.Format.IsBinary() && t.codec != compress.None:
		return option.Usagef("%s: %s is compressed inside: leave out the last ending and use %s", option.Out.With(t.Name()), t.Format.Family(), option.Compression)
	case t.Format.IsBinary() && !slices.Contains(t.Format.Inside(), o.Inside):
		return option.Usagef("%s is not for %s, which is written with %s", option.Compression.With(fmt.Sprint(o.Inside)), t.Format.Family(), inWords(t.Format.Inside()))
	}
	return nil
}

// Create creates the output, or returns stdout if its path is "-".
func (t Target) Create(ctx context.Context, stdout io.Writer) (blob.Writer, error) {
	if t.Path == blob.Stdio {
		return stdoutWriter{blob.Rows(stdout)}, nil
	}
	w, err := blob.Create(ctx, t.Path)
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Out, err)
	}
	return w, nil
}

// stdoutWriter is stdout as a blob.Writer. What was written cannot be taken back.
type stdoutWriter struct{ io.Writer }

func (stdoutWriter) Close() error { return nil }
func (stdoutWriter) Abort()       {}
