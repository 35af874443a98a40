package stores

import (
	"context"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	gcblob "gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"robotsbatch/io/blob"
)

func init() {
	blob.Register(azureblob.Scheme, blob.Store{
		Open: func(ctx context.Context, u *url.URL) (*gcblob.Bucket, error) {
			return gcblob.DefaultURLMux().OpenBucketURL(ctx, u)
		},
		Parameters: []string{"storage_account", "domain", "protocol", "cdn", "localemu"},
		Version:    func(a *gcblob.Attributes) string { return a.ETag },
		Pin:        pinAzure,
	})
}

func pinAzure(as func(any) bool, version string) error {
	var options *azblob.DownloadStreamOptions
	if as(&options) && version != "" {
		etag := azcore.ETag(version)
		options.AccessConditions = &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &etag}}
	}
	return nil
}
