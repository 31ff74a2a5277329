// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestTarget wants the last healthy revision, unless it is what runs and what the spec says.
func TestTarget(t *testing.T) {
	for name, test := range map[string]struct {
		current, lastHealthy, asksFor int64
		want                          int64
	}{
		"a rollout that is stuck":                      {2, 1, 2, 1},
		"a healthy rollout":                            {2, 2, 2, 1},
		"a spec that is not carried out":               {2, 2, 3, 2},
		"a spec that is refused":                       {2, 2, 0, 2},
		"a spec that is not carried out, on the first": {1, 1, 2, 1},
		"the first": {1, 1, 1, 0},
	} {
		var history []edit.Revision
		for number := test.current; number > 0; number-- {
			history = append(history, edit.Revision{
				Number: number, Current: number == test.current, LastHealthy: number == test.lastHealthy, WasHealthy: number < test.lastHealthy,
			})
		}
		if target, err := edit.Target(history, test.asksFor, 0); target.Number != test.want || (err != nil) != (test.want == 0) {
			t.Errorf("%s: back to %d, %v, want %d", name, target.Number, err, test.want)
		}
	}
}

// shop is an Application with a history: the images of its revisions, the oldest first. A revision is made each minute.
func shop(status v1.RevisionStatus, images ...string) tree.Objects {
	objects := tree.Objects{Application: application()}
	objects.Application.Status.Revision = &status
	deployment := &appsv1.Deployment{ObjectMeta: objectOf("web", objects.Application.UID, 0)}
	deployment.UID = "deployment"
	deployment.SetGroupVersionKind(child.Deployment.GroupVersionKind())
	objects.Children = append(objects.Children, deployment)
	var spec v1.ApplicationSpec
	for i, image := range images {
		image, isRestart := strings.CutPrefix(image, restarted)
		if image != "" {
			spec.Image = image
		}
		if isRestart {
			spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: timeOf(i)}}
		}
		encoded, err := json.Marshal(spec)
		if err != nil {
			panic(err)
		}
		name := "web-" + child.HashOf(string(objects.Application.UID), string(encoded))[:10]
		objects.Children = append(objects.Children, &appsv1.ControllerRevision{
			ObjectMeta: objectOf(name, objects.Application.UID, i), Revision: int64(i + 1),
			Data: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"spec":%s,"configMapsHash":"%d"}`, encoded, i)},
		})
		set := &appsv1.ReplicaSet{ObjectMeta: objectOf(fmt.Sprint("web-", i+1), deployment.UID, i)}
		set.UID, set.Annotations = types.UID(set.Name), map[string]string{v1.AnnotationRevision: name}
		objects.ReplicaSets = append(objects.ReplicaSets, set)
	}
	return objects
}

// restarted stands for the image of the revision before, with a restart. An undo went to the revision with the image that follows it.
const restarted = "restart"

// timeOf is when revision i is made, and its pods are restarted.
func timeOf(i int) string {
	return treetest.Now.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
}

func objectOf(name string, owner types.UID, minute int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(treetest.Now.Add(time.Duration(minute) * time.Minute)),
		OwnerReferences: []metav1.OwnerReference{{UID: owner, Controller: new(true)}},
	}
}

// TestUndoOfHistories wants what the user reads: to which revision undo goes, and what is known about that one.
func TestUndoOfHistories(t *testing.T) {
	healthy := func(former ...int64) v1.RevisionStatus {
		return v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: former}
	}
	pin := func(number int64) func(*tree.Objects) {
		return func(objects *tree.Objects) { objects.Application.Spec.Rollback = &v1.Rollback{ToRevision: &number} }
	}
	held := func(objects *tree.Objects) {
		adopted := metav1.Condition{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonPodsHeld}
		objects.Application.Status.Conditions = append(objects.Application.Status.Conditions, adopted)
	}
	paused := func(objects *tree.Objects) {
		status := &objects.Application.Status
		status.Conditions = append(status.Conditions, metav1.Condition{Type: v1.ConditionPaused, Status: metav1.ConditionTrue, Reason: v1.ReasonPaused})
		status.Replicas, status.UpdatedReplicas = 2, 0
	}
	rolledBack := func(objects *tree.Objects) {
		objects.ReplicaSets[0].Annotations[v1.AnnotationRolledBackFrom] = objects.ReplicaSets[1].Annotations[v1.AnnotationRevision]
	}
	rolledBackBefore := func(objects *tree.Objects) {
		annotations := map[string]string{v1.AnnotationRolledBackBefore: "web-other," + objects.ReplicaSets[1].Annotations[v1.AnnotationRevision]}
		objects.Children[len(objects.Children)-1].SetAnnotations(annotations)
	}
	for name, test := range map[string]struct {
		status          v1.RevisionStatus
		images          []string
		given           func(*tree.Objects)
		asksFor, number int64
		want            string
	}{
		"the one before was healthy": {
			status: healthy(2, 1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3,
			want: "the pods of revision 2 (web:2) in the spec",
		},
		"the one before never was healthy": {
			status: healthy(1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3,
			want: "the pods of revision 1 (web:1) in the spec",
		},
		"the one before never was healthy, and the user wants it": {
			status: healthy(1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, number: 2,
			want: "the pods of revision 2 (web:2) in the spec; revision 2 was never healthy",
		},
		"none before was healthy": {
			status: healthy(), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3,
			want: "there is no former revision to go back to that was healthy. To go back to one that was not, name it with --to-revision: 1, 2",
		},
		"the one before was rolled back, and the user wants it": {
			status: healthy(1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, number: 2, given: rolledBack,
			want: "the pods of revision 2 (web:2) in the spec; revision 2 was rolled back before, because it failed",
		},
		"the one before was rolled back before another one, and the user wants it": {
			status: healthy(1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, number: 2, given: rolledBackBefore,
			want: "the pods of revision 2 (web:2) in the spec; revision 2 was rolled back before, because it failed",
		},
		"the one before was healthy once, and then rolled back": {
			status: healthy(2, 1), images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, given: rolledBack,
			want: "the pods of revision 2 (web:2) in the spec; revision 2 was rolled back before, because it failed",
		},
		"restarts": {
			status: v1.RevisionStatus{Current: 4, LastHealthy: 4, FormerHealthy: []int64{3, 2, 1}}, images: []string{"web:1", "web:2", restarted, restarted}, asksFor: 4,
			want: "the pods of revision 1 (web:1) in the spec",
		},
		"nothing but a restart": {
			status: v1.RevisionStatus{Current: 2, LastHealthy: 2}, images: []string{"web:1", restarted}, asksFor: 2,
			want: "there is no former revision to go back to: those that there are (1) have the same pods, apart from restarts and the content of ConfigMaps and Secrets",
		},
		"a restart of what was healthy, after a failure": {
			status: v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}}, images: []string{"web:1", "web:2", "web:1"}, asksFor: 3,
			want: "there is no former revision to go back to that was healthy: those that were (1) have the same pods, " +
				"apart from restarts and the content of ConfigMaps and Secrets. To go back to one that was not, name it with --to-revision: 2",
		},
		"pinned to what fails": {
			status: v1.RevisionStatus{Current: 2, LastHealthy: 3}, images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, given: pin(2),
			want: "the pods of revision 3 (web:3) in the spec; rollback.toRevision 2 is removed",
		},
		"pinned to what fails, and the user wants it": {
			status: v1.RevisionStatus{Current: 2, LastHealthy: 3}, images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, number: 2, given: pin(2),
			want: "the pods of revision 2 (web:2) in the spec; rollback.toRevision 2 is removed; revision 2 runs, and has not been healthy since it was rolled out",
		},
		"pinned to what works": {
			status: v1.RevisionStatus{Current: 1, LastHealthy: 1}, images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, given: pin(1),
			want: "the pods of revision 1 (web:1) in the spec; rollback.toRevision 1 is removed",
		},
		"pinned to what does not exist": {
			status: healthy(), images: []string{"web:1", "web:2", "web:3"}, given: pin(9),
			want: "the pods of revision 3 (web:3) in the spec; rollback.toRevision 9 is removed",
		},
		"none was healthy": {
			status: v1.RevisionStatus{Current: 1}, images: []string{"web:1"}, asksFor: 2,
			want: "the pods of revision 1 (web:1) in the spec; revision 1 runs, and has not been healthy since it was rolled out",
		},
		"an adoption holds the pods": {
			status: v1.RevisionStatus{Current: 1}, images: []string{"web:1"}, asksFor: 2, given: held,
			want: "the pods of revision 1 (web:1) in the spec; no pod of revision 1 has started, because the adoption holds the pods",
		},
		"the one that runs waits for the end of a pause": {
			status: v1.RevisionStatus{Current: 2}, images: []string{"web:1", "web:2", "web:3"}, asksFor: 3, number: 2, given: paused,
			want: "the pods of revision 2 (web:2) in the spec; no pod of revision 2 has started, because rollouts are paused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := shop(test.status, test.images...)
			if test.given != nil {
				test.given(&objects)
			}
			var said string
			target, err := edit.Target(edit.History(objects), test.asksFor, test.number)
			if err == nil {
				_, said, err = edit.Apply(objects.Application, edit.Undo(target, objects.Children, false))
			}
			if err != nil {
				said = err.Error()
			}
			if said != test.want {
				t.Errorf("%s, want %s", said, test.want)
			}
		})
	}
}

// TestUndoOfARestart says that undo goes no further back than before a restart that has not completed.
func TestUndoOfARestart(t *testing.T) {
	const (
		first   = "the pods of revision 1 (web:1) in the spec"
		second  = "the pods of revision 2 (web:1) in the spec"
		restart = "; that only takes a restart back"
		further = ". To go further back, name a revision with --to-revision"
	)
	for _, test := range []struct {
		name, image string
		former      []string
		number      int64
		want        string
	}{
		{"the oldest", "web:1", []string{"web:1"}, 0, first + restart},
		{"another image", "web:2", []string{"web:1"}, 0, first},
		{"an older one exists", "web:1", []string{"web:0", "web:1"}, 0, second + restart + further},
		{"named", "web:1", []string{"web:0", "web:1"}, 2, second + restart},
	} {
		number := int64(len(test.former))
		objects := shop(v1.RevisionStatus{Current: number + 1, LastHealthy: number}, append(test.former, restarted)...)
		spec := &objects.Application.Spec
		*spec = v1.ApplicationSpec{Image: test.image, PodMetadata: &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: timeOf(len(test.former))}}}
		revisions := edit.History(objects)
		target, err := edit.Target(revisions, number+1, test.number)
		if err != nil {
			t.Fatal(err)
		}
		undo := edit.Undo(target, objects.Children, edit.GoesFurther(revisions, target, test.number))
		if _, got, err := edit.Apply(objects.Application, undo); err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestHistoryOfRestarts: an undo gives a former revision a new number, which does not make it a restart of what it took back.
func TestHistoryOfRestarts(t *testing.T) {
	for _, test := range []struct {
		name   string
		images []string
		undone map[int]int64 // By index: the numbers of the revisions, where an undo changed or followed them.
		want   map[int64]int64
	}{
		{"a restart", []string{"web:1", restarted}, nil, map[int64]int64{2: 1}},
		{"two restarts", []string{"web:1", restarted, restarted}, nil, map[int64]int64{2: 1, 3: 2}},
		{"the undo of a restart", []string{"web:1", restarted}, map[int]int64{0: 3}, map[int64]int64{2: 3}},
		{"the undo of two restarts", []string{"web:1", restarted, restarted}, map[int]int64{0: 4}, map[int64]int64{2: 4, 3: 2}},
		{"the undo of the second restart", []string{"web:1", restarted, restarted}, map[int]int64{1: 4}, map[int64]int64{4: 1, 3: 4}},
		{"a restart after an image", []string{"web:2", "web:1", restarted}, nil, map[int64]int64{3: 2}},
		{"a restart after an undo", []string{"web:1", "web:2", restarted + "web:1"}, map[int]int64{0: 3, 2: 4}, map[int64]int64{4: 3}},
		{"a restart after the undo of a restart", []string{"web:1", restarted, restarted}, map[int]int64{0: 3, 2: 4}, map[int64]int64{2: 3, 4: 3}},
		{"a restart beside a pinned revision that got other content", []string{"web:1", "web:2", "web:1", restarted + "web:2"}, nil, map[int64]int64{4: 2}},
		{"a restart with the image before the last", []string{"web:1", "web:2", restarted + "web:1"}, nil, map[int64]int64{}},
		{"the undo of an image after a restart", []string{"web:1", restarted, "web:2"}, map[int]int64{0: 4}, map[int64]int64{2: 4}},
	} {
		objects := shop(v1.RevisionStatus{}, test.images...)
		at := 0
		for _, object := range objects.Children {
			if object, ok := object.(*appsv1.ControllerRevision); ok {
				if number, ok := test.undone[at]; ok {
					object.Revision = number
				}
				at++
			}
		}
		got := map[int64]int64{}
		for _, r := range edit.History(objects) {
			if r.RestartOf > 0 {
				got[r.Number] = r.RestartOf
			}
		}
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: restarts are %v, want %v", test.name, got, test.want)
		}
	}
}

// TestHistoryOfOneSecond: creation times have no fractions, so they may not tell which of two revisions was made first.
func TestHistoryOfOneSecond(t *testing.T) {
	objects := shop(v1.RevisionStatus{}, "web:1", restarted)
	for _, object := range objects.Children {
		if object, ok := object.(*appsv1.ControllerRevision); ok {
			object.CreationTimestamp = metav1.Unix(1, 0)
			if object.Revision == 1 {
				object.Revision = 3 // By an undo.
			}
		}
	}
	if history := edit.History(objects); history[0].RestartOf != 0 || history[1].RestartOf != 3 {
		t.Errorf("revision %d is a restart of %d, and %d of %d, want 2 of 3 alone", history[0].Number, history[0].RestartOf, history[1].Number, history[1].RestartOf)
	}
}

// TestRunsPinned: other content of a ConfigMap gives the pinned pods another number.
func TestRunsPinned(t *testing.T) {
	for _, test := range []struct {
		pin, current int64
		want         bool
	}{{0, 1, false}, {1, 1, true}, {1, 2, false}, {1, 3, true}, {9, 3, false}} {
		objects := shop(v1.RevisionStatus{Current: test.current}, "web:1", "web:2", "web:1")
		objects.Application.Spec.Rollback = &v1.Rollback{}
		if test.pin > 0 {
			objects.Application.Spec.Rollback.ToRevision = &test.pin
		}
		if got := edit.RunsPinned(objects); got != test.want {
			t.Errorf("revision %d is asked for, and %d runs: %t", test.pin, test.current, got)
		}
	}
}
