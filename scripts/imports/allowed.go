package imports

// AllowedExports are exported names that no other package uses, each with the reason why
// it is exported all the same.
var AllowedExports = map[string]string{
	"batch.Bytes":                              "wraps text in the tests of batch and of batch/manifest",
	"batch.Column.Slice":                       "cuts columns in the tests of batch and of io/frontier/arrowipc",
	"batch.Sum.AddInt":                         "makes sums in the tests of batch/manifest",
	"batch.Sum.AddFloat":                       "stands beside AddInt",
	"io/store/budget.Fault":                    "refuses memory in a test of the program",
	"io/store/blob.PartSize":                   "bounds what the tests of io/store/blob/stores upload",
	"io/store/compress/zstdcut.ErrDamaged":     "a documented error of Cut",
	"io/store/compress/zstdcut.ErrDictionary":  "a documented error of Cut",
	"io/store/compress/zstdcut.ErrUnsupported": "a documented error of Cut",
	"io/report/export.Records":                 "one of the tables that export.Tables lists",
	"io/report/export.Rules":                   "one of the tables that export.Tables lists",
	"io/report/export.Signals":                 "one of the tables that export.Tables lists",
	"io/report/export.Sitemaps":                "one of the tables that export.Tables lists",
	"io/tables/parquet/columns.SetLevels":      "makes the columns of the tests of decode",
	"io/tables/parquet/layout.RawBinary":       "stands beside RawList",
	"io/tables/parquet/layout.RawList":         "names the fields of the footer that parquetio's tests dump",
	"io/tables/parquet/encoding.AppendDeltas":  "writes pages in the tests of pagefilter",
	"matcher.ErrBadBody":                       "the documented error of ReadBody",
	"matcher.MaxSitemapBytes":                  "a documented limit, which a test of the program holds against -memory",
	"matcher.MaxSitemaps":                      "a documented limit, which a test of the program holds against -memory",
	"matcher/lint.Finding.IsOnRule":            "picks the findings on a pack in the tests of io/rules/ruleset",
	"matcher/robotstxt.MaxWarnings":            "a documented limit of Parse",
}
