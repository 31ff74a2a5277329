// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestF04TimeTravel starts the controller again at an API server that lags behind: it reads the past there, while what it
// writes takes effect in the present. Nothing that the present asks for may be deleted or undone.
func TestF04TimeTravel(t *testing.T) {
	t.Parallel()
	cluster := newRunner(t).cluster
	r := &runner{cluster: cluster}
	etcd, err := url.Parse(cluster.URL(t, controlplane.Etcd))
	if err != nil {
		t.Fatal(err)
	}
	link := newLink(t, etcd.Host)
	lagging := anotherAPIServer(t, cluster, link)
	for _, test := range []struct {
		name string
		// past is what the second API server sees at last, and present what it misses.
		past, present []string
	}{
		{
			"edited and created again",
			nil,
			[]string{"edit a config", "edit a other-ports", "edit a two-routes", "recreate b small", "wait"},
		},
		{
			"being deleted",
			[]string{"hold b on", "delete b background", "wait"},
			[]string{"hold b off", "let 1s", "create b small", "edit a image", "wait"},
		},
		{
			"an edit that was taken back",
			[]string{"edit a config", "wait", "cut", "edit a replicas", "edit a account"},
			[]string{"edit a own-account", "edit a autoscaling", "mend", "wait"},
		},
		{
			"children that were obsolete",
			[]string{"cut", "edit a no-config", "edit a no-routes"},
			[]string{"edit a config", "edit a two-routes", "mend", "wait"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var another atomic.Pointer[url.URL]
			w := worldOf(t, cluster, func(config *app.Config) {
				config.Client.Wrap(func(next http.RoundTripper) http.RoundTripper { return reader{next, &another} })
			})
			do(t, w, "create a full", "create b orphan")
			waitReady(t, w)
			do(t, w, test.past...)
			waitSeen(t, w, lagging)
			link.freeze()
			defer link.thaw()
			do(t, w, test.present...)
			address, err := url.Parse(lagging.Host)
			if err != nil {
				t.Fatal(err)
			}
			another.Store(address)
			_, before := w.network.lastWrite()
			restartInThePast(t, w)
			for _, undone := range w.network.changesSince(before) {
				t.Errorf("the past did %s %s %s", undone.verb, undone.resource, undone.name)
			}
			link.thaw()
			if err := r.judge(t.Context(), w, len(test.past)+len(test.present)+4); err != nil {
				t.Errorf("%v\n%s", err, w.log.tail(80))
			}
		})
	}
}

// restartInThePast starts the controller again, and lets it act on what the other API server shows.
func restartInThePast(t *testing.T, w *world) {
	t.Helper()
	w.stop(false)
	w.log = &recentLog{}
	do(t, w, "restart")
	err := wait.PollUntilContextTimeout(t.Context(), period, insistence, true, func(context.Context) (bool, error) {
		return strings.Contains(w.log.tail(logLines), `"Caches synced"`), w.health()
	})
	if err != nil {
		t.Fatalf("the caches are not filled with the past: %v\n%s", err, w.log.tail(50))
	}
	do(t, w, "let 3s")
}

// changesSince returns the writes after the first ones that deleted a child or changed a Deployment of Application a.
func (n *network) changesSince(before int) []write {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.writes[before:]), func(w write) bool {
		return !w.ok || w.verb != "delete" && (w.resource != "deployments" || w.name != "a")
	})
}

// portAttempts is how often another port is tried, since another process may take one before the API server does.
const portAttempts = 3

// waitSeen waits until the watch cache of the other API server has the Applications as they are.
func waitSeen(t *testing.T, w *world, lagging *rest.Config) {
	t.Helper()
	there := versioned.NewForConfigOrDie(lagging).AppsV1().Applications(w.namespace)
	err := wait.PollUntilContextTimeout(t.Context(), period, insistence, true, func(ctx context.Context) (bool, error) {
		want, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		got, err := there.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		return err == nil && equality.Semantic.DeepEqual(want.Items, got.Items), nil
	})
	if err != nil {
		t.Fatalf("the second API server does not catch up: %v", err)
	}
}

// anotherAPIServer starts a second API server that reaches etcd over the link, and returns its configuration when it is
// ready.
func anotherAPIServer(t *testing.T, cluster *controlplane.ControlPlane, link *link) *rest.Config {
	t.Helper()
	var failure error
	for range portAttempts {
		config, err := startAPIServer(t, cluster, link)
		if err == nil {
			return config
		}
		failure = err
	}
	t.Fatalf("start a second API server: %v", failure)
	return nil
}

func startAPIServer(t *testing.T, cluster *controlplane.ControlPlane, link *link) (*rest.Config, error) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	line := cluster.CommandLine(t, controlplane.KubeAPIServer)
	var output strings.Builder
	command := &exec.Cmd{
		Path:        filepath.Clean(line[0]),
		Args:        append(line, "--etcd-servers=http://"+link.listener.Addr().String(), "--secure-port="+port),
		Stdout:      &output,
		Stderr:      &output,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	started, exited := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(exited)
		runtime.LockOSThread() // The kernel ends the process with the thread that started it.
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // Says "signal: killed".
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-exited
	})
	config := cluster.Config()
	config.Host = "https://" + address
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(t.Context(), period, insistence, true, func(ctx context.Context) (bool, error) {
		select {
		case <-exited:
			return false, fmt.Errorf("it ended: %s", output.String())
		default:
			return client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil, nil
		}
	})
	return config, err
}
