// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"fairlead.dev/fairlead/hack/cluster/internal/process"
)

// control is the HTTP API on the unix socket with which a test disturbs single components. README.md documents it.
type control struct {
	cluster *cluster
	server  *http.Server
	cancel  context.CancelFunc
}

// componentStatus is the answer of the control API.
type componentStatus struct {
	Name  string        `json:"name"`
	State process.State `json:"state"`
	PID   int           `json:"pid,omitempty"`
	URL   string        `json:"url"`
	Log   string        `json:"log"`
}

type controlError struct {
	Error string `json:"error"`
}

// startControl serves until close is called. The end of ctx ends the actions that are under way.
func startControl(ctx context.Context, cluster *cluster, socket string) (*control, error) {
	// A socket file left by a killed predecessor; the lock on the data directory says that no process serves it.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("serve the control socket: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("serve the control socket: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &control{cluster: cluster, cancel: cancel}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /components", c.list)
	mux.HandleFunc("POST /components/{name}/{action}", c.act)
	c.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = c.server.Serve(listener) }() // Returns when close closes the server.
	return c, nil
}

// close ends the API and the actions under way, so that nothing is started while everything is being stopped.
func (c *control) close() {
	c.cancel()
	_ = c.server.Close()
	for _, component := range c.cluster.components {
		component.waitIdle()
	}
}

// waitIdle waits for an action under way. One that comes later finds its context cancelled.
func (c *component) waitIdle() {
	c.mu.Lock()
	c.mu.Unlock() //nolint:gocritic,staticcheck // Getting the lock is enough.
}

func (c *control) list(w http.ResponseWriter, _ *http.Request) {
	statuses := make([]componentStatus, 0, len(c.cluster.components))
	for _, component := range c.cluster.components {
		statuses = append(statuses, component.status())
	}
	reply(w, http.StatusOK, statuses)
}

func (c *control) act(w http.ResponseWriter, r *http.Request) {
	component := c.cluster.component(r.PathValue("name"))
	if component == nil {
		reply(w, http.StatusNotFound, controlError{fmt.Sprintf("component %q does not run in this cluster", r.PathValue("name"))})
		return
	}
	component.mu.Lock()
	defer component.mu.Unlock()
	err := r.Context().Err()
	if err == nil {
		err = component.do(r.Context(), r.PathValue("action"))
	}
	switch {
	case errors.Is(err, errUnknownAction):
		reply(w, http.StatusNotFound, controlError{err.Error()})
	case err != nil:
		reply(w, http.StatusInternalServerError, controlError{err.Error()})
	default:
		reply(w, http.StatusOK, component.status())
	}
}

var errUnknownAction = errors.New("unknown action: use kill, terminate, pause, resume, start, restart or wait")

// do performs one action and returns when it is complete.
func (c *component) do(ctx context.Context, action string) error {
	switch action {
	case "kill":
		return c.process.Kill()
	case "terminate":
		_, err := c.stop()
		return err
	case "pause":
		return c.process.Pause()
	case "resume":
		return c.process.Resume()
	case "start":
		return c.start(ctx)
	case "restart":
		if _, err := c.stop(); err != nil {
			return err
		}
		return c.start(ctx)
	case "wait":
		return c.waitReady(ctx)
	default:
		return errUnknownAction
	}
}

func (c *component) status() componentStatus {
	return componentStatus{Name: c.name, State: c.process.State(), PID: c.process.PID(), URL: c.url, Log: c.process.LogFile()}
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // The client has gone away if this fails.
}
