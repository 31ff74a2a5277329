// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// worldOf makes a world for a test that is no program.
func worldOf(t *testing.T, cluster *controlplane.ControlPlane, configure func(*app.Config)) *world {
	t.Helper()
	w, err := newNamespace(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	w.configure, w.mayEnd = configure, true
	t.Cleanup(func() {
		if err := w.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := w.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// do runs steps in a world.
func do(t *testing.T, w *world, steps ...string) {
	t.Helper()
	for _, text := range steps {
		p, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p[0].verb()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.do(t.Context(), w, p[0][1:]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// undisturbed fails the test if the controller writes anything after a disturbance.
func undisturbed(t *testing.T, disturb func(context.Context, *world)) {
	t.Helper()
	t.Parallel()
	w := worldOf(t, newRunner(t).cluster, nil)
	do(t, w, "create a full", "create b orphan")
	waitReady(t, w)
	if err := w.quiet(t.Context(), 10*time.Second); err != nil {
		t.Fatalf("before the disturbance: %v\n%s", err, w.log.tail(50))
	}
	_, writes := w.network.lastWrite()
	before, after := len(w.network.streamsOf("")), 0
	disturb(t.Context(), w)
	err := wait.PollUntilContextTimeout(t.Context(), period, convergence, true, func(context.Context) (bool, error) {
		after = len(w.network.streamsOf(""))
		return after >= before, w.health()
	})
	if err != nil {
		t.Fatalf("%d watches before, and %d after: %v\n%s", before, after, err, w.log.tail(50))
	}
	if err := errors.Join(w.quiet(t.Context(), 10*time.Second), w.disturbance(writes)); err != nil {
		t.Errorf("%v\n%s", err, w.log.tail(50))
	}
}

// waitReady waits until every Application is Ready.
func waitReady(t *testing.T, w *world) {
	t.Helper()
	var waits []string
	err := wait.PollUntilContextTimeout(t.Context(), period, convergence, true, func(ctx context.Context) (bool, error) {
		list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		waits = nil
		for i := range list.Items {
			if application := &list.Items[i]; isUnobserved(*application) || !meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionReady) {
				waits = append(waits, application.Name+" "+readyReason(application))
			}
		}
		return len(waits) == 0, w.health()
	})
	if err != nil {
		t.Fatalf("not Ready: %q: %v\n%s", waits, err, w.log.tail(50))
	}
}

// blackHole is a network whose connections can go silent: what is sent disappears, and nothing arrives.
type blackHole struct {
	mu                  sync.Mutex
	connections, silent []*silentConn
}

// silentConn is a connection that looks well, whatever becomes of it.
type silentConn struct {
	net.Conn
	silent, closed chan struct{}
	once           sync.Once
}

func (b *blackHole) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	wrapped := &silentConn{Conn: conn, silent: make(chan struct{}), closed: make(chan struct{})}
	b.connections = append(b.connections, wrapped)
	return wrapped, nil
}

// swallow silences all connections that exist. New ones work.
func (b *blackHole) swallow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.connections {
		close(conn.silent)
	}
	b.silent, b.connections = append(b.silent, b.connections...), nil
}

// close ends the silent connections, as the end of the process would.
func (b *blackHole) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.silent {
		_ = conn.Close()
	}
}

func (c *silentConn) isSilent() bool {
	select {
	case <-c.silent:
		return true
	default:
		return false
	}
}

func (c *silentConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.isSilent() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *silentConn) Write(p []byte) (int, error) {
	if c.isSilent() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *silentConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
