package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	gcblob "gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Object is an object that a name stands for.
type Object struct {
	URL URL
	// Stem is its key below the folder that was asked for, else the last part of
	// its key.
	Stem string
}

// Expand finds the objects that a URL stands for: one, those in and below a
// folder, or those that a pattern matches, in the order of their keys. Patterns
// are those of [path.Match], and a folder that matches stands for what is in it.
// Keys of which a part begins with a dot or an underscore are left out, as files
// are that are hidden, unless a pattern asks for them. A key without a
// pattern is not looked for. To find nothing is an error.
func Expand(ctx context.Context, u URL) ([]Object, error) {
	pattern := strings.ContainsAny(u.Key, `*?[`)
	if !u.IsFolder() && !pattern {
		return []Object{{u, u.base()}}, nil
	}
	bucket, err := u.bucket(ctx)
	if err != nil {
		return nil, err
	}
	e := expansion{ctx: ctx, url: u, bucket: bucket}
	what := "the folder has no objects"
	if pattern {
		what = "no object matches"
		err = e.match(u.Key)
	} else {
		err = e.below(u.Key)
	}
	if err != nil {
		return nil, err
	}
	if len(e.found) == 0 {
		return nil, fmt.Errorf("blob: %s: %s", u.Name(), what)
	}
	slices.SortFunc(e.found, func(a, b Object) int { return strings.Compare(a.URL.Key, b.URL.Key) })
	return e.found, nil
}

// expansion is an Expand under way.
type expansion struct {
	ctx    context.Context
	url    URL
	bucket *gcblob.Bucket
	found  []Object
}

// match adds what a pattern matches; an object of that very name is that.
func (e *expansion) match(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("blob: %s: %w", e.url.Name(), err)
	}
	exists, err := e.bucket.Exists(e.ctx, pattern)
	switch {
	case err != nil && gcerrors.Code(err) != gcerrors.InvalidArgument:
		return e.url.explain(e.ctx, err)
	case exists:
		e.add(pattern, path.Base(pattern))
		return nil
	}
	return e.matchBelow("", pattern)
}

// matchBelow adds what a pattern matches below a folder: part by part, so that
// no more is listed than may match.
func (e *expansion) matchBelow(folder, pattern string) error {
	part, rest, more := strings.Cut(pattern, "/")
	if more && !strings.ContainsAny(part, `*?[\`) {
		return e.matchBelow(folder+part+"/", rest)
	}
	literal := part
	if i := strings.IndexAny(part, `*?[\`); i >= 0 {
		literal = part[:i]
	}
	var folders []string
	err := e.list(folder+literal, "/", func(x *gcblob.ListObject) {
		name := strings.TrimSuffix(x.Key[len(folder):], "/")
		matches, _ := path.Match(part, name)
		switch {
		case !matches || name == "" || isHidden(name) && !isHidden(part):
		case x.IsDir:
			folders = append(folders, x.Key)
		case !more && !strings.HasSuffix(x.Key, "/"): // which is a note that there is a folder
			e.add(x.Key, path.Base(x.Key))
		}
	})
	for _, found := range folders {
		switch {
		case err != nil:
			return err
		case more && rest != "":
			err = e.matchBelow(found, rest)
		default:
			err = e.below(found)
		}
	}
	return err
}

// below adds what is in and below a folder.
func (e *expansion) below(folder string) error {
	return e.list(folder, "", func(x *gcblob.ListObject) {
		stem := strings.TrimPrefix(x.Key, folder)
		if stem != "" && !strings.HasSuffix(stem, "/") && !slices.ContainsFunc(strings.Split(stem, "/"), isHidden) {
			e.add(x.Key, stem)
		}
	})
}

func (e *expansion) add(key, stem string) {
	u := e.url
	u.Key = key
	e.found = append(e.found, Object{u, stem})
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// list calls visit for the keys that begin with a prefix, those beyond a
// delimiter as one.
func (e *expansion) list(prefix, delimiter string, visit func(*gcblob.ListObject)) error {
	err := listKeys(e.ctx, e.bucket, prefix, delimiter, func(x *gcblob.ListObject) error {
		visit(x)
		return nil
	})
	if err != nil {
		return e.url.explain(e.ctx, err)
	}
	return nil
}

func listKeys(ctx context.Context, bucket *gcblob.Bucket, prefix, delimiter string, visit func(*gcblob.ListObject) error) error {
	keys := bucket.List(&gcblob.ListOptions{Prefix: prefix, Delimiter: delimiter})
	for {
		x, err := keys.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(x)
		}
		if err != nil {
			return err
		}
	}
}
