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

// placePortable is placeOf in plain Go.
func placePortable(url []byte) uint64 {
	if len(url) < beforeHost {
		return 0
	}
	end := beforeHost + bytes.IndexByte(url[beforeHost:min(beforeHost+placeWindow, len(url))], '/') + 2
	if end < beforeHost+8 || end > len(url) {
		return 0
	}
	hash := octets8(url[beforeHost:]) * placeOdd
	hash = (bits.RotateLeft64(hash, 32) ^ octets8(url[end/2:])) * placeOdd
	return (bits.RotateLeft64(hash, 32)^octets8(url[end-8:]))*placeOdd | 1
}

func octets8(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
