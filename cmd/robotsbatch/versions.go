package main

import (
	"context"

	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/rulesdir"
)

// versioned is a file in the version that was read.
type versioned struct {
	path string
	info blob.Info
}

// ruleVersions say what each -rules was before any of them was opened.
type ruleVersions []ruleVersion

type ruleVersion struct {
	foundRules
	captures []versioned
}

// ruleVersions looks up what each -rules is.
func (c *rulesConfig) ruleVersions(ctx context.Context) (ruleVersions, error) {
	found, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	versions := make(ruleVersions, len(found))
	for i, f := range found {
		versions[i].foundRules = f
		for _, file := range f.files {
			// Who opens it says what is wrong with it.
			if info, err := blob.Stat(ctx, file); err == nil {
				versions[i].captures = append(versions[i].captures, versioned{file, info})
			}
		}
	}
	return versions, nil
}

// identify says what the rules are, now that their sources are open: one for
// each -rules but for captures, which are one source together.
func (v ruleVersions) identify(sources ruleSources) ([]manifest.Rules, error) {
	list := make([]manifest.Rules, len(v))
	captured := false
	for i, version := range v {
		rules := &list[i]
		rules.Name = blob.Shown(version.name)
		if version.kind == captureRules {
			rules.Kind = "captures"
			for _, file := range version.captures {
				if err := file.info.Unchanged(file.path); err != nil {
					return nil, err
				}
				rules.Files = append(rules.Files, fileOf(file.path, file.info))
			}
			if captured {
				continue
			}
			captured = true
		}
		switch s := sources[0].(type) {
		case *rulesdir.Dir:
			rules.Kind, rules.Checksum = "folder", s.Names()
		case *packSource:
			if version.kind == packRules {
				rules.Kind, rules.Checksum = "pack", s.Info().Checksum
			}
		}
		sources = sources[1:]
	}
	return list, nil
}
