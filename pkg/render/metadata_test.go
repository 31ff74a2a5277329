// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

func TestMetadata(t *testing.T) {
	app := application(t, `
ports: [{name: http, containerPort: 8080}]
service:
  annotations:
    cloud.example.com/load-balancer: internal
    apps.fairlead.dev/rendered-hash: forged
    kubectl.kubernetes.io/last-applied-configuration: "{}"
podMetadata:
  labels:
    team: shop
    app.kubernetes.io/instance: wanted-on-the-pods
    app.kubernetes.io/name: wanted-too
    app.kubernetes.io/managed-by: Helm
    apps.fairlead.dev/application: forged
    apps.fairlead.dev/other: forged
  annotations:
    prometheus.io/scrape: "true"
    apps.fairlead.dev/config-hash: forged
`)
	app.Labels = map[string]string{
		"team":                                "shop",
		"tags.example.com/cost-center":        "",
		"app.kubernetes.io/component":         "frontend",
		"app.kubernetes.io/name":              "forged",
		"app.kubernetes.io/managed-by":        "Helm",
		"app.kubernetes.io/instance":          "release",
		"argocd.argoproj.io/instance":         "release",
		"kustomize.toolkit.fluxcd.io/name":    "release",
		"helm.toolkit.fluxcd.io/name":         "release",
		"helm.sh/chart":                       "web-1.2",
		"apps.fairlead.dev/application":       "forged",
		"apps.fairlead.dev/something":         "forged",
		"not-apps.fairlead.dev/is-not-theirs": "kept",
	}
	app.Annotations = map[string]string{"note": "never copied"}
	service := ofKind(t, rendered(t, app), child.Service)[0]

	wantYAML(t, "labels of a child", part(t, service, "metadata.labels"), `
team: shop
tags.example.com/cost-center: ""
app.kubernetes.io/component: frontend
not-apps.fairlead.dev/is-not-theirs: kept
app.kubernetes.io/name: web
app.kubernetes.io/managed-by: fairlead
apps.fairlead.dev/application: web`)

	annotations := service.GetAnnotations()
	if annotations["cloud.example.com/load-balancer"] != "internal" || len(annotations) != 2 {
		t.Errorf("annotations of the Service: got %v, want that of the cloud and the hash", annotations)
	}
	if hash := annotations["apps.fairlead.dev/rendered-hash"]; hash == "" || hash == "forged" {
		t.Errorf("hash: got %q, want a hash", hash)
	}

	wantYAML(t, "owner", part(t, service, "metadata.ownerReferences"), `
- apiVersion: apps.fairlead.dev/v1
  kind: Application
  name: web
  uid: 11111111-2222-3333-4444-555555555555
  controller: true
  blockOwnerDeletion: true`)

	wantYAML(t, "metadata of the pods", fragment(t, rendered(t, app), child.Deployment, "spec.template.metadata"), `
labels:
  team: shop
  app.kubernetes.io/instance: wanted-on-the-pods
  app.kubernetes.io/name: wanted-too
  app.kubernetes.io/managed-by: Helm
  apps.fairlead.dev/application: web
annotations:
  prometheus.io/scrape: "true"`)
}

func TestSelectorIsTheSameEverywhere(t *testing.T) {
	app := application(t, `
replicas: 2
ports: [{name: http, containerPort: 8080}]
networkPolicy: {}
podMetadata: {labels: {apps.fairlead.dev/application: forged}}
`)
	children := rendered(t, app)
	const want = `apps.fairlead.dev/application: web`
	for _, test := range []struct {
		kind child.Kind
		path string
	}{
		{child.Deployment, "spec.selector.matchLabels"},
		{child.Service, "spec.selector"},
		{child.PodDisruptionBudget, "spec.selector.matchLabels"},
		{child.NetworkPolicy, "spec.podSelector.matchLabels"},
		{child.Deployment, "spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels"},
	} {
		wantYAML(t, test.kind.Kind+" "+test.path, fragment(t, children, test.kind, test.path), want)
	}
	if got := render.Selector(app); len(got) != 1 || got["apps.fairlead.dev/application"] != "web" {
		t.Errorf("Selector: got %v", got)
	}
}
