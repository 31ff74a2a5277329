// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	// externalMetrics registers the API of external metrics, which the test serves itself, as an adapter does.
	externalMetrics = `
apiVersion: v1
kind: Service
metadata: {name: adapter, namespace: shop}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: adapter, namespace: shop, port: %s}
`
	byQueue = `{type: External, external: {metric: {name: %s}, target: {type: AverageValue, averageValue: "10"}}}`
	// ownScaler lets Fairlead make the autoscaler.
	ownScaler = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: own, namespace: shop}
spec:
  image: registry.example.com/own:1
  autoscaling: {minReplicas: 0, maxReplicas: 5, metrics: [` + byQueue + `]}
`
	// foreignScaler leaves the number of pods open, and another party makes an autoscaler for the Deployment, as KEDA does.
	foreignScaler = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: foreign, namespace: shop}
spec: {image: "registry.example.com/foreign:1"}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: keda-hpa-foreign, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: foreign}
  minReplicas: 1
  maxReplicas: 5
  metrics: [` + byQueue + `]
`
	// scaledApplication is scaled itself, by its subresource scale. It leaves replicas out, as Git does.
	scaledApplication = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: scaled, namespace: shop}
spec: {image: "registry.example.com/scaled:1"}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaled, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps.fairlead.dev/v1, kind: Application, name: scaled}
  minReplicas: 1
  maxReplicas: 5
  metrics: [` + byQueue + `]
`
)

// queues are the lengths of queues, by the name of their metric, and serve as external metrics.
type queues struct {
	mu      sync.Mutex
	lengths map[string]int
}

func (q *queues) set(name string, length int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lengths[name] = length
}

// ServeHTTP answers what an autoscaler asks: which metrics there are, and the value of one.
func (q *queues) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const group, version = "external.metrics.k8s.io", "external.metrics.k8s.io/v1beta1"
	name := path.Base(r.URL.Path)
	q.mu.Lock()
	length, found := q.lengths[name]
	q.mu.Unlock()
	var answer any
	switch {
	case r.URL.Path == "/apis/"+version:
		answer = metav1.APIResourceList{GroupVersion: version, APIResources: []metav1.APIResource{
			{Name: "queue", Namespaced: true, Kind: "ExternalMetricValueList", Verbs: metav1.Verbs{"get"}},
		}}
	case strings.HasPrefix(r.URL.Path, "/apis/"+version+"/namespaces/"+team+"/") && found:
		answer = map[string]any{"kind": "ExternalMetricValueList", "apiVersion": version, "metadata": map[string]any{}, "items": []any{
			map[string]any{"metricName": name, "metricLabels": map[string]any{}, "timestamp": metav1.Now(), "value": strconv.Itoa(length)},
		}}
	default:
		http.Error(w, "nothing of "+group+" is at "+r.URL.Path, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// TestScalers lets Kubernetes' own autoscaler scale by external metrics: by the autoscaler that Fairlead makes, down to zero and
// back; by one of another party, which switches the Deployment off and on besides, as KEDA does; and an Application by its own
// subresource.
func TestScalers(t *testing.T) {
	l := newLab(t, controlplane.WithFlag(controlplane.KubeControllerManager, "--horizontal-pod-autoscaler-sync-period=1s"),
		controlplane.WithFlag(controlplane.KubeControllerManager, "--horizontal-pod-autoscaler-downscale-stabilization=1s"))
	q := &queues{lengths: map[string]int{"own": 30, "foreign": 30, "scaled": 30}}
	server := httptest.NewTLSServer(q)
	l.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	l.namespaces(team)
	l.apply(fmt.Sprintf(externalMetrics, address.Port()))
	l.eventually("the external metrics are served", func(ctx context.Context) (bool, string) {
		answer, err := l.kube.CoreV1().RESTClient().Get().AbsPath("/apis/external.metrics.k8s.io/v1beta1/namespaces/" + team + "/own").Do(ctx).Raw()
		return err == nil, fmt.Sprint(string(answer), err)
	})
	l.controller()
	l.apply(fmt.Sprintf(ownScaler, "own"))
	l.apply(fmt.Sprintf(foreignScaler, "foreign"))
	l.apply(fmt.Sprintf(scaledApplication, "scaled"))

	t.Run("own", func(t *testing.T) {
		l := l.sub(t)
		l.waitReplicas("own", 3)
		q.set("own", 0)
		l.waitReplicas("own", 0)
		l.waitCondition("own", "Ready", "True", "ScaledToZero")
		// A new image while there are no pods does not make any.
		l.patch("own", `{"spec":{"image":"registry.example.com/own:2"}}`)
		l.waitCondition("own", "Ready", "True", "ScaledToZero")
		q.set("own", 20)
		l.waitReplicas("own", 2)
		l.waitReady("own")
	})
	t.Run("foreign", func(t *testing.T) {
		l := l.sub(t)
		l.waitReplicas("foreign", 3)
		l.waitReady("foreign")
		// Nothing is left to do, so the other party switches it off, and the autoscaler leaves it so.
		l.scale("foreign", 0)
		l.waitCondition("foreign", "Ready", "True", "ScaledToZero")
		l.patch("foreign", `{"spec":{"image":"registry.example.com/foreign:2"}}`)
		l.waitCondition("foreign", "Ready", "True", "ScaledToZero")
		l.waitReplicas("foreign", 0)
		q.set("foreign", 40)
		l.scale("foreign", 1)
		l.waitReplicas("foreign", 4)
		l.waitReady("foreign")
	})
	t.Run("application", func(t *testing.T) {
		l := l.sub(t)
		// The API server has no scale of a custom resource without replicas, so the number has to be there once.
		l.eventually("the autoscaler says what it lacks", func(ctx context.Context) (bool, string) {
			autoscaler, err := l.kube.AutoscalingV2().HorizontalPodAutoscalers(team).Get(ctx, "scaled", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			saw := fmt.Sprint(autoscaler.Status.Conditions)
			return strings.Contains(saw, `the spec replicas field ".spec.replicas" does not exist`), saw
		})
		l.scaleApplication("scaled", 1)
		l.waitReplicas("scaled", 3)
		l.apply(fmt.Sprintf(scaledApplication, "scaled"))
		q.set("scaled", 50)
		l.waitReplicas("scaled", 5)
		l.waitReady("scaled")
		if replicas, _, err := unstructured.NestedInt64(l.application(t.Context(), "scaled").Object, "spec", "replicas"); replicas != 5 {
			t.Errorf("the Application asks for %d pods (%v), want 5", replicas, err)
		}
	})
}

// sub is the lab for a subtest.
func (l *lab) sub(t testing.TB) *lab {
	copied := *l
	copied.TB = t
	return &copied
}

// waitReplicas waits until the Deployment asks for a number of pods, and has them.
func (l *lab) waitReplicas(name string, want int) {
	l.Helper()
	l.eventually(fmt.Sprintf("%s has %d pods", name, want), func(ctx context.Context) (bool, string) {
		deployment, err := l.kube.AppsV1().Deployments(team).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		saw := fmt.Sprintf("wants %d, has %d, ready %d", *deployment.Spec.Replicas, deployment.Status.Replicas, deployment.Status.ReadyReplicas)
		return int(*deployment.Spec.Replicas) == want && int(deployment.Status.Replicas) == want && int(deployment.Status.ReadyReplicas) == want, saw
	})
}

// scale writes the number of pods through the subresource, as an external scaler does.
func (l *lab) scale(name string, replicas int32) {
	l.Helper()
	_, err := l.kube.AppsV1().Deployments(team).UpdateScale(l.Context(), name, &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
	}, metav1.UpdateOptions{FieldManager: "keda"})
	if err != nil {
		l.Fatal(err)
	}
}

// scaleApplication sends the patch that kubectl scale sends.
func (l *lab) scaleApplication(name string, replicas int) {
	l.Helper()
	err := l.kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath("/apis/apps.fairlead.dev/v1/namespaces", team, "applications", name, "scale").
		Body(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)).Do(l.Context()).Error()
	if err != nil {
		l.Fatal(err)
	}
}
