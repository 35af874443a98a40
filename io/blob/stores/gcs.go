package stores

import (
	"context"
	"net/url"
	"os"
	"strconv"

	"cloud.google.com/go/storage"
	gcblob "gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"

	"robotsbatch/io/blob"
)

// gcsAttempts is how often a request is tried: for half a minute at most.
const gcsAttempts = 6

func init() {
	blob.Register(gcsblob.Scheme, blob.Store{
		Open:       openGCS,
		Parameters: []string{"anonymous", "universe_domain"},
		Version:    gcsGeneration,
		Pin:        pinGCS,
	})
}

// openGCS is what the driver does itself, but it fails where there are no
// credentials, and tries no request for ever.
func openGCS(ctx context.Context, u *url.URL) (*gcblob.Bucket, error) {
	opener := &gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}
	anonymous, _ := strconv.ParseBool(u.Query().Get("anonymous"))
	if !anonymous && os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		credentials, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, err
		}
		if opener.Client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(credentials)); err != nil {
			return nil, err
		}
	}
	bucket, err := opener.OpenBucketURL(ctx, u)
	if err != nil {
		return nil, err
	}
	var client *storage.Client
	if bucket.As(&client) {
		client.SetRetry(storage.WithMaxAttempts(gcsAttempts))
	}
	return bucket, nil
}

// gcsGeneration is the number that each writing of an object has.
func gcsGeneration(a *gcblob.Attributes) string {
	var attributes storage.ObjectAttrs
	if !a.As(&attributes) {
		return ""
	}
	return strconv.FormatInt(attributes.Generation, 10)
}

func pinGCS(as func(any) bool, version string) error {
	generation, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return nil // it has none
	}
	var object **storage.ObjectHandle
	if as(&object) {
		*object = (*object).Generation(generation)
	}
	return nil
}
