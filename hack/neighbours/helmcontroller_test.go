// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var helmReleases = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}

const (
	// helmRelease installs a chart with an Application. A failed upgrade stays as it is, and drift is corrected.
	helmRelease = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  interval: 10h
  timeout: 10m
  targetNamespace: shop
  releaseName: web
  chartRef: {kind: ExternalArtifact, name: apps}
  driftDetection: {mode: enabled}
  values: {image: "registry.example.com/web:1"}
`
	chartFile     = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	chartTemplate = `
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
spec:
  image: {{ .Values.image }}
  ports: [{name: http, containerPort: 8080}]
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]
  progressDeadlineSeconds: 5
  rollback: {policy: OnFailure}
`
)

// TestHelmController lets Flux install a chart with an Application, upgrade it to what fails and is rolled back, and then to
// what works.
func TestHelmController(t *testing.T) {
	l := newLab(t)
	const name = "helm-controller"
	crds := filepath.Join(l.moduleDir(name, "github.com/fluxcd/"+name), "config", "crd", "bases")
	f := newFlux(l, name, crds, helmReleases, "web")
	f.offer("1.0.0", map[string]string{"web/Chart.yaml": chartFile, "web/templates/application.yaml": chartTemplate})
	l.apply(helmRelease)
	l.waitCondition("web", "Ready", "False", "ConfigMissing")
	f.waitFlux("Ready", "Unknown", "Progressing", "Running 'install' action")
	l.apply(fluxSecret)
	f.waitFlux("Ready", "True", "InstallSucceeded", "")
	l.wantReady("web", metav1.ConditionTrue)
	f.wantNoWrites("installed")

	f.upgrade(badImage)
	l.waitCondition("web", "RolledBack", "True", "RolledBack")
	f.waitFlux("Ready", "False", "UpgradeFailed", "")
	l.wantImage("web", goodImage)
	f.waitRest()
	f.reconcile()
	l.waitCondition("web", "RolledBack", "True", "RolledBack")
	l.wantImage("web", goodImage)

	const corrected = "registry.example.com/web:3"
	f.upgrade(corrected)
	f.waitFlux("Ready", "True", "UpgradeSucceeded", "")
	l.wantReady("web", metav1.ConditionTrue)
	l.wantImage("web", corrected)
	f.wantNoWrites("upgraded")
}

// upgrade changes a value of the release.
func (f *flux) upgrade(image string) {
	f.Helper()
	_, err := f.objects.Resource(f.resource).Namespace(fluxNamespace).Patch(f.Context(), f.object, types.MergePatchType,
		[]byte(`{"spec":{"values":{"image":"`+image+`"}}}`), metav1.PatchOptions{FieldManager: person})
	if err != nil {
		f.Fatal(err)
	}
}
