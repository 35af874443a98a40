package lint

import (
	"strings"
	"sync"
)

// tokens are product tokens that robots.txt files name often. A name that differs little
// from one of them is likely misspelt.
var tokens = strings.Fields(`
AddSearchBot AdIdxBot AdsBot-Google AdsBot-Google-Mobile AdsBot-Google-Mobile-Apps AhrefsBot AhrefsSiteAudit AI2Bot
aiHitBot Amazonbot AmazonAdBot AndiBot anthropic-ai APIs-Google Applebot Applebot-Extended archive.org_bot AspiegelBot
asterias Awario AwarioBot AwarioRssBot AwarioSmartBot BacklinkCrawler Baiduspider Baiduspider-image Baiduspider-news
Baiduspider-render Baiduspider-video Barkrowler bedrockbot BecomeBot bingbot bingpreview BLEXBot bnf.fr_bot
BUbiNG Bytespider CCBot ChatGPT-User CheeseBot CherryPicker ClaudeBot Claude-SearchBot Claude-User Claude-Web
Cliqzbot Cloudflare-AutoRAG cohere-ai cohere-training-data-crawler coccocbot coccocbot-image coccocbot-web CopyRightCheck
Cotoyogi Crawlspace Daumoa DataForSeoBot DeepSeekBot DiffBot discobot Discordbot DittoSpyder dotbot DuckAssistBot
DuckDuckBot DuckDuckGo-Favicons-Bot EasouSpider EchoboxBot EmailCollector EmailSiphon EmailWolf EroCrawler Exabot
ExtractorPro Ezooms FacebookBot Facebot facebookexternalhit facebookcatalog Factset_spyderbot FeedFetcher-Google
FirecrawlAgent Foobot FriendlyCrawler Gemini-Deep-Research GPTBot Google-Agent Google-CloudVertexBot Google-Extended
Google-Firebase Google-InspectionTool Google-NotebookLM Google-Read-Aloud Google-Safety Google-Site-Verification Googlebot
Googlebot-Image Googlebot-Mobile Googlebot-News Googlebot-Video GoogleOther GoogleOther-Image GoogleOther-Video
GoogleProducer grapeshot GrapeshotCrawler grub-client Gigabot HTTrack HubSpot heritrix httplib ia_archiver
ia_archiver-web.archive.org iaskspider ICC-Crawler img2dataset InfoNaviRobot ISSCyberRiskCrawler Kangaroo JennyBot
Jooblebot k2spider Kagibot larbin LexiBot libwww libwww-perl linkdexbot LinkedInBot LinkextractorPro LinkWalker LinkisBot
linko LNSpiderguy LinguaBot Linguee ltx71 lwp-trivial Lipperhey magpie-crawler MauiBot Mediapartners-Google MegaIndex MegaIndex.ru
meta-externalagent meta-externalfetcher meta-webindexer MistralAI-User MJ12bot moget mojeek MojeekBot
MSIECrawler msnbot msnbot-media msnbot-NewsBlogs NaverBot NetAnts netEstate NICErsPRO NovaAct NPBot Nutch OAI-SearchBot
omgili omgilibot Openfind Operator OrangeBot Owler PanguBot panscient.com PaperLiBot Perplexity-User PerplexityBot
PetalBot PhindBot PiplBot Pinterest Pinterestbot Poseidon ProPowerBot proximic psbot QualifiedBot Qwantbot Qwantify quillbot
RepoMonkey rogerbot Rytebot SBIntuitionsBot Scooter Scrapy ScreamingFrogSEOSpider Screaming SearchmetricsBot
SemrushBot SemrushBot-BA SemrushBot-BM SemrushBot-CT SemrushBot-OCOB SemrushBot-SA SemrushBot-SI SemrushBot-SWA SEOkicks
SEOkicks-Robot SeznamBot SidetradeBot SiteAuditBot SiteBot SiteSnagger SISTRIX sitecheck SkypeUriPreview Slack-ImgProxy
Slackbot Slackbot-LinkExpanding Slurp Sogou Sosospider SpankBot spbot Spinn3r Steeler Storebot-Google Swiftbot TelegramBot
Teleport TeleportPro Telesoft Teoma TheNomad TikTokSpider Timpibot TinyTestBot trendictionbot TurnitinBot Twitterbot TweetmemeBot
UbiCrawler URLSpiderPro VelenPublicWebCrawler Voluum Vagabondo WebAuto WebBandit WebCopier WebEnhancer WebReaper WebSauger WebStripper
WebmasterWorldForumBot WebZIP wget WhatsApp wpbot WWW-Collector-E Xenu xenon XoviBot YaK YandexAdditional YandexAdditionalBot
Yandex YandexAccessibilityBot YandexBlogs YandexBot YandexCalendar YandexDirect YandexDirectDyn YandexFavicons YandexImages
YandexMarket YandexMedia YandexMetrika YandexMobileBot YandexNews YandexPagechecker YandexRCA YandexSearchShop
YandexSitelinks YandexVertis YandexVideo YandexWebmaster Yahoo-MMCrawler YahooMobile YahooSeeker Yahoo-slurp YandeG Yeti YisouSpider
YodaoBot YoudaoBot YouBot Zealbot Zeus ZoominfoBot ZoomBot ZumBot ZyBorg Zao
`)

// knownTokens are the tokens in lower case.
var knownTokens = sync.OnceValue(func() []string {
	lower := make([]string, len(tokens))
	for i, token := range tokens {
		lower[i] = strings.ToLower(token)
	}
	return lower
})

// meantNames are the tokens of the crawlers behind names, in lower case, that no crawler
// has: those of companies, products, and parts of a token.
var meantNames = map[string]string{
	"chatgpt":       "GPTBot, ChatGPT-User or OAI-SearchBot",
	"openai":        "GPTBot, ChatGPT-User or OAI-SearchBot",
	"claude":        "ClaudeBot, Claude-User or anthropic-ai",
	"anthropic":     "ClaudeBot, Claude-User or anthropic-ai",
	"google-extend": "Google-Extended",
}
