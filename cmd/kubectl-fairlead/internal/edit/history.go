// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/revision"
	"fairlead.dev/fairlead/pkg/tree"
)

// Revision is one entry of the history of an Application.
type Revision struct {
	Number  int64     `json:"revision"`
	Name    string    `json:"name"`
	Image   string    `json:"image"`
	Created time.Time `json:"created"`
	// Containers are the sidecars and the init containers.
	Containers []Container `json:"containers,omitempty"`
	// Current is what the Deployment has, LastHealthy was healthy last, RolledBack is the spec's, which failed, and Pinned is the one that
	// spec.rollback.toRevision names.
	Current     bool `json:"current,omitempty"`
	LastHealthy bool `json:"lastHealthy,omitempty"`
	RolledBack  bool `json:"rolledBack,omitempty"`
	Pinned      bool `json:"pinned,omitempty"`
	// Waits is current, but no pod of it has started: rollouts are paused, or an adoption holds the pods from before.
	Waits bool `json:"waits,omitempty"`
	// WasHealthy was healthy before another one was. NeverHealthy was not, and does not run.
	WasHealthy   bool `json:"wasHealthy,omitempty"`
	NeverHealthy bool `json:"neverHealthy,omitempty"`
	// WasRolledBack is what the ReplicaSets and the later revisions show about a revision.
	WasRolledBack bool `json:"wasRolledBack,omitempty"`
	// RestartOf is the revision before, if a restart of its pods is all that changed. It has a higher number if undo went back to it.
	RestartOf int64 `json:"restartOf,omitempty"`

	// held says that it waits because an adoption holds the pods.
	held bool
	// pods is what it says about the pods, without the time of a restart; nil if that cannot be read.
	pods *v1.ApplicationSpec
	// restarted is the time of the restart.
	restarted string
}

// Container is another container of a revision than the application's own.
type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// History returns the revisions that the Application owns, the newest first.
func History(objects tree.Objects) []Revision {
	application := objects.Application
	var status v1.RevisionStatus
	if application.Status.Revision != nil {
		status = *application.Status.Revision
	}
	rolledBack := rolledBackIn(objects)
	adopted := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
	held := adopted != nil && adopted.Reason == v1.ReasonPodsHeld
	paused := meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionPaused) &&
		application.Status.UpdatedReplicas == 0 && application.Status.Replicas > 0
	var revisions []Revision
	for _, live := range objects.Children {
		object, ok := live.(*appsv1.ControllerRevision)
		if !ok || !child.OwnedBy(object, application) {
			continue
		}
		r := Revision{
			Number: object.Revision, Name: object.Name, Created: object.CreationTimestamp.Time,
			Current: object.Revision == status.Current, LastHealthy: object.Revision == status.LastHealthy,
			RolledBack: object.Revision == status.RolledBackFrom, Pinned: object.Revision == PinOf(application),
			WasHealthy: slices.Contains(status.FormerHealthy, object.Revision), WasRolledBack: rolledBack[object.Name],
		}
		r.held = r.Current && held
		r.Waits = r.held || r.Current && paused
		r.NeverHealthy = application.Status.Revision != nil && !r.Current && !r.LastHealthy && !r.WasHealthy
		r.read(object)
		revisions = append(revisions, r)
	}
	slices.SortFunc(revisions, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Name, b.Name))
	})
	findRestarts(revisions)
	return revisions
}

// RunsPinned reports whether what runs is the revision that spec.rollback.toRevision names, or one with its pods: that gets another number
// when a ConfigMap or Secret has other content.
func RunsPinned(objects tree.Objects) bool {
	number, status := PinOf(objects.Application), objects.Application.Status.Revision
	if number == 0 || status == nil || status.Current == number {
		return number > 0 && status != nil
	}
	revisions := History(objects)
	current := slices.IndexFunc(revisions, func(r Revision) bool { return r.Current })
	pinned := slices.IndexFunc(revisions, func(r Revision) bool { return r.Pinned })
	return current >= 0 && pinned >= 0 && revisions[current].SamePods(&revisions[pinned])
}

// findRestarts sets RestartOf. The revision before has the number before, also after an undo. Where an undo gave that one a new number since,
// it is the one that was made before.
func findRestarts(revisions []Revision) {
	byNumber := make([]*Revision, 0, len(revisions))
	for i := range revisions {
		byNumber = append(byNumber, &revisions[i])
	}
	made := slices.Clone(byNumber)
	slices.SortStableFunc(made, func(a, b *Revision) int { return b.Created.Compare(a.Created) })
	pair := func(ordered []*Revision, isPair func(r, before *Revision) bool) {
		for i := range len(ordered) - 1 {
			if r, before := ordered[i], ordered[i+1]; r.RestartOf == 0 && isPair(r, before) && r.isRestartOf(before) {
				r.RestartOf = before.Number
			}
		}
	}
	pair(byNumber, func(r, before *Revision) bool { return r.Number == before.Number+1 })
	pair(made, func(_, _ *Revision) bool { return true })
	// A pinned revision gets another number when a ConfigMap or Secret has other content. No spec was written with it.
	written := slices.Clone(byNumber)
	slices.Reverse(written)
	seen := make([]*Revision, 0, len(written))
	written = slices.DeleteFunc(written, func(r *Revision) bool {
		again := slices.ContainsFunc(seen, func(before *Revision) bool { return r.restarted == before.restarted && r.SamePods(before) })
		seen = append(seen, r)
		return again
	})
	slices.Reverse(written)
	pair(written, func(_, _ *Revision) bool { return true })
	slices.Reverse(made) // Two that were made in the same second may be in either order.
	pair(made, func(r, before *Revision) bool { return r.Created.Equal(before.Created) })
}

// isRestartOf reports whether a restart is all that a revision changed.
func (r *Revision) isRestartOf(before *Revision) bool {
	if r.restarted == "" || r.restarted == before.restarted || !r.SamePods(before) {
		return false
	}
	later, err := time.Parse(time.RFC3339, r.restarted)
	earlier, errBefore := time.Parse(time.RFC3339, before.restarted)
	return err != nil || errBefore != nil || later.After(earlier)
}

// HasContainer reports whether the revision has a sidecar or an init container. It is not known if the revision cannot be read.
func (r *Revision) HasContainer(name string) (has, known bool) {
	if r.pods == nil {
		return false, false
	}
	named := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(r.pods.Sidecars, named) || slices.ContainsFunc(r.pods.InitContainers, named), true
}

// rolledBackIn returns the names of the revisions from which a rollback went back: Kubernetes copies the annotations of the
// Deployment to its ReplicaSets, and they stay there until the next rollback to the same pods. The revision that replaced a failed one has
// its name for longer.
func rolledBackIn(objects tree.Objects) map[string]bool {
	names := map[string]bool{}
	for _, live := range objects.Children {
		if object, ok := live.(*appsv1.ControllerRevision); ok && child.OwnedBy(object, objects.Application) {
			for name := range strings.SplitSeq(object.Annotations[v1.AnnotationRolledBackBefore], ",") {
				names[name] = true
			}
		}
	}
	deployment := child.Get[*appsv1.Deployment](objects.Snapshot(), child.Deployment, objects.Application.Name)
	if deployment == nil || !child.OwnedBy(deployment, objects.Application) {
		return names
	}
	for _, set := range objects.ReplicaSets {
		if from := set.Annotations[v1.AnnotationRolledBackFrom]; from != "" && metav1.IsControlledBy(set, deployment) {
			names[from] = true
		}
	}
	return names
}

// PinOf is the revision that spec.rollback.toRevision names; 0 if it names none.
func PinOf(application *v1.Application) int64 {
	if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		return *rollback.ToRevision
	}
	return 0
}

// read takes over what the object says about the pods, if its data is what Fairlead writes.
func (r *Revision) read(object *appsv1.ControllerRevision) {
	var content struct {
		Spec *v1.ApplicationSpec `json:"spec"`
	}
	if err := json.Unmarshal(object.Data.Raw, &content); err != nil || content.Spec == nil {
		return
	}
	r.Image, r.pods = content.Spec.Image, content.Spec
	for _, containers := range [][]corev1.Container{r.pods.Sidecars, r.pods.InitContainers} {
		for i := range containers {
			r.Containers = append(r.Containers, Container{containers[i].Name, containers[i].Image})
		}
	}
	metadata := r.pods.PodMetadata
	if metadata == nil {
		return
	}
	r.restarted = metadata.Annotations[v1.AnnotationRestartedAt]
	delete(metadata.Annotations, v1.AnnotationRestartedAt)
	if len(metadata.Annotations) == 0 && len(metadata.Labels) == 0 {
		r.pods.PodMetadata = nil
	}
}

// SamePods reports whether both say the same about the pods, apart from a restart.
func (r *Revision) SamePods(other *Revision) bool {
	return r.pods != nil && other.pods != nil && revision.SamePods(r.pods, other.pods)
}
