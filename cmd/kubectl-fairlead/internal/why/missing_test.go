// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestMissingKey: where the object exists, the key is what to add, or what is misspelt.
func TestMissingKey(t *testing.T) {
	for message, want := range map[string]string{
		`Secret db-password does not exist; no pod starts without it.`:                                                                      `Create Secret db-password with the key "password"; the controller notices it.`,
		`ConfigMap a does not exist; Secret b does not exist; no pod starts without them.`:                                                  "Create ConfigMap a with the keys that the pods need and Secret b with the keys that the pods need; the controller notices it.",
		`Secret db cannot be read (InternalError); no pod starts without it.`:                                                               "Create the object, with the keys that the spec names; the controller notices it.",
		`Secret db has no key "password"; no pod starts without it.`:                                                                        `Add key "password" to Secret db, or correct the key in the spec; the controller notices it.`,
		`ConfigMap a does not exist; Secret b has no keys "x", "tls.crt"; running pods stay as they are, and new ones that need them wait.`: `Create ConfigMap a with the keys that the pods need; add keys "x", "tls.crt" to Secret b, or correct the keys in the spec; the controller notices it.`,
	} {
		loaded := clustertest.Load(t, "missing")
		meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Message = message
		if found := why.Explain(loaded).Findings; len(found) != 1 || found[0].Next[0] != want {
			t.Errorf("%s: %+v, want it to advise %q", message, found, want)
		}
	}
}

// TestMissingOfEarlierRevision: no edit of the spec helps an earlier revision, and the spec may name nothing that is missing.
func TestMissingOfEarlierRevision(t *testing.T) {
	const (
		create = "Create Secret db, with the keys that revision 1 names; the controller notices it."
		change = "Or change the pods in the spec, so that they roll out instead."
		unpin  = `Or let the pods of the spec run: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`
	)
	pin := &v1.Rollback{ToRevision: new(int64(1))}
	for message, test := range map[string]struct {
		rollback *v1.Rollback
		want     []string
	}{
		"Revision 1, which spec.rollback.toRevision asks for, waits: Secret db does not exist; no pod starts without it.":       {pin, []string{create, unpin}},
		"Revision 2 failed. Fairlead goes back to revision 1, which waits: Secret db does not exist; no pod starts without it.": {nil, []string{create, change}},
		"Revision 1 runs instead of revision 2, which failed. Secret db does not exist; no pod starts without it.":              {nil, []string{create, change}},
		"Revision 2 failed. Fairlead goes back to revision 1, which waits: Secret db has no key \"x\"; no pod starts without it.": {
			nil, []string{"Add key \"x\" to Secret db; the controller notices it.", change},
		},
	} {
		loaded := clustertest.Load(t, "missing")
		meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Message = message
		loaded.Application.Spec.Rollback = test.rollback
		const what = "The pods of revision 1 need a ConfigMap or Secret, or a key of one, that does not exist. New pods that need it wait."
		if found := why.Explain(loaded).Findings; len(found) != 1 || found[0].What != what || !slices.Equal(found[0].Next, test.want) {
			t.Errorf("%s: %+v, want %q and %q", message, found, what, test.want)
		}
	}
}

// TestSpecNeedsItToo: to roll out the pods of the spec does not help where they need what is missing.
func TestSpecNeedsItToo(t *testing.T) {
	const (
		change  = "Or change the pods in the spec, so that they roll out instead."
		correct = "Or correct the reference in the spec, whose pods need it too, so that they roll out instead."
		failed  = "Revision 1 runs instead of revision 2, which failed. "
		pinned  = "Revision 1 runs, as spec.rollback.toRevision asks. "
		waits   = "; running pods stay as they are, and new ones that need it wait."
	)
	for _, test := range []struct{ message, needed, next string }{
		{failed + `Secret db-password has no key "password"` + waits, `Secret db-password has no key "password".`, correct},
		{failed + `Secret db-password has no keys "other", "password"` + waits, `Secret db-password has no keys "other", "password".`, correct},
		{failed + `Secret db-password does not exist; ConfigMap a does not exist` + waits, `Secret db-password does not exist.`, correct},
		{failed + `Secret db-password has no key "other"` + waits, "", change},
		{failed + `ConfigMap db-password does not exist` + waits, "", change},
		{pinned + `Secret db-password has no key "password"` + waits, `Secret db-password has no key "password".`, ""},
	} {
		loaded := clustertest.Load(t, "missing")
		application := loaded.Application
		meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady).Message = test.message
		if test.next == "" {
			application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
		}
		if needed := why.MissingForSpec(application); needed != test.needed {
			t.Errorf("%s: the spec needs %q, want %q", test.message, needed, test.needed)
		}
		next := why.Explain(loaded).Findings[0].Next[1:]
		if want := []string{test.next}; test.next == "" && len(next) > 0 || test.next != "" && !slices.Equal(next, want) {
			t.Errorf("%s: %q, want %q", test.message, next, want)
		}
	}
}

// TestWayBackFromMissing: a change that refers to a missing ConfigMap waits, and the policy OnFailure does not roll back for that.
func TestWayBackFromMissing(t *testing.T) {
	const (
		waits = "New pods that need it wait. The policy OnFailure does not roll back for that: the running pods stay as they are, and the change waits.\n"
		back  = "   → Or mark the reference optional: true.\n   → Or go back to revision 1, the last one that was healthy: kubectl fairlead undo web --to-revision=1\n"
		nope  = "ConfigMap nope does not exist; running pods stay as they are, and new ones that need it wait."
	)
	from := []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "nope"}}}}
	for _, test := range []struct {
		name        string
		change      func(*cluster.Loaded)
		waits, back bool
	}{
		{"OnFailure", func(*cluster.Loaded) {}, true, true},
		{"of the class", func(l *cluster.Loaded) {
			onFailure := &v1.ApplicationDefaults{Rollback: &v1.DefaultRollback{Policy: v1.RollbackOnFailure}}
			l.Application.Spec.Rollback, l.Application.Status.Class = nil, &v1.AppliedClass{Name: "std", Defaults: onFailure}
		}, true, true},
		{"Never", func(l *cluster.Loaded) { l.Application.Spec.Rollback = nil }, false, true},
		{"the revision before failed", func(l *cluster.Loaded) { l.Application.Status.Revision.Current = 2 }, true, true},
		{"no revision was healthy", func(l *cluster.Loaded) { l.Application.Status.Revision.LastHealthy = 0 }, true, false},
		{"the healthy revision needs it, too", func(l *cluster.Loaded) { ask(t, l, 1, v1.ApplicationSpec{Image: "example.com/web:1", EnvFrom: from}) }, true, false},
		{"it was removed later", func(l *cluster.Loaded) {
			ask(t, l, 1, v1.ApplicationSpec{Image: "example.com/web:1", EnvFrom: from})
			setResource(l, child.Deployment.Kind, v1.ResourceSynced, "")
		}, false, false},
		{"the first pods wait", func(l *cluster.Loaded) {
			remove(l, child.ControllerRevision)
			l.Children = slices.DeleteFunc(l.Children, func(o child.Object) bool { return o.GetObjectKind().GroupVersionKind().Kind == child.Deployment.Kind })
		}, false, false},
		{"an edit that was not observed", func(l *cluster.Loaded) { l.Application.Generation++ }, false, false},
	} {
		loaded := clustertest.Load(t, "paused")
		application := loaded.Application
		application.Spec.Paused, application.Spec.Rollback, application.Spec.EnvFrom = nil, &v1.Rollback{Policy: v1.RollbackOnFailure}, from
		application.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1}
		meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionPaused)
		ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
		ready.Reason, ready.Message = v1.ReasonConfigMissing, nope
		setResource(loaded, child.Deployment.Kind, v1.ResourcePending, nope)
		test.change(loaded)
		wantParts(t, test.name, shown(t, loaded), map[string]bool{waits: test.waits, back: test.back})
	}
}
