package main

import (
	"errors"
	"fmt"
	"os"

	"robotsbatch/io/rulesdir"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// ruleFolders are the folders that -rules names, as one matcher.Origins: the
// first that knows an authority decides.
type ruleFolders []*rulesdir.Dir

// openRules opens the folders. memory is how many octets of compiled rules they
// may keep together.
func openRules(c *rulesConfig, memory int64) (ruleFolders, error) {
	options := rulesdir.Options{
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit),
		Memory: memory / int64(len(c.folders)),
	}
	var folders ruleFolders
	for _, name := range c.folders {
		if err := checkFolder(name); err != nil {
			return nil, errors.Join(err, folders.Close())
		}
		folder, err := rulesdir.Open(name, options)
		if err != nil {
			return nil, errors.Join(err, folders.Close())
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

func checkFolder(name string) error {
	if isURL(name) {
		return unavailable(fmt.Sprintf("-rules %s: reading from an object store", name))
	}
	info, err := os.Stat(name)
	if err != nil {
		return atName("-rules "+name, err)
	}
	if !info.IsDir() {
		return usageErrorf("-rules %s is not a folder: rule packs, WARC captures and tables of captures are not available in this version", name)
	}
	return nil
}

// Lookup implements matcher.Origins.
func (f ruleFolders) Lookup(authority []byte, o *matcher.Origin) error {
	for _, folder := range f {
		if err := folder.Lookup(authority, o); err != nil {
			return err
		}
		if o.Access != access.Unknown {
			break
		}
	}
	return nil
}

// file is the name of the file that decides about an authority; empty when
// there is none.
func (f ruleFolders) file(authority []byte) (string, error) {
	for _, folder := range f {
		name, err := folder.File(authority)
		if err != nil || name != "" {
			return name, err
		}
	}
	return "", nil
}

// Close closes all folders.
func (f ruleFolders) Close() error {
	var err error
	for _, folder := range f {
		err = errors.Join(err, folder.Close())
	}
	return err
}
