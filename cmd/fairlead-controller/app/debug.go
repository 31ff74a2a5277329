// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/debug/live"
	"fairlead.dev/fairlead/pkg/debug/page"
	"fairlead.dev/fairlead/pkg/server"
)

// recorder returns the recorder of the live view, or nil if no flag serves it.
func (c *CompletedConfig) recorder() *debug.Recorder {
	if !c.Serving.servesLiveView() {
		return nil
	}
	return debug.New()
}

// newView returns the handler of the live view.
func newView(recorder *debug.Recorder) *live.Handler {
	return live.New(recorder, live.Options{Page: page.Files()})
}

// beside serves the view below its root, and the other handler everywhere else.
func beside(others, view http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", others)
	mux.Handle(live.Root, view)
	mux.Handle(strings.TrimSuffix(live.Root, "/"), view)
	return mux
}

// listenDebug serves the live view on a loopback address.
func (e *endpoints) listenDebug(ctx context.Context, config CompletedConfig, p parts) error {
	view := newView(p.recorder)
	listener, err := e.listen(ctx, "debug", config.Serving.DebugBindAddress, server.LoopbackNamesOnly(view), nil)
	if err != nil {
		return err
	}
	listener.OnShutdown(view.Close)
	klog.FromContext(ctx).Info("Serving the live view", "url", "http://"+listener.Addr().String()+live.Root)
	return nil
}
