// Command objects does to stores what the check of object stores needs around it:
//
//	objects port           print a port that is free
//	objects make URL       make the bucket of URL, waiting until its server answers
//	objects copy FROM TO   copy between files and objects
//	objects uploads URL    print how many uploads to an S3 bucket are not complete
//	objects proxy FROM TO LOG
//	                       pass what comes to port FROM on to port TO, and write to
//	                       LOG how many bytes the body of each object had
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/blob/stores"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "objects:", err)
		os.Exit(1)
	}
}

// run does what the arguments ask for.
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

// printPort prints a port that is free.
func printPort() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = fmt.Println(l.Addr().(*net.TCPAddr).Port)
	return err
}

// makeBucket makes the bucket of a URL. It tries again while the server does not answer.
func makeBucket(ctx context.Context, name string) error {
	u, err := url.Parse(name)
	if err != nil {
		return err
	}
	const attempts = 100
	for attempt := 1; ; attempt++ {
		err := create(ctx, u)
		if err == nil || attempt == attempts {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// create makes the bucket of a URL once.
func create(ctx context.Context, u *url.URL) error {
	switch u.Scheme {
	case "s3":
		client, err := stores.S3Client(ctx, u)
		if err == nil {
			_, err = client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &u.Host}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
		}
		return err
	case "azblob":
		client, err := stores.AzureClient(u)
		if err == nil {
			_, err = client.Create(ctx, nil)
		}
		return err
	}
	at := "http://" + os.Getenv("STORAGE_EMULATOR_HOST") + "/storage/v1/b?project=project"
	answer, err := http.Post(at, "application/json", strings.NewReader(fmt.Sprintf(`{"name": %q}`, u.Host)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", at, answer.Status)
	}
	return nil
}

// copyObject copies a file or an object.
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

// printUploads prints the number of uploads to a bucket that are not complete.
func printUploads(ctx context.Context, name string) error {
	u, err := url.Parse(name)
	if err != nil {
		return err
	}
	client, err := stores.S3Client(ctx, u)
	if err != nil {
		return err
	}
	list, err := client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &u.Host})
	if err != nil {
		return err
	}
	_, err = fmt.Println(len(list.Uploads))
	return err
}
