package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	version := flag.String("version", "", "the release's, without v")
	seconds := flag.Int64("time", 0, "of the commit, in seconds since 1970")
	programs := flag.String("programs", "", "folder with a folder for each target, such as linux-amd64")
	texts := flag.String("texts", "", "folder of what each archive has beside the program")
	out := flag.String("out", "", "folder to write to")
	flag.Parse()
	r := release{version: *version, time: time.Unix(*seconds, 0).UTC()}
	if err := r.pack(*programs, *texts, *out); err != nil {
		log.Fatal(err)
	}
}

// release is what all archives have in common.
type release struct {
	version string
	time    time.Time // of all files
}

// pack writes an archive for each folder in programs, and the checksums.
func (r *release) pack(programs, texts, out string) error {
	found, err := filepath.Glob(filepath.Join(programs, "*", "robotsbatch*"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("there is no program in %s: %w", programs, err)
	}
	common, err := readTexts(texts)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, program := range found {
		target := filepath.Base(filepath.Dir(program))
		name, data, err := r.archive(program, target, common)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// archive packs a program for a target with the texts.
func (r *release) archive(program, target string, texts []file) (name string, data []byte, err error) {
	code, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	licences, err := licencesOf(info)
	if err != nil {
		return "", nil, err
	}
	bill, err := r.bill(info, target, code)
	if err != nil {
		return "", nil, err
	}
	files := append([]file{
		{name: filepath.Base(program), data: code, program: true},
		{name: "LICENSES-OF-LIBRARIES.txt", data: licences},
		{name: "sbom.cdx.json", data: bill},
	}, texts...)
	folder := "robotsbatch-" + r.version + "-" + target
	if strings.HasPrefix(target, "windows-") {
		data, err = zipped(folder, files, r.time)
		return folder + ".zip", data, err
	}
	data, err = tarred(folder, files, r.time)
	return folder + ".tar.gz", data, err
}

// file is a file of an archive.
type file struct {
	name    string // with slashes, below the archive's folder
	data    []byte
	program bool // it can be executed
}

// readTexts reads all files in and below a folder, by name.
func readTexts(folder string) (texts []file, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
		texts = append(texts, file{name: path, data: data})
		return err
	})
	return texts, err
}
