// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// podsOf returns a pod of the ReplicaSet for each of the problems.
func podsOf(replicaSet types.UID, problems ...*child.PodProblems) []*child.Pod {
	var pods []*child.Pod
	for i, p := range problems {
		pods = append(pods, &child.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-2-%d", i)}, ReplicaSet: replicaSet, Problems: p})
	}
	return pods
}

func crashing() *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{Name: "web", Termination: &child.Termination{ExitCode: 3, Reason: "Error"}}}}
}

func rejected() *child.PodProblems {
	return &child.PodProblems{Failed: &child.ReasonMessage{Reason: "NodeAffinity", Message: "Predicate NodeAffinity failed"}}
}

func onLostNode() *child.PodProblems {
	return &child.PodProblems{NodeUnreachable: new(at(0))}
}

// unready has until 20 seconds after noon to become ready.
func unready(since int) *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{Name: "web", Unready: &child.Unready{Since: at(since), Due: at(20), Probe: "GET /ready"}}}}
}

func TestProblems(t *testing.T) {
	crash := v1.Problem{Reason: v1.ReasonCrashLooping, Container: "web", Message: "Exited with code 3 (Error).", Pods: 1}
	deadline := v1.Problem{Reason: v1.ReasonProgressDeadlineExceeded, Message: `ReplicaSet "web-2" has timed out progressing.`}
	nodeLost := v1.Problem{Reason: v1.ReasonNodeLost, Message: "The pod's node has been unreachable since 2026-07-01T12:00:00Z.", Pods: 2}
	quota := `pods "web-2-x" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3`
	const aboveLimit = `spec.containers[0].resources.requests: Invalid value: "512Mi": must be less than or equal to memory limit of 256Mi`
	quotaExceeded := v1.Problem{Reason: v1.ReasonQuotaExceeded, Message: "exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3"}
	tests := []struct {
		name   string
		change func(s *child.Snapshot, d *appsv1.Deployment)
		now    int
		want   []v1.Problem
		late   int // the seconds after noon of LateUntil; 0 for none.
		again  time.Duration
	}{
		{name: "a pod of the current revision", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.Pods = podsOf(currentUID, crashing(), nil)
		}, want: []v1.Problem{crash}},
		{name: "a pod of the current revision, and the rollout is paused since", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas, s.Pods = true, 1, podsOf(currentUID, crashing())
		}, want: []v1.Problem{crash}},
		{name: "lost nodes, and the rollout is paused since its first pod", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas = true, 1
			s.Pods = append(podsOf(currentUID, crashing()), podsOf(formerUID, onLostNode(), crashing(), onLostNode())...)
		}, want: []v1.Problem{crash, nodeLost}},
		{name: "lost nodes and a quota, and the rollout is paused before its first pod", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas, d.Annotations = true, 0, map[string]string{child.RevisionAnnotation: "1"}
			s.ReplicaSets[0].Failure = quota
			s.Pods = append(podsOf(formerUID, onLostNode(), crashing(), onLostNode()), podsOf("another", onLostNode())...)
		}, want: []v1.Problem{quotaExceeded, nodeLost}},
		{name: "a quota, and the rollout is paused since its first pod", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas, s.ReplicaSets[0].Failure = true, 1, quota
		}, want: []v1.Problem{quotaExceeded}},
		{name: "a quota that the rollout met before it was paused, and meets no longer", change: func(_ *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas, d.Annotations = true, 0, map[string]string{child.RevisionAnnotation: "1"}
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: quota,
			})
		}},
		{name: "a quota for pods that a rollout replaces", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Status.UpdatedReplicas, s.ReplicaSets[0].Failure = 1, quota
		}},
		{name: "lost nodes of pods that a rollout replaces", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Status.UpdatedReplicas, s.Pods = 0, podsOf(formerUID, onLostNode())
		}},
		{name: "a pod of the former revision", change: func(s *child.Snapshot, _ *appsv1.Deployment) { s.Pods = podsOf(formerUID, crashing()) }},
		{name: "the ReplicaSet is not seen yet", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.Pods, s.ReplicaSets = podsOf(currentUID, crashing()), nil
		}},
		{name: "all pods serve", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			s.Pods, d.Status.AvailableReplicas = podsOf(currentUID, rejected()), 3
		}},
		{name: "no pods are asked for", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			s.Pods, d.Spec.Replicas = podsOf(currentUID, crashing()), new(int32)
		}},
		{name: "a pod that is just starting", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.Pods = podsOf(currentUID, unready(-10))
		}, again: 20 * time.Second},
		{name: "pods that should be ready", now: 20, change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.Pods = podsOf(currentUID, unready(-10), unready(-30), unready(-20))
		}, want: []v1.Problem{{
			Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 3,
			Message: "Readiness probe GET /ready has failed since 2026-07-01T11:59:30Z in pod web-2-1.",
		}}},
		{name: "a starting pod explains a missed deadline", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadline(d)
			s.Pods = podsOf(currentUID, unready(-10))
		}, want: []v1.Problem{{
			Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 1,
			Message: "Readiness probe GET /ready has failed since 2026-07-01T11:59:50Z in pod web-2-0.",
		}, deadline}, again: 20 * time.Second},
		{name: "a pod that starts after a missed deadline", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadlineAt(d, -20)
			s.Pods = podsOf(currentUID, unready(-10))
		}, want: []v1.Problem{deadline}, again: 20 * time.Second},
		{name: "one that should be ready, but not yet for a rollback", now: 20, change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadlineAt(d, 0)
			s.Pods = podsOf(currentUID, unready(15), unready(10))
		}, want: []v1.Problem{{
			Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 2,
			Message: "Readiness probe GET /ready has failed since 2026-07-01T12:00:10Z in pod web-2-1.",
		}, deadline}, late: 40, again: 20 * time.Second},
		{name: "one whose time is over", now: 40, change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadlineAt(d, 0)
			s.Pods = podsOf(currentUID, unready(10))
		}, want: []v1.Problem{{
			Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 1,
			Message: "Readiness probe GET /ready has failed since 2026-07-01T12:00:10Z in pod web-2-0.",
		}, deadline}},
		{name: "one beside a pod that started in time", now: 20, change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadlineAt(d, 0)
			s.Pods = podsOf(currentUID, unready(10), unready(-10))
		}, want: []v1.Problem{{
			Reason: v1.ReasonReadinessFailing, Container: "web", Pods: 2,
			Message: "Readiness probe GET /ready has failed since 2026-07-01T11:59:50Z in pod web-2-1.",
		}, deadline}},
		{name: "the worst comes first", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadline(d)
			s.Pods = podsOf(currentUID, rejected(), crashing())
		}, want: []v1.Problem{crash, {Reason: v1.ReasonPodRejected, Message: "Predicate NodeAffinity failed", Pods: 1}, deadline}},
		{name: "pods that cannot be created", change: func(s *child.Snapshot, _ *appsv1.Deployment) { s.ReplicaSets[1].Failure = quota },
			want: []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: "exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3"}}},
		{name: "pods with several violations of Pod Security", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.ReplicaSets[1].Failure = `pods "web-2-x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "web" must set securityContext.allowPrivilegeEscalation=false), ` +
				`unrestricted capabilities (container "web" must set securityContext.capabilities.drop=["ALL"]), ` +
				`runAsNonRoot != true (pod or container "web" must set securityContext.runAsNonRoot=true)`
		}, want: []v1.Problem{{
			Reason: v1.ReasonPolicyDenied, Message: `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true`,
		}}},
		{name: "pods above the limit of a LimitRange", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			s.ReplicaSets[1].Failure = `Pod "web-6b9cf9c5cb-4lzt9" is invalid: ` + aboveLimit
		}, want: []v1.Problem{{
			Reason: v1.ReasonReplicaFailure, Message: "the pod is invalid: " + aboveLimit + " (a LimitRange may set that limit: set resources.limits)",
		}}},
		{name: "the Deployment stands in for its ReplicaSet", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			s.ReplicaSets = nil
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: quota,
			})
		}, want: []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: "exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3"}}},
		{name: "pods of the revision before, and a ReplicaSet that is refused", change: func(s *child.Snapshot, d *appsv1.Deployment) {
			refuseReplicaSet(d)
			s.Pods = podsOf(currentUID, crashing())
		}, want: []v1.Problem{{
			Reason:  v1.ReasonQuotaExceeded,
			Message: "ReplicaSet web-3: exceeded quota: sets, requested: count/replicasets.apps=1, used: count/replicasets.apps=1, limited: count/replicasets.apps=1",
		}}},
		{name: "more than fit", change: func(s *child.Snapshot, _ *appsv1.Deployment) {
			many := &child.PodProblems{}
			for i := range MaxProblems + 5 {
				many.Containers = append(many.Containers, child.Container{Name: fmt.Sprintf("c%02d", i), Termination: &child.Termination{}})
			}
			s.Pods = podsOf(currentUID, many)
		}, want: manyProblems(MaxProblems)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			snapshot, deployment := rolledOut()
			deployment.Status.AvailableReplicas = 2
			test.change(&snapshot, deployment)
			got := Assess(snapshot, at(test.now).Time)
			if diff := cmp.Diff(test.want, got.Problems); diff != "" {
				t.Errorf("the problems (-want +got):\n%s", diff)
			}
			if late := !got.LateUntil.IsZero(); late != (test.late > 0) || late && !got.LateUntil.Equal(at(test.late).Time) {
				t.Errorf("late until %s, want %d s after noon", got.LateUntil, test.late)
			}
			if got.RequeueAfter != test.again {
				t.Errorf("look again after %s, want %s", got.RequeueAfter, test.again)
			}
		})
	}
}

func manyProblems(number int) []v1.Problem {
	var problems []v1.Problem
	for i := range number {
		problems = append(problems, v1.Problem{Reason: v1.ReasonCrashLooping, Container: fmt.Sprintf("c%02d", i), Message: "The container keeps exiting.", Pods: 1})
	}
	return problems
}

// The message of a group is that of most of its pods, whatever the order in which the cache has them.
func TestCommonMessage(t *testing.T) {
	a, b := finding{message: "a"}, finding{message: "b"}
	for _, test := range []struct {
		name string
		same []finding
		want string
	}{
		{"most", []finding{a, b, b}, "b"},
		{"as many", []finding{b, a}, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commonMessage(test.same); got != test.want {
				t.Errorf("the message is %q, want %q", got, test.want)
			}
		})
	}
}

func TestWorstAndDescribe(t *testing.T) {
	tests := []struct {
		name     string
		desired  int32
		problems []v1.Problem
		want     string
	}{
		{"none", 3, nil, ""},
		{"only what explains nothing", 3, []v1.Problem{{Reason: v1.ReasonEvicted, Pods: 1}, {Reason: v1.ReasonProgressDeadlineExceeded}}, ""},
		{"some pods", 3, []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Message: "Exited", Pods: 2}}, "2 of 3 pods, container web: Exited."},
		{"all pods", 3, []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: "no nodes", Pods: 3}}, "All 3 pods: no nodes."},
		{"the only pod", 1, []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: "no nodes", Pods: 1}}, "1 pod: no nodes."},
		{"more pods than desired", 1, []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: "no nodes", Pods: 2}}, "2 pods: no nodes."},
		{"no pod at all", 3, []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: "exceeded quota"}}, "Exceeded quota."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rollout, got := Rollout{Desired: test.desired, Problems: test.problems}, ""
			if worst := rollout.Worst(); worst != nil {
				got = rollout.Describe(worst)
			}
			if got != test.want {
				t.Errorf("the worst problem is described as %q, want %q", got, test.want)
			}
		})
	}
}
