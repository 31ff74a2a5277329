// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/hack/cluster/internal/ports"
	"fairlead.dev/fairlead/hack/cluster/internal/process"
)

// fakeComponent as the first argument makes the test binary play a component: a server on the address that follows, or a
// program that fails if there is none.
const fakeComponent = "fake-component"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakeComponent {
		os.Exit(playComponent(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func playComponent(args []string) int {
	if len(args) == 0 {
		_, _ = os.Stdout.WriteString("I have no address\n")
		return 7
	}
	err := http.ListenAndServe(args[0], http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	_, _ = os.Stdout.WriteString(err.Error())
	return 1
}

func TestControl(t *testing.T) {
	c := newFakeCluster(t)
	component := c.components[0]
	if err := c.startComponent(t.Context(), component); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(c.options.DataDir, "control.sock")
	control, err := startControl(t.Context(), c, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer control.close()
	first := component.process.PID()

	for _, step := range []struct {
		request string
		code    int
		want    string
	}{
		{"GET /components", 200, `"state":"running"`},
		{"POST /components/etcd/pause", 200, `"state":"paused"`},
		{"POST /components/etcd/resume", 200, `"state":"running"`},
		{"POST /components/etcd/wait", 200, `"state":"running"`},
		{"POST /components/etcd/start", 500, "already running"},
		{"POST /components/etcd/kill", 200, `"state":"stopped"`},
		{"POST /components/etcd/kill", 200, `"state":"stopped"`},
		{"POST /components/etcd/pause", 500, "not running"},
		{"POST /components/etcd/start", 200, `"state":"running"`},
		{"POST /components/etcd/restart", 200, `"state":"running"`},
		{"POST /components/etcd/terminate", 200, `"state":"stopped"`},
		{"POST /components/etcd/restart", 200, `"state":"running"`},
		{"POST /components/etcd/explode", 404, "unknown action"},
		{"POST /components/kubelet/kill", 404, `\"kubelet\" does not run`},
	} {
		if code, body := call(t, socket, step.request); code != step.code || !strings.Contains(body, step.want) {
			t.Errorf("%s: got %d %s, want %d and %s", step.request, code, body, step.code, step.want)
		}
	}
	if component.process.PID() == first {
		t.Error("the process is still the first one")
	}
	if len(c.failed) > 0 {
		t.Errorf("an exit that was asked for counts as a failure: %v", <-c.failed)
	}
}

func TestComponentThatDiesIsReportedWithItsLog(t *testing.T) {
	c := newFakeCluster(t)
	component := c.components[0]
	if err := c.startComponent(t.Context(), component); err != nil {
		t.Fatal(err)
	}
	victim, err := os.FindProcess(component.process.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.failed:
		var failure *componentError
		if !errors.As(err, &failure) || failure.component != Etcd || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("got %v, want a componentError of etcd that says how it ended", err)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was reported")
	}
}

func TestComponentThatDoesNotStart(t *testing.T) {
	t.Run("says its last lines", func(t *testing.T) {
		c := newFakeCluster(t)
		component := c.components[0]
		component.process = process.New(process.Config{
			Name: Etcd, Path: os.Args[0], Args: []string{fakeComponent}, LogFile: component.process.LogFile(),
		})
		err := c.startComponent(t.Context(), component)
		if err == nil || errors.Is(err, errPortTaken) || !strings.Contains(err.Error(), "I have no address") {
			t.Errorf("got %v, want an error with the log and not about ports", err)
		}
	})
	t.Run("because its port was taken", func(t *testing.T) {
		c := newFakeCluster(t)
		component := c.components[0]
		component.release()
		thief, err := new(net.ListenConfig).Listen(t.Context(), "tcp", component.reserved[0].Address())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = thief.Close() }()
		if err := c.startComponent(t.Context(), component); !errors.Is(err, errPortTaken) {
			t.Errorf("got %v, want errPortTaken, which makes the start try other ports", err)
		}
	})
	t.Run("because the start was cancelled", func(t *testing.T) {
		c := newFakeCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.startComponent(ctx, c.components[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if state := c.components[0].process.State(); state != process.Stopped {
			t.Errorf("the process is %s, want it stopped", state)
		}
	})
}

// newFakeCluster has one component, called etcd, that is this test binary.
func newFakeCluster(t *testing.T) *cluster {
	t.Helper()
	dataDir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dataDir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	reservation, err := ports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	s := &spec{
		name:      Etcd,
		path:      os.Args[0],
		args:      []string{fakeComponent, reservation.Address()},
		url:       "http://" + reservation.Address(),
		readyz:    "/",
		reserved:  []*ports.Reservation{reservation},
		stopGrace: time.Minute,
	}
	c := &cluster{
		options:  &Options{DataDir: dataDir},
		progress: newProgress(io.Discard),
		failed:   make(chan error, 1),
	}
	t.Cleanup(c.stop)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	c.components = []*component{newComponent(s, dataDir, client, c.report)}
	return c
}

// call sends "METHOD PATH" over the socket.
func call(t *testing.T, socket, request string) (code int, body string) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://fairlead-cluster"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || !json.Valid(content) {
		t.Fatalf("%s: %v, answer %q, want JSON", request, err, content)
	}
	return response.StatusCode, string(content)
}
