package corpus

// sections are the first parts of ordinary paths. None is a prefix of one of the secrets or
// has one as prefix, so ordinary URLs are seldom denied.
var sections = []string{
	"about", "africa", "album", "archive", "article", "artist", "asia", "author",
	"autumn", "baby", "bicycle", "blog", "book", "bread", "bridge", "camera",
	"castle", "category", "chapter", "city", "club", "coffee", "concert", "cooking",
	"country", "culture", "dance", "design", "economy", "europe", "event", "family",
	"fashion", "film", "flower", "forest", "forum", "gallery", "garden", "guide",
	"harbour", "health", "history", "holiday", "island", "kitchen", "league", "library",
	"market", "mountain", "museum", "music", "news", "opinion", "people", "photo",
	"product", "recipe", "river", "science", "shop", "sport", "travel", "weather",
}

// secrets are the names that rules disallow.
var secrets = []string{
	"admin", "ajax", "auth", "backup", "banner", "basket", "beta", "bin",
	"cache", "cart", "cgi-bin", "checkout", "click", "comment-form", "compare", "config",
	"cron", "currency", "dashboard", "debug", "download", "draft", "embed", "error",
	"export", "feedback", "filter", "go-to", "hidden", "import", "include", "install",
	"internal", "js", "login", "logout", "mailto", "member", "modules", "my-account",
	"node-add", "order", "panel", "password", "payment", "preview", "print", "private",
	"redirect", "register", "reply", "search", "session", "setup", "sort", "stat",
	"tag-cloud", "temp", "tracking", "trackback", "upload", "vote", "widget", "wp-admin",
}

var (
	// pages are the extensions of ordinary URLs, files those that rules disallow.
	pages = []string{".html", ".htm", ".php", ".jpg", ".aspx", "/"}
	files = []string{".pdf", ".doc", ".xls", ".zip", ".xml", ".swf", ".gz", ".rss"}

	// fields are the query parameters of ordinary URLs.
	fields = []string{"id", "p", "page", "lang", "ref", "utm_source", "v", "year"}

	// escapes are spellings of bytes that a path may not have raw, right and wrong.
	escapes = []string{
		"%20", "%C3%A9", "%c3%bc", "%7E", "%2F", "%2C", "%27s", "%28a%29",
		"%E4%BE%8B", "é", "ü", "%", "例", "%3A", "|", "%D0%B8",
	}

	// idnWords start internationalised labels.
	idnWords = []string{"bücher", "münchen", "кафе", "новости", "例え", "新聞", "παράδειγμα", "łódź", "niño", "한국"}

	subdomains = []string{"blog", "shop", "m", "en", "static", "forum", "docs", "old"}

	domains = []string{
		"com.example", "com.example", "com.example", "com.example", "org.example",
		"net.example", "de.example", "co.uk.example", "fr.example", "test",
	}

	ports = []int{8080, 8443, 8000, 8888, 3000, 81}

	// others are agents other than CCBot that files have groups for.
	others = []string{
		"GPTBot", "Googlebot", "Bingbot", "AhrefsBot", "SemrushBot", "MJ12bot",
		"Bytespider", "ClaudeBot", "Applebot-Extended", "PerplexityBot", "Slurp",
		"ia_archiver", "DotBot", "YandexBot", "Baiduspider", "Googlebot-Image",
	}

	// crawlers are the suffixes of the agents' names that some files list by the hundred.
	crawlers = []string{"bot", "spider", "crawler", "grab", "fetch", "copier", "ripper", "siphon", "scan", "mirror", "harvest", "leech"}
)
