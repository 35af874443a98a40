package blob

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"

	gcblob "gocloud.dev/blob"
)

// Store is a kind of object store. Only its driver knows the types behind the
// functions called as.
type Store struct {
	// Open opens a bucket by a URL of the bucket's name and parameters. The
	// bucket stays open for the program's life.
	Open func(ctx context.Context, u *url.URL) (*gcblob.Bucket, error)
	// Parameters are what a URL of this kind may have. None may be secret.
	Parameters []string
	// Version is what tells an object from the one that replaces it.
	Version func(*gcblob.Attributes) string
	// Pin makes a reading fail unless the object is of that version.
	Pin func(as func(any) bool, version string) error
	// BeforeWrite prepares a writer to the bucket, for parts of so many octets;
	// nil where there is nothing to do.
	BeforeWrite func(bucket *gcblob.Bucket, as func(any) bool) error
}

// stores are the kinds of stores, by scheme.
var stores = make(map[string]Store)

// Register makes a kind of store known. It is for the init functions of
// packages that have drivers.
func Register(scheme string, store Store) { stores[scheme] = store }

// knownSchemes says which URLs can be opened.
func knownSchemes() string {
	names := []string{"file://"}
	for scheme := range stores {
		names = append(names, scheme+"://")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// buckets are those that are open, by URL: opening one may ask the machine or
// the network for credentials.
var buckets struct {
	sync.Mutex
	open map[string]*gcblob.Bucket
}

// bucket opens the bucket of a URL.
func (u URL) bucket(ctx context.Context) (*gcblob.Bucket, error) {
	name := u.bucketURL()
	buckets.Lock()
	defer buckets.Unlock()
	if b := buckets.open[name.String()]; b != nil {
		return b, nil
	}
	// The bucket outlives ctx, and credentials may be fetched anew later.
	b, err := stores[u.Scheme].Open(context.WithoutCancel(ctx), name)
	if err != nil {
		return nil, u.explain(ctx, err)
	}
	if buckets.open == nil {
		buckets.open = make(map[string]*gcblob.Bucket)
	}
	buckets.open[name.String()] = b
	return b, nil
}
