// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestProcess runs the command as its users do: as a process.
func TestProcess(t *testing.T) {
	t.Parallel()
	program := build(t)

	t.Run("ends at once", func(t *testing.T) {
		nobody := kubeconfig(t, "https://127.0.0.1:1")
		without := kubeconfig(t, answering(t, http.StatusNotFound))
		closed := kubeconfig(t, answering(t, http.StatusForbidden))
		tests := []struct {
			name   string
			args   []string
			code   int
			output string
		}{
			{"version", []string{"--version"}, 0, "fairlead-controller " + builtVersion + "\n"},
			{"help", []string{"--help"}, 0, "Namespace to watch; repeat the flag for more than one."},
			{"no kubeconfig", nil, 1, "no cluster found: not running in a pod, and without --kubeconfig, $KUBECONFIG and ~/.kube/config"},
			{"no such kubeconfig", []string{"--kubeconfig=/nowhere"}, 1, "read kubeconfig: stat /nowhere: no such file or directory"},
			{"unreachable cluster", []string{"--kubeconfig=" + nobody}, 1, "cannot reach the cluster at https://127.0.0.1:1 (check --kubeconfig and --context): "},
			{"unknown context", []string{"--kubeconfig=" + nobody, "--context=nope"}, 1, `context "nope" does not exist`},
			{"no CRD", []string{"--kubeconfig=" + without}, 1, "does not serve apps.fairlead.dev/v1: run 'make install' in a checkout of Fairlead to install the CRDs"},
			{"no permission", []string{"--kubeconfig=" + closed}, 1, "no permission to read the API of the cluster at http://127.0.0.1:"},
			{"unknown flag", []string{"--wrokers=3"}, 1, "unknown flag: --wrokers"},
			{"no worker", []string{"--workers=0"}, 1, "--workers is 0, but must be between 1 and 1000"},
			{"impatient resync", []string{"--resync-period=1ms"}, 1, "--resync-period is 1ms, but must be 0 or at least 1s"},
			{"bad namespace", []string{"--namespace=Shop"}, 1, `--namespace "Shop": a lowercase RFC 1123 label`},
			{"a namespace twice", []string{"--namespace=shop", "--namespace=shop"}, 1, `--namespace "shop" is given twice`},
			{"unknown profile", []string{"--security-profile=lax"}, 1, `--security-profile is "lax", but must be one of ["restricted" "baseline" "privileged"]`},
			{"unknown log format", []string{"--logging-format=xml"}, 1, `"xml"`},
			{"extra argument", []string{"shop"}, 1, `fairlead-controller takes no arguments, but got ["shop"]; see --help`},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				p := program.start(t, test.args...)
				p.exits(test.code)
				p.says(test.output)
				if strings.Contains(p.output.String(), "goroutine ") {
					t.Errorf("it panicked:\n%s", p.output)
				}
			})
		}
	})

	t.Run("SIGTERM while idle", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t, shared.Get(t))
		p := program.start(t, e.flags()...)
		p.waitFor("Caches synced")
		p.signal(syscall.SIGTERM)
		p.exits(0)
		p.says("Workers have stopped")
	})

	t.Run("SIGTERM while busy", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t, shared.Get(t))
		p := program.start(t, append(e.flags(), "--v=2", "--workers=1")...)
		p.waitFor("Caches synced")
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprintf("web-%d", i))
			e.create(named(small, names[i]))
		}
		p.waitFor("Wrote child")
		p.signal(syscall.SIGTERM)
		p.exits(0)
		p.says("Workers have stopped")

		again := program.start(t, e.flags()...)
		for _, name := range names {
			e.waitReady(name)
		}
		again.signal(os.Interrupt)
		again.exits(0)
	})

	t.Run("second signal", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t, shared.Get(t))
		proxy, held := holding(t, e)
		p := program.start(t, "--kubeconfig="+kubeconfig(t, proxy), "--namespace="+e.namespace)
		p.waitFor("Caches synced")
		e.create(small)
		<-held // A sync runs now, and cannot end.
		p.signal(syscall.SIGTERM)
		p.waitFor("Stopping; waiting for running syncs")
		p.signal(syscall.SIGTERM)
		p.exits(1) // Without the second signal it would be 0, when the sync has been given up.
		if strings.Contains(p.output.String(), "Workers have stopped") {
			t.Errorf("it waited for the workers:\n%s", p.output)
		}
	})

	t.Run("JSON logging", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t, shared.Get(t))
		p := program.start(t, append(e.flags(), "--logging-format=json", "--v=4")...)
		e.create(small)
		e.waitReady("web")
		p.signal(syscall.SIGTERM)
		p.exits(0)
		synced := false
		for line := range strings.SplitSeq(strings.TrimSpace(p.output.String()), "\n") {
			entry := struct {
				TS          float64
				Msg         string
				Application struct{ Name, Namespace string }
			}{}
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.TS == 0 || entry.Msg == "" {
				t.Errorf("not an entry with ts and msg: %s (%v)", line, err)
			}
			if entry.Msg == "Synced" && entry.Application.Name == "web" && entry.Application.Namespace == e.namespace {
				synced = true
			}
		}
		if !synced {
			t.Errorf("no entry tells the sync of the Application by name and namespace:\n%s", p.output)
		}
	})

	t.Run("two namespaces", func(t *testing.T) {
		t.Parallel()
		cluster := shared.Get(t)
		one, two, third := newEnv(t, cluster), newEnv(t, cluster), newEnv(t, cluster)
		cursor := cluster.AuditCursor(t)
		p := program.start(t, append(one.flags(), "--namespace="+two.namespace)...)
		for _, e := range []*env{third, one, two} {
			e.create(small)
		}
		one.waitReady("web")
		two.waitReady("web")
		p.signal(syscall.SIGTERM)
		p.exits(0)
		if third.application("web").Status.ObservedGeneration != -1 || find[appsv1.Deployment](third, "web") != nil {
			t.Error("the Application in a namespace that was not named was acted on")
		}
		// Classes, the namespaces that they select and definitions are in no namespace; whether they may be read is asked first.
		clusterWide := controlplane.OnResource("applicationclasses", "namespaces", "customresourcedefinitions", "selfsubjectaccessreviews")
		// The other processes of this test ask for namespaces as well.
		seen := map[string]bool{}
		for _, event := range cursor.Events(t, controlplane.FromUserAgent(controllerAgent+builtVersion)) {
			seen[event.Namespace] = true
			if event.Resource != "" && !clusterWide(&event) && (event.Namespace == "" || event.Namespace == third.namespace) {
				t.Errorf("a request outside of the namespaces: %s", event)
			}
		}
		if !seen[one.namespace] || !seen[two.namespace] {
			t.Errorf("no request about the namespaces was found, but about %v", seen)
		}
	})
}

// flags make the process watch the namespace of the test.
func (e *env) flags() []string {
	return []string{"--kubeconfig=" + e.cluster.Kubeconfig(), "--namespace=" + e.namespace}
}

// kubeconfig writes a kubeconfig for a server that wants no credentials.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test, clusters: [{name: test, cluster: {server: %q}}],
		contexts: [{name: test, context: {cluster: test, user: test}}], users: [{name: test, user: {}}]}`, server)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answering is an API server that tells its version, and answers everything else with the code.
func answering(t *testing.T, code int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" {
			_, _ = w.Write([]byte(`{"gitVersion":"v1.37.1"}`))
			return
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code)})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// holding returns the address of a proxy of the API server that never lets a Deployment be created. The channel is
// closed at the first attempt.
func holding(t *testing.T, e *env) (address string, held <-chan struct{}) {
	t.Helper()
	config := e.cluster.Config()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // Watches.
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	trying, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/deployments") {
			close(trying) // Once: the controller does not try twice while it waits.
			<-release
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(release)
		server.Close()
		utilnet.CloseIdleConnectionsFor(transport)
	})
	return server.URL, trying
}
