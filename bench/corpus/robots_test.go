package corpus_test

import "strings"

// file is a robots.txt, parsed in a simple way that is enough for generated bodies.
type file struct {
	everyone, agent     []rule
	forAgent, forOthers bool
}

type rule struct {
	allow   bool
	pattern string
}

func parse(body []byte) file {
	var f file
	var current []string
	inRules := true
	for line := range strings.Lines(strings.TrimPrefix(string(body), "\uFEFF")) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		switch key = strings.ToLower(key); key {
		case "user-agent":
			if inRules {
				current, inRules = nil, false
			}
			current = append(current, value)
			f.forAgent = f.forAgent || value == "CCBot"
			f.forOthers = f.forOthers || value != "CCBot" && value != "*"
		case "allow", "disallow":
			inRules = true
			f.add(current, rule{key == "allow", value})
		}
	}
	return f
}

func (f *file) add(agents []string, r rule) {
	for _, name := range agents {
		switch {
		case r.pattern == "":
		case name == "*":
			f.everyone = append(f.everyone, r)
		case name == "CCBot":
			f.agent = append(f.agent, r)
		}
	}
}

// denies reports whether the longest matching rule is a disallow. Nothing is normalised.
func (f *file) denies(rules []rule, path string) bool {
	var best rule
	for _, r := range rules {
		longer := len(r.pattern) > len(best.pattern) || len(r.pattern) == len(best.pattern) && r.allow
		if longer && matches(r.pattern, path) {
			best = r
		}
	}
	return best.pattern != "" && !best.allow
}

// matches reports whether the pattern matches the path from its start.
func matches(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	for i, part := range parts[1:] {
		if anchored && i == len(parts)-2 {
			return strings.HasSuffix(path, part)
		}
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	return !anchored || path == ""
}
