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

// Plan describes each source, and reads the head of a pack on this machine. With whole it also
// counts the hosts of folders, and looks up the sizes of objects, which may take long.
func (f *Found) Plan(ctx context.Context, whole bool) ([]Planned, error) {
	var all []Planned
	for _, s := range f.sources {
		p := Planned{Name: s.shown(), Kind: kinds[s.kind].name, Files: len(s.files), Hosts: -1}
		switch {
		case s.kind == folderKind && whole:
			folder, err := f.openDir(ctx, s.name)
			if err != nil {
				return nil, err
			}
			p.Hosts = folder.dir.Stats().Listed
			_ = folder.Close() // it was only read from
		case s.kind == packKind && !blob.IsURL(s.name):
			err := Inspect(ctx, s.name, func(pack *rulepack.Pack) error {
				info := pack.Info()
				p.Hosts, p.History, p.Newest = info.Authorities, info.History, newestOf(info)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		for _, name := range s.files {
			if !whole && blob.IsURL(name) {
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
