// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientrest "k8s.io/client-go/rest"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestS23HealthyPod: the pod is a ready one of the newest revision that has any, and UIDs prove that it is the Application's.
func TestS23HealthyPod(t *testing.T) {
	revision := func(r *appsv1.ReplicaSet, number string) *appsv1.ReplicaSet {
		r.Annotations = map[string]string{child.RevisionAnnotation: number}
		return r
	}
	foreign := revision(replicaSetOf("foreign", 1, 1), "9")
	foreign.OwnerReferences = controlledBy("another")
	readyOf := func(name string, replicaSet types.UID) *pod {
		return newPod(podOf(name, corev1.PodRunning, corev1.ConditionTrue, of(replicaSet)))
	}
	for _, test := range []struct {
		name string
		pods []*pod
		want string
	}{
		{"no pod", nil, ""},
		{"the newest revision", []*pod{readyOf("a", "old"), readyOf("b", "new"), readyOf("c", "new")}, "b"},
		{"an older one, if it alone is ready", []*pod{readyOf("a", "old"), newPod(podOf("b", corev1.PodRunning, corev1.ConditionFalse, of("new")))}, "a"},
		{"a label alone", []*pod{readyOf("a", "nothing"), newPod(podOf("b", corev1.PodRunning, corev1.ConditionTrue))}, ""},
		{"a ReplicaSet with the label alone", []*pod{readyOf("a", "foreign")}, ""},
	} {
		f := family{
			application: &v1.Application{Status: v1.ApplicationStatus{Resources: []v1.ResourceStatus{
				{Group: "apps", Kind: "Deployment", Name: "cart", UID: "deployment"}, {Kind: "Service", Name: "cart", UID: "another"},
			}}},
			replicaSets: []*appsv1.ReplicaSet{foreign, revision(replicaSetOf("new", 2, 2), "10"), revision(replicaSetOf("old", 1, 1), "2")},
			pods:        test.pods,
		}
		got := ""
		if picked := healthyPod(f); picked != nil {
			got = picked.Name
		}
		if got != test.want {
			t.Errorf("%s: pod %q, want %q", test.name, got, test.want)
		}
	}
}

// TestS23ForwardedHeaders: kube-apiserver sees an upgrade by this server, and nothing that the client says about users.
func TestS23ForwardedHeaders(t *testing.T) {
	given := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Key": {"key"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Protocol":    {"v5.channel.k8s.io, " + bearerProtocol + "dG9rZW4, v4.channel.k8s.io", bearerProtocol + "dG9rZW4"},
		"X-Stream-Protocol-Version": {"v4.channel.k8s.io", "v3.channel.k8s.io"}, "Audit-Id": {"one"},
		"Authorization": {"Bearer token"}, "Cookie": {"a=b"}, "Impersonate-User": {"admin"}, "Impersonate-Group": {"system:masters"},
		"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}, "X-Remote-Extra-Scopes": {"all"}, "Origin": {"https://example.com"},
	}
	want := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Key": {"key"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Protocol":    {"v5.channel.k8s.io, v4.channel.k8s.io"},
		"X-Stream-Protocol-Version": {"v4.channel.k8s.io", "v3.channel.k8s.io"}, "Audit-Id": {"one"},
	}
	if diff := cmp.Diff(want, forwarded(given)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// hijacked is a writer whose connection can be taken over.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.conn, nil, nil }

// TestConnectionEnds: a connection ends when no byte passes for too long, and when its context does; bytes keep it open.
func TestConnectionEnds(t *testing.T) {
	const idleTime = time.Minute
	for _, test := range []struct {
		name   string
		writes int // one each half idle time
		end    error
		lasts  time.Duration
		want   error
	}{
		{"idle", 0, nil, idleTime, errIdle},
		{"busy, then idle", 3, nil, 5 * idleTime / 2, errIdle},
		{"stopped", 0, errStopping, idleTime / 4, errStopping},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			here, there := net.Pipe()
			writer := &limitedWriter{ResponseWriter: &hijacked{conn: here}, ctx: ctx, end: end, idleTime: idleTime}
			conn, _, err := writer.Hijack()
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if test.end != nil {
				time.AfterFunc(test.lasts, func() { end(test.end) })
			}
			go func() {
				for range test.writes {
					<-time.After(idleTime / 2)
					_, _ = there.Write([]byte("x"))
				}
			}()
			read, err := io.ReadAll(conn)
			if !errors.Is(err, io.ErrClosedPipe) || len(read) != test.writes || time.Since(start) != test.lasts {
				t.Errorf("%s: read %q, %v after %s; want %d bytes after %s", test.name, read, err, time.Since(start), test.writes, test.lasts)
			}
			if cause := context.Cause(ctx); !errors.Is(cause, test.want) {
				t.Errorf("%s: ended because of %v, want %v", test.name, cause, test.want)
			}
		})
	}
}

// FuzzExecOptions: whatever the query, the request for the pod has what the user asked for and nothing else, or the answer is 400.
func FuzzExecOptions(f *testing.F) {
	for _, seed := range []string{
		"command=ls&stdout=true", "command=ls&command=-l&stdin=1&tty=t", "stdout=true", "command=&stdout=true", "command=ls&stderr=true&tty=true",
		"command=ls&stdout=true&container=other&container=second", "command=%00%26stdin%3Dtrue&stdout=true", "command=ls&stdout=maybe&name=other&namespace=kube-system",
	} {
		f.Add(seed)
	}
	codec := runtime.NewParameterCodec(newScheme())
	target := podWith("cart-1", "cart", "proxy")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return // No request has it.
		}
		options := &v1alpha1.ApplicationExecOptions{}
		if codec.DecodeParameters(values, v1alpha1.SchemeGroupVersion, options) != nil {
			return
		}
		asked, err := execQuery(options, "cart", target)
		if err != nil {
			return
		}
		for name, got := range asked {
			switch name {
			case "command":
				if !slices.Equal(got, values["command"]) {
					t.Errorf("%q runs %q", query, got)
				}
			case "container":
				if want := values.Get("container"); len(got) != 1 || want != "" && got[0] != want || want == "" && got[0] != "cart" {
					t.Errorf("%q is about the container %q", query, got)
				}
			case "stdin", "stdout", "stderr", "tty":
				if want, err := strconv.ParseBool(values.Get(name)); err != nil || !slices.Equal(got, []string{strconv.FormatBool(want)}) {
					t.Errorf("%q has %s=%q", query, name, got)
				}
			default:
				t.Errorf("%q has %s", query, name)
			}
		}
		if len(asked["command"]) == 0 {
			t.Errorf("%q runs nothing", query)
		}
	})
}

// FuzzPortForwardOptions: whatever the query, the ports are ports.
func FuzzPortForwardOptions(f *testing.F) {
	for _, seed := range []string{"ports=8080", "ports=8080&ports=0", "ports=65536", "ports=-1", "ports=8080,9090", "ports=4294967376"} {
		f.Add(seed)
	}
	codec := runtime.NewParameterCodec(newScheme())
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		options := &v1alpha1.ApplicationPortForwardOptions{}
		if codec.DecodeParameters(values, v1alpha1.SchemeGroupVersion, options) != nil {
			return
		}
		asked, err := portForwardQuery(options, "cart", podWith("cart-1", "cart"))
		if err != nil {
			return
		}
		if len(asked["ports"]) != len(values["ports"]) {
			t.Errorf("%q becomes %v", query, asked)
		}
		for name, ports := range asked {
			for _, port := range ports {
				if number, err := strconv.Atoi(port); name != "ports" || err != nil || number < 1 || number > 65535 {
					t.Errorf("%q becomes %s=%s", query, name, port)
				}
			}
		}
	})
}

// TestPodLocation: the address is absolute, also behind a proxy with a path.
func TestPodLocation(t *testing.T) {
	for host, want := range map[string]string{
		"https://10.0.0.1:6443":       "https://10.0.0.1:6443/api/v1/namespaces/shop/pods/cart-1/exec?command=ls",
		"https://example.com/k8s/one": "https://example.com/k8s/one/api/v1/namespaces/shop/pods/cart-1/exec?command=ls",
	} {
		connections, err := NewPodConnections(&clientrest.Config{Host: host})
		if err != nil {
			t.Fatal(err)
		}
		if got := connections.location("shop", "cart-1", "exec", url.Values{"command": {"ls"}}).String(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
