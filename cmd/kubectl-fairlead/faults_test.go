// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// fault is what happens to a write.
type fault string

const (
	forbidden fault = "forbidden" // The API server refuses it.
	conflict  fault = "conflict"  // Somebody else was faster.
	lost      fault = "lost"      // It is done, but the plugin never hears of it, as if it had crashed.
	disturbed fault = "disturbed" // Another tool writes before it.
)

// faultyProxy stands between the plugin and the API server, and lets one write fail.
type faultyProxy struct {
	kubeconfig string

	mu     sync.Mutex
	fault  fault
	left   int // writes until the one that fails; 0: none does
	every  bool
	writes []string
	// disturb is what the other tool does.
	disturb func()
}

func (p *plugin) faultyProxy() *faultyProxy {
	p.Helper()
	transport, err := rest.TransportFor(p.cluster.Config())
	if err != nil {
		p.Fatal(err)
	}
	target, err := url.Parse(p.cluster.Config().Host)
	if err != nil {
		p.Fatal(err)
	}
	f := &faultyProxy{kubeconfig: filepath.Join(p.TempDir(), "kubeconfig")}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			if response.Request.Header.Get(lostHeader) != "" {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(lostHeader)
		switch f.next(r) {
		case forbidden:
			answer(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		case conflict:
			answer(w, http.StatusConflict, metav1.StatusReasonConflict)
		case disturbed:
			f.disturb()
			proxy.ServeHTTP(w, r)
		case lost:
			r.Header.Set(lostHeader, "true")
			proxy.ServeHTTP(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	p.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	if err := clientcmd.WriteToFile(*config, f.kubeconfig); err != nil {
		p.Fatal(err)
	}
	return f
}

const lostHeader = "X-Test-Lose-The-Answer"

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"` + string(reason) + `","message":"a test said so"}`))
}

// next returns what happens to a request.
func (f *faultyProxy) next(r *http.Request) fault {
	if r.Method == http.MethodGet || r.URL.Query().Has("dryRun") || strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/") {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, r.Method+" "+r.URL.Path)
	if f.every {
		return f.fault
	}
	if f.left == 0 {
		return ""
	}
	f.left--
	if f.left > 0 {
		return ""
	}
	return f.fault
}

// run runs the plugin with the n-th write failing, from 1, and reports which one that was; "" if there was none.
func (f *faultyProxy) run(p *plugin, kind fault, n int, args ...string) (result, string) {
	p.Helper()
	f.mu.Lock()
	f.fault, f.left, f.writes = kind, n, nil
	f.mu.Unlock()
	r := p.runWith(f.kubeconfig, nil, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left = 0
		return r, ""
	}
	return r, f.writes[n-1]
}

// TestFaultsAtEveryWrite lets each write of an adoption from Helm, of its end, and of the way back fail once. The same
// command then ends well, and nothing is lost.
func TestFaultsAtEveryWrite(t *testing.T) {
	adopt := []string{"adopt", "web", "--harden", "--from-helm"}
	abort := []string{"adopt", "web", "--abort"}
	for _, kind := range []fault{forbidden, conflict, lost} {
		t.Run(string(kind), func(t *testing.T) {
			p := start(t)
			kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
			h, proxy := p.helm(), p.faultyProxy()
			h.install()
			h.wantImage(kube, "example.com/shop:1")
			pods := p.pods(kube)
			before := p.deployment(kube)
			everyWrite := func(args []string, goOn bool, prepare, check func(write string)) {
				t.Helper()
				for n := 1; ; n++ {
					prepare("")
					r, write := proxy.run(p, kind, n, args...)
					if write == "" && r.code != 0 {
						t.Fatalf("%q without a fault: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
					}
					if goOn && write != "" && r.code != 0 {
						p.want(0, args)
					}
					check(write)
					if write == "" {
						if n < 5 {
							t.Errorf("%q writes %d times only", args, n-1)
						}
						return
					}
				}
			}
			nothing := func(string) {}
			wantPods := func(write string) {
				t.Helper()
				if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
					t.Fatalf("after a fault at %q, pods were replaced:\n%s", write, diff)
				}
			}
			wantBack := func(write string) {
				t.Helper()
				after := p.deployment(kube)
				if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
					t.Fatalf("after a fault at %q, the spec is not what it was (-before +after):\n%s", write, diff)
				}
				ignored := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "Generation", "ManagedFields")
				if diff := cmp.Diff(before.ObjectMeta, after.ObjectMeta, ignored); diff != "" {
					t.Fatalf("after a fault at %q, the metadata is not what it was (-before +after):\n%s", write, diff)
				}
				wantPods(write)
				if manifest := h.manifest(); !strings.Contains(manifest, "kind: Deployment") || !strings.Contains(manifest, "kind: Service\n") {
					t.Fatalf("after a fault at %q, the release does not have the objects:\n%s", write, manifest)
				}
			}
			everyWrite(adopt, true, nothing, func(write string) {
				wantPods(write)
				if manifest := h.manifest(); strings.Contains(manifest, "kind: Deployment") || strings.Contains(manifest, "kind: Service\n") {
					t.Fatalf("after a fault at %q, the release has the objects still:\n%s", write, manifest)
				}
				p.want(0, abort)
				wantBack(write)
			})
			everyWrite(abort, true, func(string) { p.want(0, adopt) }, wantBack)
			if kind == lost { // What is left after a refusal is what is left after the write before it.
				everyWrite(adopt, false, nothing, func(write string) {
					p.want(0, abort)
					wantBack(write)
				})
			}
			if err := h.upgrade("2"); err != nil {
				t.Errorf("helm upgrade: %v", err)
			}
		})
	}
}

// TestFaultsAtEveryWriteOfEject lets each write of the way back to Helm fail once. The same command then ends well.
func TestFaultsAtEveryWriteOfEject(t *testing.T) {
	for _, kind := range []fault{forbidden, conflict, lost} {
		t.Run(string(kind), func(t *testing.T) {
			p := start(t)
			kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
			h, proxy := p.helm(), p.faultyProxy()
			h.install()
			h.wantImage(kube, "example.com/shop:1")
			before := p.deployment(kube)
			for n := 1; ; n++ {
				p.want(0, []string{"adopt", "web", "--harden", "--from-helm"})
				r, write := proxy.run(p, kind, n, "eject", "web", "--to-helm")
				if r.code != 0 {
					p.want(0, []string{"eject", "web", "--to-helm"})
				}
				h.wantImage(kube, "example.com/shop:1")
				if diff := cmp.Diff(before.Spec, p.deployment(kube).Spec); diff != "" {
					t.Fatalf("after a fault at %q, the spec is not what it was (-before +after):\n%s", write, diff)
				}
				if r := p.run("adopt", "web", "--harden", "--from-helm"); r.code != 2 || !strings.Contains(r.stderr, "ServiceAccount web was left behind by an earlier Application: delete it") {
					t.Fatalf("what the Application left over is not in the way: %s", r.stderr)
				}
				if err := kube.CoreV1().ServiceAccounts(p.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
					t.Fatalf("after a fault at %q: %v", write, err)
				}
				if _, err := kube.CoreV1().Secrets(p.namespace).Get(t.Context(), "web-before-adoption", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Fatalf("after a fault at %q, the backup is left: %v", write, err)
				}
				if write == "" {
					if n < 5 {
						t.Errorf("it writes %d times only", n-1)
					}
					break
				}
			}
			if err := h.upgrade("2"); err != nil {
				t.Errorf("helm upgrade: %v", err)
			}
			h.uninstall()
			h.wantGone(kube, true)
		})
	}
}

// deployment returns the Deployment web, once its controller has seen it.
func (p *plugin) deployment(kube kubernetes.Interface) *appsv1.Deployment {
	p.Helper()
	var live *appsv1.Deployment
	p.eventually("the Deployment controller", func() bool {
		var err error
		if live, err = kube.AppsV1().Deployments(p.namespace).Get(p.Context(), "web", metav1.GetOptions{}); err != nil {
			p.Fatal(err)
		}
		return live.Status.ObservedGeneration == live.Generation && live.Annotations[v1.AnnotationAdoptableBy] == ""
	})
	return live
}

// runDisturbed runs the plugin while the other tool writes before each of its writes.
func (f *faultyProxy) runDisturbed(p *plugin, args ...string) result {
	p.Helper()
	f.mu.Lock()
	f.fault, f.every, f.writes = disturbed, true, nil
	f.mu.Unlock()
	r := p.runWith(f.kubeconfig, nil, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every = false
	return r
}
