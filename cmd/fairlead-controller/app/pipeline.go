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

// recorder makes the recorder of what the controller does, if anybody can look at it; else nil.
func (c *CompletedConfig) recorder() *debug.Recorder {
	if !c.Serving.showsPipeline() {
		return nil
	}
	return debug.New()
}

// newView makes the live view.
func newView(recorder *debug.Recorder) *live.Handler {
	return live.New(recorder, live.Options{Page: page.Files()})
}

// beside serves the view below its root, and what is already there elsewhere.
func beside(others, view http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", others)
	mux.Handle(live.Root, view)
	mux.Handle(strings.TrimSuffix(live.Root, "/"), view)
	return mux
}

// listenDebug serves the live view on this machine.
func (e *endpoints) listenDebug(ctx context.Context, config CompletedConfig, p parts) error {
	view := newView(p.recorder)
	listener, err := e.listen(ctx, "debug", config.Serving.DebugBindAddress, server.LoopbackNamesOnly(view), nil)
	if err != nil {
		return err
	}
	listener.OnShutdown(view.Close)
	klog.FromContext(ctx).Info("The live view is served", "url", "http://"+listener.Addr().String()+live.Root)
	return nil
}
