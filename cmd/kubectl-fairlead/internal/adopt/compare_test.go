// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

func TestCompare(t *testing.T) {
	live := parse[appsv1.Deployment](t, chart)
	next := live.Spec.Template.DeepCopy()
	rename(&next.Spec, "shop", "web", false)
	renamed := []string{"container shop becomes web", "volume data becomes " + v1.VolumeName("/data"), "volume tmp becomes " + v1.VolumeName("/tmp")}
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
			{Path: ".spec.volumes[" + v1.VolumeName("/tmp") + "]", Before: map[string]any{"name": v1.VolumeName("/tmp"), "emptyDir": map[string]any{}}},
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
		if diff := cmp.Diff([]string{"container shop becomes web", "volume data becomes " + v1.VolumeName("/data")}, got.Renamed); diff != "" {
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
