// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	certutil "k8s.io/client-go/util/cert"

	"fairlead.dev/fairlead/hack/e2e/internal/node"
	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	traefikNamespace = "traefik"
	webHost          = "web.example.com"
	gatewayCRDs      = "sigs.k8s.io/gateway-api"
	// byIngress and byHTTPRoute are the same route, in the one API and in the other.
	byIngress   = `{"name":"public","type":"Ingress","hostnames":["` + webHost + `"],"ingressClassName":"traefik","tls":{"secretName":"web-tls"}}`
	byHTTPRoute = `{"name":"public","type":"HTTPRoute","hostnames":["` + webHost + `"],"parentRefs":[{"name":"shared","namespace":"traefik"}]}`
	// secured redirects to HTTPS, and replaces the prefix: the workload answers at / alone.
	secured = `{"name":"secured","type":"HTTPRoute","hostnames":["secured.example.com"],"parentRefs":[{"name":"shared","namespace":"traefik"}],"tls":{"redirect":true},"paths":[{"path":"/shop","rewritePrefix":"/"}]}`
)

// asked is a URL, and the client that asks it.
type asked struct {
	client *http.Client
	url    string
}

func (s *story) traefikSteps() []steps.Step {
	t := &traefik{story: s}
	return []steps.Step{
		{
			Title:    "Start Traefik beside the operator",
			Expected: "a Gateway that is Programmed, and an IngressClass that is the cluster's default",
			Timeout:  2 * time.Minute,
			Run:      t.start,
		},
		{
			Title:    "Route requests through Traefik",
			Expected: "answers by an Ingress over HTTP and HTTPS; by an HTTPRoute a redirect to HTTPS, and a path that is rewritten",
			Timeout:  2 * time.Minute,
			Run:      t.route,
		},
		{
			Title:    "Switch the route between Ingress and HTTPRoute, three times each way",
			Expected: "not one failed request",
			Timeout:  4 * time.Minute,
			Run:      t.switchKinds,
		},
		{
			Title:    "Roll out, roll back and scale down behind Traefik",
			Expected: "not one failed request",
			Timeout:  6 * time.Minute,
			Run:      t.change,
		},
		{
			Title:    "Follow docs/tutorial.md, with an Ingress controller",
			Expected: "what the tutorial shows below each command",
			Timeout:  5 * time.Minute,
			Run:      s.followTutorial,
		},
	}
}

// traefik is the story of an Application behind Traefik.
type traefik struct {
	*story
	client *http.Client
}

// start installs the Gateway API and starts Traefik, for Ingresses and for Gateways.
func (t *traefik) start(ctx context.Context) error {
	began := time.Now()
	crds, err := t.gatewayCRDs(ctx)
	if err != nil {
		return err
	}
	read, err := objects.ReadDir(crds)
	if err != nil {
		return err
	}
	if err := t.applyAll(ctx, read); err != nil {
		return err
	}
	if err := t.applyManifest(ctx, "traefik.yaml"); err != nil {
		return err
	}
	certificate, key, err := certutil.GenerateSelfSignedCertKey(webHost, nil, []string{"*.example.com"})
	if err != nil {
		return err
	}
	for secret, where := range map[string]string{"shared-tls": traefikNamespace, "web-tls": namespace} {
		_, err := t.kube.CoreV1().Secrets(where).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: secret}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	err = t.startBeside(ctx, traefikName, traefikNamespace,
		"--global.checknewversion=false", "--global.sendanonymoususage=false",
		"--entrypoints.web.address="+net.JoinHostPort(node.IP, "80"),
		"--entrypoints.websecure.address="+net.JoinHostPort(node.IP, "443"), "--entrypoints.websecure.http.tls=true",
		"--providers.kubernetesingress=true", "--providers.kubernetesingress.ingressendpoint.ip="+node.IP,
		"--providers.kubernetesgateway=true", "--providers.kubernetesgateway.statusaddress.ip="+node.IP)
	if err != nil {
		return err
	}
	t.entry, t.client = node.IP, newEntryClient(node.IP, certificate)
	gateways := schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}
	client, err := objects.NewClient(t.config, fieldManager)
	if err != nil {
		return err
	}
	err = t.await(ctx, "the Gateway to be Programmed", func(ctx context.Context) (bool, string, error) {
		gateway, err := client.Resource(gateways).Namespace(traefikNamespace).Get(ctx, "shared", metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		status, err := gateway.MarshalJSON()
		return strings.Contains(string(status), `"reason":"Programmed","status":"True"`), string(status), err
	})
	if err != nil {
		return err
	}
	t.out.Good("Traefik has programmed the Gateway (%s)", steps.Since(began))
	return nil
}

// gatewayCRDs is where Go keeps the CRDs of the Gateway API.
func (t *traefik) gatewayCRDs(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", gatewayCRDs)
	cmd.Dir = t.options.root
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the source of %s: %w", gatewayCRDs, err)
	}
	// A copy without the kustomization beside them.
	from, to := filepath.Join(strings.TrimSpace(string(output)), "config", "crd", "standard"), filepath.Join(t.options.node(), "gateway-api")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(from, "gateway.networking.k8s.io_*s.yaml"))
	if err != nil || len(files) == 0 {
		return "", errors.Join(err, fmt.Errorf("no CRDs in %s", from))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), content, 0o600); err != nil {
			return "", err
		}
	}
	return to, nil
}

func (t *traefik) setRoutes(ctx context.Context, routes ...string) error {
	if err := t.patch(ctx, `{"spec":{"routes":[`+strings.Join(routes, ",")+`]}}`); err != nil {
		return err
	}
	return t.awaitReady(ctx, webName)
}

// route asks by each kind of route.
func (t *traefik) route(ctx context.Context) error {
	if err := t.setRoutes(ctx, byIngress, secured); err != nil {
		return err
	}
	for _, url := range []string{"http://" + webHost + "/", "https://" + webHost + "/", "https://secured.example.com/shop/"} {
		began := time.Now()
		err := t.await(ctx, "an answer of "+url, func(ctx context.Context) (bool, string, error) {
			answer, err := ask(ctx, t.client, url)
			return err == nil && answer == "1", answer, err
		})
		if err != nil {
			return err
		}
		t.out.Good("%s answered version 1 (%s)", url, steps.Since(began))
	}
	const plain, target = "http://secured.example.com/shop/", "https://secured.example.com/shop/"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, plain, http.NoBody)
	if err != nil {
		return err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if location := response.Header.Get("Location"); response.StatusCode != http.StatusMovedPermanently || location != target {
		return fmt.Errorf("%s answered %s to %q, want a redirect to %s", plain, response.Status, location, target)
	}
	t.out.Good("%s redirects to %s", plain, target)
	return nil
}

// switchKinds changes the kind of the route, again and again, while clients ask.
func (t *traefik) switchKinds(ctx context.Context) error {
	const times = 3
	if err := t.setRoutes(ctx, byIngress); err != nil {
		return err
	}
	plain := asked{t.client, "http://" + webHost + "/"}
	for range times {
		for _, to := range []struct{ kind, route string }{{"HTTPRoute", byHTTPRoute}, {"Ingress", byIngress}} {
			err := t.during(ctx, plain, "switch to "+to.kind, func(ctx context.Context, _ *answers) error {
				if err := t.setRoutes(ctx, to.route); err != nil {
					return err
				}
				return t.awaitOnly(ctx, to.kind)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitOnly waits until the route is of the kind, and the one of the other kind is gone.
func (t *traefik) awaitOnly(ctx context.Context, kind string) error {
	client, err := objects.NewClient(t.config, fieldManager)
	if err != nil {
		return err
	}
	gone := schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	if kind == "Ingress" {
		gone = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"}
	}
	return t.await(ctx, "the "+gone.Resource+" to be gone", func(ctx context.Context) (bool, string, error) {
		_, err := client.Resource(gone).Namespace(namespace).Get(ctx, webName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, "", nil
		}
		return false, "it is there", err
	})
}

// change rolls out, rolls back and scales down while clients ask, by an Ingress and by an HTTPRoute.
func (t *traefik) change(ctx context.Context) error {
	plain := asked{t.client, "http://" + webHost + "/"}
	for _, by := range []struct{ kind, route string }{{"Ingress", byIngress}, {"HTTPRoute", byHTTPRoute}} {
		if err := t.setRoutes(ctx, by.route); err != nil {
			return err
		}
		if err := t.awaitOnly(ctx, by.kind); err != nil {
			return err
		}
		for _, change := range []struct {
			what, patch, version string
			pods                 int
			rolledBack           bool
		}{
			{"a rollout", `{"spec":{"replicas":4,"image":"` + workloadNextImage + `"}}`, "2", 4, false},
			{"an automatic rollback", `{"spec":{"image":"localhost/absent:1","progressDeadlineSeconds":10,"rollback":{"policy":"OnFailure"}}}`, "2", 4, true},
			{"a rollback by the user", `{"spec":{"image":"` + workloadImage + `"}}`, "1", 4, false},
			{"a scale-down from 4 to 1", `{"spec":{"replicas":1}}`, "1", 1, false},
		} {
			err := t.during(ctx, plain, change.what+" by "+by.kind, func(ctx context.Context, _ *answers) error {
				if err := t.patch(ctx, change.patch); err != nil {
					return err
				}
				if change.rolledBack {
					if err := t.awaitRolledBack(ctx); err != nil {
						return err
					}
				} else if err := t.awaitReady(ctx, webName); err != nil {
					return err
				}
				return t.awaitPods(ctx, change.pods)
			})
			if err != nil {
				return err
			}
			answer, err := ask(ctx, t.client, plain.url)
			if err != nil {
				return err
			}
			if answer != change.version {
				return fmt.Errorf("after %s, version %s answers, want %s", change.what, answer, change.version)
			}
		}
	}
	return nil
}

func (t *traefik) awaitRolledBack(ctx context.Context) error {
	return t.await(ctx, "the rollback", func(ctx context.Context) (bool, string, error) {
		application, err := t.fairlead.AppsV1().Applications(namespace).Get(ctx, webName, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		rolledBack := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionRolledBack)
		if rolledBack == nil {
			return false, "no condition RolledBack", nil
		}
		return rolledBack.Status == metav1.ConditionTrue && application.Status.ObservedGeneration == application.Generation, rolledBack.Message, nil
	})
}

// awaitPods waits until there are just so many pods, all ready.
func (s *story) awaitPods(ctx context.Context, want int) error {
	return s.await(ctx, fmt.Sprintf("%d pods", want), func(ctx context.Context) (bool, string, error) {
		pods, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
		ready := 0
		for i := range pods {
			if podIsReady(&pods[i]) {
				ready++
			}
		}
		return len(pods) == want && ready == want, fmt.Sprintf("%d pods, %d ready", len(pods), ready), err
	})
}
