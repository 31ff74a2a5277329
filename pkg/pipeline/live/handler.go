// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live serves what a pipeline.Recorder knows: JSON, a stream of events, and a page that shows
// them. It reads and never changes anything. docs/pipeline.md has the URLs.
package live

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"fairlead.dev/fairlead/pkg/pipeline"
)

// Root is where the handler is to be mounted. All links below it are relative, so it works behind a
// proxy that puts something in front.
const Root = "/debug/pipeline/"

// Source is what is asked; a pipeline.Recorder is one.
type Source interface {
	// Viewing is called when a stream begins, and what it returns when it ends.
	Viewing() (end func())
	Snapshot() pipeline.Snapshot
	Events(filter pipeline.Filter) pipeline.EventList
	Keys(filter pipeline.KeyFilter) pipeline.KeyList
	// Timeline tells found false of a key that nothing is known about.
	Timeline(key pipeline.Name) (timeline pipeline.Timeline, found bool)
	Queue(limit int) pipeline.Queue
	Caches() pipeline.CacheList
	// Cache returns ErrNotFound if there is no such resource or index.
	Cache(resource string, lookup pipeline.Lookup) (pipeline.CachePage, error)
	// CachedObject returns one object with its values redacted, or ErrNotFound.
	CachedObject(resource string, name pipeline.Name) (pipeline.CachePage, error)
}

// Options are those of a Handler.
type Options struct {
	// Page is served at Root: index.html and what it needs. Nil: JSON only.
	Page fs.FS
	// Streams is how many streams may be open. 0: 16.
	Streams int
}

// Handler serves a Source below Root.
type Handler struct {
	source  Source
	mux     *http.ServeMux
	streams chan struct{}
	closing chan struct{}
	close   func()
}

const defaultStreams = 16

// New makes a Handler. Close it when the server shuts down, so that streams end.
func New(source Source, options Options) *Handler {
	if options.Streams == 0 {
		options.Streams = defaultStreams
	}
	h := &Handler{
		source: source, mux: http.NewServeMux(),
		streams: make(chan struct{}, options.Streams), closing: make(chan struct{}),
	}
	h.close = sync.OnceFunc(func() { close(h.closing) })
	for path, serve := range map[string]http.HandlerFunc{
		"snapshot":                            h.snapshot,
		"stream":                              h.stream,
		"events":                              h.events,
		"keys":                                h.keys,
		"keys/{namespace}/{name}":             h.timeline,
		"queue":                               h.queue,
		"cache":                               h.caches,
		"cache/{resource}":                    h.cache,
		"cache/{resource}/{namespace}/{name}": h.object,
		// Of what is in no namespace.
		"cache/{resource}/-/{name}": h.object,
	} {
		h.mux.HandleFunc("GET "+Root+pipeline.Version+"/"+path, serve)
	}
	if options.Page != nil {
		h.mux.Handle("GET "+Root, http.StripPrefix(Root, http.FileServerFS(options.Page)))
	}
	// The mux would redirect too, to an absolute path, which a proxy in front may not know.
	h.mux.HandleFunc("GET "+Root[:len(Root)-1], func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "pipeline/")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	return h
}

// Close ends all streams.
func (h *Handler) Close() { h.close() }

// policy lets the page load its own files and talk to where it came from, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) snapshot(w http.ResponseWriter, _ *http.Request) { answer(w, h.source.Snapshot()) }

func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	ask := asking(r)
	filter := eventFilter(ask)
	filter.Since, filter.Limit = ask.number("since"), ask.limit()
	if ask.refused(w) {
		return
	}
	answer(w, h.source.Events(filter))
}

func (h *Handler) keys(w http.ResponseWriter, r *http.Request) {
	ask := asking(r)
	filter := pipeline.KeyFilter{
		Namespace: ask.text("namespace"), Contains: ask.text("name"), State: pipeline.KeyState(ask.text("state")),
		Failing: ask.text("failing") == "true", Limit: ask.limit(),
	}
	if ask.refused(w) {
		return
	}
	answer(w, h.source.Keys(filter))
}

func (h *Handler) timeline(w http.ResponseWriter, r *http.Request) {
	timeline, found := h.source.Timeline(named(r))
	if !found {
		http.Error(w, "Nothing is known about this key", http.StatusNotFound)
		return
	}
	answer(w, timeline)
}

func (h *Handler) queue(w http.ResponseWriter, r *http.Request) {
	ask := asking(r)
	limit := ask.limit()
	if ask.refused(w) {
		return
	}
	answer(w, h.source.Queue(limit))
}

func (h *Handler) caches(w http.ResponseWriter, _ *http.Request) { answer(w, h.source.Caches()) }

func (h *Handler) cache(w http.ResponseWriter, r *http.Request) {
	ask := asking(r)
	lookup := pipeline.Lookup{
		Namespace: ask.text("namespace"), Name: ask.text("name"), Index: ask.text("index"), Value: ask.text("value"), Limit: ask.limit(),
	}
	if ask.refused(w) {
		return
	}
	page, err := h.source.Cache(r.PathValue("resource"), lookup)
	answerOr(w, page, err)
}

func (h *Handler) object(w http.ResponseWriter, r *http.Request) {
	page, err := h.source.CachedObject(r.PathValue("resource"), named(r))
	answerOr(w, page, err)
}

func named(r *http.Request) pipeline.Name {
	return pipeline.Name{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// question is the query of a request, and what is wrong with it.
type question struct {
	request *http.Request
	problem string
}

func asking(r *http.Request) *question { return &question{request: r} }

func (q *question) text(name string) string { return q.request.URL.Query().Get(name) }

func (q *question) number(name string) uint64 {
	text := q.text(name)
	if text == "" {
		return 0
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		q.problem = name + " must be a number"
	}
	return number
}

// limit is how much is wanted, within what one answer may have.
func (q *question) limit() int {
	const usual, most = 500, 5000
	switch limit := q.number("limit"); limit {
	case 0:
		return usual
	default:
		return int(min(limit, most))
	}
}

func (q *question) refused(w http.ResponseWriter) bool {
	if q.problem == "" {
		return false
	}
	http.Error(w, q.problem, http.StatusBadRequest)
	return true
}

func eventFilter(q *question) pipeline.Filter {
	return pipeline.Filter{
		Namespace: q.text("namespace"), Name: q.text("name"), Stage: pipeline.StageID(q.text("stage")),
		Type: pipeline.EventType(q.text("type")), Resource: q.text("resource"),
	}
}

func answerOr(w http.ResponseWriter, body any, err error) {
	switch {
	case errors.Is(err, pipeline.ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, pipeline.ErrNotShown):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	default:
		answer(w, body)
	}
}

func answer(w http.ResponseWriter, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(encoded, '\n')) // Who hangs up has what he wanted.
}
