// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pictures = flag.String("pictures", "", "A `directory` for pictures of the dashboards.")

// pictured are the Applications of the pictures, beside orders.
const pictured = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web, namespace: shop}
spec: {image: "registry.example.com/web:1", replicas: 6, minReadySeconds: 5}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: catalog, namespace: shop}
spec: {image: "registry.example.com/catalog:1", replicas: 4, podMetadata: {annotations: {simulate.fairlead.dev/behavior: slow-start}}}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: checkout, namespace: shop}
spec: {image: "registry.example.com/checkout:1", replicas: 3, progressDeadlineSeconds: 30, rollback: {policy: OnFailure}}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: payments, namespace: shop}
spec: {image: "registry.example.com/payments:1", replicas: 2}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: mail, namespace: shop}
spec: {image: "registry.example.com/mail:1", replicas: 2, progressDeadlineSeconds: 20}
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: search, namespace: shop}
spec:
  image: registry.example.com/search:1
  replicas: 3
  env: [{name: KEY, valueFrom: {secretKeyRef: {name: search, key: key}}}]
`

// timedChange is what a user does at a time of the pictures.
type timedChange struct {
	after time.Duration
	do    func()
}

// TestDashboards draws the dashboards over the series of a few minutes in which much happens, with the panels of Grafana's
// library of components. make dashboards runs it; TestPrometheus looks at the queries.
func TestDashboards(t *testing.T) {
	if *pictures == "" {
		t.Skip("make dashboards says where the pictures go")
	}
	m := newMonitoring(t)
	webhooks := m.addController("fairlead-controller-6c9f7d5b84-4xqzt")
	m.addController("fairlead-controller-6c9f7d5b84-9k2wp")
	m.apply(monitored)
	m.waitReady("orders")
	p := m.prometheus(scrapeInterval)
	m.bind(monitoringNamespace, "prometheus", "fairlead-metrics-reader")
	p.waitTargets(fairleadPool, 2, "up", "")

	began := time.Now()
	for _, change := range m.changes(webhooks) {
		m.eventually(fmt.Sprintf("%s have passed", change.after), func(context.Context) (bool, string) {
			return time.Since(began) >= change.after, ""
		})
		change.do()
	}
	// Without the first moments, which dwarf everything after them.
	from := began.Add(30 * time.Second)
	for _, dashboard := range dashboards {
		p.draw(dashboard.of(t, m.shipped), from, filepath.Join(*pictures, "dashboard-"+dashboard.name+".png"))
	}
}

// changes are a rollout every few seconds, and some mistakes. The last one waits for the series to end.
func (m *monitoring) changes(webhooks string) []timedChange {
	m.Helper()
	change := func(name, patch string) func() {
		return func() { m.review(webhooks, "web:1", true); m.patch(name, patch) }
	}
	image := func(name, tag, behavior string) func() {
		const patch = `{"spec":{"image":"registry.example.com/%s:%s","podMetadata":{"annotations":{"simulate.fairlead.dev/behavior":%q}}}}`
		return change(name, fmt.Sprintf(patch, name, tag, behavior))
	}
	const slow = "slow-start"
	return []timedChange{
		{0, func() { m.apply(pictured) }},
		{35 * time.Second, change("web", `{"spec":{"image":"registry.example.com/web:2"}}`)},
		{60 * time.Second, image("catalog", "2", slow)},
		{75 * time.Second, m.createSecret},
		{90 * time.Second, image("checkout", "2", "image-pull-error")},
		{110 * time.Second, change("payments", `{"spec":{"reconcilePolicy":"Observe"}}`)},
		{120 * time.Second, m.drift},
		{130 * time.Second, func() { m.review(webhooks, "no image", false) }},
		{140 * time.Second, image("orders", "2", slow)},
		{165 * time.Second, change("web", `{"spec":{"replicas":9}}`)},
		{185 * time.Second, image("mail", "2", "crash-loop")},
		{200 * time.Second, change("web", `{"spec":{"image":"registry.example.com/web:3"}}`)},
		{235 * time.Second, image("catalog", "3", "readiness-failing")},
		{265 * time.Second, image("catalog", "4", slow)},
		{290 * time.Second, change("web", `{"spec":{"replicas":5}}`)},
		{310 * time.Second, image("orders", "3", slow)},
		{340 * time.Second, func() {}},
	}
}

// createSecret is what search waits for.
func (m *monitoring) createSecret() {
	m.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "search"}, StringData: map[string]string{"key": "value"}}
	if _, err := m.kube.CoreV1().Secrets(team).Create(m.Context(), secret, metav1.CreateOptions{}); err != nil {
		m.Fatal(err)
	}
}

// drift changes a child that Fairlead only observes.
func (m *monitoring) drift() {
	m.Helper()
	_, err := m.kube.AppsV1().Deployments(team).Patch(m.Context(), "payments", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{})
	if err != nil {
		m.Fatal(err)
	}
}
