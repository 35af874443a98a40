package report

import (
	"fmt"
	"io"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/partition"
	"robotsbatch/matcher/urls"
)

// Hash writes the hash of a URL's authority, its partition if there are any, and the authority.
// What has no scheme stands for https.
func Hash(w io.Writer, url string, partitions int) error {
	if !strings.Contains(url, "://") { // also a host without a dot
		url = "https://" + url
	}
	var scratch urls.Scratch
	authority, _, err := scratch.Split([]byte(url))
	if err != nil {
		return option.Usagef("%q is neither a URL nor a host: %w", blob.Shown(url), err)
	}
	hash := partition.Hash(authority)
	if partitions > 0 {
		fmt.Fprintf(w, "%d\t%d\t%s\n", hash, partition.Of(hash, partitions), authority)
	} else {
		fmt.Fprintf(w, "%d\t%s\n", hash, authority)
	}
	return nil
}
