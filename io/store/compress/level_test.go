package compress

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// Bytes are compressed at the level that its writer seems to have taken, and at the fastest
// one where the standard one saves next to nothing.
func TestLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 8_000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", rng.Uint32()>>rng.IntN(24))
	}
	var text, noise []byte
	for len(text) < sampleSize || len(noise) < sampleSize {
		begin := rng.IntN(len(words) - 8) // runs of words, which a longer search finds
		text = append(text, strings.Join(words[begin:begin+1+rng.IntN(8)], "")...)
		noise = binary.LittleEndian.AppendUint32(noise, rng.Uint32())
	}
	text = text[:sampleSize]
	size := func(data []byte, level int) int { return len(Append(nil, data, Zstd, level)) }
	if fast, standard := size(text, Fastest), size(text, 0); fast < standard*102/100 {
		t.Fatalf("the levels are alike: %d and %d bytes", fast, standard)
	}
	for _, test := range []struct {
		name   string
		plain  []byte
		stored int
		want   int
	}{
		{"text at the fastest level", text, size(text, Fastest) * 101 / 100, Fastest},
		{"text at the standard level", text, size(text, 0), 0},
		{"text that is hardly compressed", text, len(text), Fastest},
		{"noise", noise, len(noise), Fastest},
	} {
		must.Equal(t, Level(test.plain, test.stored), test.want, test.name, "level")
	}
}
