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
	// Snapshot is what was seen before anything was done: the Application, with the status that
	// was written last, and its live children.
	Snapshot child.Snapshot
	// Health is how the rollout stood then.
	Health health.Rollout
	// Results are what was done, one for each child, in order. They are empty while the spec is
	// invalid or the Application is being deleted. With reconcilePolicy Observe they are the
	// steps of the plan, of which none was done.
	Results []plan.Result
	// Invalid is why the spec is refused; nothing was planned then.
	Invalid field.ErrorList
	// InvalidReason is the reason to give for Invalid. Empty: v1.ReasonInvalid.
	InvalidReason string
	// Missing says which ConfigMaps, Secrets or keys the pods need that are not there; "" if none.
	Missing string
	// Unfollowed says of which of them a change replaces no pods, and why; "" if of none.
	Unfollowed string
	// Revision has the numbers of the revisions after this sync, and RolledBack is the condition about
	// them, or nil if it does not apply.
	Revision   v1.RevisionStatus
	RolledBack *metav1.Condition
	// Unowned is why children do not have the owner that deletionPolicy asks for. While the Application is being
	// deleted, it waits for them.
	Unowned map[child.Ref]error
	// URLs are ServedURLs, of a sync that came as far as a plan.
	URLs []string
	// Autoscaled is true if a HorizontalPodAutoscaler is among what was rendered.
	Autoscaled bool
}

// Compute returns the status of the Application, after a sync and before its status is
// written. What it returns shares nothing with the input that a caller could change.
func Compute(in Input, now time.Time) v1.ApplicationStatus {
	application := in.Snapshot.Application
	children := assessAll(in)
	pods := podsOf(in)
	summary := summarize(in, children, pods)
	return v1.ApplicationStatus{
		ObservedGeneration: application.Generation,
		Conditions:         conditions(in, children, pods, summary, now),
		DesiredReplicas:    pods.Desired,
		Replicas:           pods.Status.Replicas,
		UpdatedReplicas:    pods.Status.UpdatedReplicas,
		ReadyReplicas:      pods.Status.ReadyReplicas,
		AvailableReplicas:  pods.Status.AvailableReplicas,
		Selector:           v1.LabelApplication + "=" + application.Name,
		URLs:               urls(in),
		Image:              image(in, pods),
		Revision:           revision(in, pods),
		Class:              appliedClass(in),
		Resources:          resources(in, children),
		Problems:           pods.Problems,
	}
}

// summary is what Ready, Reconciling and Stalled say. It is ready, or else at most one of
// reconciling and stalled.
type summary struct {
	ready       bool
	reconciling bool
	stalled     bool
	reason      string
	message     string
	// stage is the reason of Reconciling or Stalled, where it is another one.
	stage string
}

// summarize picks what matters most to a person: first what keeps anything from being done,
// then children that could not be written, then the pods.
func summarize(in Input, children []assessment, p pods) summary {
	if in.deleting() {
		return summarizeDeletion(in)
	}
	if len(in.Invalid) > 0 {
		return summary{stalled: true, reason: cmp.Or(in.InvalidReason, v1.ReasonInvalid), message: invalidMessage(in.Invalid)}
	}
	workload := summarizePods(in, p)
	written, troubled := summarizeResults(children)
	if in.Missing != "" && !written.stalled {
		return summarizeMissing(in)
	}
	if !troubled {
		if routes, off := summarizeRoutes(children); off && workload.ready {
			return routes
		}
		return workload
	}
	// While a write is retried, pods that wait for a person come first; but not if the
	// Deployment is what could not be written, since the new one may be the cure.
	if p.isApplied(in) && written.reconciling && workload.stalled {
		return workload
	}
	return written
}

// planned tells whether this sync came as far as a plan. If not, what the last one found out
// about the children still holds.
func (in Input) planned() bool { return len(in.Results) > 0 }

func (in Input) deleting() bool { return in.Snapshot.Application.DeletionTimestamp != nil }

// observing tells that the plan was not carried out, because reconcilePolicy says so.
func (in Input) observing() bool {
	return in.Snapshot.Application.Spec.ReconcilePolicy == v1.ReconcileObserve
}

// result returns what was done about one child.
func (in Input) result(ref child.Ref) (plan.Result, bool) {
	for _, result := range in.Results {
		if result.Ref == ref {
			return result, true
		}
	}
	return plan.Result{}, false
}

// ours tells whether the live child of that name is the Application's. The plan has found that
// out; without one it is asked anew.
func (in Input) ours(ref child.Ref) bool {
	live, found := in.Snapshot.Children[ref]
	if !found {
		return false
	}
	if result, ok := in.result(ref); ok {
		return result.Action != plan.Refuse
	}
	return child.OwnedBy(live, in.Snapshot.Application) || child.IsOrphaned(in.Snapshot.Application, ref, live)
}

// known is what the last status said about the child; the zero value if nothing.
func (in Input) known(ref child.Ref) v1.ResourceStatus {
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

// image is what runs: that of the live Deployment, not of the spec, since with an invalid spec
// or reconcilePolicy Observe the two differ. It changes when a rollout is complete.
func image(in Input, p pods) string {
	if p.Complete {
		for _, container := range p.Deployment.Spec.Template.Spec.Containers {
			if container.Name == in.Snapshot.Application.Name {
				return text.Truncate(container.Image, maxImage)
			}
		}
	}
	return in.Snapshot.Application.Status.Image
}
