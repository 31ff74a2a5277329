// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos && unix

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// TestF12StoppedLeader stops the process of the leader with all its timers, for longer than its lease, while it has edits to
// follow. When it goes on, it must notice before it writes.
func TestF12StoppedLeader(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	w, err := newNamespace(t.Context(), r.cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	program := filepath.Join(t.TempDir(), "fairlead-controller")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, output)
	}
	begin := time.Now()
	one := w.replica(t, program, "one")
	one.waitSays(t, "Starting workers")
	two := w.replica(t, program, "two")
	two.waitSays(t, "Caches synced")
	do(t, w, "create a full", "create b small")
	waitReady(t, w)
	stopped := make(chan struct{})
	var editing sync.WaitGroup
	editing.Go(func() { // There is always something to write, before the leader stops and when it goes on.
		for {
			select {
			case <-stopped:
				return
			case <-time.After(period):
				_ = edit(t.Context(), w, []string{"a", "config"})
				_ = edit(t.Context(), w, []string{"b", "image"})
			}
		}
	})
	one.signal(t, syscall.SIGSTOP)
	two.waitSays(t, "Starting workers")
	application, err := w.fairlead.AppsV1().Applications(w.namespace).Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := application.Status.ObservedGeneration
	// The successor writes before the first one goes on.
	err = wait.PollUntilContextTimeout(t.Context(), period, insistence, true, func(ctx context.Context) (bool, error) {
		application, err := w.fairlead.AppsV1().Applications(w.namespace).Get(ctx, "b", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		written := application.Status.ObservedGeneration
		return written > seen, nil
	})
	if err != nil {
		t.Fatalf("the successor writes no status: %v\n%s", err, two)
	}
	one.signal(t, syscall.SIGCONT)
	select {
	case <-one.done:
	case <-time.After(insistence):
		t.Error("the stopped leader goes on, although its lease is lost")
	}
	close(stopped)
	editing.Wait()
	if !strings.Contains(one.String(), "the lease is lost") {
		t.Errorf("the stopped leader says:\n%s", one)
	}
	waitReady(t, w)
	if err := r.cluster.FlushAudit(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, _, err := r.cluster.AuditLog().Since(0, func(e *auditlog.Event) bool {
		return e.Namespace == w.namespace && isControllerWrite(e) && e.Received.After(begin) && strings.HasPrefix(e.User, replicaUser)
	})
	if err != nil {
		t.Fatal(err)
	}
	successor, counts := time.Time{}, map[string]int{}
	for _, event := range events {
		counts[event.User]++
		if event.User == replicaUser+"two" && (successor.IsZero() || event.Received.Before(successor)) {
			successor = event.Received
		}
	}
	for _, event := range events {
		if event.User == replicaUser+"one" && !successor.IsZero() && event.Received.After(successor) {
			t.Errorf("the stopped leader wrote %s after its successor: %s", event.Received.Sub(successor), event)
		}
	}
	if counts[replicaUser+"one"] == 0 || counts[replicaUser+"two"] == 0 {
		t.Errorf("both replicas ought to have written something: %v", counts)
	}
}

// replicaUser is how the names of the users begin as which the replicas act.
const replicaUser = "chaos-replica-"

// command is a process of the command.
type command struct {
	process *os.Process
	done    chan struct{}

	mu     sync.Mutex
	output bytes.Buffer
}

// replica starts a replica as a user of its own. It does not outlive the test.
func (w *world) replica(t *testing.T, program, name string) *command {
	t.Helper()
	config, err := clientcmd.LoadFromFile(w.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate, user.ImpersonateGroups = replicaUser+name, []string{"system:masters"}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	c := &command{done: make(chan struct{})}
	started := exec.Command(program, "--kubeconfig="+path, "--namespace="+w.namespace, "--leader-elect", "--leader-elect-namespace="+w.namespace,
		fmt.Sprintf("--leader-elect-lease-duration=%s", leaseDuration), fmt.Sprintf("--leader-elect-renew-deadline=%s", renewDeadline),
		fmt.Sprintf("--leader-elect-retry-period=%s", retryPeriod))
	started.Stdout, started.Stderr = c, c
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	c.process = started.Process
	go func() {
		defer close(c.done)
		_ = started.Wait() // The log says more.
	}()
	t.Cleanup(func() {
		_ = c.process.Kill()
		<-c.done
	})
	return c
}

// Write keeps what the process logs.
func (c *command) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.Write(p)
}

func (c *command) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.String()
}

func (c *command) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := c.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

func (c *command) waitSays(t *testing.T, text string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), period, insistence, true, func(context.Context) (bool, error) {
		select {
		case <-c.done:
			return false, fmt.Errorf("the process ended")
		default:
			return strings.Contains(c.String(), text), nil
		}
	})
	if err != nil {
		t.Fatalf("waited for %q: %v\n%s", text, err, c)
	}
}
