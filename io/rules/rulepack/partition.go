package rulepack

import (
	"fmt"
	"path"
	"strings"

	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/partition"
)

// inPartition reports whether an authority is in partition number of count partitions. If
// count is below 2, there is one, which has all.
func inPartition(number, count int, authority []byte) bool {
	return count < 2 || partition.Of(partition.Hash(authority), count) == number
}

// Partitions returns the number of partitions that the authorities were divided into: 0 if
// they were not, and for a pack that is closed or nil.
func (p *Pack) Partitions() int {
	if p == nil || p.info == nil {
		return 0
	}
	return p.info.Partitions
}

// Covers reports whether the pack would have an authority if its sources knew it:
// always, unless the authority belongs to another partition.
func (p *Pack) Covers(authority []byte) bool {
	return inPartition(p.info.Partition, p.info.Partitions, authority)
}

// PartitionName returns out with the partition's number before its extension, such as
// site-00003-of-00016.rules. Parameters of a URL stay at its end.
func PartitionName(out string, number, count int) string {
	begin, parameters := out, ""
	if blob.IsURL(out) {
		begin = blob.Shown(out)
		parameters = strings.TrimPrefix(out, begin)
	}
	ending := path.Ext(begin)
	return fmt.Sprintf("%s-%05d-of-%05d%s%s", strings.TrimSuffix(begin, ending), number, count, ending, parameters)
}
