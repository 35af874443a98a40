package matcher

// For tests outside the package: prefixVerdict and resolve.

type PrefixVerdict = prefixVerdict

func (t *Trie) PrefixVerdict(p *Target) PrefixVerdict { return t.prefixVerdict(p) }

func (t *Trie) Resolve(v *PrefixVerdict, p *Target) (changed bool) { return t.resolve(v, p) }

func (v PrefixVerdict) Denied() bool { return v.denied }

func (v PrefixVerdict) Undecided() bool { return v.undecided }

func (v PrefixVerdict) Depth() int { return v.depth }
