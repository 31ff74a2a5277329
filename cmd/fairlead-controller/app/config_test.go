// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/pem"
	"errors"
	"log/slog" //nolint:depguard // http.Server takes no other kind of logger.
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render"
)

// outside hides every cluster that the test machine may know.
func outside(t *testing.T) {
	t.Helper()
	for _, name := range []string{"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", clientcmd.RecommendedConfigPathEnvVar} {
		t.Setenv(name, "")
	}
	home := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "home")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
}

// kubeconfig writes a file with one context per name, each for a cluster at https://<name>. The first one is the
// current context.
func kubeconfig(t *testing.T, names ...string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.CurrentContext = names[0]
	for _, name := range names {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + name}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhichCluster(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	inCluster := func(t *testing.T) {
		t.Helper()
		t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
		t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	}
	for _, test := range []struct {
		name    string
		prepare func(*testing.T, *Options)
		host    string
		err     string
	}{
		{
			"--kubeconfig", func(t *testing.T, o *Options) { o.Kubeconfig = kubeconfig(t, "dev", "prod") },
			"https://dev", "",
		},
		{
			"--kubeconfig and --context", func(t *testing.T, o *Options) { o.Kubeconfig, o.Context = kubeconfig(t, "dev", "prod"), "prod" },
			"https://prod", "",
		},
		{
			"--kubeconfig is missing", func(_ *testing.T, o *Options) { o.Kubeconfig = missing },
			"", "read kubeconfig: stat " + missing + ": no such file or directory",
		},
		{
			"--context is unknown", func(t *testing.T, o *Options) { o.Kubeconfig, o.Context = kubeconfig(t, "dev"), "prod" },
			"", `read kubeconfig: context "prod" does not exist`,
		},
		{
			"--context, but no kubeconfig", func(_ *testing.T, o *Options) { o.Context = "prod" },
			"", `read kubeconfig: context "prod" does not exist`,
		},
		{
			"$KUBECONFIG", func(t *testing.T, _ *Options) {
				t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, "dev"))
			},
			"https://dev", "",
		},
		{
			"--kubeconfig goes before $KUBECONFIG", func(t *testing.T, o *Options) {
				t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, "dev"))
				o.Kubeconfig = kubeconfig(t, "prod")
			},
			"https://prod", "",
		},
		{
			"$KUBECONFIG is missing", func(t *testing.T, _ *Options) { t.Setenv(clientcmd.RecommendedConfigPathEnvVar, missing) },
			"", "no cluster found: not running in a pod, and without --kubeconfig, $KUBECONFIG and ~/.kube/config",
		},
		{
			"~/.kube/config", func(t *testing.T, _ *Options) { clientcmd.RecommendedHomeFile = kubeconfig(t, "home") },
			"https://home", "",
		},
		{
			"--context of ~/.kube/config", func(t *testing.T, o *Options) {
				clientcmd.RecommendedHomeFile = kubeconfig(t, "home", "prod")
				o.Context = "prod"
			},
			"https://prod", "",
		},
		{
			"none at all", func(*testing.T, *Options) {},
			"", "no cluster found: not running in a pod, and without --kubeconfig, $KUBECONFIG and ~/.kube/config",
		},
		{
			"in a cluster, without its credentials", func(t *testing.T, _ *Options) {
				inCluster(t)
				t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, "dev"))
				if _, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/token"); err == nil {
					t.Skip("this pod has a ServiceAccount token; run the test outside of a cluster to see what is said without one")
				}
			},
			"", "read the cluster's credentials: open /var/run/secrets/kubernetes.io/serviceaccount/token: no such file or directory",
		},
		{
			"in a cluster, but --kubeconfig", func(t *testing.T, o *Options) {
				inCluster(t)
				o.Kubeconfig = kubeconfig(t, "dev")
			},
			"https://dev", "",
		},
		{
			"in a cluster, but --context", func(t *testing.T, o *Options) {
				inCluster(t)
				t.Setenv(clientcmd.RecommendedConfigPathEnvVar, kubeconfig(t, "dev", "prod"))
				o.Context = "prod"
			},
			"https://prod", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			outside(t)
			options := NewOptions()
			test.prepare(t, options)
			config, err := options.Config()
			if got := message(err); got != test.err {
				t.Fatalf("error\n%s\nwant\n%s", got, test.err)
			}
			if err == nil && config.Client.Host != test.host {
				t.Errorf("the cluster is at %s, want %s", config.Client.Host, test.host)
			}
		})
	}
}

// The controller requests uncompressed lists from a near API server, and compressed ones from a far one.
func TestCompression(t *testing.T) {
	outside(t)
	for server, compressed := range map[string]bool{
		"127.0.0.1:6443": false, "[::1]:6443": false, "localhost:6443": false, "dev": true, "10.0.0.1:6443": true,
	} {
		options := NewOptions()
		options.Kubeconfig = kubeconfig(t, server)
		config, err := options.Config()
		if err != nil {
			t.Fatal(err)
		}
		if got := !config.Client.DisableCompression; got != compressed {
			t.Errorf("compression of what comes from %s: %t", server, got)
		}
	}
}

func TestConfig(t *testing.T) {
	outside(t)
	options := &Options{
		Kubeconfig: kubeconfig(t, "dev"), Namespaces: []string{"shop"}, Workers: 3, WorkersPerNamespace: 2, ResyncPeriod: time.Hour,
		SecurityProfile: "baseline", RouteControllerNamespaces: []string{"edge"},
	}
	got, err := options.Config()
	if err != nil {
		t.Fatal(err)
	}
	if want := "fairlead-controller/" + version.Get().GitVersion; got.Client.UserAgent != want {
		t.Errorf("the user agent is %q, want %q", got.Client.UserAgent, want)
	}
	// Without it client-go allows 5 requests per second.
	if got.Client.QPS != -1 || got.Client.RateLimiter != nil {
		t.Errorf("requests are limited to %f per second by %v", got.Client.QPS, got.Client.RateLimiter)
	}
	got.Client = nil
	want := &Config{
		Namespaces: []string{"shop"}, Workers: 3, WorkersPerNamespace: 2, ResyncPeriod: time.Hour,
		HashKeySecret: cache.ObjectName{Namespace: "fairlead-system", Name: "fairlead-config-hash-key"},
		Facts:         render.Facts{RouteControllerNamespaces: []string{"edge"}},
		Validation:    validation.Options{SecurityProfile: "baseline"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Config (-want +got):\n%s", diff)
	}
}

// The command reports wrong flags before it looks for a cluster.
func TestConfigValidates(t *testing.T) {
	outside(t)
	options := NewOptions()
	options.Workers = 0
	_, err := options.Config()
	if got, want := message(err), "--workers is 0, but must be between 1 and 1000"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

// respond answers each path with a status and body. All other paths are not found.
func respond(answers map[string]answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, found := answers[r.URL.Path]
		if !found {
			a = answer{http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","code":404}`}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		if _, err := w.Write([]byte(a.body)); err != nil {
			panic(err)
		}
	})
}

type answer struct {
	status int
	body   string
}

const group = "/apis/apps.fairlead.dev/v1"

var (
	aVersion  = answer{http.StatusOK, `{"major":"1","minor":"37","gitVersion":"v1.37.2"}`}
	resources = answer{http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps.fairlead.dev/v1","resources":[{"name":"applications","namespaced":true,"kind":"Application"}]}`}
)

func forbidden(path string) answer {
	return answer{http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden: User \"nobody\" cannot get path \"` + path + `\"","reason":"Forbidden","code":403}`}
}

func complete(ctx context.Context, t *testing.T, server *httptest.Server) (CompletedConfig, error) {
	t.Helper()
	client := &rest.Config{Host: server.URL}
	if certificate := server.Certificate(); certificate != nil {
		client.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
	}
	return (&Config{Client: client, Workers: 3, WorkersPerNamespace: 2}).Complete(klog.NewContext(ctx, ktesting.NewLogger(t, ktesting.NewConfig())))
}

func TestComplete(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers map[string]answer
		want    string
	}{
		{"Applications are known", map[string]answer{"/version": aVersion, group: resources}, ""},
		{
			"the CRD is missing", map[string]answer{"/version": aVersion},
			"the cluster at URL does not serve apps.fairlead.dev/v1: run 'make install' in a checkout of Fairlead to install the CRDs",
		},
		{
			"discovery is forbidden", map[string]answer{"/version": aVersion, group: forbidden(group)},
			`no permission to read the API of the cluster at URL: forbidden: User "nobody" cannot get path "/apis/apps.fairlead.dev/v1"`,
		},
		{
			"discovery fails", map[string]answer{"/version": aVersion, group: {http.StatusConflict, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"try later","reason":"Conflict","code":409}`}},
			"discover apps.fairlead.dev/v1 at URL: try later",
		},
		{
			"the credentials are refused", map[string]answer{"/version": {http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`}},
			"the cluster at URL rejected the credentials (check --kubeconfig and --context): the server has asked for the client to provide credentials",
		},
		{
			"no API server", nil,
			"cannot reach the cluster at URL (check --kubeconfig and --context): the server could not find the requested resource",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for scheme, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
				server := start(respond(test.answers))
				completed, err := complete(t.Context(), t, server)
				server.Close()
				if got := strings.ReplaceAll(message(err), server.URL, "URL"); got != test.want {
					t.Errorf("%s: error\n%s\nwant\n%s", scheme, got, test.want)
				}
				if usable := completed.Config != nil; usable != (err == nil) {
					t.Errorf("%s: the completed config is %+v", scheme, completed)
				}
				if err == nil && (completed.Workers != 3 || completed.Client.Timeout != 0) {
					t.Errorf("%s: %d workers, and a timeout of %s that would end watches", scheme, completed.Workers, completed.Client.Timeout)
				}
			}
		})
	}
}

func TestCompleteUnreachable(t *testing.T) {
	// Nothing listens on this port, because the listener has just closed it.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = (&Config{Client: &rest.Config{Host: "https://" + address}}).Complete(t.Context())
	want := "cannot reach the cluster at https://" + address + ` (check --kubeconfig and --context): Get "https://` + address + `/version?timeout=10s": dial tcp ` + address + ": connect: connection refused"
	if got := message(err); got != want {
		t.Errorf("error\n%s\nwant\n%s", got, want)
	}
}

func TestCompleteRefusesUnknownAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(respond(nil))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // It reports the handshake that the test wants.
	server.StartTLS()
	defer server.Close()
	_, err := (&Config{Client: &rest.Config{Host: server.URL}}).Complete(t.Context())
	want := "cannot reach the cluster at " + server.URL + ` (check --kubeconfig and --context): Get "` + server.URL + `/version?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`
	if got := message(err); got != want {
		t.Errorf("error\n%s\nwant\n%s", got, want)
	}
}

func TestCompleteWithBadClientConfig(t *testing.T) {
	_, err := (&Config{Client: &rest.Config{Host: "https://dev", TLSClientConfig: rest.TLSClientConfig{Insecure: true, CAData: []byte("x")}}}).Complete(t.Context())
	if got, want := message(err), "create discovery client: specifying a root certificates file with the insecure flag is not allowed"; got != want {
		t.Errorf("error\n%s\nwant\n%s", got, want)
	}
}

// A user who stops the controller while a cluster does not answer need not wait for the timeout.
func TestCompleteEndsWithItsContext(t *testing.T) {
	for _, silent := range []string{"/version", group} {
		t.Run(silent, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			others := respond(map[string]answer{"/version": aVersion, group: resources})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == silent {
					stop()
					<-r.Context().Done()
					return
				}
				others.ServeHTTP(w, r)
			}))
			defer server.Close()
			if _, err := complete(ctx, t, server); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that the context was cancelled", err)
			}
		})
	}
}

// A controller must find the key of its predecessor, wherever either runs.
func TestHashKeySecret(t *testing.T) {
	for _, test := range []struct{ name, flag, namespace, want string }{
		{"outside of a cluster", "", "", "fairlead-system/fairlead-config-hash-key"},
		{"in a cluster", "", "platform", "platform/fairlead-config-hash-key"},
		{"by flag", "shared/key", "platform", "shared/key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := &Options{ConfigHashKeySecret: test.flag}
			if got := options.hashKeySecret(test.namespace).String(); got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
		})
	}
}
