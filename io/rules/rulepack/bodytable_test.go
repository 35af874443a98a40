package rulepack

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"robotsbatch/io/store/must"
)

// Bodies are numbered in the order in which they come, and are found again with what is known
// of them, in memory and from temporary files.
func TestNumbered(t *testing.T) {
	digestOf := func(i uint32) digest { return sha256.Sum256(binary.LittleEndian.AppendUint32(nil, i)) }
	for _, memory := range []int64{0, 4 << 20} {
		all := newBodyTable(memory, memory, t.TempDir())
		for i := range uint32(20_000) {
			x := digestOf(i)
			number, slot, err := all.find(&x)
			if err != nil || number != noBody {
				t.Fatalf("digest %d is there already, as %d, %v", i, number, err)
			}
			must.Do(t, all.add(slot, &x, i+7))
			must.Do(t, all.update(i, func(k *bodyMeta) { k.at, k.used = uint64(i)<<32, i%3 == 0 }))
			for _, earlier := range []uint32{i, i / 2, 0} {
				x := digestOf(earlier)
				if number, _, err := all.find(&x); err != nil || number != earlier {
					t.Fatalf("after %d digests number %d is %d, %v", i+1, earlier, number, err)
				}
				want := bodyMeta{digest: x, first: noSURT, number: earlier, length: earlier + 7, at: uint64(earlier) << 32, used: earlier%3 == 0}
				if k, err := all.get(earlier); err != nil || k != want {
					t.Fatalf("after %d digests number %d is %+v, %v", i+1, earlier, k, err)
				}
			}
		}
		must.Equal(t, all.metas.spill.Size() > 0 && all.slots.spill.Size() > 0, memory == 0, "memory", memory)
		all.close()
	}
}

// watched is a context that watches the memory of whoever asks it whether to go on.
type watched struct {
	context.Context
	asked int
	most  uint64 // bytes
}

func (w *watched) Err() error {
	if w.asked++; w.asked%20_000 == 0 {
		w.most = max(w.most, liveBytes())
	}
	return w.Context.Err()
}

func liveBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// With a slot for each number there can be, there are no more: a hash has no more bits.
func TestNeedsSlots(t *testing.T) {
	for _, test := range []struct {
		bodies uint32
		bits   int
		want   bool
	}{{47, 6, false}, {48, 6, true}, {3<<29 - 1, 31, false}, {3 << 29, 31, true}, {3 << 30, 32, false}, {noBody, 32, false}} {
		must.Equal(t, needsSlots(test.bodies, test.bits), test.want, test.bodies, "bodies with 2^", test.bits, "slots")
	}
}

// However many distinct bodies there are, a builder takes no more than its memory and what it
// writes with.
func TestBuildMemory(t *testing.T) {
	const bodies, memory, writing = 100_000, 2 << 20, 4 << 20
	ctx := &watched{Context: t.Context()}
	before := liveBytes()
	b := must.Get(Create(ctx, filepath.Join(t.TempDir(), "site.rules"), BuildOptions{Memory: memory, Sources: true}))(t)
	for i := range bodies {
		must.Do(t, b.Add(body(fmt.Sprintf("https://h%d.example", i), fmt.Sprintf("User-agent: *\nDisallow: /%d\n", i))))
	}
	ctx.most = max(ctx.most, liveBytes())
	info, err := b.Finish()
	must.Need(t, err == nil && info.Bodies == bodies, "%+v, %v", info, err)
	must.Be(t, ctx.asked >= 2*bodies, "asked whether to go on %d times", ctx.asked)
	if took := int64(ctx.most - before); took > memory+writing {
		t.Errorf("%d bodies took %d bytes at most", bodies, took)
	} else {
		t.Logf("%d bytes at most", took)
	}
}
