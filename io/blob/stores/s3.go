package stores

import (
	"context"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	gcaws "gocloud.dev/aws"
	gcblob "gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"robotsbatch/io/blob"
)

const (
	// s3Attempts is how often a request is tried, unless AWS_MAX_ATTEMPTS says
	// otherwise: for a minute at most.
	s3Attempts = 6
	// s3AbortTime bounds how long an upload that failed is being taken back.
	s3AbortTime = 15 * time.Second
)

func init() {
	blob.Register(s3blob.Scheme, blob.Store{
		Open: openS3,
		Parameters: []string{
			"region", "endpoint", "profile", "role", "anonymous", "use_path_style", "hostname_immutable", "disable_https", "dualstack", "fips",
			"accelerate", "request_checksum_calculation", "response_checksum_validation", "rate_limiter_capacity",
		},
		Version:     func(a *gcblob.Attributes) string { return a.ETag },
		Pin:         pinS3,
		BeforeWrite: beforeS3Write,
	})
}

// openS3 is what the driver does itself, but with more attempts, and silent.
func openS3(ctx context.Context, u *url.URL) (*gcblob.Bucket, error) {
	q := u.Query()
	flags := make(map[string]bool)
	for _, name := range []string{"use_path_style", "disable_https", "accelerate"} {
		if text := q.Get(name); text != "" {
			value, err := strconv.ParseBool(text)
			if err != nil {
				return nil, err
			}
			flags[name] = value
		}
		q.Del(name)
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, q)
	if err != nil {
		return nil, err
	}
	// The driver's own way to open a bucket does not look at the environment.
	if config.RetryMaxAttempts, err = strconv.Atoi(os.Getenv("AWS_MAX_ATTEMPTS")); err != nil || config.RetryMaxAttempts < 1 {
		config.RetryMaxAttempts = s3Attempts
	}
	config.Logger = logging.Nop{}
	client := s3.NewFromConfig(config, func(o *s3.Options) {
		o.UsePathStyle, o.EndpointOptions.DisableHTTPS, o.UseAccelerate = flags["use_path_style"], flags["disable_https"], flags["accelerate"]
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	return s3blob.OpenBucket(ctx, client, u.Host, &s3blob.Options{RequestChecksumCalculation: config.RequestChecksumCalculation})
}

func pinS3(as func(any) bool, version string) error {
	var in *s3.GetObjectInput
	if as(&in) && version != "" {
		in.IfMatch = &version
	}
	return nil
}

// beforeS3Write makes an upload that fails take its parts back even when it
// failed because its context ended.
func beforeS3Write(bucket *gcblob.Bucket, as func(any) bool) error {
	var uploader *transfermanager.Client
	var client *s3.Client
	if as(&uploader) && bucket.As(&client) {
		*uploader = *transfermanager.New(client, func(o *transfermanager.Options) {
			o.RequestChecksumCalculation = client.Options().RequestChecksumCalculation
			o.PartSizeBytes, o.Concurrency = blob.PartSize, blob.Parts
			o.FailTimeout = s3AbortTime
		})
	}
	return nil
}
