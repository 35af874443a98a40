package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"robotsbatch/batch/option"
)

// Folder is a folder of small objects.
type Folder struct {
	ctx    context.Context
	url    URL
	bucket Bucket
}

// OpenFolder opens the folder of that URL. All its reads end with ctx.
func OpenFolder(ctx context.Context, u URL) (*Folder, error) {
	if !u.IsFolder() {
		return nil, fmt.Errorf("%s: a folder's name ends with a slash", u.Name())
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	return &Folder{ctx, u, bucket}, nil
}

// Name is the folder's URL, without parameters.
func (f *Folder) Name() string { return f.url.Name() }

// List calls visit for each key, relative to the folder and in order, with its version. A
// size that the store does not list is -1. It stops at visit's first error and returns it.
func (f *Folder) List(visit func(key string, info Info) error) error {
	return f.eachKey(f.url.Key, "", func(k Key) error {
		return visit(strings.TrimPrefix(k.Name, f.url.Key), Info{Attributes: k.Attributes, regular: true})
	})
}

// ReadUpTo appends the first bytes of an object, at most most, to buffer, and returns the
// object's version. listed is the size that List returned: another size is an error. Either
// size may be unknown (-1), but not both. A read that breaks off is repeated.
func (f *Folder) ReadUpTo(key string, listed int64, buffer []byte, most int) ([]byte, Info, error) {
	u := f.url.Below(key)
	ctx, op := startOperation(f.ctx)
	defer op.finish()
	for failures := 1; ; failures++ {
		data, info, err := f.readOnce(ctx, u, listed, buffer, most)
		var broken *brokenError
		if !errors.As(err, &broken) || failures > reopenings {
			return data, info, err
		}
		if pause(ctx, failures) != nil {
			return data, info, u.explain(ctx, err)
		}
	}
}

// readOnce is one attempt of ReadUpTo at the object u. The error is a *brokenError if the body broke
// off.
func (f *Folder) readOnce(ctx context.Context, u URL, listed int64, buffer []byte, most int) ([]byte, Info, error) {
	// Of any version, and with the length -1 for the whole object: an empty one has no ranges.
	body, err := f.bucket.Read(ctx, u.Key, "", Range{0, -1})
	if err != nil {
		return buffer, Info{}, u.explain(ctx, err)
	}
	defer body.Close()        // it was only read from
	hasSize := body.Size >= 0 // the answer says the size of the object
	if !hasSize {
		body.Size = listed
	}
	switch {
	case body.Size < 0:
		return buffer, Info{}, withName(u.Name(), errNoLength)
	case listed >= 0 && body.Size != listed:
		return buffer, Info{}, withName(u.Name(), ErrChanged)
	}
	info := Info{Attributes: body.Attributes, regular: true}
	start := len(buffer)
	buffer = append(buffer, make([]byte, min(body.Size, int64(most)))...)
	n, err := io.ReadFull(body, buffer[start:])
	buffer = buffer[:start+n]
	switch {
	case err != nil && ctx.Err() != nil:
		return buffer, info, u.explain(ctx, err)
	case err != nil:
		return buffer, info, withName(u.Name(), &brokenError{int64(n), err})
	}
	if !hasSize && body.Size <= int64(most) { // is there a byte after the listed size?
		var more [1]byte
		if n, err := io.ReadFull(body, more[:]); n > 0 {
			return buffer, Info{}, withName(u.Name(), ErrChanged)
		} else if err != io.EOF {
			return buffer, info, withName(u.Name(), &brokenError{body.Size, err})
		}
	}
	return buffer, info, nil
}

// Object is an object found by Expand.
type Object struct {
	URL URL
	// Stem is its key relative to the named folder or the one where a pattern starts;
	// otherwise the last part of its key.
	Stem string
}

// ErrNoMatch says that a pattern matches no object.
var ErrNoMatch = errors.New("no object matches")

// Expand finds the objects that a URL stands for: one object, those in and below a folder, or
// those that match a pattern, in the order of their keys. Patterns are those of [path.Match],
// with ** for any number of folders; a matching folder stands for all that is in it. A part of
// a key that begins with a dot or an underscore is hidden, and only found if the pattern asks
// for it. An object without a pattern is not looked up. Finding nothing is an error, and so
// are files of a table that has a log: a *[TableError].
func Expand(ctx context.Context, u URL) ([]Object, error) {
	pattern := isPattern(u.Key)
	if !u.IsFolder() && !pattern {
		return []Object{{u, path.Base(u.Key)}}, nil
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	e := expansion{Folder: Folder{ctx, u, bucket}, tables: make(foundTables)}
	errNone := errors.New("the folder has no objects")
	if pattern {
		errNone = ErrNoMatch
		err = e.match(u.Key)
	} else {
		e.root = u.Key
		err = e.addBelow(u.Key)
	}
	if err != nil {
		return nil, err
	}
	if len(e.found) == 0 {
		return nil, fmt.Errorf("%s: %w", u.Name(), errNone)
	}
	slices.SortFunc(e.found, func(a, b Object) int { return strings.Compare(a.URL.Key, b.URL.Key) })
	// A store that is written to may list a key on two pages.
	e.found = slices.CompactFunc(e.found, func(a, b Object) bool { return a.URL.Key == b.URL.Key })
	if _, name := path.Split(u.Key); IsHidden(name) { // a table's own files, beside its data, are asked for
		return e.found, nil
	}
	return e.found, e.checkTables()
}

// expansion is an Expand under way.
type expansion struct {
	Folder        // its URL is what was asked for: a folder, or a pattern
	root   string // what Object.Stem leaves out at the start of a key
	found  []Object
	held   int64 // about how many bytes of memory found and the folders that may match take

	tables foundTables // those that the listed keys show, for checkTables
	listed []string    // folders of which all keys, at any depth, were listed
}

// patternBytes are what [path.Match] does not take as they are: wildcards, and what escapes one.
const patternBytes = `*?[\`

// match adds what a pattern matches. If the pattern itself is the key of an object, that is the
// only match.
func (e *expansion) match(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%s: %w", e.url.Name(), err)
	}
	exists, err := e.exists(pattern)
	if err != nil {
		return err
	}
	if exists {
		e.root = path.Dir(pattern) + "/"
		e.add(pattern)
		return nil
	}
	parts := strings.Split(pattern, "/")
	for len(parts) > 1 && !strings.ContainsAny(parts[0], patternBytes) {
		e.root += parts[0] + "/"
		parts = parts[1:]
	}
	return e.matchBelow(e.root, strings.Join(parts, "/"))
}

// exists reports whether an object has exactly that key. Some stores answer 400 to keys with a
// pattern's characters, which means that there is none.
func (e *expansion) exists(key string) (bool, error) {
	ctx, op := startOperation(e.ctx)
	defer op.finish()
	_, err := e.bucket.Stat(ctx, key)
	var refused *ResponseError
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &refused) && refused.Status == http.StatusBadRequest:
		return false, nil
	}
	return false, e.url.explain(ctx, err)
}

// matchBelow adds the keys that a pattern matches below a folder. It lists a level at a time,
// and only folders that may match.
func (e *expansion) matchBelow(folder, pattern string) error {
	part, rest, more := strings.Cut(pattern, "/")
	if part == anyDepth {
		return e.matchDeep(folder, rest)
	}
	wildcard := strings.IndexAny(part, patternBytes)
	switch {
	case wildcard < 0 && more: // nothing to list: no other folder matches
		return e.matchBelow(folder+part+"/", rest)
	case wildcard < 0:
		wildcard = len(part)
	}
	var folders []string // that match
	err := e.list(folder+part[:wildcard], "/", func(k Key) {
		name := strings.TrimSuffix(k.Name[len(folder):], "/")
		matches, _ := path.Match(part, name)
		switch {
		case !matches || name == "" || IsHidden(name) && !IsHidden(part):
		case k.IsFolder:
			folders = append(folders, k.Name)
			e.countMemory(k.Name)
		case !more && !strings.HasSuffix(k.Name, "/"): // a trailing slash marks an empty folder
			e.add(k.Name)
		}
	})
	for _, found := range unique(folders) {
		switch {
		case err != nil:
			return err
		case more && rest != "":
			err = e.matchBelow(found, rest)
		default: // the pattern ends here, so the folder stands for all that is in it
			err = e.addBelow(found)
		}
	}
	return err
}

// matchDeep adds the keys that a pattern, rest, matches in a folder or at any depth below it.
// If rest is empty, it adds all of them.
func (e *expansion) matchDeep(folder, rest string) error {
	if rest == "" {
		return e.addBelow(folder)
	}
	err := e.matchBelow(folder, rest)
	var folders []string
	if err == nil {
		err = e.list(folder, "/", func(k Key) {
			if k.IsFolder && !IsHidden(k.Name[len(folder):]) {
				folders = append(folders, k.Name)
				e.countMemory(k.Name)
			}
		})
	}
	for _, found := range unique(folders) {
		if err == nil {
			err = e.matchDeep(found, rest)
		}
	}
	return err
}

// unique sorts folders and removes duplicates: a store may list a folder on two pages, and
// Azure also lists it as an object.
func unique(folders []string) []string {
	slices.Sort(folders)
	return slices.Compact(folders)
}

// addBelow adds all objects in and below a folder but hidden ones.
func (e *expansion) addBelow(folder string) error {
	e.listed = append(e.listed, folder)
	return e.list(folder, "", func(k Key) {
		stem := strings.TrimPrefix(k.Name, folder)
		if stem != "" && !strings.HasSuffix(stem, "/") && !slices.ContainsFunc(strings.Split(stem, "/"), IsHidden) {
			e.add(k.Name)
		}
	})
}

// add adds an object that was found.
func (e *expansion) add(key string) {
	u := e.url
	u.Key = key
	e.found = append(e.found, Object{u, strings.TrimPrefix(key, e.root)})
	e.countMemory(key)
}

// countMemory counts the memory of a key that is kept: twice, because the job keeps a copy.
func (e *expansion) countMemory(key string) { e.held += heldSize + 2*int64(len(key)) }

// heldSize is the bytes of memory that a listed key takes, besides its own.
const heldSize = 256

// IsHidden reports whether a name is hidden, or that of a note that a program keeps beside its data
// (_SUCCESS).
func IsHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// list calls visit for the keys that begin with a prefix. Keys that are equal up to the
// delimiter after the prefix are visited once, as a folder. It adds the tables that keys show to
// e.tables, and returns an error if these and what was found take too much memory.
func (e *expansion) list(prefix, delimiter string, visit func(Key)) error {
	return e.eachKey(prefix, delimiter, func(k Key) error {
		e.tables.addTableOf(k.Name)
		visit(k)
		return e.CheckHeld(e.held + heldSize*int64(len(e.tables)))
	})
}

// maxKeys is the most keys that are listed: a list that never ends is an error.
var maxKeys = 50_000_000

type memoryKey struct{}

// WithMemory sets how much memory a job has, in bytes: what is kept of lists of keys that are
// made with the context may take half of it, lest a list that does not end takes all.
func WithMemory(ctx context.Context, memory int64) context.Context {
	return context.WithValue(ctx, memoryKey{}, memory)
}

// defaultMemory is that of a job where nobody said it.
const defaultMemory = 512 << 20

// CheckHeld returns an error if held, the bytes kept of the folder's keys, is more than half
// of the memory that [WithMemory] set.
func (f *Folder) CheckHeld(held int64) error {
	memory, ok := f.ctx.Value(memoryKey{}).(int64)
	if !ok {
		memory = defaultMemory
	}
	if held <= memory/2 {
		return nil
	}
	return option.Errorf("%s: the names of its objects take more than %d MiB, half of %s: name fewer, such as those of one folder below it, or raise %[3]s",
		f.Name(), memory/2>>20, option.Memory)
}

// eachKey calls visit for the keys that list describes, until visit returns an error. It
// returns an error for a store that lists keys it was not asked for, because it may then leave
// out others, or that repeats pages.
func (f *Folder) eachKey(prefix, delimiter string, visit func(Key) error) error {
	q := Query{Prefix: prefix, Delimiter: delimiter}
	pages, keys := 0, 0
	// Tokens that come again are found by comparing each with an earlier one, the last after 1, 2,
	// 4, 8 … pages (Brent's algorithm).
	earlier := ""
	for {
		page, err := f.page(q)
		if err != nil {
			return err
		}
		pages, keys = pages+1, keys+len(page.Keys)
		if keys > maxKeys || pages > maxKeys {
			return fmt.Errorf("%s: the store lists more than %d keys", f.Name(), maxKeys)
		}
		for _, k := range page.Keys {
			below, isBelow := strings.CutPrefix(k.Name, prefix)
			isDeeper := delimiter != "" && strings.Contains(strings.TrimSuffix(below, delimiter), delimiter) // its folder was asked for
			if !isBelow || isDeeper {
				return fmt.Errorf("%s: the store lists %q where it was asked for what is in %q: it does not list folders as it must", f.Name(), k.Name, prefix)
			}
			if err := visit(k); err != nil {
				return err
			}
		}
		if page.Token == "" {
			return nil
		}
		if page.Token == earlier {
			return fmt.Errorf("%s: the store lists the same keys again and again", f.Name())
		}
		if pages&(pages-1) == 0 { // a power of two
			earlier = page.Token
		}
		q.Token = page.Token
	}
}

// page asks the store for one page of keys.
func (f *Folder) page(q Query) (Page, error) {
	ctx, op := startOperation(f.ctx)
	defer op.finish()
	page, err := f.bucket.List(ctx, q)
	if err != nil {
		return Page{}, f.url.explain(ctx, err)
	}
	return page, nil
}
