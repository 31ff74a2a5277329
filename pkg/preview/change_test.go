// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestResumeComparesWithLive: a spec that resumes an Application has the changes that it has while Fairlead enforces the children. Of
// what was edited meanwhile, and not carried out, it has the values that run.
func TestResumeComparesWithLive(t *testing.T) {
	for name, policy := range map[string]v1.ReconcilePolicy{
		"enforced": v1.ReconcileEnforce, "observed": v1.ReconcileObserve, "suspended": v1.ReconcileSuspend, "waits": v1.ReconcileEnforce,
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, "healthy")
			live := objects.Snapshot()
			deployment := child.Get[*appsv1.Deployment](live, child.Deployment, objects.Application.Name)
			image := deployment.Spec.Template.Spec.Containers[0].Image
			old := objects.Application.DeepCopy()
			old.Spec.ReconcilePolicy = policy
			if policy != v1.ReconcileEnforce || name == "waits" {
				old.Spec.Image, old.Spec.Replicas = "example.com/never:1", new(int32(5))
			}
			applied := objects.Application.DeepCopy()
			applied.Spec.Image, applied.Spec.Replicas, applied.Spec.ReconcilePolicy = "example.com/web:2", new(int32(5)), v1.ReconcileEnforce
			applied.Spec.Command = nil
			_, d, err := preview.Of(differ, old, applied, live, platform(), treetest.Now)
			if err != nil {
				t.Fatal(err)
			}
			var got []preview.Change
			for _, c := range d.Children {
				if c.Kind == child.Deployment.Kind {
					got = append(got, c.Changes...)
				}
			}
			const container = ".spec.template.spec.containers[cart]"
			want := []preview.Change{
				{Path: ".spec.replicas", Before: 3.0, After: 5.0},
				{Path: container + ".command", Before: []any{"./podinfo", "--port=8080", "--cache-server=tcp://cart-cache:6379"}},
				{Path: container + ".image", Before: image, After: "example.com/web:2"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !d.Pods.Replaced || d.Pods.Before == nil || *d.Pods.Before != 3 || *d.Pods.After != 5 {
				t.Errorf("%+v, want that 3 pods are replaced, and become 5", d.Pods)
			}
		})
	}
}

// secondRevision is the Application healthy with another image, which runs as its revision 2, and its live children.
func secondRevision(t *testing.T) (application *v1.Application, live child.Snapshot, deployment *appsv1.Deployment) {
	t.Helper()
	objects, _ := treetest.Load(t, "healthy")
	live, application = objects.Snapshot(), objects.Application.DeepCopy()
	application.Spec.Image = "example.com/web:2"
	deployment = child.Get[*appsv1.Deployment](live, child.Deployment, application.Name)
	for _, desired := range rendered(t, application, live, platform()).Children {
		if _, exists := live.Children[desired.Ref]; exists || desired.Kind != child.ControllerRevision {
			continue
		}
		object, err := desired.Object()
		if err != nil {
			t.Fatal(err)
		}
		second := &appsv1.ControllerRevision{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, second); err != nil {
			t.Fatal(err)
		}
		second.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
		live.Children[desired.Ref] = second
		deployment.Annotations[v1.AnnotationRevision] = second.Name
		deployment.Spec.Template.Spec.Containers[0].Image = application.Spec.Image
		application.Status.Revision.Current = second.Revision
		return application, live, deployment
	}
	t.Fatal("no second revision is rendered")
	return nil, live, nil
}

// TestGoingBack: a spec that goes back to a former one gives the ControllerRevision another number, whatever ran before, also while the
// Application is suspended after its rollout failed: nothing was rolled back then.
func TestGoingBack(t *testing.T) {
	for name, happen := range map[string]func(*v1.Application, *appsv1.Deployment, *child.Snapshot){
		"it ran": func(*v1.Application, *appsv1.Deployment, *child.Snapshot) {},
		"suspended after a failure": func(a *v1.Application, d *appsv1.Deployment, live *child.Snapshot) {
			a.Spec.ReconcilePolicy, a.Spec.Rollback = v1.ReconcileSuspend, &v1.Rollback{Policy: v1.RollbackOnFailure}
			d.Status.UpdatedReplicas = 1
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: health.ReasonTimedOut}}
			crashes := child.Container{Name: "cart", Termination: &child.Termination{ExitCode: 1, Reason: "Error", Restarts: 5}}
			live.Pods = append(live.Pods, &child.Pod{ReplicaSet: live.ReplicaSets[0].UID, Problems: &child.PodProblems{Containers: []child.Container{crashes}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, live, deployment := secondRevision(t)
			happen(old, deployment, &live)
			objects, _ := treetest.Load(t, "healthy")
			applied := old.DeepCopy()
			applied.Spec.Image = objects.Application.Spec.Image
			_, d, err := preview.Of(differ, old, applied, live, platform(), treetest.Now)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]preview.Change{}
			for _, c := range d.Children {
				got[string(c.Action)+" "+c.Kind] = c.Changes
			}
			want := map[string][]preview.Change{
				"Update ControllerRevision": {{Path: ".revision", Before: 1.0, After: 3.0}},
				"Update Deployment":         {{Path: ".spec.template.spec.containers[cart].image", Before: old.Spec.Image, After: applied.Spec.Image}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestWithoutHistory: where a user may list neither the revisions nor the children, no child counts as one that does not exist.
func TestWithoutHistory(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	live, old := objects.Snapshot(), objects.Application.DeepCopy()
	clear(live.Children)
	applied := objects.Application.DeepCopy()
	applied.Spec.Image = "example.com/web:2"
	_, d, err := preview.Of(differ, old, applied, live, platform(), treetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Children {
		if c.Action == preview.Create && c.Kind != child.ControllerRevision.Kind {
			t.Errorf("%s %s %s", c.Action, c.Kind, c.Name)
		}
	}
	if !d.Pods.Replaced {
		t.Errorf("%+v, want that the pods are replaced", d.Pods)
	}
}

// TestResumeRemoves: a spec that resumes an Application removes what only Fairlead owns and the spec lost meanwhile, fields and children.
func TestResumeRemoves(t *testing.T) {
	const fields = `{"f:spec":{"f:minReadySeconds":{},"f:replicas":{},"f:template":{"f:spec":{"f:dnsPolicy":{},"f:hostname":{},"f:priorityClassName":{},
		"f:containers":{"k:{\"name\":\"cart\"}":{".":{},"f:name":{},"f:env":{".":{},"k:{\"name\":\"LOST\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "apps/v1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const pod = ".spec.template.spec"
	lost := []preview.Change{
		{Path: ".spec.minReadySeconds", Before: 7.0},
		{Path: pod + ".containers[cart].env", Before: []any{map[string]any{"name": "LOST", "value": "x"}}},
	}
	dns, priority := preview.Change{Path: pod + ".dnsPolicy", Before: "ClusterFirst"}, preview.Change{Path: pod + ".priorityClassName", Before: "high"}
	for name, test := range map[string]struct {
		operation metav1.ManagedFieldsOperationType
		created   bool
		want      []preview.Change
	}{
		"applied":                          {metav1.ManagedFieldsOperationApply, false, append(lost[:2:2], dns, priority)},
		"created, with the API's defaults": {metav1.ManagedFieldsOperationUpdate, false, append(lost[:2:2], priority)},
		"created with these fields":        {metav1.ManagedFieldsOperationUpdate, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects, _ := treetest.Load(t, "healthy")
			live := objects.Snapshot()
			old := objects.Application.DeepCopy()
			old.Spec.ReconcilePolicy = v1.ReconcileObserve
			applied := objects.Application.DeepCopy()
			deployment := child.Get[*appsv1.Deployment](live, child.Deployment, old.Name)
			deployment.Spec.MinReadySeconds = 7
			spec := &deployment.Spec.Template.Spec
			spec.DNSPolicy, spec.Hostname, spec.PriorityClassName = corev1.DNSClusterFirst, "theirs", "high"
			spec.Containers[0].Env = append(spec.Containers[0].Env, corev1.EnvVar{Name: "LOST", Value: "x"}, corev1.EnvVar{Name: "THEIRS", Value: "y"})
			deployment.ManagedFields = []metav1.ManagedFieldsEntry{
				entry("fairlead", test.operation, fields), entry("kubectl-edit", metav1.ManagedFieldsOperationUpdate, `{"f:spec":{"f:template":{"f:spec":{"f:hostname":{}}}}}`),
			}
			delete(deployment.Annotations, v1.AnnotationCreatedFieldSet)
			if test.created {
				children := rendered(t, applied, live, platform()).Children
				at := slices.IndexFunc(children, func(c child.Desired) bool { return c.Kind == child.Deployment })
				metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, v1.AnnotationCreatedFieldSet, differ.FieldSetHash(children[at]))
			}
			autoscaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{
				Name: old.Name, Namespace: old.Namespace, Annotations: deployment.Annotations, OwnerReferences: deployment.OwnerReferences,
			}}
			live.Children[child.Ref{Kind: child.HorizontalPodAutoscaler, Namespace: old.Namespace, Name: old.Name}] = autoscaler
			_, d, err := preview.Of(differ, old, applied, live, platform(), treetest.Now)
			if err != nil {
				t.Fatal(err)
			}
			want := []preview.Child{{Kind: "Deployment", Name: "cart", Action: preview.Update, Changes: test.want}, {Kind: "HorizontalPodAutoscaler", Name: "cart", Action: preview.Delete}}
			if test.want == nil {
				want = want[1:]
			}
			if diff := cmp.Diff(want, d.Children); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if d.Pods.Replaced != (test.want != nil) {
				t.Errorf("replaced %t", d.Pods.Replaced)
			}
		})
	}
}

// TestResumeDeletesNoneThatNeverWas: of a child that was asked for meanwhile, and no longer is, there is nothing to delete.
func TestResumeDeletesNoneThatNeverWas(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	old := objects.Application.DeepCopy()
	old.Spec.ReconcilePolicy, old.Spec.Replicas, old.Spec.Autoscaling = v1.ReconcileObserve, nil, &v1.Autoscaling{MaxReplicas: 5}
	_, d, err := preview.Of(differ, old, objects.Application, objects.Snapshot(), platform(), treetest.Now)
	if err != nil || !d.Empty() {
		t.Errorf("%+v, %v, want no difference", d.Children, err)
	}
}

// TestNothingDiffersFromLive: of what a controller wrote, a comparison with the live children finds nothing.
func TestNothingDiffersFromLive(t *testing.T) {
	for _, name := range []string{"healthy", "autoscaler", "image", "crash", "paused", "quota"} {
		objects, _ := treetest.Load(t, name)
		live := objects.Snapshot()
		d, err := preview.Compare(differ, preview.Rendering{}, rendered(t, objects.Application, live, platform()), live)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Children {
			if c.Action != preview.Create {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// TestNumberBefore: where the spec left the number of pods open, the Deployment's is that before.
func TestNumberBefore(t *testing.T) {
	objects, _ := treetest.Load(t, "healthy")
	live := objects.Snapshot()
	unset, set := objects.Application.DeepCopy(), objects.Application.DeepCopy()
	unset.Spec.Replicas, set.Spec.Replicas = nil, new(int32(7))
	_, d, err := preview.Of(differ, unset, set, live, platform(), treetest.Now)
	if err != nil {
		t.Fatal(err)
	}
	if d.Pods.Before == nil || *d.Pods.Before != 3 || d.Pods.After == nil || *d.Pods.After != 7 {
		t.Errorf("%+v, want 3 pods before and 7 after", d.Pods)
	}
	if _, d, err = preview.Of(differ, set, unset, live, platform(), treetest.Now); err != nil || d.Pods.After != nil || *d.Pods.Before != 7 {
		t.Errorf("%+v, %v, want 7 pods before and an open number after", d.Pods, err)
	}
}
