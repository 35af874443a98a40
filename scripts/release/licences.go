package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licenceFile matches the names of what a module asks to be handed on with it.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// licencesOf returns the licences of Go and of the modules that are linked into a
// program, from the module cache. A module without one is an error.
func licencesOf(info *debug.BuildInfo) ([]byte, error) {
	folders, err := moduleFolders()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := addLicences(&text, info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		name := m.Path + "@" + m.Version
		if err := addLicences(&text, name, folders[name]); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// addLicences appends the licences that lie in a folder.
func addLicences(text *bytes.Buffer, name, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", name, err)
	}
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "==== %s: %s\n\n%s\n\n", name, entry.Name(), bytes.TrimSpace(data))
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", name, folder)
	}
	return nil
}

// moduleFolders says where the modules lie, by path@version.
func moduleFolders() (map[string]string, error) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}@{{.Version}}\t{{.Dir}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	folders := make(map[string]string)
	for line := range strings.Lines(string(output)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[name] = folder
	}
	return folders, nil
}
