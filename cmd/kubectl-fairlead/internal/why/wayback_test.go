// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestRefusedFormerRevision: a class may refuse what it allowed before, and no text leads there.
func TestRefusedFormerRevision(t *testing.T) {
	const (
		back  = "kubectl fairlead undo web --to-revision=1"
		unpin = `→ Let the pods of the spec run: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`
		what  = "Revision 1, which spec.rollback.toRevision asks for, is not carried out: it exceeds a limit of its class. No child was changed."
	)
	loaded := clustertest.Load(t, "crash")
	application := loaded.Application
	application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
	application.Status.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1}}
	meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionRolledBack)
	text, _ := printed(t, loaded)
	wantParts(t, "allowed", text, map[string]bool{back: true})
	tooMany := loaded.Application.DeepCopy()
	refused := meta.FindStatusCondition(tooMany.Status.Conditions, v1.ConditionReady)
	refused.Reason, refused.Message = v1.ReasonClassLimitExceeded, `spec.replicas: Invalid value: 2: ApplicationClass "std" allows at most 1`
	loaded.Application = tooMany
	text, _ = printed(t, loaded)
	wantParts(t, "the spec is refused", text, map[string]bool{back: false})
	loaded.Application = application
	meta.SetStatusCondition(&application.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonRevisionRefused, Message: "No."})
	text, _ = printed(t, loaded)
	wantParts(t, "refused", text, map[string]bool{back: false})

	application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	ready.Reason, ready.Message = v1.ReasonClassLimitExceeded, `resources.limits[cpu]: in revision 1, which spec.rollback.toRevision asks for: ApplicationClass "std" allows at most 1; no edit of the spec changes a revision: name another one, or remove toRevision`
	wantParts(t, "asked for", shown(t, loaded), map[string]bool{what: true, unpin: true, "Stay within": false, "Change the field": false})
	application.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1}
	wantParts(t, "runs already", shown(t, loaded), map[string]bool{
		"Revision 1, which spec.rollback.toRevision asks for, exceeds a limit of its class. Its pods run on. No child was changed.": true,
		unpin: true, what: false, "whatever else the spec says": false, "Once the spec": false,
	})
	application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
	ready.Reason, ready.Message = v1.ReasonInvalid, `spec.routes[0].paths[0].port: Unsupported value: "metrics": in revision 1, which spec.rollback.toRevision asks for: supported values: "http"; this field is no part of the revision: change it, name another revision, or remove toRevision`
	wantParts(t, "beside the pods", shown(t, loaded), map[string]bool{
		"   → Change the field that the message names: it is no part of the revision, which is carried out as soon as the field fits its pods.\n" +
			"   → Or let the pods of the spec run: kubectl patch applications.apps.fairlead.dev web": true,
		"→ Or go to another revision: kubectl fairlead history web": true,
	})

	application.Spec.Rollback = nil
	application.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2}
	meta.SetStatusCondition(&application.Status.Conditions, metav1.Condition{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: "Yes."})
	text, _ = printed(t, loaded)
	wantParts(t, "refused since", text, map[string]bool{"Revision 2 failed, and revision 1 runs instead.\n": true, "The rollout of the spec failed": false})
	ready.Reason, ready.Message = v1.ReasonClassLimitExceeded, `resources.limits[cpu]: of the revision that was put back: ApplicationClass "std" allows at most 1`
	wantParts(t, "put back", shown(t, loaded), map[string]bool{
		"The revision that was put back after a failed rollout is not carried out: it exceeds a limit of its class.": true,
		"→ Change the pods in the spec, so that they roll out instead":                                               true,
	})
}

// TestWayBack is offered only where the pods of the former revision may serve, or still do.
func TestWayBack(t *testing.T) {
	const (
		back       = "the last one that was healthy: kubectl fairlead undo web --to-revision=1"
		waits      = "Or wait: Fairlead goes back to revision 1, the last one that was healthy, once the rollout has failed (rollback.policy: OnFailure). To go back now: kubectl fairlead undo web --to-revision=1"
		perhaps    = "the last one that was healthy, if the policy admits its pods: kubectl fairlead undo web --to-revision=1"
		quota      = v1.ReasonQuotaExceeded
		policy     = v1.ReasonPolicyDenied
		images     = `admission webhook "images.example.com" denied the request: example.com/web:2 has no signature`
		restricted = `violates PodSecurity "restricted:latest": privileged (container "web" must not set securityContext.privileged=true)`
		limit      = "maximum memory usage per Container is 512Mi, but limit is 1Gi"
		room       = "0/3 nodes are available: 3 Insufficient memory."
	)
	const second = "example.com/web:2"
	large := &corev1.ResourceRequirements{Requests: amount(corev1.ResourceMemory, "1Gi")}
	for _, test := range []struct {
		name, reason, message string
		recreate              bool
		// former is how many pods of the former revision serve.
		former int
		// lacks says that the API server refuses further ones.
		lacks bool
		// asks and had are what the present and the former revision say about the pods, if not what the case has.
		asks, had *v1.ApplicationSpec
		want      bool
		// rollback is the policy, and waits says that Fairlead will go back.
		rollback v1.RollbackPolicy
		waits    bool
		// perhaps says that nothing shows whether it helps.
		perhaps bool
	}{
		{name: "a crash", reason: v1.ReasonCrashLooping, want: true},
		{name: "a crash, Recreate", reason: v1.ReasonCrashLooping, recreate: true, want: true},
		{name: "a crash, OnFailure", reason: v1.ReasonCrashLooping, rollback: v1.RollbackOnFailure, waits: true},
		{name: "a quota, OnFailure, and former pods serve", reason: quota, former: 2, rollback: v1.RollbackOnFailure, want: true},
		{name: "a quota", reason: quota},
		{name: "a quota, Recreate", reason: quota, recreate: true},
		{name: "a quota, and former pods serve", reason: quota, former: 2, want: true},
		{name: "a quota, which keeps back former pods too", reason: quota, former: 2, lacks: true},
		{name: "a policy, Recreate", reason: policy, message: images, recreate: true, perhaps: true},
		{name: "a policy, and no former pod serves", reason: policy, message: images, perhaps: true},
		{name: "a policy, and former pods serve", reason: policy, message: images, former: 1, want: true},
		{name: "a policy, and the same pods but for a restart", reason: policy, message: images, recreate: true, had: &v1.ApplicationSpec{Image: second},
			asks: &v1.ApplicationSpec{Image: second, PodMetadata: &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "2026-11-24T02:09:41Z"}}}},
		{name: "Pod Security, and another image", reason: policy, message: restricted, recreate: true},
		{name: "Pod Security, and another context", reason: policy, message: restricted, recreate: true, perhaps: true,
			asks: &v1.ApplicationSpec{Image: second, SecurityContext: &corev1.SecurityContext{Privileged: new(true)}}},
		{name: "a LimitRange, and another image", reason: policy, message: limit, recreate: true},
		{name: "a LimitRange, and other resources", reason: policy, message: limit, recreate: true, perhaps: true, asks: &v1.ApplicationSpec{Image: second, Resources: large}},
		{name: "no pod can be made", reason: v1.ReasonReplicaFailure, recreate: true},
		{name: "a lost node", reason: v1.ReasonNodeLost},
		{name: "a lost node, and former pods serve", reason: v1.ReasonNodeLost, former: 1},
		{name: "no room", reason: v1.ReasonUnschedulable, message: room, recreate: true},
		{name: "no room, and former pods serve", reason: v1.ReasonUnschedulable, message: room, former: 1, want: true},
		{name: "no room for more memory", reason: v1.ReasonUnschedulable, message: room, recreate: true, asks: &v1.ApplicationSpec{Image: second, Resources: large}, want: true},
	} {
		loaded := clustertest.Load(t, "crash")
		application := loaded.Application
		application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
		application.Status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message, Container: "web", Pods: 1}}
		meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionRolledBack)
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		if application.Spec.Rollback = nil; test.rollback != "" {
			application.Spec.Rollback = &v1.Rollback{Policy: test.rollback}
		}
		if test.recreate {
			deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		}
		for i, pod := range loaded.Pods {
			if i < test.former {
				pod.OwnerReferences[0].UID = former(loaded).UID
			} else {
				pod.Status.Conditions = nil
			}
		}
		if test.lacks {
			former(loaded).Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue}}
		}
		if test.had != nil {
			ask(t, loaded, 1, *test.had)
		}
		if test.asks != nil {
			ask(t, loaded, 2, *test.asks)
		}
		wantParts(t, test.name, shown(t, loaded), map[string]bool{back: test.want, perhaps: test.perhaps, waits: test.waits})
	}
}

// TestWayBackFitsTheSpec: the API server refuses an undo to pods that do not fit the rest of the spec.
func TestWayBackFitsTheSpec(t *testing.T) {
	const back = "kubectl fairlead undo web --to-revision=1"
	cpu := &corev1.ResourceRequirements{Requests: amount(corev1.ResourceCPU, "100m")}
	for _, test := range []struct {
		name   string
		had    v1.ApplicationSpec
		change func(*v1.Application)
		want   bool
	}{
		{"requests that the revision lacks", v1.ApplicationSpec{Image: "example.com/web:1"}, func(*v1.Application) {}, false},
		{"requests that it has", v1.ApplicationSpec{Image: "example.com/web:1", Resources: cpu}, func(*v1.Application) {}, true},
		{"requests of the class", v1.ApplicationSpec{Image: "example.com/web:1"}, func(application *v1.Application) {
			application.Status.Class = &v1.AppliedClass{Name: "std", Defaults: &v1.ApplicationDefaults{Resources: cpu}}
		}, true},
		{"a rule that the spec breaks too", v1.ApplicationSpec{Image: "example.com/web:1"}, func(application *v1.Application) { application.Spec.Resources = nil }, true},
		{"by spec.rollback.toRevision", v1.ApplicationSpec{Image: "example.com/web:1"}, func(application *v1.Application) {
			application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
		}, false},
	} {
		loaded := clustertest.Load(t, "crash")
		application := loaded.Application
		application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
		application.Status.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1}}
		application.Spec.Replicas, application.Spec.Resources = nil, cpu
		application.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 4, TargetCPUUtilizationPercentage: new(int32(50))}
		meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionRolledBack)
		ask(t, loaded, 1, test.had)
		test.change(application)
		wantParts(t, test.name, shown(t, loaded), map[string]bool{back: test.want})
	}
}

// former is the ReplicaSet without pods.
func former(loaded *cluster.Loaded) *appsv1.ReplicaSet {
	return loaded.ReplicaSets[slices.IndexFunc(loaded.ReplicaSets, func(r *appsv1.ReplicaSet) bool { return r.Status.Replicas == 0 })]
}

// ask sets what a revision says about the pods. Its name has the hash of that.
func ask(t *testing.T, loaded *cluster.Loaded, number int64, pods v1.ApplicationSpec) {
	t.Helper()
	encoded, err := json.Marshal(pods)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range loaded.Children {
		if r, ok := object.(*appsv1.ControllerRevision); ok && r.Revision == number {
			r.Name = "web-" + child.HashOf(string(loaded.Application.UID), string(encoded))[:10]
			r.Data.Raw = fmt.Appendf(nil, `{"spec":%s}`, encoded)
		}
	}
}

// TestRolledBackUnderObserve: no change is tried before the observation ends.
func TestRolledBackUnderObserve(t *testing.T) {
	const (
		observed = "Fairlead did not change the spec. Now it changes no child, since reconcilePolicy is Observe.\n"
		enforce  = "   → Let Fairlead change the children again, before you correct what failed: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{\"spec\":{\"reconcilePolicy\":\"Enforce\"}}'\n" +
			"   → Then correct what failed and apply it: any change of the pods is tried again.\n"
		correct = "   → Correct what failed and apply it: any change of the pods is tried again.\n"
	)
	loaded := clustertest.Load(t, "crash")
	text, _ := printed(t, loaded)
	wantParts(t, "Enforce", text, map[string]bool{observed: false, enforce: false, correct: true})
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	text, _ = printed(t, loaded)
	wantParts(t, "Observe", text, map[string]bool{observed: true, enforce: true, correct: false})
}

// TestWayBackFromARefusal: a policy refuses the new pods, and revision 1 runs.
func TestWayBackFromARefusal(t *testing.T) {
	const back = "   → Or go back to revision 1, which was accepted and still runs: kubectl fairlead undo web --to-revision=1\n"
	for _, test := range []struct {
		name, kind, reason string
		change             func(*cluster.Loaded)
		want               bool
	}{
		{"a policy", child.Deployment.Kind, v1.ReasonPolicyDenied, func(*cluster.Loaded) {}, true},
		{"the API server", child.Deployment.Kind, v1.ReasonChildRefused, func(*cluster.Loaded) {}, true},
		{"another child", child.ServiceAccount.Kind, v1.ReasonPolicyDenied, func(*cluster.Loaded) {}, false},
		{"another reason", child.Deployment.Kind, v1.ReasonPermissionDenied, func(*cluster.Loaded) {}, false},
		{"something else than the pods", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) { l.Application.Spec.Image = "example.com/web:1" }, false},
		{"a field of the class", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) {
			l.Application.Spec.Image, l.Application.Spec.Command, l.Application.Status.Class = "example.com/web:1", []string{"web"}, &v1.AppliedClass{Name: "platform"}
		}, false},
		{"no revision is left", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) { remove(l, child.ControllerRevision) }, false},
		{"the Deployment is gone", child.Deployment.Kind, v1.ReasonPolicyDenied, func(l *cluster.Loaded) {
			l.Application.Status.Resources = append(l.Application.Status.Resources, v1.ResourceStatus{Group: "apps", Kind: child.Deployment.Kind, Name: "web"})
			l.Children = nil
		}, false},
	} {
		loaded := clustertest.Load(t, "paused")
		test.change(loaded)
		loaded.Application.Spec.Paused = nil
		meta.RemoveStatusCondition(&loaded.Application.Status.Conditions, v1.ConditionPaused)
		loaded.Application.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1}
		ready := meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady)
		ready.Reason, ready.Message = test.reason, test.kind+" web: no."
		setResource(loaded, test.kind, v1.ResourceFailed, "no.")
		wantParts(t, test.name, shown(t, loaded), map[string]bool{back: test.want})
	}
}
