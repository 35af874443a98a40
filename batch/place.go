package batch

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// beforeHost is how many octets precede a URL's host, or one more.
	beforeHost = len("https://")
	// placeWindow is within how many octets from there its path must begin.
	placeWindow = 32
	// placeOdd spreads what it multiplies.
	placeOdd = 0x9E3779B97F4A7C15
)

// placeOf is a hash of a URL's beginning up to one octet behind its path's slash, or
// two; 0 if it is none that is to be kept. Not all octets count, for two with the
// same hash do no more than to take each other's place. The lowest bit is set in all
// others, and isKept in none.
func placeOf(url []byte, octets int) uint64 {
	if len(url) < beforeHost {
		return 0
	}
	slash := beforeHost + bytes.IndexByte(url[beforeHost:min(beforeHost+placeWindow, len(url))], '/')
	end := slash + 1 + octets
	if slash < beforeHost+6 || end > len(url) {
		return 0
	}
	hash := octets8(url[beforeHost:]) * placeOdd
	hash = (bits.RotateLeft64(hash, 32) ^ octets8(url[slash/2+1:])) * placeOdd
	hash = (bits.RotateLeft64(hash, 32) ^ octets8(url[end-8:])) * placeOdd
	return hash&^isKept | 1
}

// markOf tells most of the hashes apart that have one place.
func markOf(hash uint64) uint16 { return uint16(hash >> 32) }

func octets8(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
