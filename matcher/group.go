package matcher

import "robotsbatch/matcher/robotstxt"

// choice is a group that concerns a chain, and the user-agent line that says
// so.
type choice struct {
	group int
	agent robotstxt.Agent
}

// chooseGroups appends to chosen, which is empty, the groups of f that concern a
// chain, in file order: those of its first name that has any, else those for everyone
// (RFC 9309 §2.2.1). There is none when the chain has no group.
func chooseGroups(chosen []choice, f *robotstxt.File, chain Chain) []choice {
	for _, name := range chain {
		if name == Everyone {
			break
		}
		for i := range f.Groups {
			if agent, found := namingAgent(&f.Groups[i], name, f.Profile); found {
				chosen = append(chosen, choice{group: i, agent: agent})
			}
		}
		if len(chosen) > 0 {
			return chosen
		}
	}
	for i := range f.Groups {
		if agent, found := everyoneAgent(&f.Groups[i]); found {
			chosen = append(chosen, choice{group: i, agent: agent})
		}
	}
	return chosen
}

func namingAgent(g *robotstxt.Group, name string, p Profile) (agent robotstxt.Agent, found bool) {
	for _, a := range g.Agents {
		if a.Everyone() {
			continue
		}
		token, word := a.Names(p)
		if equalFoldASCII(token, name) || equalFoldASCII(word, name) {
			return a, true
		}
	}
	return robotstxt.Agent{}, false
}

func everyoneAgent(g *robotstxt.Group) (agent robotstxt.Agent, found bool) {
	for _, a := range g.Agents {
		if a.Everyone() {
			return a, true
		}
	}
	return robotstxt.Agent{}, false
}

// equalFoldASCII compares without regard to the case of ASCII letters. An
// empty s equals nothing.
func equalFoldASCII(s []byte, name string) bool {
	if len(s) != len(name) || len(s) == 0 {
		return false
	}
	for i, c := range s {
		if toLower(c) != toLower(name[i]) {
			return false
		}
	}
	return true
}
