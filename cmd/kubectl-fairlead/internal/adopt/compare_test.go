// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

func TestCompare(t *testing.T) {
	live := parse[appsv1.Deployment](t, chart)
	next := live.Spec.Template.DeepCopy()
	rename(&next.Spec, "shop", "web", false)
	renamed := []string{"container shop becomes web", "volume data, mounted at /data, becomes " + v1.VolumeName("/data"), "volume tmp, mounted at /tmp, becomes " + v1.VolumeName("/tmp")}
	compare := func(want Differences) {
		t.Helper()
		got, err := Compare(live, "shop", next)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("the differences (-want +got):\n%s", diff)
		}
	}
	compare(Differences{Renamed: renamed})
	next.Spec.EnableServiceLinks = new(false)
	next.Annotations = nil
	next.Spec.Volumes = next.Spec.Volumes[:1]
	compare(Differences{
		Renamed: renamed[:2],
		Changed: []preview.Change{{Path: ".spec.enableServiceLinks", After: false}},
		Lost: []preview.Change{
			{Path: ".metadata.annotations", Before: map[string]any{"scrape": "true"}},
			{Path: ".spec.volumes[tmp]", Before: map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
		},
	})
}

// TestCompareWithItself: the pods that an Application left behind are as it would have them, with Fairlead's own volume at /tmp.
func TestCompareWithItself(t *testing.T) {
	live := parse[appsv1.Deployment](t, chart)
	container := &live.Spec.Template.Spec.Containers[0]
	container.Name = live.Name
	container.VolumeMounts = []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}}
	live.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	if got, err := Compare(live, live.Name, &live.Spec.Template); err != nil || !got.Empty() {
		t.Errorf("the differences are %+v, %v", got, err)
	}
}

// TestCompareLeftBehind: of the pods that an Application left behind, the volume at /tmp keeps its name though others do not, and Fairlead's
// own marks are no loss.
func TestCompareLeftBehind(t *testing.T) {
	live := parse[appsv1.Deployment](t, chart)
	next := live.Spec.Template.DeepCopy()
	rename(&next.Spec, "shop", "web", true)
	next.Annotations = nil
	for what, annotations := range map[string]map[string]string{
		".metadata.annotations":                                  {v1.AnnotationConfigHash: "1"},
		".metadata.annotations[" + v1.AnnotationConfigHash + "]": {v1.AnnotationConfigHash: "1", "scrape": "true"},
	} {
		live.Spec.Template.Annotations = annotations
		if len(annotations) > 1 {
			next.Annotations = map[string]string{"scrape": "true"}
		}
		got, err := Compare(live, "shop", next)
		if err != nil || len(got.Lost) > 0 || len(got.Changed) != 1 || got.Changed[0].Path != what {
			t.Errorf("%s: the differences are %+v, %v", what, got, err)
			continue
		}
		if diff := cmp.Diff([]string{"container shop becomes web", "volume data, mounted at /data, becomes " + v1.VolumeName("/data")}, got.Renamed); diff != "" {
			t.Errorf("renamed (-want +got):\n%s", diff)
		}
		next.Annotations = nil
	}
}

// What means nothing to the pods replaces them nevertheless, and is said if it alone does.
func TestCompareSays(t *testing.T) {
	live := parse[appsv1.Deployment](t, strings.ReplaceAll(chart, "metadata: {name: web,", "metadata: {name: shop,"))
	live.Spec.Template.Spec.Volumes, live.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
	next := live.Spec.Template.DeepCopy()
	got, err := Compare(live, "shop", next)
	if err != nil || !got.Empty() {
		t.Errorf("the same pods differ: %+v, %v", got, err)
	}
	live.Spec.Template.Spec.ShareProcessNamespace = new(false)
	if got, err = Compare(live, "shop", next); err != nil || len(got.Changed) != 1 || got.Changed[0].Path != ".spec.shareProcessNamespace" {
		t.Errorf("the differences are %+v, %v", got, err)
	}
	next.Spec.EnableServiceLinks = new(false)
	if got, err = Compare(live, "shop", next); err != nil || len(got.Changed) != 1 || got.Changed[0].Path != ".spec.enableServiceLinks" {
		t.Errorf("the differences are %+v, %v", got, err)
	}
}

// TestCompareNamesVolumes: the account has the names of the volumes in the Deployment. An Application that has the files in its spec.config
// mounts them from a volume of another name.
func TestCompareNamesVolumes(t *testing.T) {
	live := parse[appsv1.Deployment](t, `
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: web, volumeMounts: [{name: settings, mountPath: /etc/app}, {name: cache, mountPath: /cache}, {name: config, mountPath: /conf}]}
      - {name: proxy, volumeMounts: [{name: settings, mountPath: /p}]}
      volumes: [{name: settings, configMap: {name: web}}, {name: cache, emptyDir: {}}, {name: config, secret: {secretName: web}}]
`)
	cache, conf := v1.VolumeName("/cache"), v1.VolumeName("/conf")
	next := parse[corev1.PodTemplateSpec](t, strings.NewReplacer("CACHE", cache, "CONF", conf).Replace(`
spec:
  containers:
  - {name: web, volumeMounts: [{name: config, mountPath: /etc/app}, {name: CACHE, mountPath: /cache, readOnly: true}, {name: CONF, mountPath: /conf}]}
  - {name: proxy, volumeMounts: [{name: config, mountPath: /p}]}
  volumes: [{name: config, configMap: {name: web}}, {name: CACHE, emptyDir: {sizeLimit: 1Gi}}, {name: CONF, secret: {secretName: other}}]
`))
	got, err := Compare(live, "web", next)
	if err != nil {
		t.Fatal(err)
	}
	mount := func(name, path string) map[string]any { return map[string]any{"name": name, "mountPath": path} }
	want := &Differences{
		Renamed: []string{"volume cache, mounted at /cache, becomes " + cache, "volume config, mounted at /conf, becomes " + conf},
		Changed: []preview.Change{
			{Path: ".spec.containers[proxy].volumeMounts[config]", After: mount("config", "/p")},
			{Path: ".spec.containers[web].volumeMounts[cache].readOnly", After: true},
			{Path: ".spec.containers[web].volumeMounts[config]", After: mount("config", "/etc/app")},
			{Path: ".spec.volumes[cache].emptyDir.sizeLimit", After: "1Gi"},
			{Path: ".spec.volumes[" + conf + "].secret.secretName", Before: "web", After: "other"},
			{Path: ".spec.volumes[config]", After: map[string]any{"name": "config", "configMap": map[string]any{"name": "web"}}},
		},
		Lost: []preview.Change{
			{Path: ".spec.containers[proxy].volumeMounts[settings]", Before: mount("settings", "/p")},
			{Path: ".spec.containers[web].volumeMounts[settings]", Before: mount("settings", "/etc/app")},
			{Path: ".spec.volumes[settings]", Before: map[string]any{"name": "settings", "configMap": map[string]any{"name": "web"}}},
		},
	}
	bySortedPath := cmpopts.SortSlices(func(a, b preview.Change) bool { return a.Path < b.Path })
	if diff := cmp.Diff(want, got, bySortedPath); diff != "" {
		t.Errorf("the differences (-want +got):\n%s", diff)
	}
}

// TestCompareNamesVolumesInValues: a list of mounts, a whole container and an order have the names of the volumes in the Deployment, too.
// A ConfigMap keeps its name, even if a volume gets the same.
func TestCompareNamesVolumesInValues(t *testing.T) {
	conf, data := v1.VolumeName("/etc/shop"), v1.VolumeName("/data")
	named := strings.NewReplacer("CONF", conf, "DATA", data)
	live := parse[appsv1.Deployment](t, named.Replace(`
metadata: {name: shop}
spec:
  template:
    spec:
      initContainers: [{name: setup, volumeMounts: [{name: data, mountPath: /d}]}]
      containers:
      - {name: app, volumeMounts: [{name: cfg, mountPath: /etc/shop}, {name: data, mountPath: /data}]}
      - {name: worker, volumeMounts: [{name: cfg, mountPath: /etc/shop}]}
      - {name: twice, volumeMounts: [{name: cfg, mountPath: /a}, {name: cfg, mountPath: /b}]}
      volumes: [{name: cfg, configMap: {name: CONF}}, {name: data, emptyDir: {}}]
`))
	next := parse[corev1.PodTemplateSpec](t, named.Replace(`
spec:
  containers:
  - {name: shop, volumeMounts: [{name: CONF, mountPath: /etc/shop}, {name: DATA, mountPath: /data}]}
  - {name: worker}
  - {name: twice, volumeMounts: [{name: DATA, mountPath: /a}, {name: CONF, mountPath: /b}]}
  volumes: [{name: DATA, emptyDir: {}}, {name: CONF, secret: {secretName: shop}}]
`))
	differences, err := Compare(live, "app", next)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, change := range append(differences.Changed, differences.Lost...) {
		got = append(got, difference.DescribeWhole(change))
	}
	want := []string{
		`.spec.containers[twice].volumeMounts[/a].name: "cfg" → "data"`,
		`.spec.volumes (order): "cfg, data" → "data, cfg"`,
		`.spec.volumes[cfg].secret: added {"secretName":"shop"}`,
		`.spec.containers[worker].volumeMounts: removed [{"mountPath":"/etc/shop","name":"cfg"}]`,
		`.spec.initContainers: removed [{"name":"setup","resources":{},"volumeMounts":[{"mountPath":"/d","name":"data"}]}]`,
		`.spec.volumes[cfg].configMap: removed {"name":"` + conf + `"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the account (-want +got):\n%s", diff)
	}
}
