// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package summary is what `kubectl fairlead status` shows of an Application. It is pure: objects and the time in, the
// summary out.
package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/tree"
)

// Summary is an Application on one screen. Its JSON is stable: fields are added, never changed.
type Summary struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Image is the spec's, and RunningImage that of the last rollout that was complete.
	Image        string `json:"image"`
	RunningImage string `json:"runningImage,omitempty"`
	// Health is that of the Application in the tree; Ready, Reason and Message are its condition Ready. Ready is
	// False while the status is about an older generation.
	Health  tree.Health `json:"health"`
	Ready   bool        `json:"ready"`
	Reason  string      `json:"reason,omitempty"`
	Message string      `json:"message,omitempty"`
	Since   *time.Time  `json:"since,omitempty"`
	// Stalled means that nothing changes until a user acts.
	Stalled bool `json:"stalled,omitempty"`

	Rollout    Rollout            `json:"rollout"`
	Pods       []PodGroup         `json:"pods,omitempty"`
	URLs       []string           `json:"urls,omitempty"`
	Routes     string             `json:"routes,omitempty"`
	RoutesHint string             `json:"routesHint,omitempty"`
	Autoscaler *Autoscaler        `json:"autoscaler,omitempty"`
	Class      *v1.AppliedClass   `json:"class,omitempty"`
	Policies   []string           `json:"policies,omitempty"`
	Notes      []string           `json:"notes,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Events     []Event            `json:"events,omitempty"`
	Unreadable []string           `json:"unreadable,omitempty"`
	// reasonSince is since when Reason holds, where another condition shows that: Since does not move when only the reason changes.
	reasonSince *time.Time
	// observed: the controller has written a status.
	observed bool
	// orphaned is the number of pods that outlive their Deployment.
	orphaned int
}

// Rollout is how far the pods have come.
type Rollout struct {
	// Revision is 0 if it is not known what runs.
	Revision       int64 `json:"revision,omitempty"`
	LastHealthy    int64 `json:"lastHealthy,omitempty"`
	RolledBackFrom int64 `json:"rolledBackFrom,omitempty"`
	Desired        int32 `json:"desired"`
	Updated        int32 `json:"updated"`
	Available      int32 `json:"available"`
	// Outdated means that the Deployment does not have the pods of the spec. Updated counts pods of the Deployment, so it may be all of them.
	Outdated bool `json:"outdated,omitempty"`
	// withoutDeployment means that there is no Deployment.
	withoutDeployment bool
}

// PodGroup are the pods in the same state.
type PodGroup struct {
	Count  int         `json:"count"`
	Health tree.Health `json:"health"`
	Reason string      `json:"reason"`
}

// Autoscaler is the HorizontalPodAutoscaler.
type Autoscaler struct {
	Min     int32  `json:"min"`
	Max     int32  `json:"max"`
	Current int32  `json:"current"`
	Desired int32  `json:"desired"`
	Problem string `json:"problem,omitempty"`
}

// Event is an Event about the Application.
type Event struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
}

// maxEvents is how many Events are shown.
const maxEvents = 5

// Of summarizes what was read of an Application.
func Of(loaded *cluster.Loaded) Summary {
	application := loaded.Application
	status := application.Status
	root := tree.Build(loaded.Objects)
	s := Summary{
		Namespace: application.Namespace, Name: application.Name, Image: application.Spec.Image, RunningImage: status.Image,
		Health: root.Health, Reason: root.Reason, Message: root.Message,
		Rollout: Rollout{Desired: status.DesiredReplicas, Updated: status.UpdatedReplicas, Available: status.AvailableReplicas},
		Pods:    podGroups(root), URLs: status.URLs, Class: status.Class, Policies: policies(loaded), Notes: notes(loaded),
		Autoscaler: autoscaler(loaded), Conditions: status.Conditions, observed: status.ObservedGeneration > 0,
	}
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	// A status from before the deletion may be the last one.
	isAboutDeletion := ready != nil && ready.Reason == v1.ReasonDeleting
	if ready != nil && status.ObservedGeneration == application.Generation && (application.DeletionTimestamp == nil || isAboutDeletion) {
		s.Ready = ready.Status == metav1.ConditionTrue
		s.Reason, s.Message, s.Since = ready.Reason, ready.Message, &ready.LastTransitionTime.Time
		s.Stalled = meta.IsStatusConditionTrue(status.Conditions, v1.ConditionStalled)
		s.reasonSince = sinceReason(status.Conditions, ready)
	}
	switch {
	case why.LosesDeployment(loaded):
		s.loseDeployment(loaded)
	case why.LacksDeployment(loaded) && application.Spec.ReconcilePolicy == v1.ReconcileObserve: // It may have had one.
		s.losePods(loaded)
	}
	if routes := meta.FindStatusCondition(status.Conditions, v1.ConditionRoutesReady); routes != nil {
		s.Routes = routes.Reason
		if routes.Status != metav1.ConditionTrue {
			s.Routes += ": " + routes.Message
		} else if ingresses := loaded.Unaddressed(); len(ingresses) > 0 {
			s.RoutesHint = ingresses.Note()
		}
	}
	if revision := status.Revision; revision != nil {
		s.Rollout.Revision, s.Rollout.LastHealthy, s.Rollout.RolledBackFrom = revision.Current, revision.LastHealthy, revision.RolledBackFrom
	}
	s.Rollout.Outdated = outdated(loaded)
	if application.Spec.ReconcilePolicy == v1.ReconcileSuspend {
		s.follow(loaded)
		if changedByOthers(loaded) {
			s.Rollout.Revision = 0
		}
		if loaded.Unreadable[child.Deployment.Resource] == nil && child.Get[child.Object](loaded.Snapshot(), child.Deployment, application.Name) == nil {
			s.losePods(loaded)
		}
	}
	for i := range loaded.Events[:min(len(loaded.Events), maxEvents)] {
		event := &loaded.Events[i]
		s.Events = append(s.Events, Event{Time: cluster.EventTime(event), Type: event.Type, Reason: event.Reason, Message: event.Message})
	}
	for resource := range loaded.Unreadable {
		s.Unreadable = append(s.Unreadable, resource)
	}
	slices.Sort(s.Unreadable)
	return s
}

// outdated reports whether the Deployment does not have the pods of the spec: they wait, for example, for a Secret or the end of a
// suspension. A revision that runs instead of the spec has words of its own. That the Deployment waits proves nothing: an unchanged one
// waits too, such as for a ServiceAccount that another client owns.
func outdated(loaded *cluster.Loaded) bool {
	application := loaded.Application
	status := application.Status
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name)
	if deployment == nil || !child.OwnedBy(deployment, application) || status.ObservedGeneration != application.Generation ||
		edit.PinOf(application) > 0 || application.IsRolledBack() {
		return false
	}
	if revision, _ := why.OtherRevision(application); revision > 0 {
		return false // What waits is not the spec.
	}
	// A suspended controller determines no revision of a new spec, so there only the image shows it, unless admission changes it.
	otherImage := func(container corev1.Container) bool {
		return container.Name == application.Name && container.Image != application.Spec.Image && admitted(application, child.Deployment) == ""
	}
	return lacksRevision(application, deployment) || slices.ContainsFunc(deployment.Spec.Template.Spec.Containers, otherImage)
}

// admitted is what status says of a child that is as Fairlead wrote it, but for what an admission webhook or policy changed; "" for others.
func admitted(application *v1.Application, kind child.Kind) string {
	for _, resource := range application.Status.Resources {
		if resource.Group == kind.Group && resource.Kind == kind.Kind && resource.State == v1.ResourceSynced {
			return resource.Message
		}
	}
	return ""
}

// lacksRevision reports whether status has a revision of the spec, and the Deployment rolls out another one. The revision is in status
// even while it waits to be created.
func lacksRevision(application *v1.Application, deployment *appsv1.Deployment) bool {
	// The content of ConfigMaps and Secrets, if it is part of the name, comes last. The spec does not ask for that.
	ofPods := func(revision string) string {
		key, _, _ := strings.Cut(strings.TrimPrefix(revision, application.Name+"-"), "-")
		return key
	}
	deployed, others := ofPods(deployment.Annotations[v1.AnnotationRevision]), false
	for _, resource := range application.Status.Resources {
		if resource.Group != child.ControllerRevision.Group || resource.Kind != child.ControllerRevision.Kind {
			continue
		}
		if ofPods(resource.Name) == deployed {
			return false
		}
		others = true
	}
	return others && deployed != ""
}

// sinceReason is since when the Application is not ready for the reason of Ready, as far as another condition shows it; nil if none
// does. Such a condition may be older than that: Paused begins with spec.paused. Stalled shows nothing: it stays True from one reason
// to the next.
func sinceReason(conditions []metav1.Condition, ready *metav1.Condition) *time.Time {
	for _, kind := range []string{v1.ConditionRolledBack, v1.ConditionPaused, v1.ConditionDrifted} {
		found := meta.FindStatusCondition(conditions, kind)
		if found == nil || found.Status != metav1.ConditionTrue || found.Reason != ready.Reason {
			continue
		}
		if found.LastTransitionTime.Before(&ready.LastTransitionTime) {
			found = ready
		}
		return &found.LastTransitionTime.Time
	}
	return nil
}

// podGroups counts the pods of the tree by what keeps them from serving; those that serve first.
func podGroups(root *tree.Node) []PodGroup {
	var groups []PodGroup
	for _, node := range root.All() {
		if node.Kind != "Pod" {
			continue
		}
		reason := cmp.Or(node.Reason, "Ready")
		same := func(g PodGroup) bool { return g.Reason == reason && g.Health == node.Health }
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i].Count++
			continue
		}
		groups = append(groups, PodGroup{Count: 1, Health: node.Health, Reason: reason})
	}
	slices.SortFunc(groups, func(a, b PodGroup) int {
		return cmp.Or(compareBool(b.Health == tree.Healthy, a.Health == tree.Healthy), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return groups
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// policies are the settings that stop Fairlead from doing the usual; users who look for a cause should see them first.
func policies(loaded *cluster.Loaded) []string {
	var found []string
	application := loaded.Application
	if paused := application.Spec.Paused; paused != nil && *paused {
		note := "rollouts are paused (spec.paused)"
		if edit.NotCarriedOut(application) != "" && !meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionPaused) {
			note = "spec.paused is set, but Fairlead does not carry the spec out, so a rollout that has begun goes on"
		}
		found = append(found, note)
	}
	switch application.Spec.ReconcilePolicy {
	case v1.ReconcileObserve:
		note := "differences are only reported (reconcilePolicy: Observe)"
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && slices.Contains(v1.RefusalReasons, ready.Reason) {
			note = "no child is changed, and differences are reported once Fairlead accepts the spec (reconcilePolicy: Observe)"
		}
		found = append(found, note)
	case v1.ReconcileSuspend:
		found = append(found, "Fairlead does nothing (reconcilePolicy: Suspend)")
	case v1.ReconcileEnforce:
	}
	if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		note := "the pods stay at revision %d, whatever the spec says about them (spec.rollback.toRevision)"
		if loaded.Unreadable[child.ControllerRevision.Resource] == nil && !edit.RunsPinned(loaded.Objects) || why.LosesDeployment(loaded) || why.LacksDeployment(loaded) {
			note = "revision %d is asked for, and does not run yet (spec.rollback.toRevision)"
		}
		if len(found) > 0 {
			note = "revision %d is asked for; if it does not run yet, it waits too (spec.rollback.toRevision)"
		}
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.Reason == v1.ReasonRevisionMissing {
			note = "nothing changes, because revision %d does not exist (spec.rollback.toRevision)"
		}
		found = append(found, fmt.Sprintf(note, *rollback.ToRevision))
	}
	if application.Spec.DeletionPolicy == v1.DeletionOrphan {
		found = append(found, orphaning(loaded))
	}
	return found
}

// orphaning says what becomes of the children of an Application with deletionPolicy Orphan.
func orphaning(loaded *cluster.Loaded) string {
	application := loaded.Application
	switch {
	case slices.Contains(application.Finalizers, v1.FinalizerOrphan):
		return "children outlive the Application (deletionPolicy: Orphan)"
	case application.DeletionTimestamp != nil && slices.ContainsFunc(loaded.Children, func(object child.Object) bool { return plan.LeftBehind(object) }):
		return "children were left behind (deletionPolicy: Orphan)"
	case application.DeletionTimestamp != nil:
		return "children outlive the Application (deletionPolicy: Orphan) only if a controller saw that before the deletion"
	default: // The garbage collector would take them along.
		return "children outlive the Application (deletionPolicy: Orphan) only once a controller has seen that: do not delete it before"
	}
}

// notes are what a user would not look for: an Application that is ready may have pods with a container of another client.
func notes(loaded *cluster.Loaded) (found []string) {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	for _, container := range why.AddedContainers(loaded.Application, deployment) {
		found = append(found, container.What())
	}
	for _, resource := range loaded.Application.Status.Resources {
		if resource.State == v1.ResourceSynced && resource.Message != "" {
			found = append(found, resource.Kind+" "+resource.Name+": "+resource.Message)
		}
	}
	for _, unused := range loaded.UnusedParents() {
		found = append(found, unused.What())
	}
	for _, service := range loaded.PendingServices() {
		found = append(found, "no controller has given Service "+service.Name+" an external address")
	}
	return found
}

func autoscaler(loaded *cluster.Loaded) *Autoscaler {
	for _, live := range loaded.Children {
		hpa, ok := live.(*autoscalingv2.HorizontalPodAutoscaler)
		if !ok || !child.OwnedBy(hpa, loaded.Application) {
			continue
		}
		a := &Autoscaler{Min: 1, Max: hpa.Spec.MaxReplicas, Current: hpa.Status.CurrentReplicas, Desired: hpa.Status.DesiredReplicas}
		if hpa.Spec.MinReplicas != nil {
			a.Min = *hpa.Spec.MinReplicas
		}
		for _, condition := range hpa.Status.Conditions {
			if condition.Status == corev1.ConditionFalse && condition.Type != autoscalingv2.ScalingLimited {
				a.Problem = condition.Reason + ": " + condition.Message
			}
		}
		return a
	}
	return nil
}
