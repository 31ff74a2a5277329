// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	fluxNamespace = "flux-system"
	// sourceCRD stands for a kind of the source-controller, which does not run here: the test says itself where the files are.
	sourceCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  names: {kind: %[1]s, plural: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	// defaultClass makes the webhook write a field of each new Application that Git does not have.
	defaultClass = `
apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata:
  name: standard
  annotations: {applicationclass.apps.fairlead.dev/is-default: "true"}
spec: {}
`
	// fluxSecret is what the Application of the tests waits for.
	fluxSecret = `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: canary}}`
	goodImage  = "registry.example.com/web:1"
	badImage   = "registry.example.com/simulate/image-pull-error:2"
	// calm is longer than Fairlead puts off any write.
	calm = 3 * time.Second
)

var (
	artifacts   = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "externalartifacts"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// flux is a controller of Flux with one object that it reconciles, and a server that has the files of a source.
type flux struct {
	*lab
	agent    string                      // of its requests
	resource schema.GroupVersionResource // of the object
	object   string                      // its name
	server   *httptest.Server

	mu      sync.Mutex
	archive map[string][]byte // by path
	asked   int               // reconciliations that were asked for
}

// newFlux starts a controller with the rights that Flux gives it, beside Fairlead with its webhooks.
func newFlux(l *lab, agent, crds string, resource schema.GroupVersionResource, object string) *flux {
	l.Helper()
	f := &flux{lab: l, agent: agent, resource: resource, object: object, archive: map[string][]byte{}}
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	l.Cleanup(f.server.Close)
	for kind, plural := range map[string]string{
		"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Bucket": "buckets", "HelmChart": "helmcharts",
		"HelmRepository": "helmrepositories", "ExternalArtifact": artifacts.Resource,
	} {
		l.apply(fmt.Sprintf(sourceCRD, kind, plural))
	}
	l.cluster.InstallCRDs(l, crds)
	l.namespaces(fluxNamespace, team)
	l.account(fluxNamespace, agent, "cluster-admin")
	command := l.neighbour(agent, "--metrics-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0", "--feature-gates=ExternalArtifact=true")
	command.Env = append(command.Env, "KUBECONFIG="+l.kubeconfigOf(fluxNamespace, agent), "RUNTIME_NAMESPACE="+fluxNamespace)
	l.start(command).waitFor(l, "Starting workers")

	l.controller("--webhook-bind-address=127.0.0.1:0", "--webhook-url=https://127.0.0.1:0").waitFor(l, "Registered the webhooks")
	l.apply(defaultClass)
	return f
}

func (f *flux) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	archive, found := f.archive[r.URL.Path]
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(archive)
}

// offer offers files as a revision of the source apps.
func (f *flux) offer(revision string, files map[string]string) {
	f.Helper()
	archive, err := pack(files)
	if err != nil {
		f.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	path := "/" + sum + ".tar.gz"
	f.mu.Lock()
	f.archive[path] = archive
	f.mu.Unlock()

	f.apply(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, metadata: {name: apps, namespace: flux-system}}`)
	resource := f.objects.Resource(artifacts).Namespace(fluxNamespace)
	source, err := resource.Get(f.Context(), "apps", metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	source.Object["status"] = map[string]any{
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored", "lastTransitionTime": now}},
		"artifact": map[string]any{
			"url": f.server.URL + path, "path": path, "revision": revision, "digest": "sha256:" + sum, "size": int64(len(archive)), "lastUpdateTime": now,
		},
	}
	if _, err := resource.UpdateStatus(f.Context(), source, metav1.UpdateOptions{FieldManager: person}); err != nil {
		f.Fatal(err)
	}
}

// pack makes a compressed archive.
func pack(files map[string]string) ([]byte, error) {
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	writer := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			return nil, err
		}
		if _, err := writer.Write([]byte(files[name])); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

// get reads the object that Flux reconciles.
func (f *flux) get(ctx context.Context) *unstructured.Unstructured {
	f.Helper()
	object, err := f.objects.Resource(f.resource).Namespace(fluxNamespace).Get(ctx, f.object, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return object
}

// waitFlux waits until the object has a condition, about its present generation.
func (f *flux) waitFlux(kind, status, reason, message string) {
	f.Helper()
	f.eventually(fmt.Sprintf("%s has %s=%s %s: %s", f.resource.Resource, kind, status, reason, message), func(ctx context.Context) (bool, string) {
		object := f.get(ctx)
		condition := conditionOf(object, kind)
		done := string(condition.Status) == status && condition.Reason == reason && strings.Contains(condition.Message, message) &&
			(status == "Unknown" || condition.ObservedGeneration == object.GetGeneration())
		return done, fmt.Sprint(object.Object["status"])
	})
}

// reconcile does what flux reconcile does, and waits until that has an end.
func (f *flux) reconcile() {
	f.Helper()
	f.asked++
	asked := fmt.Sprint(f.asked)
	_, err := f.objects.Resource(f.resource).Namespace(fluxNamespace).Patch(f.Context(), f.object, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"`+asked+`"}}}`), metav1.PatchOptions{FieldManager: "flux"})
	if err != nil {
		f.Fatal(err)
	}
	f.eventually("the reconciliation ends", func(ctx context.Context) (bool, string) {
		object := f.get(ctx)
		handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
		return handled == asked && conditionOf(object, "Ready").Status != metav1.ConditionUnknown, fmt.Sprint(object.Object["status"])
	})
}

// wantNoWrites reconciles twice, and wants that neither Flux nor Fairlead writes an object of the team. Flux sees by a dry run
// whether it would.
func (f *flux) wantNoWrites(when string) {
	f.Helper()
	f.waitRest()
	cursor := f.cluster.AuditCursor(f)
	f.reconcile()
	f.reconcile()
	f.waitRest()
	dryRuns := 0
	for _, event := range cursor.Events(f, controlplane.InNamespace(team), controlplane.Writes()) {
		switch {
		case strings.Contains(event.RequestURI, "dryRun=All"):
			dryRuns++
		case strings.HasPrefix(event.UserAgent, f.agent), strings.HasPrefix(event.UserAgent, "fairlead-controller"):
			f.Errorf("%s, a reconciliation wrote: %s", when, event)
		}
	}
	if dryRuns < 2 {
		f.Errorf("%s, Flux looked %d times for differences, want at least 2", when, dryRuns)
	}
}

// waitRest waits until Fairlead has written nothing for a while.
func (l *lab) waitRest() {
	l.Helper()
	cursor := l.cluster.AuditCursor(l)
	written, changed := 0, time.Now()
	l.eventually("Fairlead is at rest", func(context.Context) (bool, string) {
		events := cursor.Events(l, controlplane.FromUserAgent("fairlead-controller"), controlplane.InNamespace(team), controlplane.Writes())
		if len(events) != written {
			written, changed = len(events), time.Now()
		}
		return time.Since(changed) > calm, fmt.Sprint(events)
	})
}

// wantReady compares the condition Ready of an Application.
func (l *lab) wantReady(name string, want metav1.ConditionStatus) {
	l.Helper()
	if ready := conditionOf(l.application(l.Context(), name), "Ready"); ready.Status != want {
		l.Errorf("Application %s has Ready %s (%s: %s), want %s", name, ready.Status, ready.Reason, ready.Message, want)
	}
}

// deployment reads the Deployment of an Application.
func (l *lab) deployment(name string) *unstructured.Unstructured {
	l.Helper()
	deployment, err := l.objects.Resource(deployments).Namespace(team).Get(l.Context(), name, metav1.GetOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return deployment
}

// wantImage compares the image of a Deployment.
func (l *lab) wantImage(name, want string) {
	l.Helper()
	containers, _, _ := unstructured.NestedSlice(l.deployment(name).Object, "spec", "template", "spec", "containers")
	for _, item := range containers {
		if container, _ := item.(map[string]any); container["image"] == want {
			return
		}
	}
	l.Errorf("the Deployment has the containers %v, want the image %s", containers, want)
}
