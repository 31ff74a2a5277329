// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

// wayBack is offered while an earlier revision worked, the failing one is still rolled out, and what keeps its pods from serving is not also
// in the way of other pods.
func (f facts) wayBack(problem v1.Problem) []string {
	numbers := f.app.Status.Revision
	if f.ready != nil && slices.Contains(v1.RefusalReasons, f.ready.Reason) {
		return nil // An undo is an edit of the spec, and Fairlead would not carry it out either.
	}
	if numbers == nil || numbers.LastHealthy == 0 || numbers.LastHealthy == numbers.Current || numbers.RolledBackFrom != 0 {
		return nil
	}
	if condition := f.condition(v1.ConditionRolledBack); condition != nil && condition.Reason == v1.ReasonRevisionRefused {
		return nil // Its class or the rest of the spec does not allow it any more.
	}
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.LastHealthy })
	if i < 0 || f.refusesUndo(revisions[i]) {
		return nil // It is gone, or does not fit the rest of the spec any more.
	}
	condition := ""
	switch {
	case f.mayHelp(problem.Reason):
	case problem.Reason == v1.ReasonPolicyDenied && f.differsForPolicy(problem.Message):
		condition = ", if the policy admits its pods"
	default:
		return nil
	}
	if revision.CausedByRevision(problem.Reason) && f.rollsBack() {
		return []string{fmt.Sprintf("Or wait: Fairlead goes back to revision %d, the last one that was healthy, once the rollout has failed (rollback.policy: OnFailure). To go back now: %s",
			numbers.LastHealthy, f.undoTo(numbers.LastHealthy))}
	}
	return []string{f.goBackTo(numbers.LastHealthy, condition)}
}

// goBackTo is the step back to the last healthy revision. The condition begins with a comma.
func (f facts) goBackTo(number int64, condition string) string {
	return fmt.Sprintf("Or go back to revision %d, the last one that was healthy%s: %s", number, condition, f.undoTo(number))
}

func (f facts) undoTo(number int64) string {
	return fmt.Sprintf("kubectl fairlead undo %s --to-revision=%d", f.app.Name, number)
}

// rollsBack reports whether Fairlead takes the rollout back if it fails, as the spec or the class says, and nothing has kept it from that yet.
func (f facts) rollsBack() bool {
	spec := &f.app.Spec
	if spec.ReconcilePolicy.Withholds() || spec.Paused != nil && *spec.Paused || f.condition(v1.ConditionRolledBack) != nil {
		return false
	}
	if spec.Rollback != nil && spec.Rollback.Policy != "" {
		return spec.Rollback.Policy == v1.RollbackOnFailure
	}
	taken, _ := f.class()
	return taken.Rollback != nil && taken.Rollback.Policy == v1.RollbackOnFailure
}

// refusesUndo reports whether the spec that undo would write breaks a rule which the present spec keeps: its pods may not fit what was changed
// since, such as an autoscaler that needs requests. The limits of the class and the profile of the controller are not known here.
func (f facts) refusesUndo(target edit.Revision) bool {
	restored := f.app.DeepCopy()
	if _, err := edit.Undo(target, f.Children, false)(restored); err != nil {
		return false // It is not known what undo would write.
	}
	broken := func(app *v1.Application) map[string]bool {
		if applied := app.Status.Class; applied != nil {
			app, _ = class.Merge(app, applied.Defaults)
		}
		rules := map[string]bool{}
		for _, err := range validation.ValidateApplication(app, validation.Options{SecurityProfile: podsecurity.LevelPrivileged, ForeignServiceAccounts: true}) {
			rules[string(err.Type)+err.Field] = true // The value and the words may differ.
		}
		return rules
	}
	present := broken(f.app)
	for rule := range broken(restored) {
		if !present[rule] {
			return true
		}
	}
	return false
}

// mayHelp reports whether the pods of the last healthy revision may serve where those of the present one do not, or at least still serve.
func (f facts) mayHelp(reason string) bool {
	switch reason {
	case v1.ReasonNodeLost:
		return false
	case v1.ReasonQuotaExceeded:
		return f.keepsFormer() && !f.lacksFormer()
	case v1.ReasonPolicyDenied, v1.ReasonReplicaFailure, v1.ReasonPodRejected, v1.ReasonEvicted:
		return f.keepsFormer()
	case v1.ReasonUnschedulable, v1.ReasonVolumeNotMounting:
		return f.keepsFormer() || f.needsOtherNodes()
	default:
		return true
	}
}

// keepsFormer reports whether pods of a former revision are ready, which stay if the rollout goes back to them.
func (f facts) keepsFormer() bool {
	deployment, former := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name), f.former()
	return deployment != nil && deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType && former.serving+former.lacking > 0
}

// lacksFormer reports whether the API server refuses pods of the former revision too, such as those for a higher number of replicas.
func (f facts) lacksFormer() bool {
	return slices.ContainsFunc(f.ReplicaSets, func(replicaSet *appsv1.ReplicaSet) bool {
		isFormer := slices.ContainsFunc(f.Pods, func(pod *corev1.Pod) bool { return metav1.IsControlledBy(pod, replicaSet) && f.ofFormer(pod) })
		return isFormer && slices.ContainsFunc(replicaSet.Status.Conditions, func(condition appsv1.ReplicaSetCondition) bool {
			return condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue
		})
	})
}

// needsOtherNodes reports whether the present revision asks for something else of a node than the last healthy one.
func (f facts) needsOtherNodes() bool { return f.differsIn(ofNodes) }

// differsForPolicy reports whether the present revision differs from the last healthy one in what the policy of the message may look at. Pod
// Security and a LimitRange look at certain fields only, and refuse both if these are the same. Nothing shows whether a policy that the last
// healthy revision met was changed since.
func (f facts) differsForPolicy(message string) bool {
	switch {
	case strings.Contains(message, "violates PodSecurity "):
		return f.differsIn(ofPodSecurity)
	case strings.Contains(message, " usage per ") || strings.Contains(message, "max limit to request ratio per "):
		return f.differsIn(ofLimitRange)
	}
	return f.differsIn(edit.WithoutRestart)
}

// differsIn reports whether the present revision and the last healthy one differ in a part of the spec. It is not known, and so false, if
// one of them cannot be read.
func (f facts) differsIn(part func(*v1.ApplicationSpec) *v1.ApplicationSpec) bool {
	present := f.restored(func(r edit.Revision) bool { return r.Current })
	healthy := f.restored(func(r edit.Revision) bool { return r.LastHealthy })
	return present != nil && healthy != nil && !equality.Semantic.DeepEqual(part(&present.Spec), part(&healthy.Spec))
}

// ofPodSecurity is what Pod Security looks at.
func ofPodSecurity(spec *v1.ApplicationSpec) *v1.ApplicationSpec {
	containers := func(list []corev1.Container) (asked []corev1.Container) {
		for i := range list {
			asked = append(asked, corev1.Container{
				Name: list[i].Name, SecurityContext: list[i].SecurityContext, Ports: list[i].Ports, Lifecycle: list[i].Lifecycle,
				LivenessProbe: list[i].LivenessProbe, ReadinessProbe: list[i].ReadinessProbe, StartupProbe: list[i].StartupProbe,
			})
		}
		return asked
	}
	return &v1.ApplicationSpec{
		PodSecurityContext: spec.PodSecurityContext, SecurityContext: spec.SecurityContext, Mounts: spec.Mounts, Lifecycle: spec.Lifecycle,
		LivenessProbe: spec.LivenessProbe, ReadinessProbe: spec.ReadinessProbe, StartupProbe: spec.StartupProbe,
		InitContainers: containers(spec.InitContainers), Sidecars: containers(spec.Sidecars),
	}
}

// ofLimitRange is what a LimitRange looks at.
func ofLimitRange(spec *v1.ApplicationSpec) *v1.ApplicationSpec {
	containers := func(list []corev1.Container) (asked []corev1.Container) {
		for i := range list {
			asked = append(asked, corev1.Container{Name: list[i].Name, Resources: list[i].Resources})
		}
		return asked
	}
	return &v1.ApplicationSpec{Resources: spec.Resources, InitContainers: containers(spec.InitContainers), Sidecars: containers(spec.Sidecars)}
}

// ofNodes is what decides which nodes may run the pods, without the programs.
func ofNodes(spec *v1.ApplicationSpec) *v1.ApplicationSpec {
	containers := func(list []corev1.Container) (asked []corev1.Container) {
		for i := range list {
			asked = append(asked, corev1.Container{Name: list[i].Name, Resources: list[i].Resources, Ports: list[i].Ports, RestartPolicy: list[i].RestartPolicy})
		}
		return asked
	}
	return &v1.ApplicationSpec{
		Resources: spec.Resources, NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		TopologySpreadConstraints: spec.TopologySpreadConstraints, PriorityClassName: spec.PriorityClassName,
		Mounts: spec.Mounts, InitContainers: containers(spec.InitContainers), Sidecars: containers(spec.Sidecars),
	}
}

// wayBackFromRefusal is offered while a refused change of the pods is all that keeps the Deployment from being as it is: its pods are those
// of a revision that was accepted.
func (f facts) wayBackFromRefusal() []string {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || f.app.Status.Revision == nil {
		return nil
	}
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.Current })
	if i < 0 {
		return nil
	}
	restored := f.app.DeepCopy()
	if _, err := edit.Undo(revisions[i], f.Children, false)(restored); err != nil || equality.Semantic.DeepEqual(restored.Spec, f.app.Spec) {
		return nil // Something else than the pods was refused.
	}
	if f.refusesUndo(revisions[i]) {
		return nil
	}
	if f.app.Status.Class != nil && restored.Spec.Image == f.app.Spec.Image {
		return nil // Restored is also what the pods got from the class, so the difference may mean nothing.
	}
	return []string{fmt.Sprintf("Or go back to revision %d, which was accepted and still runs: kubectl fairlead undo %s --to-revision=%[1]d", revisions[i].Number, f.app.Name)}
}
