package stores_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/blob/stores"
	"robotsbatch/io/store/must"
)

var lastModified = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// azurite is a server that speaks what the driver needs of Azure's protocol.
type azurite struct {
	host string

	mu              sync.Mutex
	objects, blocks map[string][]byte
	lists           func(w http.ResponseWriter, q url.Values) // instead of the server, if it is not nil
	status          atomic.Int32                              // of an empty answer to every request, if it is not 0
}

func newAzurite(t *testing.T) *azurite {
	t.Helper()
	s := &azurite{objects: make(map[string][]byte), blocks: make(map[string][]byte)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.host = h.Listener.Addr().String()
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "c2VjcmV0")
	return s
}

func (s *azurite) name(key string) string {
	return "azblob://container/" + key + "?protocol=http&domain=" + s.host
}

func (s *azurite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/account/container"), "/")
	q := r.URL.Query()
	sent, _ := io.ReadAll(r.Body)
	data, ok := s.objects[key]
	switch {
	case s.status.Load() != 0:
		w.WriteHeader(int(s.status.Load()))
	case q.Get("comp") == "list" && s.lists != nil:
		s.lists(w, q)
	case q.Get("comp") == "list":
		s.list(w, q.Get("prefix"))
	case q.Get("comp") == "block":
		s.blocks[q.Get("blockid")] = sent
		w.WriteHeader(http.StatusCreated)
	case q.Get("comp") == "blocklist":
		var list struct{ Latest []string }
		_ = xml.Unmarshal(sent, &list)
		s.objects[key] = nil
		for _, id := range list.Latest {
			s.objects[key] = append(s.objects[key], s.blocks[id]...)
		}
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		s.objects[key] = sent
		w.WriteHeader(http.StatusCreated)
	case !ok:
		w.Header().Set("X-Ms-Error-Code", "BlobNotFound")
		w.WriteHeader(http.StatusNotFound)
	default:
		if asked := r.Header.Get("X-Ms-Range"); asked != "" {
			r.Header.Set("Range", asked)
		}
		w.Header().Set("ETag", `"`+string(data[:min(4, len(data))])+`"`)
		http.ServeContent(w, r, "", lastModified, bytes.NewReader(data))
	}
}

func (s *azurite) list(w http.ResponseWriter, prefix string) {
	type entry struct{ Name string }
	var answer struct {
		XMLName xml.Name `xml:"EnumerationResults"`
		Blobs   struct{ Blob []entry }
	}
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) {
			answer.Blobs.Blob = append(answer.Blobs.Blob, entry{key})
		}
	}
	slices.SortFunc(answer.Blobs.Blob, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	_ = xml.NewEncoder(w).Encode(answer)
}

func TestAzure(t *testing.T) {
	s := newAzurite(t)
	for _, size := range []int{0, 1000, 2*blob.PartSize + 1} {
		want := append([]byte("text"), noise(size)...)
		w := must.Get(blob.Create(t.Context(), s.name("out/strange %2F#+ü")))(t)
		must.Get(w.Write(want))(t)
		must.Do(t, w.Close())
		f := must.Get(blob.Open(t.Context(), s.name("out/strange %2F#+ü")))(t)
		defer f.Close()
		got, err := io.ReadAll(f)
		must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes: %d came back, error %v", len(want), len(got), err)
	}
	u := must.Get(blob.ParseURL(s.name("out/")))(t)
	found, err := blob.Expand(t.Context(), u)
	must.Be(t, err == nil && len(found) == 1 && found[0].Stem == "strange %2F#+ü", "Expand = %v, %v", found, err)
	must.Is(t, must.Err(blob.Open(t.Context(), s.name("none"))), fs.ErrNotExist)
}

// A folder that is listed like an empty object is none, and an answer without a list of keys is
// an error.
func TestAzureLists(t *testing.T) {
	s := newAzurite(t)
	u := must.Get(blob.ParseURL(s.name("rules/")))(t)
	folder := must.Get(blob.OpenFolder(t.Context(), u))(t)
	const of = `<Blob><Name>rules/%s</Name><Properties><Content-Length>%d</Content-Length>%s</Properties>%s</Blob>`
	s.lists = func(w http.ResponseWriter, _ url.Values) {
		fmt.Fprint(w, `<?xml version="1.0"?><EnumerationResults ContainerName="container"><Blobs>`)
		fmt.Fprintf(w, of, "a.example", 0, "<ResourceType>directory</ResourceType>", "")
		fmt.Fprintf(w, of, "a.example/robots.txt", 5, "<ResourceType>file</ResourceType>", "")
		fmt.Fprintf(w, of, "b.example", 0, "", "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>")
		fmt.Fprintf(w, of, "c.example", 0, "", "<Metadata><other>true</other></Metadata>")
		fmt.Fprint(w, `</Blobs><NextMarker/></EnumerationResults>`)
	}
	var got []string
	err := folder.List(func(key string, _ blob.Info) error {
		got = append(got, key)
		return nil
	})
	want := []string{"a.example/", "a.example/robots.txt", "b.example/", "c.example"}
	must.Be(t, err == nil && slices.Equal(got, want), "keys %q, error %v", got, err)
	for _, second := range []string{"", "<html/>", "<html><hr></html>", "<EnumerationResults><Blobs>", "<Error><Code>ServerBusy</Code></Error>", "<EnumerationResults/>", `{"error": "busy"`, "Sign in"} {
		s.lists = func(w http.ResponseWriter, q url.Values) {
			_, _ = io.WriteString(w, map[bool]string{true: "<EnumerationResults><Blobs/><NextMarker>m</NextMarker></EnumerationResults>", false: second}[q.Get("marker") == ""])
		}
		err := folder.List(func(string, blob.Info) error { return nil })
		must.Be(t, err != nil && strings.HasSuffix(err.Error(), blob.ErrNoListing.Error()), "%q: error %v", second, err)
	}
	for _, status := range []int{http.StatusAccepted, http.StatusNoContent, http.StatusPartialContent} {
		s.lists = func(w http.ResponseWriter, _ url.Values) { w.WriteHeader(status) }
		err := folder.List(func(string, blob.Info) error { return nil })
		must.Say(t, err, blob.ErrNoListing.Error(), status)
		must.Equal(t, blob.Temporary(err), true, status, "temporary")
	}
}

// An answer that is neither a refusal nor what was asked for is another server's, and may pass.
func TestAzureAnswersOfOthers(t *testing.T) {
	s := newAzurite(t)
	for _, size := range []int{1000, blob.PartSize + 1} {
		w := must.Get(blob.Create(t.Context(), s.name("x")))(t)
		must.Get(w.Write(noise(size)))(t)
		s.status.Store(http.StatusOK)
		err := w.Close()
		must.Say(t, err, "x: writing it: "+blob.ErrUnconfirmed.Error(), size)
		must.Equal(t, blob.Temporary(err), true, size, "temporary")
		s.status.Store(http.StatusNoContent)
		err = must.Err(blob.Open(t.Context(), s.name("x")))
		must.Say(t, err, "x: "+blob.ErrNoObject.Error(), size)
		must.Equal(t, blob.Temporary(err), true, size, "temporary")
		s.status.Store(0)
	}
}

// A folder that is listed as an object and as a folder, on one page or on two, is looked into once.
func TestAzureFolderIsListedOnce(t *testing.T) {
	const stub = `<Blob><Name>%sd</Name><Properties><ResourceType>directory</ResourceType></Properties></Blob>`
	const folder, object = `<BlobPrefix><Name>%sd/</Name></BlobPrefix>`, `<Blob><Name>%sdx</Name></Blob>`
	const depth = 5
	for _, pages := range [][]string{{stub + folder + object}, {stub + object, folder}, {folder, folder + object}} {
		for pattern, listings := range map[string]int{strings.Repeat("d*/", depth): depth + 1, "**/d?": 2 * (depth + 1)} {
			s := newAzurite(t)
			asked := 0
			s.lists = func(w http.ResponseWriter, q url.Values) {
				if strings.Trim(q.Get("prefix"), "d/") != "" { // is it a table?
					fmt.Fprint(w, "<EnumerationResults><Blobs/></EnumerationResults>")
					return
				}
				asked++
				in := q.Get("prefix")[:strings.LastIndex(q.Get("prefix"), "/")+1]
				page, next := pages[len(q.Get("marker"))], strings.Repeat("m", len(q.Get("marker"))+1)
				if len(next) == len(pages) {
					next = ""
				}
				if strings.Count(in, "/") == depth {
					page = strings.NewReplacer(stub, "", folder, "").Replace(page)
				}
				fmt.Fprintf(w, `<?xml version="1.0"?><EnumerationResults><Blobs>%s</Blobs><NextMarker>%s</NextMarker></EnumerationResults>`,
					strings.ReplaceAll(page, "%s", in), next)
			}
			found, err := blob.Expand(t.Context(), must.Get(blob.ParseURL(s.name(pattern)))(t))
			must.Be(t, err == nil && len(found) != 0 && asked == listings*len(pages),
				"%s: %d objects, error %v, after %d requests for %d pages, want %d", pattern, len(found), err, asked, len(pages), listings*len(pages))
		}
	}
}

func TestAzureObjectIsReplaced(t *testing.T) {
	s := newAzurite(t)
	s.objects["x"] = noise(3 << 20)
	f := must.Get(blob.Open(t.Context(), s.name("x")))(t)
	defer f.Close()
	s.objects["x"] = append([]byte("new "), noise(3<<20-4)...)
	must.Is(t, must.Err(io.ReadAll(f)), blob.ErrChanged)
}

// Two uploads of one object at a time share no block, so neither has a part of the other.
func TestAzureUploadsAtATime(t *testing.T) {
	s := newAzurite(t)
	const size = blob.PartSize + 1
	texts := []string{strings.Repeat("a", size), strings.Repeat("b", size)}
	var writers []blob.Writer
	for _, text := range texts {
		w := must.Get(blob.Create(t.Context(), s.name("x")))(t)
		defer w.Abort()
		must.Get(io.WriteString(w, text))(t)
		writers = append(writers, w)
	}
	for i, w := range writers {
		must.Do(t, w.Close())
		must.Be(t, string(s.objects["x"]) == texts[i], "upload %d is mixed with the other", i)
	}
	must.Equal(t, len(s.blocks), 2*len(texts), "blocks")
}

// TestAzureHosts is where containers are, by environment and parameters.
func TestAzureHosts(t *testing.T) {
	for _, test := range []struct{ env, parameters, want string }{
		{"AZURE_STORAGE_ACCOUNT=a", "", "https://a.blob.core.windows.net/container"},
		{"AZURE_STORAGE_ACCOUNT=a", "storage_account=b&domain=blob.core.chinacloudapi.cn", "https://b.blob.core.chinacloudapi.cn/container"},
		{"AZURE_STORAGE_ACCOUNT=a", "domain=127.0.0.1:10000&protocol=http", "http://127.0.0.1:10000/a/container"},
		{"AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_IS_CDN=true", "domain=cdn.example", "https://cdn.example/container"},
		{"AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_IS_CDN=true", "domain=blob.example&cdn=false", "https://a.blob.example/container"},
		{"AZURE_STORAGE_ACCOUNT=a", "domain=emulator.example&localemu=true", "https://emulator.example/a/container"},
		{"AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_SAS_TOKEN=?sig=hush", "", "https://a.blob.core.windows.net/container?sig=hush"},
		{"AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_SAS_TOKEN=sig=hush", "domain=evil.example", "error"},
		{"AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=http;AccountName=c;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:10000/c", "", "http://127.0.0.1:10000/c/container"},
		{"", "", "error"},
		{"AZURE_STORAGE_ACCOUNT=a", "protocol=ftp", "error"},
		{"AZURE_STORAGE_ACCOUNT=a", "cdn=perhaps", "error"},
		{"AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_KEY=!", "", "error"},
	} {
		t.Run(test.env+" "+test.parameters, func(t *testing.T) {
			for _, name := range []string{"ACCOUNT", "KEY", "SAS_TOKEN", "CONNECTION_STRING", "DOMAIN", "PROTOCOL", "IS_CDN", "IS_LOCAL_EMULATOR"} {
				t.Setenv("AZURE_STORAGE_"+name, "")
			}
			t.Setenv("AZURE_STORAGEBLOB_CONNECTIONSTRING", "")
			for _, set := range strings.Fields(test.env) {
				name, value, _ := strings.Cut(set, "=")
				t.Setenv(name, value)
			}
			client, err := stores.AzureClient(&url.URL{Scheme: "azblob", Host: "container", RawQuery: test.parameters})
			switch {
			case test.want == "error" && err == nil:
				t.Errorf("%s, want an error", client.URL())
			case test.want == "error" && strings.Contains(err.Error(), "hush"):
				t.Errorf("%v shows the signature", err)
			case test.want != "error" && err != nil:
				t.Error(err)
			case test.want != "error" && client.URL() != test.want:
				t.Errorf("%s, want %s", client.URL(), test.want)
			}
		})
	}
}
