// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// TestMetricsAreServed runs the controller and looks for the metrics of libraries in what it serves,
// and for those of its own that need no event to appear.
func TestMetricsAreServed(t *testing.T) {
	cp := shared.Get(t)
	cp.InstallCRDs(t, filepath.Join(root, "artifacts", "crds"))
	address := freeAddress(t)
	startController(t, "--kubeconfig="+cp.Kubeconfig(), "--metrics-bind-address="+address, "--leader-elect", "--operator-namespace=default")
	wanted := append([]string{
		"fairlead_build_info", "fairlead_applications", "fairlead_sync_duration_seconds", "fairlead_status_updates_total",
		"informer_queued_items", "informer_processing_latency_seconds", "informer_store_resource_version",
	}, libraryMetrics...)
	var missing []string
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		served, err := get(ctx, "http://"+address+"/metrics")
		missing = missing[:0]
		for _, metric := range wanted {
			if !strings.Contains(served, "\n# TYPE "+metric+" ") {
				missing = append(missing, metric)
			}
		}
		return err == nil && len(missing) == 0, nil
	})
	if err != nil {
		t.Errorf("not served: %q", missing)
	}
}

// freeAddress may be taken by another process a moment later, which the controller then says.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// startController compiles the controller and runs it until the test ends. The log of a failed test has
// the controller's.
func startController(t *testing.T, arguments ...string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "fairlead-controller")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/fairlead-controller")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the controller: %v\n%s", err, output)
	}
	var log bytes.Buffer
	controller := exec.Command(binary, arguments...)
	controller.Stdout, controller.Stderr = &log, &log
	if err := controller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(controller.Process.Signal(syscall.SIGTERM), controller.Wait()); err != nil {
			t.Errorf("stop the controller: %v", err)
		}
		if t.Failed() {
			t.Logf("the controller's log:\n%s", &log)
		}
	})
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Close = true // An idle connection would look like a leak.
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return "\n" + string(body), err
}
