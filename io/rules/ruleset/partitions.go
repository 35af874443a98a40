package ruleset

import (
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/partition"
)

// covered returns an error for an authority that no source knows but that may be in a
// missing partition of a pack.
func (s *Set) covered(authority []byte) error {
	var other *opened
	for _, source := range s.packs {
		switch {
		case source.pack.Partitions() < 2:
		case source.pack.Covers(authority):
			return nil
		default:
			other = source
		}
	}
	if other == nil {
		return nil
	}
	count := other.pack.Partitions()
	return fmt.Errorf("%s is in partition %d of %d, and %s has partition %d: give the pack of each partition whose URLs there are, or deal the URLs by authority_hash",
		authority, partition.Of(partition.Hash(authority), count), count, other.name, other.pack.Info().Partition)
}

// partitioned is a set whose only source is the pack of one partition. Unlike the pack's own
// lookups, it returns an error for authorities of other partitions.
type partitioned struct{ *Set }

var _ matcher.BulkOrigins = partitioned{}

// LookupAll implements [matcher.BulkOrigins]. With an error it returns the index of that key.
func (p partitioned) LookupAll(keys []matcher.Key, origins []matcher.Origin) (int, error) {
	if i, err := p.packs[0].pack.LookupAll(keys, origins); err != nil {
		return i, err
	}
	for i := range keys {
		if origins[i].Access != access.Unknown {
			continue
		}
		if err := p.covered(keys[i].Text); err != nil {
			return i, err
		}
	}
	return 0, nil
}
