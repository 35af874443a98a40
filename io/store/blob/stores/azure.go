package stores

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"robotsbatch/io/store/blob"
)

// init makes the driver of azblob:// URLs known.
func init() {
	blob.Register("azblob", blob.Store{
		Open: func(_ context.Context, u *url.URL) (blob.Bucket, error) {
			client, err := AzureClient(u)
			return &azureBucket{client}, err
		},
		Parameters: []string{"storage_account", "domain", "protocol", "cdn", "localemu"},
	})
}

// azureAccount is where an account's containers are.
type azureAccount struct {
	name, domain, protocol string
	cdn, emulator          bool
}

// serviceURL returns the account's URL. On an emulator the account is a part of the path, else
// of the host.
func (a azureAccount) serviceURL() (*url.URL, error) {
	domain, protocol := cmp.Or(a.domain, "blob.core.windows.net"), cmp.Or(a.protocol, "https")
	switch {
	case a.name == "":
		return nil, errors.New("which storage account? Set AZURE_STORAGE_ACCOUNT, or the URL's parameter storage_account")
	case protocol != "http" && protocol != "https":
		return nil, errors.New("the protocol must be http or https")
	case a.emulator || strings.HasPrefix(domain, "127.0.0.1") || strings.HasPrefix(domain, "localhost"):
		return url.Parse(protocol + "://" + domain + "/" + a.name)
	case a.cdn:
		return url.Parse(protocol + "://" + domain)
	}
	return url.Parse(protocol + "://" + a.name + "." + domain)
}

// AzureClient returns a client for the container of a URL. The URL's parameters have
// precedence over the environment. Of the credentials in the environment it takes the first: a
// key, a shared access signature, a connection string; without any, what Microsoft's own tools
// find.
func AzureClient(u *url.URL) (*container.Client, error) {
	name, key, signature := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	connection := cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
	options := &container.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: listings{blob.WithDeadlines(newClient())},
		Retry:     policy.RetryOptions{MaxRetries: attempts - 1, MaxRetryDelay: maxPause},
		Telemetry: policy.TelemetryOptions{ApplicationID: "robotsbatch"},
	}}
	at, err := azureContainer(u, connectionFields(connection), signature != "")
	switch {
	case err != nil:
		return nil, err
	case name != "" && key != "":
		shared, err := container.NewSharedKeyCredential(name, key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not in base64, as a key is")
		}
		return container.NewClientWithSharedKeyCredential(at.String(), shared, options)
	case signature != "":
		at.RawQuery = strings.TrimPrefix(signature, "?")
		return container.NewClientWithNoCredential(at.String(), options)
	case connection != "":
		return container.NewClientFromConnectionString(connection, u.Host, options)
	}
	found, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(at.String(), found, options)
}

// azureContainer returns the address of the container that a URL names. What the URL's
// parameters do not say is taken from the environment.
//
// signed says that each request carries the signature (SAS token) of the environment. The
// signature must not be sent to a host that a URL has made up, so the URL may then name no
// other host than the environment does.
func azureContainer(u *url.URL, connection map[string]string, signed bool) (*url.URL, error) {
	env := parameters{values: make(url.Values)}
	for _, name := range []string{"AZURE_STORAGE_IS_CDN", "AZURE_STORAGE_IS_LOCAL_EMULATOR"} {
		env.values.Set(name, os.Getenv(name))
	}
	account := azureAccount{
		name:     cmp.Or(os.Getenv("AZURE_STORAGE_ACCOUNT"), connection["AccountName"]),
		domain:   os.Getenv("AZURE_STORAGE_DOMAIN"),
		protocol: cmp.Or(os.Getenv("AZURE_STORAGE_PROTOCOL"), connection["DefaultEndpointsProtocol"]),
		cdn:      env.flag("AZURE_STORAGE_IS_CDN"), emulator: env.flag("AZURE_STORAGE_IS_LOCAL_EMULATOR"),
	}
	q := parameters{values: u.Query()}
	asked := account // with what the URL's parameters change
	asked.name = cmp.Or(q.text("storage_account"), asked.name)
	asked.domain = cmp.Or(q.text("domain"), asked.domain)
	asked.protocol = cmp.Or(q.text("protocol"), asked.protocol)
	if q.text("cdn") != "" {
		asked.cdn = q.flag("cdn")
	}
	if q.text("localemu") != "" {
		asked.emulator = q.flag("localemu")
	}
	if err := errors.Join(env.err, q.err); err != nil {
		return nil, err
	}
	service, err := asked.serviceURL()
	if err != nil {
		return nil, err
	}
	if signed {
		signer, err := account.serviceURL()
		if err != nil || signer.Scheme != service.Scheme || signer.Host != service.Host {
			return nil, errors.New("the URL's parameters name another host than the environment, whose AZURE_STORAGE_SAS_TOKEN is only sent to its own: leave the parameters out, or unset the token")
		}
	}
	return service.JoinPath(u.Host), nil
}

// connectionFields splits an Azure connection string, NAME=VALUE;…, into its fields.
func connectionFields(text string) map[string]string {
	fields := make(map[string]string)
	for field := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(field, "="); ok {
			fields[name] = value
		}
	}
	return fields
}

// azureBucket is a container of Azure Blob Storage.
type azureBucket struct{ client *container.Client }

func (b *azureBucket) Stat(ctx context.Context, key string) (blob.Attributes, error) {
	out, err := b.client.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return blob.Attributes{}, azureError(err, blob.ErrNoObject)
	}
	return blob.Attributes{Size: sizeOf(out.ContentLength), Modified: value(out.LastModified), Version: string(value(out.ETag))}, nil
}

// Read implements blob.Bucket. A range with a negative length stands for the whole object, and an
// empty version for any.
func (b *azureBucket) Read(ctx context.Context, key, version string, r blob.Range) (*blob.Body, error) {
	conditions := azure.ModifiedAccessConditions{IfMatch: optional(azcore.ETag(version))}
	options := &azure.DownloadStreamOptions{AccessConditions: &azure.AccessConditions{ModifiedAccessConditions: &conditions}}
	if r.Length >= 0 {
		options.Range = azure.HTTPRange{Offset: r.Offset, Count: r.Length}
	}
	out, err := b.client.NewBlobClient(key).DownloadStream(ctx, options)
	if err != nil {
		return nil, azureError(err, blob.ErrNoObject)
	}
	return newBody(out.Body, r, value(out.ContentRange), blob.Attributes{
		Size: sizeOf(out.ContentLength), Modified: value(out.LastModified), Version: string(value(out.ETag)),
	})
}

// List implements blob.Bucket: a request for one page of keys.
func (b *azureBucket) List(ctx context.Context, q blob.Query) (blob.Page, error) {
	// Without a delimiter this lists all keys, as the flat listing does.
	pager := b.client.NewListBlobsHierarchyPager(q.Delimiter, &container.ListBlobsHierarchyOptions{
		Prefix: optional(q.Prefix), Marker: optional(q.Token), MaxResults: optional(int32(q.Limit)), Include: container.ListBlobsInclude{Metadata: true},
	})
	out, err := pager.NextPage(ctx)
	if err = azureError(err, blob.ErrNoListing); err != nil {
		return blob.Page{}, err
	}
	page := blob.Page{Token: value(out.NextMarker)}
	if out.Segment == nil { // the SDK takes an answer without a body for a list
		return page, blob.ErrNoListing
	}
	for _, x := range out.Segment.BlobItems {
		if isAzureFolder(x) {
			page.Keys = append(page.Keys, blob.Key{Name: value(x.Name) + "/", IsFolder: true})
			continue
		}
		key := blob.Key{Name: value(x.Name), Attributes: blob.Attributes{Size: -1}}
		if p := x.Properties; p != nil {
			key.Attributes = blob.Attributes{Size: sizeOf(p.ContentLength), Modified: value(p.LastModified), Version: string(value(p.ETag))}
		}
		page.Keys = append(page.Keys, key)
	}
	for _, x := range out.Segment.BlobPrefixes {
		page.Keys = append(page.Keys, blob.Key{Name: value(x.Name), IsFolder: true})
	}
	sortKeys(page.Keys)
	return page, nil
}

// isAzureFolder reports whether a listed blob stands for a folder. Accounts with a
// hierarchical namespace, and Hadoop in others, list folders as empty blobs without a slash at
// the end.
func isAzureFolder(x *container.BlobItem) bool {
	if p := x.Properties; p != nil && strings.EqualFold(value(p.ResourceType), "directory") {
		return true
	}
	for name, text := range x.Metadata {
		if strings.EqualFold(name, "hdi_isfolder") && strings.EqualFold(value(text), "true") {
			return true
		}
	}
	return false
}

func (b *azureBucket) Put(ctx context.Context, key string, data []byte) error {
	_, err := b.client.NewBlockBlobClient(key).Upload(ctx, body(data), &blockblob.UploadOptions{HTTPHeaders: azureHeaders()})
	return azureError(err, blob.ErrUnconfirmed)
}

func (b *azureBucket) StartUpload(_ context.Context, key string) (blob.Upload, error) {
	return &azureUpload{client: b.client.NewBlockBlobClient(key), mark: rand.Uint64() << 16}, nil
}

// azureUpload is a blob whose blocks are sent first, and then listed.
type azureUpload struct {
	client *blockblob.Client
	// mark begins the names of its blocks, so that they differ from those that another process sends
	// for the same blob. Its low 16 bits are 0, for a block's number, which is at most 10,000.
	mark   uint64
	blocks atomic.Int64 // number of the last one
}

func (u *azureUpload) Part(ctx context.Context, p blob.Part) error {
	if p.Last {
		u.blocks.Store(int64(p.Number))
	}
	_, err := u.client.StageBlock(ctx, u.blockID(p.Number), body(p.Data), nil)
	return azureError(err, blob.ErrUnconfirmed)
}

// Complete implements blob.Upload: it lists the blocks that are the blob, in order.
func (u *azureUpload) Complete(ctx context.Context) error {
	ids := make([]string, u.blocks.Load())
	for i := range ids {
		ids[i] = u.blockID(i + 1)
	}
	_, err := u.client.CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{HTTPHeaders: azureHeaders()})
	return azureError(err, blob.ErrUnconfirmed)
}

// Abort does nothing: blocks that nobody lists are removed by the store after a
// week, and no request removes them earlier.
func (u *azureUpload) Abort(context.Context) error { return nil }

// blockID returns the name of the block with a number. Azure wants names of one length for a blob.
func (u *azureUpload) blockID(number int) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, u.mark|uint64(number)))
}

func body(data []byte) io.ReadSeekCloser { return streaming.NopCloser(bytes.NewReader(data)) }

func azureHeaders() *azure.HTTPHeaders {
	return &azure.HTTPHeaders{BlobContentType: optional(contentType)}
}

// azureError returns err, or a blob.ResponseError if err is a response that refuses a request.
// Where a response neither refuses nor is what was asked for, it returns other.
func azureError(err, other error) error {
	var answer *azcore.ResponseError
	switch {
	case errors.As(err, &answer) && answer.StatusCode >= http.StatusMultipleChoices:
		refused := blob.NewResponseError(answer.RawResponse)
		refused.Code = answer.ErrorCode
		return refused
	case answer != nil, err != nil && strings.HasPrefix(err.Error(), "unmarshalling type"): // the SDK does not wrap the reason
		return other
	}
	return err
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
