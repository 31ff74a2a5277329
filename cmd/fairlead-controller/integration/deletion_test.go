// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const orphan = "  deletionPolicy: Orphan\n"

// TestF20Deletion deletes an Application in each way that kubectl offers. The children are deleted with it, and none
// of them is created again meanwhile.
func TestF20Deletion(t *testing.T) {
	t.Parallel()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.waitGarbageCollector()
			e.apply(full)
			if got := e.waitReady("web").Finalizers; len(got) != 0 {
				t.Errorf("it has the finalizers %q, but needs none", got)
			}
			cursor := e.cluster.AuditCursor(t)
			remove[v1.Application](e, "web", propagation)
			waitGone[v1.Application](e, "web")
			e.eventually("the children are garbage-collected", func() (bool, string) {
				left := e.uids("web")
				return len(left) == 0 && e.pods("web") == 0, cmp.Diff(nil, left)
			})
			// A write of a child may come too late, and is refused. The status of an Application that waits for its children may change.
			e.wroteNothing(cursor, func(event *controlplane.AuditEvent) bool {
				return event.Code < 400 && event.Resource != v1.ApplicationResource
			})
		})
	}
}

// TestOrphan deletes Applications whose children must stay, unchanged except for the ownerReference, and with their
// pods.
func TestOrphan(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.waitGarbageCollector() // It is what does --cascade=orphan.
	for _, test := range []struct {
		name   string
		spec   string
		before func(e *env, name string) // the deletion
		how    metav1.DeletionPropagation
	}{
		{name: "by-policy", spec: full + orphan, how: metav1.DeletePropagationBackground},
		{name: "by-kubectl", spec: full, how: metav1.DeletePropagationOrphan},
		{name: "by-both", spec: full + orphan, how: metav1.DeletePropagationOrphan},
		{name: "by-a-later-policy", spec: full, how: metav1.DeletePropagationBackground, before: func(e *env, name string) {
			e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = v1.DeletionOrphan })
			e.waitReady(name)
		}},
		{name: "suspended", spec: full + orphan, how: metav1.DeletePropagationBackground, before: func(e *env, name string) {
			e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileSuspend })
		}},
		{name: "unlabelled", spec: full + orphan, how: metav1.DeletePropagationBackground, before: func(e *env, name string) {
			// The informers no longer have the child. The controller does not restore the label once it has observed
			// reconcilePolicy Observe.
			e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.ReconcilePolicy = v1.ReconcileObserve })
			e.waitObserved(name)
			e.patch(child.ConfigMap, childName(child.ConfigMap, name), types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
		}},
		{name: "invalid", spec: full + orphan, how: metav1.DeletePropagationBackground, before: func(e *env, name string) {
			e.editSpec(name, func(spec *v1.ApplicationSpec) { spec.WorkingDir = "not/absolute" })
			e.waitCondition(name, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInvalid)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			e.apply(named(test.spec, test.name))
			application := e.waitReady(test.name)
			if test.before != nil {
				test.before(e, test.name)
			}
			before, uids := e.contents(application), e.uids(test.name)
			remove[v1.Application](e, test.name, test.how)
			waitGone[v1.Application](e, test.name)
			if diff := cmp.Diff(before, e.contents(application), ignoreOwners); diff != "" {
				t.Errorf("the children changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(withoutHistory(uids), withoutHistory(e.uids(test.name))); diff != "" {
				t.Errorf("the children are others (-before +after):\n%s", diff)
			}
			for ref, owners := range e.owners(test.name) {
				if len(owners) != 0 {
					t.Errorf("%s still has the owners %v", ref, owners)
				}
			}
			if got := e.pods(test.name); got != 2 {
				t.Errorf("%d pods are left, want both", got)
			}
			if test.how == metav1.DeletePropagationOrphan {
				return // Kubernetes keeps everything, as it was asked to.
			}
			e.eventually("the history is garbage-collected", func() (bool, string) {
				left := e.revisions(test.name)
				return len(left) == 0, fmt.Sprint(left)
			})
		})
	}
}

// TestOrphanFinalizer checks that the finalizer is there before the first child, and follows the
// policy.
func TestOrphanFinalizer(t *testing.T) {
	t.Parallel()
	e := start(t)
	cursor := e.cluster.AuditCursor(t)
	e.apply(small + orphan)
	e.waitReady("web")
	writes := e.written(cursor)
	if len(writes) == 0 || writes[0].Verb != "patch" || writes[0].Resource != v1.ApplicationResource || writes[0].Subresource != "" {
		t.Errorf("the first write was not that of the finalizer: %v", writes)
	}
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = v1.DeletionDelete })
	e.waitFinalizers("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.DeletionPolicy = v1.DeletionOrphan })
	e.waitFinalizers("web", v1.FinalizerOrphan)
}

// ignoreOwners ignores the ownerReferences of contents.
var ignoreOwners = cmp.FilterPath(func(path cmp.Path) bool {
	return path.Last().String() == `["ownerReferences"]`
}, cmp.Ignore())

func (e *env) waitFinalizers(name string, want ...string) {
	e.Helper()
	e.eventually("the finalizers are "+strings.Join(want, ","), func() (bool, string) {
		got := e.application(name).Finalizers
		return slices.Equal(got, want), strings.Join(got, ",")
	})
}

// TestF20OrphanWhileStopped deletes an Application while the controller is down. It waits.
func TestF20OrphanWhileStopped(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.apply(small + orphan)
	e.waitReady("web")
	e.stop()
	uids := e.uids("web")
	remove[v1.Application](e, "web")
	if e.application("web").DeletionTimestamp == nil {
		t.Error("the Application is not being deleted")
	}
	e.run()
	waitGone[v1.Application](e, "web")
	if diff := cmp.Diff(withoutHistory(uids), withoutHistory(e.uids("web"))); diff != "" {
		t.Errorf("the children are others (-before +after):\n%s", diff)
	}
	e.waitEvent("web", v1.EventOrphaned, child.Deployment.Kind, "web")

	// The next Application of that name does not own the children that were left behind.
	e.apply(small)
	e.waitCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
	if diff := cmp.Diff(withoutHistory(uids), withoutHistory(e.uids("web"))); diff != "" {
		t.Errorf("the orphans are others (-before +after):\n%s", diff)
	}
	for ref, owners := range e.owners("web") {
		if len(owners) != 0 {
			t.Errorf("%s was adopted by %v", ref, owners)
		}
	}
}

// TestF14TerminatingNamespace deletes a namespace with Applications in it. The deletion must complete.
func TestF14TerminatingNamespace(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1.DeletionPolicy{v1.DeletionDelete, v1.DeletionOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.apply(full + "  deletionPolicy: " + string(policy) + "\n")
			e.waitReady("web")
			cursor := e.cluster.AuditCursor(t)
			if err := e.kube.CoreV1().Namespaces().Delete(t.Context(), e.namespace, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			waitGone[corev1.Namespace](e, e.namespace)
			// Until the Application goes, each child that goes is made again, and refused, ever more
			// seldom.
			if writes := e.written(cursor); len(writes) > 100 {
				t.Errorf("%d writes in the meantime: %v", len(writes), writes)
			}
		})
	}
}

// TestF03Recreate deletes an Application and creates one of the same name at once, before the children are deleted.
// They belong to the old one by their UID, and the new one does not adopt them.
func TestF03Recreate(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.waitGarbageCollector()
	for _, test := range []struct {
		name    string
		stopped bool
	}{{name: "running"}, {name: "stopped", stopped: true}} {
		t.Run(test.name, func(t *testing.T) {
			// Not parallel: the controller is stopped.
			e := e.sub(t)
			e.apply(named(full, test.name))
			old := e.waitReady(test.name)
			before := e.uids(test.name)
			if test.stopped {
				e.stop()
			}
			cursor := e.cluster.AuditCursor(t)
			remove[v1.Application](e, test.name)
			e.apply(named(full, test.name))
			if test.stopped {
				e.run()
			}
			application := e.waitReady(test.name)
			if application.UID == old.UID {
				t.Fatal("the Application is the old one")
			}
			for ref, uid := range e.uids(test.name) {
				if before[ref] == uid {
					t.Errorf("%s is the old one", ref)
				}
			}
			for ref, owners := range e.owners(test.name) {
				if !slices.Equal(owners, []types.UID{application.UID}) {
					t.Errorf("%s belongs to %v, want %s", ref, owners, application.UID)
				}
			}
			// The garbage collector deletes; the controller creates.
			for _, event := range e.written(cursor, controlplane.WithVerb("delete")) {
				t.Errorf("the controller deleted: %s", event)
			}
		})
	}
}

// uids are the UIDs of all children that bear the Application's label, by kind and name.
func (e *env) uids(application string) map[string]types.UID {
	e.Helper()
	uids := map[string]types.UID{}
	for _, kind := range child.Kinds() {
		list, err := e.children(kind).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
		if err != nil {
			e.Fatalf("list %s: %v", kind, err)
		}
		for i := range list.Items {
			uids[kind.Kind+" "+list.Items[i].GetName()] = list.Items[i].GetUID()
		}
	}
	return uids
}

// withoutHistory leaves the revisions out: they go with their Application, whatever stays.
func withoutHistory(uids map[string]types.UID) map[string]types.UID {
	maps.DeleteFunc(uids, func(ref string, _ types.UID) bool { return strings.HasPrefix(ref, child.ControllerRevision.Kind+" ") })
	return uids
}

// owners are the UIDs of their owners.
func (e *env) owners(application string) map[string][]types.UID {
	e.Helper()
	owners := map[string][]types.UID{}
	for _, kind := range namedKinds() {
		list, err := e.children(kind).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
		if err != nil {
			e.Fatalf("list %s: %v", kind, err)
		}
		for i := range list.Items {
			ref := kind.Kind + " " + list.Items[i].GetName()
			owners[ref] = nil
			for _, owner := range list.Items[i].GetOwnerReferences() {
				owners[ref] = append(owners[ref], owner.UID)
			}
		}
	}
	return owners
}
