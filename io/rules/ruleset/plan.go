package ruleset

import (
	"context"
	"time"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

// Planned is what is known of a source without reading its rules.
type Planned struct {
	Name, Kind string
	// Files and Bytes are those of captures and packs; Bytes is 0 where sizes are not known.
	Files int
	Bytes int64
	// Hosts is the number of hosts of a folder or a pack, -1 where it is not known.
	Hosts   int64
	Newest  time.Time // of a pack; zero if not known
	History bool
}

// Plan says what each source is. Of a pack on this machine it reads the head. With list it
// also counts the files of a folder, and looks up the sizes of objects.
func (f *Found) Plan(ctx context.Context, list bool) ([]Planned, error) {
	var all []Planned
	for _, s := range f.sources {
		p := Planned{Name: s.shown(), Kind: "captures", Hosts: -1}
		var files []string
		switch s := s.(type) {
		case *folder:
			p.Kind = "folder"
			if !list {
				break
			}
			dir, err := s.compilable(ctx, f)
			if err != nil {
				return nil, err
			}
			p.Hosts = dir.Stats().Listed
			_ = dir.Close() // it was only read from
		case *packFile:
			p.Kind, files = "rule pack", []string{s.name}
			if !blob.IsURL(s.name) {
				err := Inspect(ctx, s.name, func(pack *rulepack.Pack) error {
					info := pack.Info()
					p.Hosts, p.History = info.Authorities, info.History
					if info.AsOf != 0 {
						p.Newest = time.Unix(info.AsOf, 0).UTC()
					}
					return nil
				})
				if err != nil {
					return nil, err
				}
			}
		case *singleFile:
			p.Kind, files = "a single robots.txt", s.paths
		case *askedFile:
			p.Kind, files = "a list of what was asked for", s.paths
		case *captureFiles:
			files = s.paths
		}
		p.Files = len(files)
		for _, name := range files {
			if !list && blob.IsURL(name) {
				continue
			}
			info, err := blob.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			p.Bytes += info.Size
		}
		all = append(all, p)
	}
	return all, nil
}
