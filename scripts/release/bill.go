package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
)

// The structures of CycloneDX 1.6 that a bill of materials of a Go program needs.
type (
	bill struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string          `json:"type"`
		Ref        string          `json:"bom-ref"`
		Name       string          `json:"name"`
		Version    string          `json:"version"`
		PURL       string          `json:"purl,omitempty"`
		Hashes     []hash          `json:"hashes,omitempty"`
		Licenses   json.RawMessage `json:"licenses,omitempty"`
		Properties []property      `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// bill returns the software bill of materials of a program, from what the Go toolchain
// has recorded in it: the modules that are linked, and no others.
func (r *release) bill(info *debug.BuildInfo, target string, code []byte) ([]byte, error) {
	sum := sha256.Sum256(code)
	program := component{
		Type: "application", Ref: "robotsbatch", Name: "robotsbatch", Version: r.version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licenses: json.RawMessage(`[{"license": {"id": "Apache-2.0"}}]`),
		Properties: []property{{"robotsbatch:target", target}},
	}
	for _, s := range info.Settings {
		program.Properties = append(program.Properties, property{"go:" + s.Key, s.Value})
	}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6",
		SerialNumber: serial(sum), Version: 1,
		Metadata:   metadata{r.time.Format(time.RFC3339), program},
		Components: []component{{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}},
	}
	uses := []string{"std"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c, err := moduleComponent(m)
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, c)
		uses = append(uses, c.Ref)
	}
	b.Dependencies = []dependency{{"robotsbatch", uses}}
	data, err := json.MarshalIndent(&b, "", "  ")
	return append(data, '\n'), err
}

// moduleComponent is a module that is linked. Its sum is the h1 of go.sum.
func moduleComponent(m *debug.Module) (component, error) {
	sum, found := strings.CutPrefix(m.Sum, "h1:")
	digest, err := base64.StdEncoding.DecodeString(sum)
	if !found || err != nil {
		return component{}, fmt.Errorf("module %s has no checksum: %q", m.Path, m.Sum)
	}
	purl := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(m.Path), "%2F", "/") + "@" + url.PathEscape(m.Version)
	return component{
		Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(digest)}},
	}, nil
}

// serial makes a UUID of a program's checksum, so that each program has its own and the
// same one always has the same.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6] = id[6]&0x0F | 0x80 // version 8: as the maker likes
	id[8] = id[8]&0x3F | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
