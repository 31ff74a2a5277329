// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/internal/metrics"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	// applicationMetrics renders the component alone.
	applicationMetrics = "hack/artifacts/testdata/application-metrics"
	metricPrefix       = "kube_fairlead_application"
	team               = "shop"
)

var applications = schema.GroupVersionResource{Group: "apps.fairlead.dev", Version: "v1", Resource: "applications"}

// states are Applications of a team, each in a state of its own once changes are made. A finalizer keeps one in deletion.
const states = `
apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: standard}
spec: {}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: ready, namespace: shop}
spec: {image: "registry.example.com/web:1", replicas: 2, className: standard}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: waiting, namespace: shop}
spec:
  image: registry.example.com/web:1
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: no-such-secret, key: password}}}]
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: rolled-back, namespace: shop}
spec: {image: "registry.example.com/web:1", replicas: 1, progressDeadlineSeconds: 5, rollback: {policy: OnFailure}}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: suspended, namespace: shop}
spec: {image: "registry.example.com/web:1", replicas: 1}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: crashing, namespace: shop}
spec: {image: "registry.example.com/simulate/crash-loop:1", replicas: 2}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: deleting, namespace: shop, finalizers: [example.com/hold]}
spec: {image: "registry.example.com/web:1", replicas: 1}
`

// TestKubeStateMetrics runs kube-state-metrics with the shipped configuration, under a ServiceAccount that has the shipped
// ClusterRole and nothing else.
func TestKubeStateMetrics(t *testing.T) {
	l := newLab(t)
	l.namespaces(team, "monitoring")
	l.controller()
	shipped := l.kustomize(applicationMetrics)
	role := pick(t, shipped, "ClusterRole", "fairlead-application-metrics-reader")
	l.applyObjects(role)
	const account = "kube-state-metrics"
	l.account("monitoring", account, role.GetName())
	cursor := l.cluster.AuditCursor(t)
	url := l.kubeStateMetrics(shipped, l.kubeconfigOf("monitoring", account), "127.0.0.1")

	l.apply(states)
	for _, name := range []string{"ready", "rolled-back", "suspended", "deleting"} {
		l.waitReady(name)
	}
	l.patch("rolled-back", `{"spec":{"image":"registry.example.com/simulate/image-pull-error:2"}}`)
	l.patch("suspended", `{"spec":{"reconcilePolicy":"Suspend"}}`)
	l.delete("deleting")

	one := func(application, metric string, value float64, pairs ...string) func(series) string {
		labels := ownLabels(team, application)
		for i := 0; i < len(pairs); i += 2 {
			labels[pairs[i]] = pairs[i+1]
		}
		key := seriesKey(metricPrefix+"_"+metric, labels)
		return func(all series) string {
			if got, found := all[key]; !found || got != value {
				return fmt.Sprintf("%s is %v (%t), want %v", key, got, found, value)
			}
			return ""
		}
	}
	wanted := []func(series) string{
		one("ready", "condition", 1, "reason", "Ready", "type", "Ready"),
		one("ready", "info", 1, "class", "standard", "image", "registry.example.com/web:1", "reconcile_policy", "Enforce"),
		one("ready", "replicas_desired", 2), one("ready", "replicas", 2), one("ready", "replicas_updated", 2),
		one("ready", "replicas_ready", 2), one("ready", "replicas_available", 2),
		one("ready", "revision", 1), one("ready", "revision_last_healthy", 1),
		one("waiting", "condition", 0, "reason", "ConfigMissing", "type", "Ready"),
		one("waiting", "info", 1, "reconcile_policy", "Enforce"),
		one("rolled-back", "condition", 1, "reason", "RolledBack", "type", "RolledBack"),
		one("rolled-back", "condition", 0, "reason", "RolledBack", "type", "Ready"),
		one("rolled-back", "revision", 1), one("rolled-back", "revision_rolled_back_from", 2),
		one("rolled-back", "replicas_available", 1),
		one("suspended", "info", 1, "image", "registry.example.com/web:1", "reconcile_policy", "Suspend"),
		one("crashing", "problem_pods", 2, "container", "crashing", "reason", "CrashLooping"),
		one("crashing", "replicas_available", 0),
		one("deleting", "condition", 0, "reason", "Deleting", "type", "Ready"),
	}
	var all series
	l.eventually("kube-state-metrics has every state", func(ctx context.Context) (bool, string) {
		all = l.scrape(ctx, url)
		var missing []string
		for _, want := range wanted {
			if problem := want(all); problem != "" {
				missing = append(missing, problem)
			}
		}
		return len(missing) == 0, fmt.Sprintf("%d series, without\n%s", len(all), strings.Join(missing, "\n"))
	})
	l.eventually("the series are those of the Applications, and no others", func(ctx context.Context) (bool, string) {
		all = l.scrape(ctx, url)
		diff := cmp.Diff(l.expected(ctx), all)
		return diff == "", "(-want +got):\n" + diff
	})
	t.Logf("%d series of 6 Applications", len(all))
	for name := range documentedMetrics(l) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(key string) bool { return strings.HasPrefix(key, name+"{") }) {
			t.Errorf("docs/neighbours.md has %s, of which there is no series", name)
		}
	}

	l.patch("deleting", `{"metadata":{"finalizers":null}}`)
	for _, name := range []string{"ready", "waiting", "rolled-back", "suspended", "crashing"} {
		l.delete(name)
	}
	l.eventually("the series are gone with the Applications", func(ctx context.Context) (bool, string) {
		all = l.scrape(ctx, url)
		return len(all) == 0, fmt.Sprintf("%d series, e.g. %v", len(all), slices.Sorted(maps.Keys(all))[:min(3, len(all))])
	})

	requests := 0
	for _, event := range cursor.Events(t, controlplane.FromUserAgent("kube-state-metrics")) {
		if event.Resource == "" {
			continue // The version, and what is served.
		}
		requests++
		if event.Code >= http.StatusBadRequest || event.Verb != "list" && event.Verb != "watch" || event.User != "system:serviceaccount:monitoring:"+account {
			t.Errorf("a request that the ClusterRole is not for: %s as %s", event, event.User)
		}
	}
	if requests == 0 {
		t.Error("the audit log has no request of kube-state-metrics")
	}
}

// kubeStateMetrics starts it as docs/neighbours.md says, with the key of the ConfigMap as a file, and returns where it serves.
func (l *lab) kubeStateMetrics(shipped []*unstructured.Unstructured, kubeconfig, host string) (url string) {
	l.Helper()
	config, _, err := unstructured.NestedString(pick(l, shipped, "ConfigMap", "fairlead-application-metrics").Object, "data", "kube-state-metrics.yaml")
	if err != nil || config == "" {
		l.Fatalf("the ConfigMap has no kube-state-metrics.yaml: %v", err)
	}
	mounted := l.writeFile([]byte(config), l.TempDir(), "etc", "fairlead", "kube-state-metrics.yaml")
	port := l.freePort(host)
	p := l.start(l.neighbour("kube-state-metrics", "--kubeconfig="+kubeconfig, "--custom-resource-state-config-file="+mounted, "--custom-resource-state-only",
		"--host="+host, "--port="+port, "--telemetry-host=127.0.0.1", "--telemetry-port="+l.freePort("127.0.0.1")))
	p.waitFor(l, "Started metrics server")
	return "http://" + host + ":" + port + "/metrics"
}

// series are values by metric and labels.
type series map[string]float64

// seriesKey writes the labels in the order of their names.
func seriesKey(name string, labels map[string]string) string {
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", label, labels[label]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// scrape returns the series about Applications. Two with the same labels, of which Prometheus would take one, are an error.
func (l *lab) scrape(ctx context.Context, url string) series {
	l.Helper()
	body, err := get(ctx, url)
	if err != nil {
		return series{"scrape failed: " + err.Error(): 0} // It may not listen yet.
	}
	families, err := metrics.Parse(body)
	if err != nil {
		l.Fatal(err)
	}
	all := series{}
	for name, family := range families {
		if !strings.HasPrefix(name, metricPrefix) {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			key := seriesKey(name, labels)
			if _, found := all[key]; found {
				l.Errorf("there are two series %s", key)
			}
			all[key] = metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return all
}

func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Close = true // An idle connection would look like a leak.
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return body, err
}

// expected are the series that the Applications in the API server should have: one for each number that they have, and no
// labels but these.
func (l *lab) expected(ctx context.Context) series {
	l.Helper()
	list, err := l.objects.Resource(applications).List(ctx, metav1.ListOptions{})
	if err != nil {
		l.Fatal(err)
	}
	all := series{}
	for i := range list.Items {
		addExpected(all, &list.Items[i])
	}
	return all
}

// ownLabels are the labels that each series has. kube-state-metrics itself adds those of the kind.
func ownLabels(namespace, application string) map[string]string {
	return map[string]string{
		"namespace": namespace, "application": application,
		"customresource_group": applications.Group, "customresource_version": applications.Version, "customresource_kind": "Application",
	}
}

func addExpected(all series, application *unstructured.Unstructured) {
	add := func(metric string, value float64, more map[string]string) {
		labels := ownLabels(application.GetNamespace(), application.GetName())
		maps.Copy(labels, more)
		all[seriesKey(metricPrefix+"_"+metric, labels)] = value
	}
	text := func(object map[string]any, path ...string) string {
		value, _, _ := unstructured.NestedString(object, path...)
		return value
	}
	labels := map[string]string{"reconcile_policy": text(application.Object, "spec", "reconcilePolicy")}
	if image := text(application.Object, "status", "image"); image != "" {
		labels["image"] = image
	}
	if class := text(application.Object, "status", "class", "name"); class != "" {
		labels["class"] = class
	}
	add("info", 1, labels)
	add("created", float64(application.GetCreationTimestamp().Unix()), nil)
	add("generation", float64(application.GetGeneration()), nil)
	for metric, path := range map[string][]string{
		"observed_generation": {"observedGeneration"}, "replicas_desired": {"desiredReplicas"}, "replicas": {"replicas"},
		"replicas_updated": {"updatedReplicas"}, "replicas_ready": {"readyReplicas"}, "replicas_available": {"availableReplicas"},
		"revision": {"revision", "current"}, "revision_last_healthy": {"revision", "lastHealthy"}, "revision_rolled_back_from": {"revision", "rolledBackFrom"},
	} {
		if value, found, _ := unstructured.NestedInt64(application.Object, append([]string{"status"}, path...)...); found {
			add(metric, float64(value), nil)
		}
	}
	conditions, _, _ := unstructured.NestedSlice(application.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		value := 0.0
		if text(condition, "status") == "True" {
			value = 1
		}
		add("condition", value, map[string]string{"type": text(condition, "type"), "reason": text(condition, "reason")})
		changed, _ := time.Parse(time.RFC3339, text(condition, "lastTransitionTime"))
		add("condition_changed", float64(changed.Unix()), map[string]string{"type": text(condition, "type")})
	}
	problems, found, _ := unstructured.NestedSlice(application.Object, "status", "problems")
	if !found {
		add("problem_pods", 0, nil) // So that the metric is there while all is well.
	}
	for _, item := range problems {
		problem, _ := item.(map[string]any)
		labels := map[string]string{"reason": text(problem, "reason")}
		if container := text(problem, "container"); container != "" {
			labels["container"] = container
		}
		pods, _, _ := unstructured.NestedInt64(problem, "pods")
		add("problem_pods", float64(pods), labels)
	}
}

// documentedMetrics are those of docs/neighbours.md.
func documentedMetrics(l *lab) map[string]bool {
	l.Helper()
	found := map[string]bool{}
	for _, name := range regexp.MustCompile("`("+metricPrefix+"_[a-z_]+)`").FindAllStringSubmatch(l.readFile(root, "docs", "neighbours.md"), -1) {
		found[name[1]] = true
	}
	if len(found) < 10 {
		l.Fatalf("docs/neighbours.md has the metrics %v", found)
	}
	return found
}

// application reads an Application of the team, or returns nil.
func (l *lab) application(ctx context.Context, name string) *unstructured.Unstructured {
	l.Helper()
	application, err := l.objects.Resource(applications).Namespace(team).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.Fatal(err)
	}
	return application
}

// waitCondition waits until the status of an Application is about its present generation and has the condition.
func (l *lab) waitCondition(name, kind, status, reason string) *unstructured.Unstructured {
	l.Helper()
	var application *unstructured.Unstructured
	l.eventually(fmt.Sprintf("Application %s: %s=%s %s", name, kind, status, reason), func(ctx context.Context) (bool, string) {
		if application = l.application(ctx, name); application == nil {
			return false, "no Application"
		}
		condition := conditionOf(application, kind)
		observed, _, _ := unstructured.NestedInt64(application.Object, "status", "observedGeneration")
		done := observed == application.GetGeneration() && string(condition.Status) == status && (reason == "" || condition.Reason == reason)
		return done, fmt.Sprint(application.Object["status"])
	})
	return application
}

func (l *lab) waitReady(name string) *unstructured.Unstructured {
	l.Helper()
	return l.waitCondition(name, "Ready", "True", "")
}

// patch changes an Application as kubectl patch does.
func (l *lab) patch(name, body string) {
	l.Helper()
	_, err := l.objects.Resource(applications).Namespace(team).Patch(l.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "kubectl-patch"})
	if err != nil {
		l.Fatalf("patch Application %s: %v", name, err)
	}
}

func (l *lab) delete(name string) {
	l.Helper()
	if err := l.objects.Resource(applications).Namespace(team).Delete(l.Context(), name, metav1.DeleteOptions{}); err != nil {
		l.Fatalf("delete Application %s: %v", name, err)
	}
}
