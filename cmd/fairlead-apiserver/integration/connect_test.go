// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// connectRules are what exec and portforward need.
func connectRules(more ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return append(more,
		rule(group, "applications/exec", "get", "create"), rule(group, "applications/portforward", "get", "create"),
		rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"))
}

// subresourceURL is the address of a subresource at kube-apiserver.
func (f *fixture) subresourceURL(application, subresource string, query url.Values) *url.URL {
	address, err := url.Parse(cluster.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	address = address.JoinPath("apis", group, version, "namespaces", f.namespace, "applications", application, subresource)
	address.RawQuery = query.Encode()
	return address
}

// executors run commands over each protocol that kubectl uses.
var executors = map[string]func(config *rest.Config, address *url.URL) (remotecommand.Executor, error){
	"websocket": func(config *rest.Config, address *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(config, http.MethodGet, address.String())
	},
	"SPDY": func(config *rest.Config, address *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(config, http.MethodPost, address)
	},
}

// run runs a command in the Application as this user, with an input, and returns the output.
func (f *fixture) run(ctx context.Context, protocol string, config *rest.Config, application string, stdin io.Reader, command ...string) (string, error) {
	f.Helper()
	executor, err := executors[protocol](config, f.subresourceURL(application, "exec", url.Values{"command": command, "stdin": {"true"}, "stdout": {"true"}}))
	if err != nil {
		f.Fatal(err)
	}
	var output bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: &output})
	return output.String(), err
}

// podOf is the name of the one pod of an Application, on a node with a kubelet.
func (f *fixture) podOf(application string) string {
	f.Helper()
	pods, err := f.kube.CoreV1().Pods(f.namespace).List(f.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		f.Fatal(err)
	}
	if len(pods.Items) != 1 {
		f.Fatalf("%s has %d pods", application, len(pods.Items))
	}
	f.startKubelet(pods.Items[0].Spec.NodeName)
	return pods.Items[0].Name
}

// TestConnect runs commands and forwards ports over both protocols, as a user with the permissions for pods.
func TestConnect(t *testing.T) {
	f := startAlone(t)
	f.apply("connected", 1)
	f.view("connected", running(1))
	pod := f.podOf("connected")
	f.client("operator", connectRules(rule("", "pods/exec", "create"), rule("", "pods/portforward", "create"))...)
	config := cluster.ConfigFor(f.namespace + ":operator")
	for protocol := range executors {
		output, err := f.run(t.Context(), protocol, config, "connected", strings.NewReader("input\n"), "cat", "-v")
		if want := pod + " connected: cat -v\ninput\n"; err != nil || output != want {
			t.Errorf("exec over %s: %q, %v; want %q", protocol, output, err, want)
		}
	}
	for protocol, dial := range map[string]func() (httpstream.Dialer, error){
		"websocket": func() (httpstream.Dialer, error) {
			return portforward.NewSPDYOverWebsocketDialerForStreamingWithLogger(klog.FromContext(t.Context()), f.subresourceURL("connected", "portforward", nil), config)
		},
		"SPDY": func() (httpstream.Dialer, error) {
			transport, upgrader, err := spdy.RoundTripperFor(config)
			return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, f.subresourceURL("connected", "portforward", nil)), err
		},
	} {
		dialer, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.forward(dialer); err != nil || got != "port 8080: ping" {
			t.Errorf("port-forward over %s: %q, %v", protocol, got, err)
		}
	}
	for _, test := range []struct {
		application string
		query       url.Values
		want        string
	}{
		{"missing", url.Values{"command": {"ls"}, "stdout": {"true"}}, "not found"},
		{"connected", url.Values{"stdout": {"true"}}, "command must have"},
		{"connected", url.Values{"command": {"ls"}}, "at least one of stdin, stdout and stderr"},
		{"connected", url.Values{"command": {"ls"}, "stdout": {"perhaps"}}, "perhaps"},
		{"connected", url.Values{"command": {"ls"}, "stdout": {"true"}, "container": {"other"}}, "container other is not valid"},
	} {
		executor, err := executors["SPDY"](config, f.subresourceURL(test.application, "exec", test.query))
		if err != nil {
			t.Fatal(err)
		}
		err = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("exec in %s with %v: %v, want %q", test.application, test.query, err, test.want)
		}
	}
}

// forward sends a ping to port 8080, and returns the answer.
func (f *fixture) forward(dialer httpstream.Dialer) (answer string, err error) {
	stop, ready, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewForStreaming(dialer, []string{"0:8080"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	go func() { done <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-done:
		return "", fmt.Errorf("before it was ready: %w", err)
	}
	defer func() {
		close(stop)
		err = errors.Join(err, <-done)
	}()
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	conn, err := (&net.Dialer{}).DialContext(f.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("ping")); err != nil {
		return "", err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return "", err
	}
	read, err := io.ReadAll(conn)
	return string(read), err
}

// TestS23Connect: the permission for the subresource does not suffice, nor that for pods, and a permission to get is none to create,
// although a websocket begins with GET. No header makes the user another one, neither here nor at kube-apiserver.
func TestS23Connect(t *testing.T) {
	f := startAlone(t)
	f.apply("asked", 1)
	f.view("asked", running(1))
	f.podOf("asked")
	pods := []rbacv1.PolicyRule{rule("", "pods/exec", "create"), rule("", "pods/portforward", "create")}
	for _, identity := range []struct {
		name    string
		rules   []rbacv1.PolicyRule
		allowed bool
	}{
		{"stranger", nil, false},
		{"without-pods-exec", connectRules(), false},
		{"getter-of-pods-exec", connectRules(rule("", "pods/exec", "get"), rule("", "pods/portforward", "get")), false},
		{"only-pods", append(pods, rule(v1.GroupName, "applications", "get"), rule("", "pods", "list")), false},
		{"getter", append(pods, rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule(group, "applications/exec", "get"), rule(group, "applications/portforward", "get")), false},
		{"without-applications", append(pods, rule("", "pods", "list"), rule(group, "applications/exec", "get", "create"), rule(group, "applications/portforward", "get", "create")), false},
		{"with-all", connectRules(pods...), true},
	} {
		f.client(identity.name, identity.rules...)
		config := cluster.ConfigFor(f.namespace + ":" + identity.name)
		for protocol := range executors {
			_, err := f.run(t.Context(), protocol, config, "asked", strings.NewReader(""), "ls")
			if identity.allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), "orbidden") {
				t.Errorf("exec over %s as %s: %v, want allowed: %v", protocol, identity.name, err, identity.allowed)
			}
		}
		transport, upgrader, err := spdy.RoundTripperFor(config)
		if err != nil {
			t.Fatal(err)
		}
		dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, f.subresourceURL("asked", "portforward", nil))
		if _, err := f.forward(dialer); identity.allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), "orbidden") {
			t.Errorf("port-forward as %s: %v, want allowed: %v", identity.name, err, identity.allowed)
		}
	}
}

// TestConnectLimits: connections count as streams of their user, and closing one makes room.
func TestConnectLimits(t *testing.T) {
	f := startAlone(t)
	f.apply("held", 1)
	f.view("held", running(1))
	f.podOf("held")
	f.client("holder", connectRules(rule("", "pods/exec", "create"), rule("", "pods/portforward", "create"))...)
	config := cluster.ConfigFor(f.namespace + ":holder")
	ended := make(chan error, streamsPerUser)
	var inputs []*io.PipeWriter
	for range streamsPerUser {
		reader, writer := io.Pipe()
		inputs = append(inputs, writer)
		first := make(chan struct{})
		go func() {
			executor, err := executors["SPDY"](config, f.subresourceURL("held", "exec", url.Values{"command": {"wait"}, "stdin": {"true"}, "stdout": {"true"}}))
			if err == nil {
				err = executor.StreamWithContext(context.WithoutCancel(t.Context()), remotecommand.StreamOptions{Stdin: reader, Stdout: &firstWrite{seen: first}})
			}
			ended <- err
		}()
		select {
		case <-first:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	if _, err := f.run(t.Context(), "SPDY", config, "held", strings.NewReader(""), "ls"); err == nil || !strings.Contains(err.Error(), "which is the limit; close one") {
		t.Errorf("one more: %v, want the limit", err)
	}
	for _, input := range inputs {
		if err := input.Close(); err != nil {
			t.Error(err)
		}
	}
	for range streamsPerUser {
		if err := <-ended; err != nil {
			t.Errorf("a held connection ended with %v", err)
		}
	}
	f.eventually("a connection in the place of a closed one", func() error {
		_, err := f.run(t.Context(), "SPDY", config, "held", strings.NewReader(""), "ls")
		return err
	})
}

// firstWrite closes a channel at the first output.
type firstWrite struct{ seen chan struct{} }

func (w *firstWrite) Write(from []byte) (int, error) {
	select {
	case <-w.seen:
	default:
		close(w.seen)
	}
	return len(from), nil
}
