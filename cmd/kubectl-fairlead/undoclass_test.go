// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestUndoOfClassChange: a class adds an annotation to the pods, with which they fail. No spec takes that away, so undo names the revision,
// in the middle of the rollout and after the rollback.
func TestUndoOfClassChange(t *testing.T) {
	p := start(t)
	classes := p.fairlead.AppsV1().ApplicationClasses()
	class := p.class(v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{
		ProgressDeadlineSeconds: new(int32(5)), Rollback: &v1.DefaultRollback{Policy: v1.RollbackOnFailure},
		PodMetadata: &v1.PodMetadata{Annotations: map[string]string{"tier": "gold"}},
	}})
	p.create("web", "{image: example.com/web:1, replicas: 1, className: "+class+"}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	annotate := func(value string) {
		t.Helper()
		patch := []byte(`{"spec":{"defaults":{"podMetadata":{"annotations":{"simulate.fairlead.dev/behavior":` + value + `}}}}}`)
		if _, err := classes.Patch(t.Context(), class, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const (
		pinned = ": revision 1 (example.com/web:1) in spec.rollback.toRevision, because the class decides what differs from it; to follow the class again: kubectl -n "
		unpin  = ` patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`
	)
	annotate(`"image-pull-error"`)
	p.eventually("the rollback", func() bool { return p.get("web").IsRolledBack() })
	p.want(1, []string{"why", "web"}, "Ask the platform team to correct ApplicationClass "+class+": Fairlead then rolls its pods out.")
	p.want(0, []string{"undo", "web"}, p.namespace+"/web"+pinned+p.namespace+unpin+"\n", "No pod is replaced")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"undo", "web", "--to-revision=1"}, p.namespace+"/web: unchanged: it asks for the pods of revision 1 already\n")

	// The class is mended, and then breaks the pods again in another way.
	annotate("null")
	patch := []byte(`{"spec":{"rollback":{"toRevision":null}}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	if taken := p.get("web").Status.Class.Defaults; taken == nil || taken.Rollback == nil {
		t.Errorf("the class gives %+v, want its policy of rollbacks again", taken)
	}
	if r := p.want(2, []string{"undo", "web"}); !strings.Contains(r.stderr, "there is no former revision to go back to") {
		t.Errorf("undo of nothing says %q", r.stderr)
	}
	slow := []byte(`{"spec":{"defaults":{"progressDeadlineSeconds":600}}}`) // So that no rollback comes first.
	if _, err := classes.Patch(t.Context(), class, types.MergePatchType, slow, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	annotate(`"crash-loop"`)
	p.eventually("the rollout to fail", func() bool { return strings.Contains(p.run("why", "web").stdout, "undo web --to-revision=") })
	p.want(0, []string{"undo", "web"}, strings.Replace(pinned, "revision 1", "revision 3", 1)+p.namespace+unpin+"\n")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
}

// TestUndoFollowsClass: the class changes a label, and undo writes the former one. The resources that it gives still stay the class's.
func TestUndoFollowsClass(t *testing.T) {
	p := start(t)
	memory := func(quantity string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}
	}
	class := p.class(v1.ApplicationClassSpec{Defaults: &v1.ApplicationDefaults{
		Resources:   &corev1.ResourceRequirements{Limits: memory("256Mi"), Requests: memory("64Mi")},
		PodMetadata: &v1.PodMetadata{Labels: map[string]string{"cost-center": "a"}},
	}})
	p.create("web", "{image: example.com/web:1, replicas: 1, className: "+class+"}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	patch := []byte(`{"spec":{"defaults":{"podMetadata":{"labels":{"cost-center":"b"}}}}}`)
	if _, err := p.fairlead.AppsV1().ApplicationClasses().Patch(t.Context(), class, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the new label", func() bool {
		status := p.get("web").Status
		return status.Revision != nil && status.Revision.Current == 2 && status.Revision.LastHealthy == 2
	})
	const said = ": the pods of revision 1 (example.com/web:1) in the spec; the spec itself says podMetadata.labels.cost-center from now on, so no change of the class reaches it\n"
	p.want(0, []string{"undo", "web"}, p.namespace+"/web"+said, "replaced, because of .spec.template.metadata.labels.cost-center.")
	want := &v1.PodMetadata{Labels: map[string]string{"cost-center": "a"}}
	if spec := p.get("web").Spec; spec.Resources != nil || !cmp.Equal(spec.PodMetadata, want) {
		t.Errorf("the spec says the resources %+v and podMetadata %+v, want none and %+v", spec.Resources, spec.PodMetadata, want)
	}
	p.eventually("revision 1 under another number", func() bool {
		status := p.get("web").Status
		return status.Revision.Current == 3 && status.Revision.LastHealthy == 3
	})
}

// class creates a class for the test alone, and returns its name.
func (p *plugin) class(spec v1.ApplicationClassSpec) string {
	p.Helper()
	classes := p.fairlead.AppsV1().ApplicationClasses()
	created, err := classes.Create(p.Context(), &v1.ApplicationClass{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := classes.Delete(context.WithoutCancel(p.Context()), created.Name, metav1.DeleteOptions{}); err != nil {
			p.Error(err)
		}
	})
	return created.Name
}
