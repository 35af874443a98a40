package rulepack

import (
	"fmt"
	"path"
	"strings"

	"robotsbatch/io/blob"
	"robotsbatch/matcher/partition"
)

// has reports whether an authority is in a partition of so many; all are in that of 0.
func has(number, count int, authority []byte) bool {
	return count < 2 || partition.Of(partition.Hash(authority), count) == number
}

// Partitions is how many parts the authorities were dealt among of which the pack has
// one; 0 for a pack of all, and for one that is closed or nil.
func (p *Pack) Partitions() int {
	if p == nil || p.info == nil {
		return 0
	}
	return p.info.Partitions
}

// Covers reports whether the pack would have an authority if its sources knew it, which
// one of a partition says of its own alone.
func (p *Pack) Covers(authority []byte) bool {
	return has(p.info.Partition, p.info.Partitions, authority)
}

// PartitionName is the name of a partition's pack: site-00003-of-00016.rules.
func PartitionName(out string, number, count int) string {
	begin, parameters := out, ""
	if blob.IsURL(out) {
		begin = blob.Shown(out)
		parameters = strings.TrimPrefix(out, begin)
	}
	ending := path.Ext(begin)
	return fmt.Sprintf("%s-%05d-of-%05d%s%s", strings.TrimSuffix(begin, ending), number, count, ending, parameters)
}
