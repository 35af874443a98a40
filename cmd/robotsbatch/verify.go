package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
)

// verifier checks outputs and rule packs.
type verifier struct {
	ctx   context.Context
	s     streams
	log   *console
	quiet bool

	checks int // of outputs
	broken int // outputs of these

	manifests map[string]*manifest.Manifest // of folders; nil where there is none
}

// runVerify says whether outputs still are what was written.
func runVerify(ctx context.Context, args []string, s streams) int {
	v := &verifier{ctx: ctx, s: s, manifests: make(map[string]*manifest.Manifest)}
	c := newConfig()
	names, err := parseMixed(newFlagSet(commandOf("verify"), c), args)
	if errors.Is(err, flag.ErrHelp) {
		return printHelp(s, commandOf("verify").help)
	}
	v.ctx = blob.WithTimeout(ctx, c.storeTimeout)
	v.quiet = c.quiet
	v.log = newConsole(s.err, false, v.quiet).of("verify")
	if err == nil && len(names) == 0 {
		err = usageErrorf("verify needs an output: a file, a folder of outputs, a manifest or a rule pack")
	}
	if err != nil {
		return v.log.fail(err)
	}
	for _, name := range names {
		if err := v.verify(name); err != nil {
			if ctx.Err() != nil {
				return v.log.fail(fmt.Errorf("stopped (%w)", context.Cause(ctx)))
			}
			v.fail(err)
		}
	}
	if v.broken > 0 {
		return v.log.fail(fmt.Errorf("%d of %s not sound", v.broken, counted(int64(v.checks), "file is", "files are")))
	}
	return exitDone
}

// fail says what is broken.
func (v *verifier) fail(err error) {
	v.broken++
	v.checks = max(v.checks, v.broken)
	v.log.warn(message(err))
}

// sound says that something is as it should be.
func (v *verifier) sound(text string) {
	if !v.quiet {
		fmt.Fprintln(v.s.out, printable(text))
	}
}

// verify checks what is called name.
func (v *verifier) verify(name string) error {
	if blob.IsURL(name) {
		v.checks++
		return v.object(name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		v.checks++
		return atName(name, err)
	case info.IsDir():
		return v.manifest(filepath.Join(name, folderManifest))
	case strings.HasPrefix(filepath.Base(name), "_") && strings.HasSuffix(name, manifestEnd):
		return v.manifest(name)
	}
	v.checks++
	if found, err := ruleset.Detect(v.ctx, name); err == nil && found == format.RulePack {
		return v.pack(name)
	}
	m, o, err := v.find(name)
	if err != nil {
		return err
	}
	return v.output(name, m, o)
}

// object checks an output or a rule pack in a store, where there are no
// manifests.
func (v *verifier) object(name string) error {
	if strings.HasSuffix(blob.Shown(name), "/") {
		return usageErrorf("%s: there are no manifests in object stores: name the objects, and they are checked by what they hold themselves", blob.Shown(name))
	}
	found, err := ruleset.Detect(v.ctx, name)
	if err != nil {
		return err
	}
	if found == format.RulePack {
		return v.pack(name)
	}
	return v.output(name, nil, nil)
}

// manifest checks all outputs that a manifest lists.
func (v *verifier) manifest(name string) error {
	m, err := readManifest(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no manifest: name the files, and they are checked by what they hold themselves", name)
	}
	if err != nil {
		v.checks++
		return err
	}
	for i := range m.Outputs {
		v.checks++
		o := &m.Outputs[i]
		path := filepath.Join(filepath.Dir(name), filepath.FromSlash(o.Output.Name))
		if err := v.output(path, m, o); err != nil {
			if v.ctx.Err() != nil {
				return err
			}
			v.fail(err)
		}
	}
	if !m.Ended {
		return fmt.Errorf("%s: the job did not come to its end, and there may be more outputs than the %d that are listed: run it again with -resume", name, len(m.Outputs))
	}
	return nil
}

// find finds what is known of an output: its own manifest, else that of the
// folder that it lies in, or of one above.
func (v *verifier) find(name string) (*manifest.Manifest, *manifest.Output, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, nil, err
	}
	candidates := []string{manifestOf(path)}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		candidates = append(candidates, filepath.Join(folder, folderManifest))
		if folder == filepath.Dir(folder) {
			break
		}
	}
	for _, candidate := range candidates {
		m, ok := v.manifests[candidate]
		if !ok {
			if m, err = readManifest(candidate); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			v.manifests[candidate] = m
		}
		if m == nil {
			continue
		}
		for i := range m.Outputs {
			if filepath.Join(filepath.Dir(candidate), filepath.FromSlash(m.Outputs[i].Output.Name)) == path {
				return m, &m.Outputs[i], nil
			}
		}
	}
	return nil, nil, nil
}

// pack checks a rule pack.
func (v *verifier) pack(name string) error {
	if err := ruleset.Inspect(v.ctx, name, (*rulepack.Pack).Verify); err != nil {
		return err
	}
	v.sound(fmt.Sprintf("%s: sound: every checksum is right, and everything is in its place", blob.Shown(name)))
	return nil
}

// output checks an output by its checksums, where there are any, and then reads
// it.
func (v *verifier) output(name string, m *manifest.Manifest, o *manifest.Output) error {
	if o != nil {
		if err := v.sums(name, o); err != nil {
			return err
		}
	}
	urlColumn := ""
	if m != nil {
		if given := m.Job.Options["url-column"]; len(given) > 0 {
			urlColumn = given[len(given)-1]
		}
	}
	rows, isTable, err := v.decode(name, urlColumn)
	name = blob.Shown(name)
	switch {
	case err != nil:
		return err
	case o == nil && isTable:
		v.sound(fmt.Sprintf("%s: readable to its end, %s; there is no manifest to compare it with", name, counted(rows, "row", "rows")))
	case o == nil:
		v.sound(fmt.Sprintf("%s: readable to its end; there is no manifest to compare it with", name))
	case isTable && rows != o.Counts.Written:
		return fmt.Errorf("%s: it has %s, and %d were written", name, counted(rows, "row", "rows"), o.Counts.Written)
	default:
		v.sound(fmt.Sprintf("%s: sound: %s, %s in %s", name, counted(o.Counts.Written, "row", "rows"),
			counted(o.Output.Size, "octet", "octets"), counted(int64(len(o.Parts)), "part", "parts")))
	}
	return nil
}

// sums compares an output with its checksums, and names each part that is not
// what was written.
func (v *verifier) sums(name string, o *manifest.Output) error {
	f, err := blob.Open(v.ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	var lines []string
	row := int64(0)
	rows := make([]int64, len(o.Parts)) // the first of each part
	for i, p := range o.Parts {
		rows[i] = row
		row += p.Rows
	}
	err = o.Check(contextReader{v.ctx, f}, func(i int, what string) {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", name, partName(o, rows, i), what))
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	for _, line := range lines[:len(lines)-1] {
		v.log.warn(line)
	}
	return errors.New(lines[len(lines)-1])
}

// partName says which part is meant.
func partName(o *manifest.Output, rows []int64, i int) string {
	if i == len(o.Parts) {
		return fmt.Sprintf("behind octet %d", o.Output.Size)
	}
	p := o.Parts[i]
	octets := fmt.Sprintf("octets %d to %d", p.Offset, p.Offset+p.Size-1)
	kind := "batch"
	if strings.HasSuffix(o.Output.Name, format.Parquet.Ending()) {
		kind = "row group"
	}
	number := 0
	for _, before := range o.Parts[:i] {
		if before.Rows > 0 {
			number++
		}
	}
	switch {
	case p.Rows > 0:
		return fmt.Sprintf("%s %d (rows %d to %d, %s)", kind, number, rows[i], rows[i]+p.Rows-1, octets)
	case i == 0:
		return fmt.Sprintf("beginning (%s)", octets)
	}
	return fmt.Sprintf("after row %d (%s)", rows[i], octets)
}

// contextReader fails when its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
