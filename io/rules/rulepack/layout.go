package rulepack

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"robotsbatch/io/frontier/format"
)

// The errors that callers can tell apart. They are wrapped with the pack's name and the
// details.
var (
	// errNotPack: the file is not a rule pack.
	errNotPack = errors.New("this is no rule pack")
	// ErrVersion: another version of the program made the pack.
	ErrVersion = errors.New("the rule pack is of another version")
	// ErrDamaged: the pack was cut off or changed.
	ErrDamaged = errors.New("the rule pack is damaged: compile it again")
	// ErrMismatch: the pack was compiled for another profile or size limit than it is
	// opened for.
	ErrMismatch = errors.New("the rule pack was compiled for something else")
	// ErrUnreadable: reading the pack's file failed.
	ErrUnreadable = errors.New("the file cannot be read any more: an error of the disk, or of the network that it is on")
	// ErrChanged: the pack was written to while it was open.
	ErrChanged = errors.New("the rule pack was written to while it was used: replace it with a new file instead, as compile does")
)

const (
	version = 18
	// historyVersion is the version of packs with a history.
	historyVersion = 19
	// endMagic is the end of a pack.
	endMagic = "RBP end\n"

	headerSize  = 32
	trailerSize = 32
	sectionSize = 32
	// headerUsed and sectionUsed are how many of their bytes have a meaning; the rest is 0.
	headerUsed  = len(format.RulePackMagic) + 3*4
	sectionUsed = 24
)

// The kinds of sections.
const (
	metaSection = iota + 1
	directorySection
	authoritiesSection
	bodiesSection
	rulesSection
	notesSection
	recordsSection
	digestsSection
	namesSection
	intervalsSection
	startsSection
	capturesSection // may be missing
	sectionKinds
)

var sectionNames = [sectionKinds]string{
	"", "meta", "directory", "authorities", "bodies", "rules", "notes", "records", "digests", "names", "intervals", "starts", "captures",
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

func updateChecksum(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
