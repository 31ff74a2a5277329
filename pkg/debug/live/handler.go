// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live serves the record of a debug.Recorder: JSON, a stream of events, and a page that shows them. It changes
// nothing. docs/pipeline.md has the URLs.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"fairlead.dev/fairlead/pkg/debug"
)

// Root is the path at which to mount the handler. All links below it are relative, so it works behind a proxy that adds
// a prefix.
const Root = "/debug/pipeline/"

// Source has the record; a debug.Recorder is one.
type Source interface {
	// Viewing is called when a stream begins, and the returned function when it ends.
	Viewing() (end func())
	Snapshot() debug.Snapshot
	Events(filter debug.Filter) debug.EventList
	Keys(filter debug.KeyFilter) debug.KeyList
	// Timeline returns found false for an unknown key.
	Timeline(key debug.Name) (timeline debug.Timeline, found bool)
	Queue(limit int) debug.Queue
	Caches() debug.CacheList
	// Cache returns ErrNotFound if there is no such resource or index.
	Cache(resource string, lookup debug.Lookup) (debug.CachePage, error)
	// CachedObject returns one object with its values redacted, or ErrNotFound.
	CachedObject(resource string, name debug.Name) (debug.CachePage, error)
}

// Options configure a Handler.
type Options struct {
	// Page is served at Root: index.html and its files. nil serves JSON only.
	Page fs.FS
	// Streams limits the number of open streams; 0 means 16.
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

// New returns a Handler. Close it when the server shuts down, so that streams end.
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
		// For objects without a namespace.
		"cache/{resource}/-/{name}": h.object,
	} {
		h.mux.HandleFunc("GET "+Root+debug.Version+"/"+path, serve)
	}
	if options.Page != nil {
		h.mux.Handle("GET "+Root, http.StripPrefix(Root, http.FileServerFS(options.Page)))
	}
	// The mux would redirect to an absolute path, which a proxy may not know.
	h.mux.HandleFunc("GET "+Root[:len(Root)-1], func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "pipeline/")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	return h
}

// Close ends all streams.
func (h *Handler) Close() { h.close() }

// policy lets the page load its own files and connect to its own origin only.
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

func (h *Handler) snapshot(w http.ResponseWriter, _ *http.Request) { writeJSON(w, h.source.Snapshot()) }

func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	query := newQuery(r)
	filter := eventFilter(query)
	filter.Since, filter.Limit = query.number("since"), query.limit()
	if query.rejected(w) {
		return
	}
	writeJSON(w, h.source.Events(filter))
}

func (h *Handler) keys(w http.ResponseWriter, r *http.Request) {
	query := newQuery(r)
	filter := debug.KeyFilter{
		Namespace: query.text("namespace"), Contains: query.text("name"), State: debug.KeyState(query.text("state")),
		Failing: query.text("failing") == "true", Limit: query.limit(),
	}
	if query.rejected(w) {
		return
	}
	writeJSON(w, h.source.Keys(filter))
}

func (h *Handler) timeline(w http.ResponseWriter, r *http.Request) {
	timeline, found := h.source.Timeline(named(r))
	if !found {
		http.Error(w, "Nothing is known about this key", http.StatusNotFound)
		return
	}
	writeJSON(w, timeline)
}

func (h *Handler) queue(w http.ResponseWriter, r *http.Request) {
	query := newQuery(r)
	limit := query.limit()
	if query.rejected(w) {
		return
	}
	writeJSON(w, h.source.Queue(limit))
}

func (h *Handler) caches(w http.ResponseWriter, _ *http.Request) { writeJSON(w, h.source.Caches()) }

func (h *Handler) cache(w http.ResponseWriter, r *http.Request) {
	query := newQuery(r)
	lookup := debug.Lookup{
		Namespace: query.text("namespace"), Name: query.text("name"), Index: query.text("index"), Value: query.text("value"), Limit: query.limit(),
	}
	if query.rejected(w) {
		return
	}
	page, err := h.source.Cache(r.PathValue("resource"), lookup)
	writeJSONOrError(w, page, err)
}

func (h *Handler) object(w http.ResponseWriter, r *http.Request) {
	page, err := h.source.CachedObject(r.PathValue("resource"), named(r))
	writeJSONOrError(w, page, err)
}

func named(r *http.Request) debug.Name {
	return debug.Name{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// query is the query of a request, with its errors.
type query struct {
	request *http.Request
	problem string
}

func newQuery(r *http.Request) *query { return &query{request: r} }

func (q *query) text(name string) string { return q.request.URL.Query().Get(name) }

func (q *query) number(name string) uint64 {
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

// limit returns the number of items that the client requests.
func (q *query) limit() int {
	const usual, highest = 500, 5000
	text := q.text("limit")
	if text == "" {
		return usual
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > highest {
		q.problem = fmt.Sprintf("limit must be a number from 1 to %d", highest)
	}
	return limit
}

func (q *query) rejected(w http.ResponseWriter) bool {
	if q.problem == "" {
		return false
	}
	http.Error(w, q.problem, http.StatusBadRequest)
	return true
}

func eventFilter(q *query) debug.Filter {
	return debug.Filter{
		Namespace: q.text("namespace"), Name: q.text("name"), Stage: debug.StageID(q.text("stage")),
		Type: debug.EventType(q.text("type")), Resource: q.text("resource"),
	}
}

func writeJSONOrError(w http.ResponseWriter, body any, err error) {
	switch {
	case errors.Is(err, debug.ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, debug.ErrNotShown):
		http.Error(w, err.Error(), http.StatusForbidden)
	case err != nil:
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	default:
		writeJSON(w, body)
	}
}

func writeJSON(w http.ResponseWriter, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(encoded, '\n')) // The client may have closed the connection.
}
