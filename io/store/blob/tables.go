package blob

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// TableError is the error for a folder whose files are not all current: a log in it says which
// are. The others hold rows that were changed or deleted.
type TableError struct {
	// Folder is the folder's name, and Format what keeps the log, such as Delta Lake.
	Folder, Format string
	// Command prints the names of the current files. Of a table that must be converted it
	// prints the rows as an Arrow stream, and IsStream is set.
	Command  string
	IsStream bool
}

func (e *TableError) Error() string {
	if e.IsStream {
		return fmt.Sprintf("%s is a table of %s, whose files cannot be read one by one", e.Folder, e.Format)
	}
	return fmt.Sprintf("%s is a table of %s: only its log knows the current files, the others have rows that it no longer has", e.Folder, e.Format)
}

// tableFormat is a format of tables that are folders.
type tableFormat struct {
	name string
	// mark is the folder that shows the format.
	mark string
	// script is the Python that prints the current files, or the rows; {} is the table. It fails
	// if the files may have rows that were deleted, or a column by another name than the table.
	script   string
	isStream bool
}

var (
	deltaLake = &tableFormat{
		name: "Delta Lake", mark: "_delta_log",
		script: `from deltalake import DeltaTable as T; t = T('{}'); assert 'deletionVectors' not in (t.protocol().reader_features or []); ` +
			`assert t.metadata().configuration.get('delta.columnMapping.mode', 'none') == 'none'; print(*t.file_uris(), sep='\n')`,
	}
	hudi = &tableFormat{
		name: "Hudi", mark: ".hoodie",
		script: `from hudi import HudiTableBuilder as B; f = B.from_base_uri('{}').build().get_file_slices(); ` +
			`assert not any(s.has_log_files() for s in f); print(*('{}/' + s.base_file_relative_path() for s in f), sep='\n')`,
	}
	// iceberg has the folders metadata and data beside each other. {} is the newest of its
	// files of metadata.
	iceberg = &tableFormat{
		name: "Iceberg", mark: "metadata",
		script: `from pyiceberg.table import StaticTable as T; t = T.from_metadata('{}'); f = list(t.scan().plan_files()); c = {(n, s.find_field(n).field_id) for s in t.schemas().values() for n in s.column_names}; ` +
			`assert not any(s.delete_files for s in f) and len(c) == len(dict(c)) == len({i for _, i in c}); print(*(s.file.file_path for s in f), sep='\n')`,
	}
	lance = &tableFormat{
		name: "Lance", mark: "_versions", isStream: true,
		script: `import lance, pyarrow as pa, sys; d = lance.dataset('{}').scanner().to_reader(); ` +
			`w = pa.ipc.new_stream(sys.stdout.buffer, d.schema); [w.write_batch(b) for b in d]; w.close()`,
	}
	// savedToDisk is what datasets.Dataset.save_to_disk writes: files of an earlier one may
	// lie beside those that state.json names.
	savedToDisk = &tableFormat{
		name:   "Hugging Face (save_to_disk)",
		script: `import json; print(*('{}/' + f['filename'] for f in json.load(open('{}/state.json'))['_data_files']), sep='\n')`,
	}
)

const (
	icebergEnd  = ".metadata.json" // of a file of metadata
	icebergData = "data"           // the folder beside the metadata

	// What a folder of savedToDisk has beside its data. Other folders may have a state.json alone.
	stateFile, infoFile = "state.json", "dataset_info.json"
)

// errorAt returns the TableError for a table in a folder. argument is the file or folder that
// the format's script reads.
func (f *tableFormat) errorAt(folder, argument string) error {
	if strings.ContainsAny(argument, "'\"\\$`") { // it would break the quotes of the command
		argument = "FOLDER"
	}
	command := fmt.Sprintf(`python3 -c "%s"`, strings.ReplaceAll(f.script, "{}", argument))
	return &TableError{Folder: Shown(folder), Format: f.name, Command: command, IsStream: f.isStream}
}

// IsTableMetadata reports whether a key may be that of an Iceberg table's metadata.
func IsTableMetadata(key string) bool {
	folder, name := path.Split(key)
	return path.Base(folder) == iceberg.mark && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".avro"))
}

// newerMetadata reports whether a, a file of Iceberg's metadata, is newer than b, by the
// numbers in their names: v9.metadata.json or 00009-UUID.metadata.json.
func newerMetadata(a, b string) bool {
	a, b = path.Base(a), path.Base(b)
	number := func(name string) string {
		name = strings.TrimLeft(strings.TrimPrefix(name, "v"), "0")
		return name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	}
	m, n := number(a), number(b) // texts without leading zeros: the longer one is greater
	return cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(a, b)) > 0
}

// CheckTables returns a *[TableError] if files on this machine, which a folder or a pattern
// named, are those of a table with a log, or of a data set that savedToDisk describes.
func CheckTables(files []string) error {
	seen, checked := make(map[string]bool), make(map[string]bool) // seen has the files' own folders, as they are named
	for _, file := range files {
		folder := filepath.Dir(file)
		if filepath.Base(file) == stateFile {
			if _, err := os.Stat(filepath.Join(folder, infoFile)); err == nil {
				return savedToDisk.errorAt(folder, filepath.ToSlash(folder))
			}
		}
		if seen[folder] {
			continue
		}
		seen[folder] = true
		paths := []string{folder}
		if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
			paths = append(paths, real)
		}
		for _, path := range paths {
			path, err := filepath.Abs(path)
			if err != nil {
				continue // nobody knows what is above it
			}
			if err := eachFolderAbove(filepath.ToSlash(path)+"/", checked, checkFolder); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachFolderAbove calls check with each folder that a file or an object is in, from the innermost
// outwards, until check returns an error. A folder ends with a slash or is "". below is the folder
// in it that has the file, "" if the file is directly in it: it matters because a table of Iceberg
// has files in some of its folders only. checked has each folder, followed by its below, that an
// earlier call has checked, together with the folders around it.
func eachFolderAbove(file string, checked map[string]bool, check func(folder, below string) error) error {
	for end := strings.LastIndexByte(file, '/'); ; end = strings.LastIndexByte(file[:end], '/') {
		folder := file[:end+1]
		below, _, deeper := strings.Cut(file[end+1:], "/")
		if !deeper {
			below = "" // it is the file's own name
		}
		if checked[folder+below] {
			return nil
		}
		checked[folder+below] = true
		if err := check(folder, below); err != nil || end < 0 {
			return err
		}
	}
}

// checkFolder returns a *[TableError] if a folder is a table with a log, such as one of Delta
// Lake. folder and below are those of eachFolderAbove for an absolute path.
func checkFolder(folder, below string) error {
	if folder == "" {
		return nil // above the root
	}
	folder = filepath.Clean(folder) // without the slash at the end
	hasFolder := func(name string) bool {
		info, err := os.Stat(filepath.Join(folder, name))
		return err == nil && info.IsDir()
	}
	switch {
	case hasFolder(deltaLake.mark):
		return deltaLake.errorAt(folder, filepath.ToSlash(folder))
	case hasFolder(hudi.mark):
		return hudi.errorAt(folder, "file://"+filepath.ToSlash(folder))
	}
	mayHaveFile := below == "" || below == icebergData || below == iceberg.mark // tables of Lance and Iceberg have no others
	if !mayHaveFile || !hasFolder(icebergData) {
		return nil
	}
	if hasFolder(lance.mark) {
		return lance.errorAt(folder, filepath.ToSlash(folder))
	}
	newest := ""
	entries, _ := os.ReadDir(filepath.Join(folder, iceberg.mark)) // if that fails, there is no table
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, icebergEnd) && (newest == "" || newerMetadata(name, newest)) {
			newest = name
		}
	}
	if newest == "" {
		return nil
	}
	return iceberg.errorAt(folder, filepath.ToSlash(filepath.Join(folder, iceberg.mark, newest)))
}

// foundTables are the tables that the listed keys of a store show, by folder, which ends with a
// slash or is "".
type foundTables map[string]foundTable

type foundTable struct {
	format *tableFormat
	newest string // key of the newest file of Iceberg's metadata; empty for other formats
}

// addTableOf adds the folder that is a table of Delta Lake, Hudi, Lance or Iceberg, if key is that of a
// file in the table's log.
func (t foundTables) addTableOf(key string) {
	for _, f := range []*tableFormat{deltaLake, hudi, lance} {
		if i := strings.Index(key, f.mark+"/"); i == 0 || i > 0 && key[i-1] == '/' {
			t[key[:i]] = foundTable{format: f}
			return
		}
	}
	if !strings.HasSuffix(key, icebergEnd) {
		return
	}
	folder, _ := path.Split(key)
	if above, ok := strings.CutSuffix(folder, iceberg.mark+"/"); ok && (above == "" || strings.HasSuffix(above, "/")) {
		if newest := t[above].newest; t[above].format == nil || newest != "" && newerMetadata(key, newest) {
			t[above] = foundTable{iceberg, key}
		}
	}
}

// checkTables returns a *[TableError] if a found object is in the folder of a table.
func (e *expansion) checkTables() error {
	checked := make(map[string]bool)
	for _, object := range e.found {
		key := object.URL.Key
		if folder, name := path.Split(key); name == stateFile && e.has(folder+infoFile) {
			u := e.url
			u.Key = folder
			return savedToDisk.errorAt(u.Name(), strings.TrimSuffix(u.Name(), "/"))
		}
		if err := eachFolderAbove(key, checked, e.checkFolder); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether an object with that key was found. e.found must be sorted.
func (e *expansion) has(key string) bool {
	_, found := slices.BinarySearchFunc(e.found, key, func(o Object, key string) int { return strings.Compare(o.URL.Key, key) })
	return found
}

// checkFolder returns a *[TableError] if a folder of objects is a table. folder and below are those
// of eachFolderAbove for a key.
func (e *expansion) checkFolder(folder, below string) error {
	table := e.tables[folder]
	isPartition := strings.Contains(path.Base(folder), "=") // NAME=VALUE, which is no table itself
	if table.format == nil && !e.isListed(folder) && !isPartition {
		if err := e.lookForTable(folder, below); err != nil {
			return err
		}
		table = e.tables[folder]
	}
	u := e.url
	switch u.Key = folder; table.format {
	case nil:
		return nil
	case iceberg:
		if below != icebergData && below != iceberg.mark { // the file is none of the table's
			return nil
		}
		metadata := e.url
		metadata.Key = table.newest
		return iceberg.errorAt(u.Name(), metadata.Name())
	}
	return table.format.errorAt(u.Name(), strings.TrimSuffix(u.Name(), "/"))
}

// isListed reports whether all keys in and below a folder were listed, so that e.tables has it if it
// is a table.
func (e *expansion) isListed(folder string) bool {
	return slices.ContainsFunc(e.listed, func(listed string) bool { return strings.HasPrefix(folder, listed) })
}

// lookForTable asks the store for keys of the log that a table in a folder would have, and records
// the table in e.tables if there are any. below is the folder in it that has the objects.
func (e *expansion) lookForTable(folder, below string) error {
	formats := []*tableFormat{deltaLake, hudi}
	if below == icebergData { // where a table of Iceberg has its files
		formats = append(formats, iceberg)
	}
	for _, f := range formats {
		page, err := e.page(Query{Prefix: folder + f.mark + "/"})
		if err != nil {
			return err
		}
		for _, k := range page.Keys {
			if strings.HasPrefix(k.Name, folder+f.mark+"/") { // a store may ignore the prefix
				e.tables.addTableOf(k.Name)
			}
		}
	}
	return nil
}
