package imports

// AllowedExports are exported names that no other package uses, each with the reason why
// it is exported all the same.
var AllowedExports = map[string]string{
	"batch.Bytes":                    "wraps text in the tests of batch and of batch/manifest",
	"batch.Sum.AddInt":               "makes sums in the tests of batch/manifest",
	"batch.Sum.AddFloat":             "stands beside AddInt",
	"io/blob.PartSize":               "bounds what the tests of io/blob/stores upload",
	"io/compress.NewWriter":          "makes the inputs of other packages' tests",
	"io/export.Access":               "one of the tables that export.Tables lists",
	"io/export.Records":              "one of the tables that export.Tables lists",
	"io/export.Rules":                "one of the tables that export.Tables lists",
	"io/export.Sitemaps":             "one of the tables that export.Tables lists",
	"io/parquetio/columns.SetLevels": "makes the columns of the tests of decode",
	"io/parquetio/layout.NextPage":   "walks the pages of the file that parquetio's tests dump",
	"io/parquetio/layout.RawBinary":  "names the fields of the footer that parquetio's tests dump",
	"io/parquetio/layout.RawList":    "stands beside RawBinary",
	"matcher.ErrBadBody":             "the documented error of ReadBody",
	"matcher.MaxSitemapBytes":        "a documented limit, which a test of the program holds against -memory",
	"matcher.MaxSitemaps":            "a documented limit, which a test of the program holds against -memory",
	"matcher/lint.Finding.IsOnRule":  "picks the findings on a pack in the tests of io/ruleset",
	"matcher/robotstxt.MaxWarnings":  "a documented limit of Parse",
}
