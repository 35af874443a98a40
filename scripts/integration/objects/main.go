// Command objects does to stores what the check of object stores needs around it:
//
//	objects port           print a port that is free
//	objects make URL       make the bucket of URL, waiting until its server answers
//	objects copy FROM TO   copy between files and objects
//	objects uploads URL    print how many uploads to an S3 bucket are not complete
//	objects proxy FROM TO LOG
//	                       pass what comes to port FROM on to port TO, and write to
//	                       LOG how many octets the body of each object had
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	gcblob "gocloud.dev/blob"

	"robotsbatch/io/blob"
	_ "robotsbatch/io/blob/stores"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "objects:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "port":
		return printPort()
	case len(args) == 2 && args[0] == "make":
		return makeBucket(ctx, args[1])
	case len(args) == 3 && args[0] == "copy":
		return copyObject(ctx, args[1], args[2])
	case len(args) == 2 && args[0] == "uploads":
		return printUploads(ctx, args[1])
	case len(args) == 4 && args[0] == "proxy":
		return proxy(args[1], args[2], args[3])
	}
	return fmt.Errorf("what is %q?", args)
}

func printPort() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = fmt.Println(l.Addr().(*net.TCPAddr).Port)
	return err
}

func makeBucket(ctx context.Context, name string) error {
	bucket, u, err := open(ctx, name)
	if err != nil {
		return err
	}
	const attempts = 100
	for attempt := 1; ; attempt++ {
		err := create(ctx, bucket, u.Host)
		if err == nil || attempt == attempts {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func open(ctx context.Context, name string) (*gcblob.Bucket, *url.URL, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, nil, err
	}
	bucket, err := gcblob.OpenBucket(ctx, name)
	return bucket, u, err
}

func create(ctx context.Context, bucket *gcblob.Bucket, name string) error {
	var amazon *s3.Client
	var google *storage.Client
	var azure *container.Client
	var err error
	switch {
	case bucket.As(&amazon):
		_, err = amazon.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	case bucket.As(&google):
		err = google.Bucket(name).Create(ctx, "project", nil)
	case bucket.As(&azure):
		_, err = azure.Create(ctx, nil)
	}
	return err
}

func copyObject(ctx context.Context, from, to string) error {
	in, err := blob.Open(ctx, from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := blob.Create(ctx, to)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

func printUploads(ctx context.Context, name string) error {
	bucket, u, err := open(ctx, name)
	if err != nil {
		return err
	}
	var amazon *s3.Client
	if !bucket.As(&amazon) {
		return fmt.Errorf("%s is not of S3", u.Host)
	}
	list, err := amazon.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &u.Host})
	if err != nil {
		return err
	}
	_, err = fmt.Println(len(list.Uploads))
	return err
}
