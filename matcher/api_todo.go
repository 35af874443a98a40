package matcher

import "robotsbatch/matcher/robotstxt"

type Profile = robotstxt.Profile
type Chain []string

func ParseChain(s string) (Chain, error) { panic("todo") }

type Trie struct{ data []byte }

func Compile(f *robotstxt.File, chains []Chain) []Trie { panic("todo") }
func (t *Trie) Match(p *Target) Decision               { panic("todo") }
func (t *Trie) Rule(id uint32) RuleInfo                { panic("todo") }

type Target struct{}

func (t *Target) Set(path []byte, p Profile) { panic("todo") }

type Scratch struct{}

func (s *Scratch) Split(url []byte) (authority, path []byte, reason Reason) { panic("todo") }

type Table struct{}

func (t *Table) Add(authority []byte, o Origin)           { panic("todo") }
func (t *Table) Lookup(authority []byte, o *Origin) error { panic("todo") }
