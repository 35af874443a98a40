package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

// packed packs this test's own program for two targets.
func packed(t *testing.T) (folder string, program []byte) {
	t.Helper()
	own, err := os.Executable()
	if err == nil {
		program, err = os.ReadFile(own)
	}
	must.Do(t, err)
	if f, err := elf.NewFile(bytes.NewReader(program)); err == nil {
		for _, s := range f.Sections { // zeros compress in less time, and nobody reads these
			if slices.Contains([]string{".text", ".rodata", ".gopclntab"}, s.Name) {
				clear(program[s.Offset:][:s.FileSize])
			}
		}
	}
	from, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"bin/linux-amd64/robotsbatch": string(program), "bin/windows-arm64/robotsbatch.exe": string(program),
		"texts/README.md": "read me", "texts/completions/_robotsbatch": "complete",
	} {
		must.WriteFile(t, filepath.Join(from, name), text)
	}
	r := release{version: "1.2.3", time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	must.Do(t, r.pack(filepath.Join(from, "bin"), filepath.Join(from, "texts"), out))
	return out, program
}

// unpacked are the files of an archive and their permissions.
func unpacked(t *testing.T, name string, data []byte) (files map[string][]byte, modes map[string]os.FileMode) {
	t.Helper()
	files, modes = make(map[string][]byte), make(map[string]os.FileMode)
	take := func(info os.FileInfo, path string, r io.Reader, err error) {
		if err == nil {
			files[path], err = io.ReadAll(r)
		}
		must.Need(t, err == nil, "%s: %v", name, err)
		modes[path] = info.Mode()
	}
	if strings.HasSuffix(name, ".zip") {
		z := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
		for _, f := range z.File {
			r, err := f.Open()
			take(f.FileInfo(), f.Name, r, err)
		}
		return files, modes
	}
	plain := must.Get(gzip.NewReader(bytes.NewReader(data)))(t)
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, modes
		}
		take(header.FileInfo(), header.Name, r, err)
	}
}

func TestPack(t *testing.T) {
	folder, program := packed(t)
	sums := ""
	for name, own := range map[string]string{
		"robotsbatch-1.2.3-linux-amd64.tar.gz": "robotsbatch", "robotsbatch-1.2.3-windows-arm64.zip": "robotsbatch.exe",
	} {
		data := must.Get(os.ReadFile(filepath.Join(folder, name)))(t)
		below := strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip") + "/"
		files, modes := unpacked(t, name, data)
		must.Be(t, bytes.Equal(files[below+own], program) && modes[below+own] == 0o755,
			"%s: the program has %d bytes, mode %o", name, len(files[below+own]), modes[below+own])
		must.Be(t, string(files[below+"README.md"]) == "read me" && modes[below+"README.md"] == 0o644 && string(files[below+"completions/_robotsbatch"]) == "complete",
			"%s: the texts are %q", name, files)
		must.Be(t, len(files) == 5 && len(files[below+"LICENSES-OF-LIBRARIES.txt"]) != 0 && len(files[below+"sbom.cdx.json"]) != 0, "%s has %d files", name, len(files))
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
	}
	got, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	must.Be(t, err == nil && slices.Equal(slices.Sorted(strings.Lines(string(got))), slices.Sorted(strings.Lines(sums))), "%s, %v, want %s", got, err, sums)
	again, _ := packed(t)
	other, err := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	must.Be(t, err == nil && bytes.Equal(got, other), "packed again: %s, %v", other, err)
}

// Every module that is linked is in the bill and in the licences, and nothing else.
func TestBillAndLicences(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: runtime.Version(), Deps: []*debug.Module{
		linked(t, "github.com/klauspost/compress"), linked(t, "github.com/zeebo/xxh3"),
	}}
	r := release{version: "1.2.3", time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	text := must.Get(r.bill(info, "linux-amd64", []byte("program")))(t)
	var b bill
	must.Do(t, json.Unmarshal(text, &b))
	must.Equal(t, b.Metadata.Component.Hashes[0].Content, fmt.Sprintf("%x", sha256.Sum256([]byte("program"))), "program's checksum")
	must.Need(t, len(b.Components) == 3 && b.Components[0].Name == "std" && len(b.Dependencies[0].DependsOn) == 3, "%s", text)
	licences := must.Get(licencesOf(info))(t)
	for i, m := range info.Deps {
		c := b.Components[i+1]
		must.Be(t, c.Name == m.Path && c.Version == m.Version && c.PURL == "pkg:golang/"+m.Path+"@"+m.Version && len(c.Hashes[0].Content) == 64,
			"%s %s is %+v", m.Path, m.Version, c)
		must.Be(t, bytes.Contains(licences, []byte("==== "+m.Path+"@"+m.Version+": LICENSE\n\n")), "there is no licence of %s", m.Path)
	}
	must.Fail(t, must.Err(licencesOf(&debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/none", Version: "v1.0.0"}}})), "module that is nowhere has a licence")
	must.Fail(t, must.Err(r.bill(&debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/none"}}}, "", nil)), "module without checksum is in the bill")
}

// linked is a module of go.mod as the toolchain records it in a program.
func linked(t *testing.T, path string) *debug.Module {
	t.Helper()
	sums := must.Get(os.ReadFile("../../go.sum"))(t)
	output := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Version}}", path).Output())(t)
	version := strings.TrimSpace(string(output))
	_, rest, _ := strings.Cut(string(sums), path+" "+version+" ")
	sum, _, _ := strings.Cut(rest, "\n")
	return &debug.Module{Path: path, Version: version, Sum: sum}
}

func TestSerial(t *testing.T) {
	must.Equal(t, serial([32]byte{0xFF, 15: 1}), "urn:uuid:ff000000-0000-8000-8000-000000000001")
}
