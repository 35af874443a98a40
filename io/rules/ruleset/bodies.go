package ruleset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Body is a robots.txt as it was read.
type Body struct {
	// Name is the file's name, or a capture's URL.
	Name string
	// Text is the decompressed text, up to robotstxt.Options.ReadSize bytes.
	Text []byte
	// Cut says that Text is only the beginning of what the server sent.
	Cut bool
	// Packed says that Text was rebuilt from a rule pack: each rule at its line, and only
	// the user-agent lines that name the agents of the rules. Profile is the pack's.
	Packed  bool
	Profile robotstxt.Profile
}

// Bodies calls visit for each robots.txt in each of o.Sources, in their order. In a folder
// these are the files named by host and the folder's own robots.txt; in captures, the
// answers with a body; any other file is one robots.txt. The argument is valid until visit
// returns. The first error, of a source or of visit, is returned at once.
//
// Of a rule pack it visits each distinct body once. A source without any robots.txt is
// an error. Single and AllowNone are ignored.
func Bodies(ctx context.Context, o Options, visit func(*Body) error) error {
	o.Single = []string{"any"} // any other file is a single robots.txt
	f := newFound(o)
	parse := robotstxt.Options{Profile: o.Profile, Limit: o.Limit}
	v := bodyVisitor{Found: f, visit: visit, size: parse.ReadSize(), budget: budget.New(o.Memory)}
	for _, name := range o.Sources {
		found, err := f.sourceOf(ctx, name)
		if err != nil {
			return err
		}
		f.sources, v.visited = []source{found}, 0
		switch found.kind {
		case folderKind:
			err = v.folder(ctx, found.name)
		case packKind:
			err = v.pack(ctx, found.name)
		case singleKind:
			err = v.file(ctx, found.name)
		default:
			err = v.captures(ctx)
		}
		if err != nil {
			return err
		}
		if v.visited == 0 {
			return fmt.Errorf("%s has no robots.txt: a folder has files that are named by host, such as example.com or example.com/robots.txt, and captures have answers with a body", blob.Shown(name))
		}
	}
	return nil
}

// bodyVisitor is the state of Bodies.
type bodyVisitor struct {
	*Found
	visit   func(*Body) error
	budget  *budget.Budget
	size    int // the most bytes of a body that are read
	visited int // of the source
}

// visitBody calls visit with a body, and reserves the memory for compiling it until that returns.
func (v *bodyVisitor) visitBody(ctx context.Context, b *Body) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	v.visited++
	done, err := batch.Compiling(v.budget, b.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	defer done()
	return v.visit(b)
}

// folder visits the files of a folder.
func (v *bodyVisitor) folder(ctx context.Context, name string) error {
	own := blob.Join(name, "robots.txt")
	info, statErr := os.Stat(own)
	isFile := statErr != nil || info.Mode().IsRegular() // no folder or pipe; opening it says what is wrong
	ignored, hasOwn := ignoredNames{more: v.options.MoreIgnored}, false
	dir, err := rulesdir.Open(ctx, name, rulesdir.Options{Profile: v.options.Profile, Limit: v.options.Limit, Ignored: func(file string) {
		if file == "robots.txt" && isFile {
			hasOwn = true
		} else {
			ignored.add(file)
		}
	}})
	if err != nil {
		return err
	}
	defer dir.Close() // it was only read from
	ignored.note(name, v.Found)
	if hasOwn {
		if err := v.file(ctx, own); err != nil {
			return err
		}
	}
	return dir.Files(func(file string, body []byte) error {
		return v.visitBody(ctx, &Body{Name: file, Text: body})
	})
}

// shownFile is a file's name for messages.
func shownFile(name string) string {
	if name == blob.Stdio {
		return "stdin"
	}
	return blob.Shown(name)
}

// file visits a single robots.txt, which may be compressed.
func (v *bodyVisitor) file(ctx context.Context, name string) error {
	shown := shownFile(name)
	text, err := readSingle(ctx, name, v.options.Stdin, v.size)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	return v.visitBody(ctx, &Body{Name: shown, Text: text})
}

// captures visits the captures of robots.txt that have a body, of the source.
func (v *bodyVisitor) captures(ctx context.Context) error {
	var scratch urls.Scratch
	return v.EachCapture(ctx, func(_ string, x *captures.Capture) error {
		_, path, err := scratch.Split(x.URL)
		if err != nil || string(path) != "/robots.txt" || x.Failed || x.Revisit || x.Status != 0 && x.Status/100 != 2 {
			return nil
		}
		text, cut, _, err := captures.Decompress(x.Body, x.Cut, v.size)
		if err != nil {
			return nil // it cannot be decompressed
		}
		return v.visitBody(ctx, &Body{Name: string(x.URL), Text: text[:min(len(text), v.size)], Cut: cut})
	})
}

// pack visits each distinct body of a rule pack, named after the first authority that
// has it.
func (v *bodyVisitor) pack(ctx context.Context, name string) error {
	return Inspect(ctx, name, func(p *rulepack.Pack) error {
		first := make(map[uint32]string) // first authority of each body
		err := p.Each(func(authority []byte, a rulepack.Authority) error {
			if known, ok := first[a.Body]; a.Access == access.Rules && (!ok || string(authority) < known) {
				first[a.Body] = string(authority)
			}
			return nil
		})
		if err != nil {
			return err
		}
		numbers := slices.SortedFunc(maps.Keys(first), func(a, b uint32) int { return cmp.Compare(first[a], first[b]) })
		for _, number := range numbers {
			packed, err := p.Body(number)
			if err != nil {
				return err
			}
			b := Body{Name: first[number] + "/robots.txt", Packed: packed.Source == nil, Profile: p.Info().Profile}
			if b.Text, err = packed.Text(); err != nil {
				return fmt.Errorf("%s: %s: %w", name, b.Name, err)
			}
			if err := v.visitBody(ctx, &b); err != nil {
				return err
			}
		}
		return p.Unchanged()
	})
}
