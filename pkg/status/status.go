// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// Input is everything that a status is computed from.
type Input struct {
	// Snapshot is the state before the sync changed anything: the Application with its last status, and its live
	// children.
	Snapshot child.Snapshot
	// ServerTime is the time by the clock of the API server, from which the times of the children are.
	ServerTime time.Time
	// Health is the health of the rollout in the snapshot.
	Health health.Rollout
	// Results has one result for each child, in order; see plan.Done. It is empty while the spec is invalid or the Application is
	// being deleted, and with reconcilePolicy Suspend. With reconcilePolicy Observe it has the steps of the plan, none of which was done.
	Results []plan.Result
	// Class is what the Application takes from its class; nil if it has none.
	Class *v1.AppliedClass
	// Invalid has the errors of a spec that was refused; then there is no plan.
	Invalid field.ErrorList
	// InvalidReason is the reason for Invalid; by default v1.ReasonInvalid.
	InvalidReason string
	// Missing is a message about missing ConfigMaps, Secrets or keys that the pods need; "" if none is missing.
	Missing string
	// Unwatched is a message about ConfigMaps and Secrets whose changes do not roll the pods; "" if there are none.
	Unwatched string
	// Revision has the numbers of the revisions after this sync, and RolledBack is the condition about
	// them, or nil if it does not apply.
	Revision   v1.RevisionStatus
	RolledBack *metav1.Condition
	// Renumbered is the ControllerRevision that gets another number, Revision.Current, in place of RenumberedFrom. That is 0 if none does.
	Renumbered     child.Ref
	RenumberedFrom int64
	// RolledBackBecause begins with the reason for which the revision failed; "" without a rollback.
	RolledBackBecause string
	// Unowned has the errors of children without the owner that deletionPolicy asks for. The deletion of the
	// Application waits for them.
	Unowned map[child.Ref]error
	// Contended are, for children whose repair backs off, the fields that another writer changed more than once; none if each was changed
	// once. Without an entry, the fields of the result count.
	Contended map[child.Ref][]string
	// URLs are the ServedURLs of a sync with a plan.
	URLs []string
	// Autoscaled is true if a HorizontalPodAutoscaler was rendered.
	Autoscaled bool
}

// Compute returns the status of the Application after a sync. The result shares no mutable memory with the input.
func Compute(in Input, now time.Time) v1.ApplicationStatus {
	application := in.Snapshot.Application
	if in.suspended() {
		return suspended(in, now)
	}
	children := assessAll(in)
	pods := podsOf(in)
	summary := summarize(in, children, pods, now)
	return v1.ApplicationStatus{
		ObservedGeneration: application.Generation,
		Summary:            summary.why(),
		Conditions:         conditions(in, children, pods, summary, now),
		DesiredReplicas:    pods.Desired,
		Replicas:           pods.Status.Replicas,
		UpdatedReplicas:    pods.Status.UpdatedReplicas,
		ReadyReplicas:      pods.Status.ReadyReplicas,
		AvailableReplicas:  pods.Status.AvailableReplicas,
		Selector:           selector(in),
		URLs:               urls(in),
		Image:              image(in, pods),
		Revision:           revision(in, pods),
		Class:              appliedClass(in),
		RefusedClass:       refusedClass(in),
		Adoption:           adoption(in, pods),
		Resources:          resources(in, children),
		Problems:           pods.Problems,
	}
}

// summary is the content of Ready, Reconciling and Stalled. It is ready, or else at most one of reconciling and stalled.
type summary struct {
	ready       bool
	reconciling bool
	stalled     bool
	reason      string
	message     string
	// cause is what the column WHY shows; the message, if it is empty.
	cause string
	// stage is the reason of Reconciling or Stalled, if it differs.
	stage string
}

// summarize selects what matters most to a user: first what stops the whole sync, then children that could not be
// written, then the pods.
func summarize(in Input, children []assessment, p pods, now time.Time) summary {
	if in.deleting() {
		return summarizeDeletion(in)
	}
	if len(in.Invalid) > 0 {
		return summary{stalled: true, reason: cmp.Or(in.InvalidReason, v1.ReasonInvalid), message: invalidMessage(in.Invalid), cause: whyInvalid(in.Invalid)}
	}
	workload := summarizePods(in, p)
	written, blocked := summarizeResults(in, children, now)
	if in.Missing != "" && !stalls(written.reason) {
		return summarizeMissing(in, p)
	}
	if !blocked {
		if routes, off := summarizeRoutes(children); off && workload.ready {
			return routes
		}
		return workload
	}
	// While the controller retries a write, pods that wait for a user come first; but not if the Deployment could not
	// be written, since the new one may fix them.
	if p.isApplied(in) && !stalls(written.reason) && workload.stalled {
		return workload
	}
	return written
}

// planned reports whether this sync has a plan. Without one, the last status of the children stays.
func (in Input) planned() bool { return len(in.Results) > 0 }

func (in Input) deleting() bool { return in.Snapshot.Application.DeletionTimestamp != nil }

// observing reports whether reconcilePolicy Observe kept the sync from executing the plan.
func (in Input) observing() bool {
	return in.Snapshot.Application.Spec.ReconcilePolicy == v1.ReconcileObserve
}

// suspended reports whether reconcilePolicy Suspend kept the sync from doing anything. Deletion goes on.
func (in Input) suspended() bool {
	return in.Snapshot.Application.Spec.ReconcilePolicy == v1.ReconcileSuspend && !in.deleting()
}

// result returns the result of one child.
func (in Input) result(ref child.Ref) (plan.Result, bool) {
	for _, result := range in.Results {
		if result.Ref == ref {
			return result, true
		}
	}
	return plan.Result{}, false
}

// owns reports whether the live child of that name is the Application's, as the plan decided; without a plan it decides
// itself.
func (in Input) owns(ref child.Ref) bool {
	live, found := in.Snapshot.Children[ref]
	if !found {
		return false
	}
	if result, ok := in.result(ref); ok {
		return !foreign(in, result)
	}
	return child.OwnedBy(live, in.Snapshot.Application) || child.IsOrphaned(in.Snapshot.Application, ref, live)
}

// lastResource returns the child in the last status, or the zero value.
func (in Input) lastResource(ref child.Ref) v1.ResourceStatus {
	for _, resource := range in.Snapshot.Application.Status.Resources {
		if resource.Group == ref.Kind.Group && resource.Kind == ref.Kind.Kind && resource.Name == ref.Name {
			return resource
		}
	}
	return v1.ResourceStatus{}
}

func urls(in Input) []string {
	if !in.planned() {
		return boundedURLs(ServedURLs(in.Snapshot, nil, nil))
	}
	return boundedURLs(in.URLs)
}

// image returns the running image: the live Deployment's, since the spec may be invalid or only observed. It appears when a
// rollout is complete, and changes then, or when no pod of an earlier one is left. Without a Deployment, none runs. An adoption writes the
// spec into the Deployment at once, so what its pods run is known only from before. So does an Application that takes back what an earlier
// one left behind. A rollout that was paused at 0 pods is complete, but the next pods are of the ReplicaSet before it.
func image(in Input, p pods) string {
	if p.Deployment == nil {
		return ""
	}
	last := in.Snapshot.Application.Status.Image
	outlived := last != "" && p.Observed && p.Status.Replicas > 0 && p.Status.Replicas == p.Status.UpdatedReplicas
	if p.adopted {
		return cmp.Or(adoptedImage(in, p.Deployment), last)
	}
	if last != "" && !outlived && p.Desired == 0 && p.Deployment.Spec.Paused {
		return last
	}
	takenBack := last == "" && in.Health.Healthy()
	if p.Complete || outlived || takenBack {
		for _, container := range p.Deployment.Spec.Template.Spec.Containers {
			if container.Name == in.Snapshot.Application.Name {
				return text.Truncate(container.Image, maxImage)
			}
		}
	}
	return last
}
