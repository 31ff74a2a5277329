// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// repairTimeout bounds the repair of what a test left broken.
const repairTimeout = 2 * time.Minute

// componentStatus is a response of fairlead-cluster's control socket.
type componentStatus struct {
	Name  Component `json:"name"`
	State string    `json:"state"`
	PID   int       `json:"pid"`
	URL   string    `json:"url"`
	Log   string    `json:"log"`
}

// The states of a component.
const (
	stateStopped = "stopped"
	statePaused  = "paused"
)

// Kill ends the component with SIGKILL, like a crash, and returns when the process has ended. Restart starts it again
// with its ports and data; otherwise the end of the test does.
func (cp *ControlPlane) Kill(tb testing.TB, component Component) {
	tb.Helper()
	cp.disturb(tb, component, "kill")
}

// Terminate ends the component with SIGTERM, like a rolling update, and returns when the process has ended.
func (cp *ControlPlane) Terminate(tb testing.TB, component Component) {
	tb.Helper()
	cp.disturb(tb, component, "terminate")
}

// Pause stops the component with SIGSTOP: its connections stay open, but nothing answers on them.
func (cp *ControlPlane) Pause(tb testing.TB, component Component) {
	tb.Helper()
	cp.disturb(tb, component, "pause")
}

// Resume continues a paused component, and returns when it is ready.
func (cp *ControlPlane) Resume(tb testing.TB, component Component) {
	tb.Helper()
	cp.disturb(tb, component, "resume")
	cp.disturb(tb, component, "wait")
}

// Restart terminates the component if it is running, starts it with the same ports and data, and returns when it is
// ready.
func (cp *ControlPlane) Restart(tb testing.TB, component Component) {
	tb.Helper()
	cp.disturb(tb, component, "restart")
}

// disturb performs an action, and ensures that the cluster works again after the test.
func (cp *ControlPlane) disturb(tb testing.TB, component Component, action string) {
	tb.Helper()
	tb.Cleanup(func() {
		// By then the test's own context has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), repairTimeout)
		defer cancel()
		if err := cp.process.repair(ctx); err != nil {
			tb.Errorf("repair the control plane after the test: %v", err)
		}
	})
	if err := cp.process.act(tb.Context(), component, action); err != nil {
		tb.Fatal(err)
	}
}

// CommandLine returns how a component that runs was started, for a test that starts another one like it. It needs /proc.
func (cp *ControlPlane) CommandLine(tb testing.TB, component Component) []string {
	tb.Helper()
	var components []componentStatus
	if err := cp.process.call(tb.Context(), http.MethodGet, "/components", &components); err != nil {
		tb.Fatal(err)
	}
	i := slices.IndexFunc(components, func(status componentStatus) bool { return status.Name == component && status.PID != 0 })
	if i < 0 {
		tb.Fatalf("%s does not run", component)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", components[i].PID))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// Act performs the action of Kill, Terminate, Pause and the others on a component: kill, terminate, pause, resume,
// start, restart or wait. It is for programs other than tests, and nothing is repaired afterwards.
func (cp *ControlPlane) Act(ctx context.Context, component Component, action string) error {
	return cp.process.act(ctx, component, action)
}

// repair starts stopped components and resumes paused ones, in the order of starting, because each needs those before
// it.
func (p *process) repair(ctx context.Context) error {
	var components []componentStatus
	if err := p.call(ctx, http.MethodGet, "/components", &components); err != nil {
		return err
	}
	for _, component := range components {
		var err error
		switch component.State {
		case stateStopped:
			err = p.act(ctx, component.Name, "start")
		case statePaused:
			err = errors.Join(p.act(ctx, component.Name, "resume"), p.act(ctx, component.Name, "wait"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *process) act(ctx context.Context, component Component, action string) error {
	var status componentStatus
	if err := p.call(ctx, http.MethodPost, fmt.Sprintf("/components/%s/%s", component, action), &status); err != nil {
		return fmt.Errorf("%s %s: %w", action, component, err)
	}
	return nil
}

// call sends one request over the control socket.
func (p *process) call(ctx context.Context, method, path string, answer any) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", p.info.ControlSocket)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, "http://fairlead-cluster"+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		select {
		case <-p.exited:
			return p.failure()
		default:
			return err
		}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		var refusal struct {
			Error string `json:"error"`
		}
		if err := json.NewDecoder(response.Body).Decode(&refusal); err != nil {
			return fmt.Errorf("%s: %w", response.Status, err)
		}
		return errors.New(refusal.Error)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
