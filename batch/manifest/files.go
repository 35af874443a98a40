package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// nameEnd is how the names of manifests end. They begin with an underscore: programs
// that read all files of a folder leave such names out.
const nameEnd = ".manifest.jsonl"

// FolderName is the name of the manifest in a folder of outputs.
const FolderName = "_robotsbatch" + nameEnd

// Beside returns the name of the manifest of a single output, in the folder of the output.
func Beside(output string) string {
	return filepath.Join(filepath.Dir(output), "_"+filepath.Base(output)+nameEnd)
}

// IsName reports whether a file's name is that of a manifest.
func IsName(name string) bool {
	return strings.HasPrefix(filepath.Base(name), "_") && strings.HasSuffix(name, nameEnd)
}

// ReadFile reads the manifest of that name. The error names it, and wraps
// fs.ErrNotExist when there is none.
func ReadFile(name string) (*Manifest, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe would wait for a writer; errors come from Open, too
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		if pathError, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathError.Err // without the name
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}
