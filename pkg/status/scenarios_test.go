// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// scenario is one way in which an Application can stand.
type scenario struct {
	name string
	in   Input
	// What Ready says, which of the two abnormal conditions is there (with its reason after a slash, if
	// that is not Ready's), and what tools that know only kstatus make of it.
	ready   metav1.ConditionStatus
	reason  string
	also    string
	kstatus string
	message string
}

var services = schema.GroupResource{Resource: "services"}

// scenarios has every reason of Ready at least once.
func scenarios() []scenario {
	type change = func(*Input, *appsv1.Deployment)
	deployment := func(f func(*appsv1.Deployment)) change { return func(_ *Input, d *appsv1.Deployment) { f(d) } }
	application := func(f func(*v1.Application)) change {
		return func(in *Input, _ *appsv1.Deployment) { f(in.Snapshot.Application) }
	}
	none := func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)); counts(d, 0, 0, 0) }
	autoscaled := func(minimum int32) change {
		return func(in *Input, _ *appsv1.Deployment) {
			in.Autoscaled = true
			in.Snapshot.Application.Spec.Replicas, in.Snapshot.Application.Spec.Autoscaling = nil, &v1.Autoscaling{MinReplicas: &minimum, MaxReplicas: 4}
		}
	}
	observe := application(func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve })
	noDeployment := func(in *Input, _ *appsv1.Deployment) { delete(in.Snapshot.Children, ref(child.Deployment, "web")) }
	paused := func(in *Input, d *appsv1.Deployment) {
		in.Snapshot.Application.Spec.Paused = new(true)
		d.Spec.Paused = true
		says(d, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	}
	replicaFailure := func(message string) change {
		return deployment(func(d *appsv1.Deployment) {
			counts(d, 3, 0, 3)
			says(d, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated", `Created new replica set "web-2"`)
			says(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", message)
		})
	}
	service := func(action plan.Action) plan.Result { return result(action, child.Service, "web", newService()) }
	foreign := service(plan.NotOwned)
	foreign.Reason = "Service web exists and belongs to Service chart (UID 1); give the Application another name"
	former := service(plan.NotOwned)
	former.Former = true
	forbidden := func(message string) error { return apierrors.NewForbidden(services, "web", errors.New(message)) }
	const (
		current    = "Current"
		inProgress = "InProgress"
		failed     = "Failed"
		yes        = metav1.ConditionTrue
		no         = metav1.ConditionFalse
		rec        = v1.ConditionReconciling
		stalled    = v1.ConditionStalled
	)
	const (
		rollingOutYet = rec + "/" + v1.ReasonRollingOut
		neverWorked   = stalled + "/" + v1.ReasonProgressDeadlineExceeded
		degraded      = rec + "/" + v1.ReasonPodsUnavailable
	)
	return []scenario{
		{"at rest", settled(), yes, v1.ReasonReady, "", current, "All 3 pods are available."},
		{"scaled to zero", with(deployment(none)),
			yes, v1.ReasonScaledToZero, "", current, "Scaled to zero"},
		{"scaled to zero against the spec, and only observed", with(observe, deployment(none)), no, v1.ReasonDrifted, "", inProgress,
			"The Deployment is scaled to 0, although spec.replicas is 3: reconcilePolicy Observe does not change that."},
		{"scaled to zero by its autoscaler", with(autoscaled(0), deployment(none)), yes, v1.ReasonScaledToZero, "", current, "Scaled to zero"},
		{"scaled to zero in spite of its autoscaler", with(autoscaled(2), deployment(none)), no, v1.ReasonPodsUnavailable, stalled, failed,
			"The Deployment was scaled to 0, where its autoscaler does nothing. To let it scale again: kubectl scale deployment web --replicas=2"},
		{"autoscaling begins at zero", with(autoscaled(2), deployment(none), func(in *Input, d *appsv1.Deployment) {
			in.Results[0].Action, in.Results[0].HandOver, in.Results[0].Generation = plan.Apply, new(int32(2)), d.Generation+1
		}), no, v1.ReasonRollingOut, rec, inProgress, "was changed"},
		{"autoscaling that is only observed begins at zero", with(observe, autoscaled(2), deployment(none)), yes, v1.ReasonScaledToZero, "", current, "Scaled to zero"},
		{"on the way to zero", with(deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)); counts(d, 1, 1, 0) })),
			no, v1.ReasonRollingOut, rec, inProgress, ""},

		{"created in this sync", with(noDeployment, func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
		}),
			no, v1.ReasonRollingOut, rec, inProgress, "written"},
		{"changed in this sync", with(func(in *Input, _ *appsv1.Deployment) {
			in.Results[0].Action, in.Results[0].Fields = plan.Apply, []string{`.spec.template.spec.containers[name="web"].image`}
		}), no, v1.ReasonRollingOut, rec, inProgress, "was changed"},
		{"changed, and not observed by Kubernetes", with(deployment(func(d *appsv1.Deployment) { d.Generation = 5 })),
			no, v1.ReasonRollingOut, rec, inProgress, "waiting for the Deployment controller"},
		{"changed in this sync, and paused", with(deployment(rollingOut), paused, func(in *Input, _ *appsv1.Deployment) {
			in.Results[0].Action, in.Results[0].Generation = plan.Apply, 5
		}), no, v1.ReasonApplying, rec, inProgress, "The Deployment was changed; spec.paused pauses rollouts."},
		{"changed, paused, and not observed by Kubernetes", with(paused, deployment(func(d *appsv1.Deployment) { d.Generation = 5 })),
			no, v1.ReasonApplying, rec, inProgress, "The Deployment was changed; spec.paused pauses rollouts."},
		{"created in this sync, and paused", with(noDeployment, paused, func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
		}), no, v1.ReasonApplying, rec, inProgress, "The Deployment was written; spec.paused pauses rollouts."},
		{"a rollout under way", with(deployment(rollingOut)),
			no, v1.ReasonRollingOut, rec, inProgress, "2 of 3 pods are updated, 2 available; 2 of an older revision."},
		{"a rollout that waits for the old pods to go", with(deployment(func(d *appsv1.Deployment) { rollingOut(d); counts(d, 4, 3, 3) })),
			no, v1.ReasonRollingOut, rec, inProgress, "All 3 pods are updated, 3 available; 1 of an older revision."},
		{"an old deadline before a new rollout", with(deployment(func(d *appsv1.Deployment) { timedOut(d); d.Generation = 5 })),
			no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"new pods for a higher number", with(deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)) })),
			no, v1.ReasonRollingOut, rec, inProgress, "3 of 5 pods are updated"},
		{"pods that stopped serving", with(deployment(func(d *appsv1.Deployment) { counts(d, 3, 3, 1) })),
			no, v1.ReasonPodsUnavailable, rec, inProgress, "1 of 3 pods are available."},
		{"the Deployment is gone and not planned", with(noDeployment, func(in *Input, _ *appsv1.Deployment) { in.Results = nil }),
			no, v1.ReasonDeploymentNotFound, rec, inProgress, "The Application has no Deployment."},

		{"progress deadline exceeded", with(deployment(timedOut)),
			no, v1.ReasonProgressDeadlineExceeded, stalled, failed, `ReplicaSet "web-2" has timed out progressing. 1 of 3 pods are updated, 3 available; 3 of an older revision.`},
		{"complete after the deadline", with(deployment(func(d *appsv1.Deployment) { timedOut(d); counts(d, 3, 3, 3) })),
			yes, v1.ReasonReady, "", current, ""},
		{"a ReplicaSet over quota", with(deployment(func(d *appsv1.Deployment) {
			d.Generation = 5
			says(d, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError",
				`Failed to create new replica set "web-3": replicasets.apps "web-3" is forbidden: exceeded quota: small, requested: count/replicasets.apps=1, used: count/replicasets.apps=1, limited: count/replicasets.apps=1`)
		})), no, v1.ReasonQuotaExceeded, stalled + "/" + v1.ReasonReplicaFailure, failed,
			"limited: count/replicasets.apps=1. 0 of 3 pods are updated. Kubernetes does not count the other pods meanwhile."},
		{"pods over quota", with(replicaFailure(`pods "web-2-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3`)),
			no, v1.ReasonQuotaExceeded, rollingOutYet, inProgress, "Exceeded quota: small"},
		{"pods over quota past the deadline", with(replicaFailure(`pods "web-2-x" is forbidden: exceeded quota: small`), deployment(func(d *appsv1.Deployment) { timedOut(d); counts(d, 3, 0, 3) })),
			no, v1.ReasonQuotaExceeded, neverWorked, failed, "timed out progressing"},
		{"pods against policy", with(replicaFailure(`pods "web-2-x" is forbidden: violates PodSecurity "restricted:latest": privileged`)),
			no, v1.ReasonPolicyDenied, rollingOutYet, inProgress, "Violates PodSecurity"},
		{"pods that cannot be made", with(replicaFailure(`pods "web-2-x" is forbidden: error looking up service account shop/robot: serviceaccount "robot" not found`)),
			no, v1.ReasonReplicaFailure, rollingOutYet, inProgress, `"robot" not found`},

		{"an image that cannot be pulled, in a rollout", with(deployment(rollingOut), withPods(3, pulling)),
			no, v1.ReasonImagePullFailed, rollingOutYet, inProgress,
			`2 of 3 pods, container web: failed to pull and unpack image "web:2": not found. 2 of 3 pods are updated`},
		{"an image that cannot be pulled, past the deadline", with(deployment(timedOut), withPods(3, pulling)),
			no, v1.ReasonImagePullFailed, neverWorked, failed,
			`not found. ReplicaSet "web-2" has timed out progressing. 1 of 3 pods are updated`},
		{"one pod that crashes after the rollout", with(deployment(func(d *appsv1.Deployment) { counts(d, 3, 3, 2) }), withPods(1, crashing)),
			no, v1.ReasonCrashLooping, degraded, inProgress,
			"1 of 3 pods, container web: Exited with code 3 (Error). 2 of 3 pods are available."},
		{"pods of the old revision crash", with(deployment(rollingOut), withPods(3, crashing), func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Pods[0].ReplicaSet, in.Snapshot.Pods[1].ReplicaSet = "old", "old"
		}), no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"pods crash, and the new Deployment is not observed", with(deployment(func(d *appsv1.Deployment) { rollingOut(d); d.Generation++ }), withPods(3, crashing)),
			no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"pods that just start", with(deployment(rollingOut), withPods(3, starting)),
			no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"an evicted pod explains nothing", with(deployment(rollingOut), withPods(2, evictedPod)),
			no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"an evicted pod of old", with(withPods(2, evictedPod)), yes, v1.ReasonReady, "", current, ""},

		{"paused at rest", with(paused), yes, v1.ReasonReady, "", current, ""},
		{"paused with a rollout to come", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 3, 0, 3) })),
			no, v1.ReasonPaused, "", inProgress, "Rollout paused"},
		{"paused by another client under Observe", with(deployment(func(d *appsv1.Deployment) {
			counts(d, 3, 0, 3)
			d.Spec.Paused = true
		}), func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}),
			no, v1.ReasonPaused, "", inProgress, "Rollout paused by another client, as kubectl rollout pause does. 0 of 3 pods are updated, 3 available; 3 of an older revision."},
		{"paused before the first pod", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 0, 0, 0) })),
			no, v1.ReasonPaused, "", inProgress, ""},
		{"paused before the first new pod, and the nodes were lost", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 3, 0, 1) }), withPods(3, onLostNode)),
			no, v1.ReasonNodeLost, "", inProgress,
			"2 of 3 pods: The pod's node has been unreachable since 2026-11-21T11:59:00Z. Rollout paused by spec.paused. 0 of 3 pods are updated, 1 available; 3 of an older revision."},
		{"paused before the first new pod, and a quota is full", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 3, 0, 2) }), withPods(0, nil), func(in *Input, d *appsv1.Deployment) {
			d.Annotations[child.RevisionAnnotation] = "1"
			in.Snapshot.ReplicaSets[0].Failure = `pods "web-1-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`
		}), no, v1.ReasonQuotaExceeded, "", inProgress,
			"Exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2. Rollout paused by spec.paused. 0 of 3 pods are updated, 2 available; 3 of an older revision."},
		{"paused with a new pod that crashes, and the old ones serve", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 4, 1, 3) }), withPods(1, crashing)),
			no, v1.ReasonPaused, "", inProgress, "Rollout paused by spec.paused. 1 of 3 pods are updated, 3 available; 3 of an older revision."},
		{"paused, and a pod stopped serving", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 3, 3, 2) }), func(in *Input, _ *appsv1.Deployment) {
			in.Revision = v1.RevisionStatus{Current: 1, LastHealthy: 1}
		}), no, v1.ReasonPodsUnavailable, rec, inProgress, "2 of 3 pods are available."},
		{"paused after the last pod of a rollout started", with(paused, deployment(func(d *appsv1.Deployment) { counts(d, 3, 3, 2) }), func(in *Input, _ *appsv1.Deployment) {
			in.Revision = v1.RevisionStatus{Current: 2, LastHealthy: 1}
		}), no, v1.ReasonRollingOut, rec, inProgress, "2 available"},

		{"invalid", with(func(in *Input, _ *appsv1.Deployment) {
			in.Results = nil
			in.Invalid = field.ErrorList{field.Required(field.NewPath("spec", "image"), "it names what runs")}
		}), no, v1.ReasonInvalid, stalled, failed, "spec.image: Required value: it names what runs"},
		{"being deleted", with(func(in *Input, _ *appsv1.Deployment) {
			in.Results = nil
			in.Snapshot.Application.DeletionTimestamp = &metav1.Time{Time: noon}
		}), no, v1.ReasonDeleting, rec, "Terminating", ""},

		{"a foreign object", with(replace(foreign)), no, v1.ReasonConflict, stalled, failed, "Service web exists and belongs to Service chart (UID 1); give the Application another name."},
		{"objects of an earlier Application of the name", with(replace(former), func(in *Input, _ *appsv1.Deployment) {
			r := result(plan.NotOwned, child.ConfigMap, "web-config", nil)
			r.Former = true
			in.Results = append(in.Results, r)
		}), no, v1.ReasonConflict, rec, inProgress, "Service web and 1 more belong to an earlier Application of this name, which is gone; Kubernetes deletes them. Checked again within 30 s."},
		{"an object of an earlier Application beside a foreign one", with(replace(foreign), func(in *Input, _ *appsv1.Deployment) {
			r := result(plan.NotOwned, child.ConfigMap, "web-config", nil)
			r.Former = true
			in.Results = append(in.Results, r)
		}), no, v1.ReasonConflict, stalled, failed, "Service web exists and belongs to Service chart (UID 1); give the Application another name."},
		{"a foreign Deployment", with(func(in *Input, d *appsv1.Deployment) {
			d.OwnerReferences = nil
			in.Results[0].Action, in.Results[0].Reason = plan.NotOwned, "Deployment web exists and does not belong to the Application"
		}), no, v1.ReasonConflict, stalled, failed, "Deployment web"},
		{"a contended child", with(replace(func() plan.Result {
			r := service(plan.Backoff)
			r.Fields = []string{".spec.type"}
			return r
		}())), no, v1.ReasonContended, stalled, failed, "Another writer keeps changing .spec.type"},
		{"not permitted", with(replace(failedWith(service(plan.Apply), forbidden(`User "fairlead" cannot patch resource "services" in API group "" in the namespace "shop"`)))),
			no, v1.ReasonPermissionDenied, stalled, failed, `Service web: services "web" is forbidden: User "fairlead" cannot patch`},
		{"a child over quota", with(replace(failedWith(service(plan.Create), forbidden("exceeded quota: small, requested: services=1, used: services=5, limited: services=5")))),
			no, v1.ReasonQuotaExceeded, stalled, failed, ""},
		{"a child against policy", with(replace(failedWith(service(plan.Apply), forbidden("ValidatingAdmissionPolicy 'no-lb' with binding 'all' denied request: no LoadBalancer")))),
			no, v1.ReasonPolicyDenied, stalled, failed, ""},
		{"a child called invalid", with(replace(failedWith(service(plan.Apply), apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIP"), "x", "field is immutable")})))),
			no, v1.ReasonChildRefused, stalled, failed, "field is immutable"},
		{"a write that failed", with(replace(failedWith(service(plan.Apply), apierrors.NewInternalError(errors.New("etcd is away"))))),
			no, v1.ReasonApplyFailed, rec, inProgress, "etcd is away"},
		{"a write that has failed for a while", with(failing(failureGrace), replace(failedWith(service(plan.Apply), apierrors.NewInternalError(errors.New("etcd is away"))))),
			no, v1.ReasonApplyFailed, stalled, failed, "etcd is away"},
		{"a write that lost a race", with(replace(failedWith(service(plan.Apply), apierrors.NewConflict(services, "web", errors.New("modified"))))),
			no, v1.ReasonApplying, rec, inProgress, "Write conflict"},
		{"a child deleted by others", with(replace(service(plan.WaitDeletion))), no, v1.ReasonApplying, rec, inProgress, "will be recreated"},
		{"a child deleted by others, and held for a while", with(replace(heldService(terminationGrace))), no, v1.ReasonApplying, stalled, failed,
			"Service web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated."},
		{"the worst of several", with(replace(failedWith(service(plan.Apply), apierrors.NewInternalError(errors.New("etcd is away")))), func(in *Input, _ *appsv1.Deployment) {
			r := result(plan.NotOwned, child.ConfigMap, "web-config", nil)
			r.Reason = "ConfigMap web-config exists and does not belong to the Application"
			in.Results = append(in.Results, r)
		}), no, v1.ReasonConflict, stalled, failed, "ConfigMap web-config"},
		{"a failed write beside a Deployment past its deadline", with(deployment(timedOut), replace(failedWith(service(plan.Apply), apierrors.NewInternalError(errors.New("etcd is away"))))),
			no, v1.ReasonProgressDeadlineExceeded, stalled, failed, ""},
		{"a failed write of a Deployment past its deadline", with(deployment(timedOut), func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = failedWith(in.Results[0], apierrors.NewInternalError(errors.New("etcd is away")))
		}), no, v1.ReasonApplyFailed, rec, inProgress, ""},
		{"a child switched off and going", with(replace(func() plan.Result { r := service(plan.WaitDeletion); r.Desired = nil; return r }())),
			yes, v1.ReasonReady, "", current, ""},

		{"taken back, and serving", with(takenBack), no, v1.ReasonRolledBack, stalled, failed, "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead, until the spec or its class asks for other pods. All 3 pods are available"},
		{"taken back, and on the way", with(takenBack, deployment(rollingOut)), no, v1.ReasonRolledBack, stalled, failed, "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead, until the spec or its class asks for other pods. 2 of 3 pods are updated"},
		{"taken back, and failing as well", with(takenBack, deployment(rollingOut), withPods(3, pulling)),
			no, v1.ReasonImagePullFailed, stalled + "/" + v1.ReasonRolledBack, failed, "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead, until the spec or its class asks for other pods. 2 of 3 pods, container web"},
		{"taken back, and a foreign object", with(takenBack, replace(foreign)), no, v1.ReasonConflict, stalled, failed, "Service web exists"},
		{"not taken back", with(deployment(timedOut), func(in *Input, _ *appsv1.Deployment) {
			in.RolledBack = &metav1.Condition{Status: no, Reason: v1.ReasonNoHealthyRevision, Message: "No revision has been healthy yet."}
		}), no, v1.ReasonProgressDeadlineExceeded, stalled, failed, "timed out progressing"},

		{"observed drift", with(observe, replace(service(plan.Apply))), yes, v1.ReasonReady, "", current, ""},
		{"observed, and its pods changed by another client", with(observe, func(in *Input, _ *appsv1.Deployment) {
			in.Results[0].Action, in.Revision = plan.Apply, v1.RevisionStatus{Current: 1}
			in.Snapshot.Application.Status.Revision = &v1.RevisionStatus{Current: 1}
		}), yes, v1.ReasonReady, "", current, "All 3 pods are available."},
		{"observed, and rolling out", with(observe, deployment(rollingOut)), no, v1.ReasonRollingOut, rec, inProgress, ""},
		{"observed, and no Deployment", with(observe, noDeployment, func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
		}),
			no, v1.ReasonDrifted, "", inProgress, "reconcilePolicy Observe creates none"},
		{"observed, and its Deployment is being deleted", with(observe, func(in *Input, d *appsv1.Deployment) {
			d.DeletionTimestamp = &metav1.Time{Time: noon}
			in.Results[0].Action = plan.WaitDeletion
		}), no, v1.ReasonApplying, rec, inProgress, "is deleting"},
		{"observed, and a foreign object", with(observe, replace(foreign)), no, v1.ReasonConflict, stalled, failed, "Service web exists"},
	}
}
