// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
)

// Action is the effect on a child.
type Action string

// The actions.
const (
	Create Action = "Create"
	Update Action = "Update"
	Delete Action = "Delete"
	// Adopt takes over an object of another owner, with the consent of a user.
	Adopt Action = "Adopt"
	// Blocked means that the name belongs to an object of another owner, which is not adopted.
	Blocked Action = "Blocked"
)

// Child is a child that would change.
type Child struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Action  Action   `json:"action"`
	Reason  string   `json:"reason,omitempty"`
	Changes []Change `json:"changes,omitempty"`
}

// Pods is the effect on the pods.
type Pods struct {
	// Replaced means that every pod is replaced, because of these fields of the pod template. Compare leaves the fields of Held out.
	Replaced bool     `json:"replaced"`
	Because  []Change `json:"because,omitempty"`
	// Contents are the ConfigMaps and Secrets whose content has changed since the pods started; of several of one kind, one or more has.
	// Compare leaves them out, since it reads none.
	Contents []string `json:"contents,omitempty"`
	// Kept is the number of pods that stay nevertheless, because they have the template already: of a rollout that another
	// change interrupted. Compare leaves it 0, since a snapshot does not have it. -1 means that it is not known.
	Kept int32 `json:"kept,omitempty"`
	// Held is the number of pods that are replaced because a paused rollout goes on.
	Held int32 `json:"held,omitempty"`
	// Started is the number of pods that are started because a paused rollout goes on: the Deployment has had none so far.
	Started int32 `json:"started,omitempty"`
	// Live is the number of pods, Before and After are the desired numbers; nil if an autoscaler or a user decides. If After is
	// set, Before of an Application that left it open, or was not carried out, is what the Deployment asks for. A new autoscaler does
	// not wake a Deployment at 0: the controller does, and After is the number with which the autoscaler then starts. Of a new
	// Deployment it is always the number with which that starts.
	Live int32 `json:"live"`
	// LiveUnknown means that nobody read the Deployment, so Live is 0. Compare leaves it false, since a snapshot does not say so.
	LiveUnknown bool `json:"liveUnknown,omitempty"`
	// Unlisted means that the user may not list Deployments: the rest is about the pods that the stored spec asks for.
	Unlisted bool   `json:"-"`
	Before   *int32 `json:"before,omitempty"`
	After    *int32 `json:"after,omitempty"`
	// Asked is the number of pods that the Deployment asks for, if After leaves it open.
	Asked *int32 `json:"asked,omitempty"`
	// Autoscaled means that the Application has an autoscaler after the change.
	Autoscaled bool `json:"-"`
	// Paused means that the replacement waits until the rollout is resumed.
	Paused bool `json:"paused,omitempty"`
	// Stopped is Observe or Suspend if that is the reconcilePolicy: until the Application is resumed, no child changes.
	Stopped v1.ReconcilePolicy `json:"stopped,omitempty"`
	// Unfinished is the number of pods that Kubernetes replaces nevertheless, because a rollout has begun. Compare leaves it 0. -1 means
	// that it is not known.
	Unfinished int32 `json:"unfinished,omitempty"`
	// Pinned is the revision that spec.rollback.toRevision names. The pods stay at it, whatever else the spec says about them.
	Pinned int64 `json:"pinned,omitempty"`
	// Strategy is the strategy of the replacement.
	Strategy appsv1.DeploymentStrategyType `json:"strategy,omitempty"`
	// Outage means that a rolling update may leave no pod ready meanwhile. Recreate always does.
	Outage bool `json:"outage,omitempty"`
}

// Difference is the effect of a change of an Application.
type Difference struct {
	Children []Child `json:"children,omitempty"`
	Pods     Pods    `json:"pods"`
}

// Empty reports whether nothing changes.
func (d Difference) Empty() bool { return len(d.Children) == 0 }

// Compare returns the effect of a change from one rendering to another. If the first one has no children, because the
// Application does not exist or is refused, it compares with the live ones; so it does if they were perhaps not carried out.
func Compare(differ plan.Differ, before, after Rendering, live child.Snapshot) (_ Difference, err error) {
	var d Difference
	around := live
	around.Application = after.Application
	for _, desired := range after.Children {
		old, existed := find(before.Children, desired.Ref)
		object, isLive := live.Children[desired.Ref]
		c := Child{Kind: desired.Kind.Kind, Name: desired.Name}
		switch {
		case isLive && !child.OwnedBy(object, after.Application) && !child.IsOrphaned(after.Application, desired.Ref, object):
			if err := c.foreign(differ, after, desired, live, object); err != nil {
				return Difference{}, err
			}
		case existed && !before.notCarriedOut:
			if isLive {
				if old, desired, err = keepLive(around, old, desired, object); err != nil {
					return Difference{}, err
				}
			}
			found, err := Changes(old.Configuration, desired.Configuration)
			if err != nil {
				return Difference{}, err
			}
			if c.Action, c.Changes = Update, withoutBookkeeping(ByKey(found)); len(c.Changes) == 0 {
				continue
			}
		case isLive && desired.Kind == child.ControllerRevision:
			if c.Changes, err = renumbered(object, desired); err != nil {
				return Difference{}, err
			}
			if c.Action = Update; len(c.Changes) == 0 {
				continue
			}
		case isLive:
			if !existed {
				old = desired
			}
			if c.Changes, err = ofLive(differ, around, old, desired, object); err != nil {
				return Difference{}, err
			}
			if c.Action = Update; len(c.Changes) == 0 {
				continue
			}
		default:
			c.Action = Create
		}
		d.Children = append(d.Children, c)
	}
	for _, ref := range present(before, live, after.Application) {
		// A former revision remains in the history.
		if _, stays := find(after.Children, ref); !stays && ref.Kind != child.ControllerRevision {
			d.Children = append(d.Children, Child{Kind: ref.Kind.Kind, Name: ref.Name, Action: Delete})
		}
	}
	d.Pods = podsOf(before, after, live, d.Children)
	return d, d.Pods.FindOutage(after.Children)
}

// present are the children before the change: the rendered ones, or those that the Application has if others were perhaps carried out.
func present(before Rendering, live child.Snapshot, application *v1.Application) []child.Ref {
	var refs []child.Ref
	if len(before.Children) > 0 && !before.notCarriedOut {
		for _, desired := range before.Children {
			refs = append(refs, desired.Ref)
		}
		return refs
	}
	for ref, object := range live.Children {
		if child.OwnedBy(object, application) && object.GetDeletionTimestamp() == nil {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b child.Ref) int { return cmp.Compare(a.String(), b.String()) })
	return refs
}

// renumbered is the change of a ControllerRevision that is live: its number, if the spec goes back to it. Its content has a hash in the name.
func renumbered(live child.Object, after child.Desired) ([]Change, error) {
	object, err := after.Object()
	if err != nil {
		return nil, err
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", after.Ref, err)
	}
	const number = "revision"
	return Changes(map[string]any{number: before[number]}, map[string]any{number: object.Object[number]})
}

// ofLive are the changes of the live child: of the fields that are rendered, and of those that were, which an apply removes.
func ofLive(differ plan.Differ, around child.Snapshot, before, after child.Desired, live child.Object) ([]Change, error) {
	before, after, err := keepLive(around, before, after, live)
	if err != nil {
		return nil, err
	}
	fields, err := differ.LiveFields(live, before, after)
	if err != nil {
		return nil, err
	}
	found, err := Changes(fields, after.Configuration)
	return withoutBookkeeping(ByKey(found)), err
}

// keepLive leaves out of both renderings what the controller leaves to the live child.
func keepLive(around child.Snapshot, before, after child.Desired, live child.Object) (_, _ child.Desired, err error) {
	for _, rendered := range []*child.Desired{&before, &after} {
		if *rendered, err = plan.KeepLive(around, *rendered, live); err != nil {
			return before, after, err
		}
		if !rendered.IfUnchanged {
			continue
		}
		if err := withoutRestart(rendered); err != nil {
			return before, after, err
		}
	}
	return before, after, nil
}

// withoutRestart removes a later restart of the live Deployment, which stays whether the spec has an earlier one or none.
func withoutRestart(rendered *child.Desired) error {
	object, err := rendered.Object()
	if err != nil {
		return err
	}
	path := []string{"spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt}
	unstructured.RemoveNestedField(object.Object, path...)
	above := path[:len(path)-1]
	if others, _, _ := unstructured.NestedMap(object.Object, above...); len(others) == 0 {
		unstructured.RemoveNestedField(object.Object, above...)
	}
	rendered.Configuration = object
	return nil
}

// leftAlone begins the reason of what is blocked; the reason says whose the object is, and what to do.
const leftAlone = "Fairlead leaves the object alone: "

// foreign says what becomes of an object of another owner.
func (c *Child) foreign(differ plan.Differ, after Rendering, desired child.Desired, live child.Snapshot, object child.Object) error {
	live.Application = after.Application
	step, err := differ.Foreign(plan.Input{Snapshot: live, Desired: after.Children}, desired, object)
	if err != nil {
		return fmt.Errorf("decide about %s: %w", desired.Ref, err)
	}
	switch {
	case step.Action == plan.Adopt:
		c.Action, c.Reason = Adopt, step.Reason
		fields, err := differ.AdoptedLiveFields(step)
		if err != nil {
			return err
		}
		found, err := Changes(fields, step.Desired.Configuration)
		if err != nil {
			return err
		}
		c.Changes = withoutBookkeeping(ByKey(found))
	case step.Adoption == plan.AdoptionHeld:
		c.Action, c.Reason = Adopt, step.Reason
	default:
		c.Action, c.Reason = Blocked, leftAlone+step.Reason
	}
	return nil
}

func find(children []child.Desired, ref child.Ref) (child.Desired, bool) {
	for _, c := range children {
		if c.Ref == ref {
			return c, true
		}
	}
	return child.Desired{}, false
}

// withoutBookkeeping removes the annotations in which Fairlead keeps state.
func withoutBookkeeping(found []Change) []Change {
	var kept []Change
	for _, change := range found {
		if !strings.HasPrefix(change.Path, ".metadata.annotations["+v1.ReservedPrefix) {
			kept = append(kept, change)
		}
	}
	return kept
}

const templatePath = ".spec.template"

func podsOf(before, after Rendering, live child.Snapshot, children []Child) Pods {
	pods := Pods{Strategy: appsv1.RollingUpdateDeploymentStrategyType, After: render.FixedReplicas(after.Application)}
	if !enforced(after.Application) {
		pods.Stopped = after.Application.Spec.ReconcilePolicy
	}
	if strategy := after.Application.Spec.Strategy; strategy != nil && strategy.Type != "" {
		pods.Strategy = strategy.Type
	}
	if paused := after.Application.Spec.Paused; paused != nil {
		pods.Paused = *paused
	}
	if rollback := after.Application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		pods.Pinned = *rollback.ToRevision
	}
	_, pods.Autoscaled = find(after.Children, child.Ref{Kind: child.HorizontalPodAutoscaler, Namespace: after.Application.Namespace, Name: after.Application.Name})
	if before.Application != nil {
		pods.Before = render.FixedReplicas(before.Application)
	}
	if live.Application != nil {
		if deployment := ownedDeployment(live); deployment != nil {
			pods.Live = deployment.Status.Replicas
			if pods.After == nil && render.LiveReplicas(live) == 0 && creates(children, child.HorizontalPodAutoscaler) {
				pods.Before, pods.After = new(int32(0)), new(plan.InitialReplicas(after.Application))
			}
			if pods.After == nil {
				pods.Asked = deployment.Spec.Replicas
			} else if pods.Before == nil || before.notCarriedOut {
				pods.Before = deployment.Spec.Replicas
			}
			if deployment.Spec.Paused && !pods.Paused {
				pods.Held = max(0, deployment.Status.Replicas-deployment.Status.UpdatedReplicas)
				if deployment.Status.ObservedGeneration < deployment.Generation {
					pods.Held = deployment.Status.Replicas // UpdatedReplicas may be about an older template.
				}
				if wanted := cmp.Or(pods.After, pods.Asked); pods.Live == 0 && wanted != nil {
					pods.Started = *wanted
				}
			}
		}
	}
	if pods.After == nil && creates(children, child.Deployment) {
		pods.After = new(plan.InitialReplicas(after.Application))
	}
	for _, c := range children {
		if c.Kind != child.Deployment.Kind || c.Action != Update {
			continue
		}
		for _, change := range c.Changes {
			if strings.HasPrefix(change.Path, templatePath+".") || change.Path == templatePath {
				pods.Replaced = true
				pods.Because = append(pods.Because, change)
			}
		}
	}
	return pods
}

func creates(children []Child, kind child.Kind) bool {
	return slices.ContainsFunc(children, func(c Child) bool { return c.Kind == kind.Kind && c.Action == Create })
}
