//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

// packsSection changes bytes of rule packs, and cuts them. Every verdict, with its rule,
// must be that of the intact pack, or missing.
func packsSection(b *bench) error {
	if err := b.writeRules(); err != nil {
		return err
	}
	pack := b.path("sound.rules")
	if _, err := b.sound("compile", "-rules", b.path("rules"), "-out", pack); err != nil {
		return err
	}
	whole, err := os.ReadFile(pack)
	if err != nil {
		return err
	}
	frontier := b.path("frontier.arrow")
	if err := export.Frontier(frontier, corpus.New(corpus.SampleOptions()), export.Options{}); err != nil {
		return err
	}
	job := func(rules string) []string {
		return []string{"-in", frontier, "-rules", rules, "-agent", "CCBot", "-explain", "-out", "-", "-progress", "never"}
	}
	sound, err := b.sound(job(pack)...)
	if err != nil {
		return err
	}
	n := b.times(3000)
	t := newTally(fmt.Sprintf("%d changed and cut rule packs", n))
	err = b.each(n, func(worker, i int) error {
		rng := rand.New(rand.NewPCG(b.seed, uint64(i)))
		at := rng.IntN(len(whole))
		data, p, what := whole[:at], part{name: "cut"}, fmt.Sprintf("cut after %d bytes", at)
		if i%3 > 0 {
			change := byte(1) << rng.IntN(8)
			data, p, what = bytes.Clone(whole), part{name: "a byte changed"}, fmt.Sprintf("byte %d changed by %#02x", at, change)
			data[at] ^= change
		}
		name := b.path(fmt.Sprintf("broken-%d.rules", worker))
		if err := os.WriteFile(name, data, 0o666); err != nil {
			return err
		}
		r := b.job(job(name)...)
		r.compare(sound)
		t.add(p, r, what)
		return nil
	})
	if err != nil {
		return err
	}
	return t.print()
}
