// The site's check in a browser needs a client of its debugging protocol; so this is a module of its own. That also keeps
// node_modules out of the patterns of the main module.
module fairlead.dev/fairlead/hack/site

go 1.26.0

ignore ./node_modules

require (
	fairlead.dev/fairlead v0.0.0
	github.com/chromedp/cdproto v0.0.0-20250803210736-d308e07a266d
	github.com/chromedp/chromedp v0.14.2
	golang.org/x/mod v0.37.0
	golang.org/x/net v0.57.0
)

require (
	github.com/chromedp/sysutil v1.1.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20250725192818-e39067aee2d2 // indirect
	github.com/gobwas/httphead v0.1.0 // indirect
	github.com/gobwas/pool v0.2.1 // indirect
	github.com/gobwas/ws v1.4.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace fairlead.dev/fairlead => ../..
