package stores

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"robotsbatch/io/store/blob"
)

// init makes the driver of s3:// URLs known.
func init() {
	blob.Register("s3", blob.Store{
		Open: func(ctx context.Context, u *url.URL) (blob.Bucket, error) {
			client, err := S3Client(ctx, u)
			return &s3Bucket{client, u.Host}, err
		},
		Parameters: []string{
			"region", "endpoint", "profile", "role", "anonymous", "use_path_style", "hostname_immutable", "disable_https", "dualstack", "fips",
			"accelerate", "request_checksum_calculation", "response_checksum_validation", "rate_limiter_capacity",
		},
	})
}

// S3Client returns a client for the bucket of a URL, whose parameters set region, endpoint and
// the like. Credentials are those that Amazon's own tools would find.
func S3Client(ctx context.Context, u *url.URL) (*s3.Client, error) {
	q := parameters{values: u.Query()}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(setTransport)),
		config.WithLogger(logging.Nop{}),
		// The SDK takes an empty text, and a zero, for a parameter that is not set.
		config.WithRegion(q.text("region")),
		config.WithSharedConfigProfile(q.text("profile")),
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculation(q.checksumWhen("request_checksum_calculation"))),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidation(q.checksumWhen("response_checksum_validation"))),
	}
	add := func(o config.LoadOptionsFunc) { options = append(options, o) }
	if q.flag("dualstack") {
		add(config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	}
	if q.flag("fips") {
		add(config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
	if q.flag("anonymous") {
		add(config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if role := q.text("role"); role != "" {
		c.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(c), role))
	}
	tries := cmp.Or(c.RetryMaxAttempts, attempts) // set by AWS_MAX_ATTEMPTS or the profile
	client := s3.NewFromConfig(c, func(o *s3.Options) { q.setS3Options(o, tries) })
	return client, q.err
}

// setS3Options applies the URL's parameters to the client's options. tries is the most times that a
// request is sent.
func (p *parameters) setS3Options(o *s3.Options, tries int) {
	o.UsePathStyle = p.flag("use_path_style") || p.flag("hostname_immutable")
	o.EndpointOptions.DisableHTTPS, o.UseAccelerate = p.flag("disable_https"), p.flag("accelerate")
	if endpoint := p.text("endpoint"); endpoint != "" { // else the one of the environment, if it has one
		o.BaseEndpoint = &endpoint
	}
	o.DisableLogOutputChecksumValidationSkipped = true
	o.HTTPClient = listings{blob.WithDeadlines(withoutRedirects(o.HTTPClient))}
	o.RetryMaxAttempts = tries
	capacity := p.number("rate_limiter_capacity")
	o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
		r.MaxAttempts, r.RateLimiter = tries, ratelimit.None
		r.Backoff = s3Backoff{retry.NewExponentialJitterBackoff(maxPause)}
		r.Retryables = append(slices.Clone(r.Retryables), retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}})
		if capacity > 0 {
			r.RateLimiter = ratelimit.NewTokenRateLimit(capacity)
		}
	})
}

// withoutRedirects returns the SDK's client, which would follow some redirects with the
// credentials, as one that follows none.
func withoutRedirects(client s3.HTTPClient) s3.HTTPClient {
	if c, ok := client.(*awshttp.BuildableClient); ok {
		return &http.Client{Transport: c.GetTransport(), Timeout: c.GetTimeout(), CheckRedirect: refuseRedirects}
	}
	return client
}

// s3Backoff waits at least as long as an answer asks for.
type s3Backoff struct {
	*retry.ExponentialJitterBackoff
}

// BackoffDelay implements retry.BackoffDelayer.
func (b s3Backoff) BackoffDelay(attempt int, err error) (time.Duration, error) {
	delay, failed := b.ExponentialJitterBackoff.BackoffDelay(attempt, err)
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil && answer.Response.Response != nil {
		delay = max(delay, retryAfter(answer.Response.Header))
	}
	return delay, failed
}

// parameters are those of a URL. err is the first invalid one.
type parameters struct {
	values url.Values
	err    error
}

func (p *parameters) text(name string) string { return p.values.Get(name) }

// flag returns a parameter that is true or false; false if it is not set.
func (p *parameters) flag(name string) bool {
	value, err := strconv.ParseBool(cmp.Or(p.text(name), "false"))
	p.check(name, "true or false", err)
	return value
}

// number returns a parameter that is a number; 0 if it is not set.
func (p *parameters) number(name string) uint {
	value, err := strconv.ParseUint(cmp.Or(p.text(name), "0"), 10, 31)
	p.check(name, "a number", err)
	return uint(value)
}

// checksumWhen returns a parameter that says when checksums are used, as a constant that both
// types of the SDK share; 0 if it is not set.
func (p *parameters) checksumWhen(name string) int {
	switch strings.ToLower(p.text(name)) {
	case "":
		return 0
	case "when_supported":
		return int(aws.RequestChecksumCalculationWhenSupported)
	case "when_required":
		return int(aws.RequestChecksumCalculationWhenRequired)
	}
	p.check(name, "when_supported or when_required", errors.ErrUnsupported)
	return 0
}

// check sets p.err, unless it is set, if err says that a parameter is not what want says.
func (p *parameters) check(name, want string, err error) {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("the parameter %s must be %s", name, want)
	}
}

// s3Bucket is a bucket of Amazon S3, or of a store that speaks its protocol.
type s3Bucket struct {
	client *s3.Client
	name   string
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (blob.Attributes, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return blob.Attributes{}, b.refusalReason(ctx, key, s3Error(err))
	}
	return blob.Attributes{Size: sizeOf(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: aws.ToString(out.ETag)}, nil
}

// refusalReason returns a refusal with its reason, or err. A response to HEAD has no body, so
// it repeats the request as GET for the first byte.
func (b *s3Bucket) refusalReason(ctx context.Context, key string, err error) error {
	var refused *blob.ResponseError
	if !errors.As(err, &refused) || refused.Status != http.StatusForbidden && refused.Status != http.StatusBadRequest {
		return err
	}
	var reason *blob.ResponseError
	body, readErr := b.Read(ctx, key, "", blob.Range{Length: 1})
	switch {
	case readErr == nil: // GET is not refused
		body.Close()
	case errors.As(readErr, &reason) && reason.Status == refused.Status:
		return reason
	}
	return err
}

// Read implements blob.Bucket. A range with a negative length stands for the whole object, and an
// empty version for any.
func (b *s3Bucket) Read(ctx context.Context, key, version string, r blob.Range) (*blob.Body, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: rangeHeader(r), IfMatch: optional(version)})
	if err != nil {
		return nil, s3Error(err)
	}
	return newBody(out.Body, r, aws.ToString(out.ContentRange), blob.Attributes{
		Size: sizeOf(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: aws.ToString(out.ETag),
	})
}

// List implements blob.Bucket: a request for one page of keys.
func (b *s3Bucket) List(ctx context.Context, q blob.Query) (blob.Page, error) {
	out, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &b.name, Prefix: optional(q.Prefix), Delimiter: optional(q.Delimiter), ContinuationToken: optional(q.Token), MaxKeys: optional(int32(q.Limit)),
	})
	if err = s3Error(err); err != nil {
		var broken *xml.SyntaxError // the answer ends too early, or is another server's; s3Error knows refusals
		if errors.As(err, &broken) {
			err = blob.ErrNoListing
		}
		return blob.Page{}, err
	}
	if out.IsTruncated == nil && out.Name == nil && out.MaxKeys == nil && out.KeyCount == nil {
		return blob.Page{}, blob.ErrNoListing // the SDK takes any answer for an empty list
	}
	var page blob.Page
	for _, x := range out.Contents {
		page.Keys = append(page.Keys, blob.Key{Name: aws.ToString(x.Key), Attributes: blob.Attributes{Size: sizeOf(x.Size), Modified: aws.ToTime(x.LastModified), Version: aws.ToString(x.ETag)}})
	}
	for _, x := range out.CommonPrefixes {
		page.Keys = append(page.Keys, blob.Key{Name: aws.ToString(x.Prefix), IsFolder: true})
	}
	page.Token = aws.ToString(out.NextContinuationToken)
	if page.Token == "" && aws.ToBool(out.IsTruncated) && q.Limit == 0 { // with a limit, no more are wanted
		return blob.Page{}, blob.ErrCutListing
	}
	sortKeys(page.Keys)
	return page, nil
}

func (b *s3Bucket) Put(ctx context.Context, key string, data []byte) error {
	out, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(data), ContentType: aws.String(contentType)})
	if err == nil && aws.ToString(out.ETag) == "" {
		return blob.ErrUnconfirmed
	}
	return s3Error(err)
}

// StartUpload implements blob.Bucket.
func (b *s3Bucket) StartUpload(ctx context.Context, key string) (blob.Upload, error) {
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &b.name, Key: &key, ContentType: aws.String(contentType), ChecksumAlgorithm: b.partChecksum(),
	})
	if err != nil {
		return nil, s3Error(err)
	}
	return &s3Upload{bucket: b, key: key, id: out.UploadId}, nil
}

// partChecksum returns the checksum that parts are sent with; empty for none. It must be
// announced when the upload begins.
func (b *s3Bucket) partChecksum() types.ChecksumAlgorithm {
	if b.client.Options().RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired {
		return ""
	}
	return types.ChecksumAlgorithmCrc32
}

// s3Upload is a multipart upload.
type s3Upload struct {
	bucket *s3Bucket
	key    string
	id     *string

	mu    sync.Mutex
	parts []types.CompletedPart
}

// Part implements blob.Upload. Complete names the parts by what the answers say of each.
func (u *s3Upload) Part(ctx context.Context, p blob.Part) error {
	number := aws.Int32(int32(p.Number))
	out, err := u.bucket.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: u.id, PartNumber: number, Body: bytes.NewReader(p.Data), ChecksumAlgorithm: u.bucket.partChecksum(),
	})
	if err != nil {
		return s3Error(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts = append(u.parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	return nil
}

// Complete implements blob.Upload. The parts, which were sent side by side, must be listed in order.
func (u *s3Upload) Complete(ctx context.Context) error {
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return cmp.Compare(*a.PartNumber, *b.PartNumber) })
	out, err := u.bucket.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.bucket.name, Key: &u.key, UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	})
	if err == nil && aws.ToString(out.ETag) == "" {
		return blob.ErrUnconfirmed
	}
	return s3Error(err)
}

func (u *s3Upload) Abort(ctx context.Context) error {
	_, err := u.bucket.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.bucket.name, Key: &u.key, UploadId: u.id})
	return s3Error(err)
}

// s3Error returns err, or a blob.ResponseError if err is a response that refuses a request.
func s3Error(err error) error {
	var answer *awshttp.ResponseError
	if !errors.As(err, &answer) || answer.HTTPStatusCode() < http.StatusMultipleChoices {
		return err
	}
	refused := blob.NewResponseError(answer.Response.Response)
	var told smithy.APIError
	if errors.As(err, &told) && told.ErrorCode() != "UnknownError" {
		refused.Code, refused.Message = told.ErrorCode(), told.ErrorMessage()
		refused.Hint = s3Hints[refused.Code]
	}
	return refused
}

// s3Hints say what to do about the refusals of requests that are signed, by code.
var s3Hints = map[string]string{
	"InvalidAccessKeyId":    "it does not know the access key: check AWS_ACCESS_KEY_ID, or the profile, and whether the key belongs to this endpoint",
	"SignatureDoesNotMatch": "it knows the access key, and the secret key is another one: check AWS_SECRET_ACCESS_KEY, or the profile",
	"RequestTimeTooSkewed":  "the clock of this machine is wrong: set it",
	"RequestExpired":        "the clock of this machine is wrong: set it",
	"ExpiredToken":          "the session has ended: sign in again, for a new AWS_SESSION_TOKEN",
	"InvalidToken":          "the session token belongs to other keys: check AWS_SESSION_TOKEN",
	"AccessDenied": "the credentials are valid, but may not do this here (s3:GetObject, s3:PutObject, s3:ListBucket); " +
		"a request without credentials, or for an object that is not there, may have the same answer",
}

// optional returns a pointer to v, or nil if v is the zero value, by which the SDKs leave a field
// out of a request.
func optional[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
