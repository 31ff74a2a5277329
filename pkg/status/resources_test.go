// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

var errOther = errors.New("something else")

func terminating() error {
	err := apierrors.NewForbidden(services, "web", errors.New("unable to create new content in namespace shop because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestResources(t *testing.T) {
	fields := func(r plan.Result, fields ...string) plan.Result { r.Fields = fields; return r }
	admitted := func(r plan.Result, fields ...string) plan.Result { r.Admitted = fields; return r }
	because := func(r plan.Result, reason string) plan.Result { r.Reason = reason; return r }
	created := result(plan.Create, child.Service, "web", nil)
	created.UID = "new-uid"
	live := func(action plan.Action) plan.Result { return result(action, child.Service, "web", newService()) }
	held := func(action plan.Action, finalizers ...string) plan.Result {
		service := newService()
		service.DeletionTimestamp, service.Finalizers = &metav1.Time{Time: noon}, finalizers
		return result(action, child.Service, "web", service)
	}
	superfluous := func(r plan.Result) plan.Result { r.Desired = nil; return r }
	missing := func(action plan.Action) plan.Result { return result(action, child.Service, "web", nil) }
	is := func(uid types.UID, state v1.ResourceState, message string) *v1.ResourceStatus {
		return &v1.ResourceStatus{Kind: "Service", Name: "web", UID: uid, State: state, Message: message}
	}
	const hash = ".metadata.annotations." + v1.AnnotationRenderedHash
	tests := []struct {
		name    string
		result  plan.Result
		observe bool
		want    *v1.ResourceStatus
	}{
		{"kept", live(plan.Keep), false, is(serviceUID, v1.ResourceSynced, "")},
		{"kept, of which the result has no UID", func() plan.Result { r := live(plan.Keep); r.UID = ""; return r }(), false, is(serviceUID, v1.ResourceSynced, "")},
		{"kept as admission made it", admitted(live(plan.Keep), ".spec.type"), false, is(serviceUID, v1.ResourceSynced, "The API server does not store .spec.type as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it.")},
		{"applied, and admission changed it", admitted(live(plan.Apply), ".spec.type"), false, is(serviceUID, v1.ResourceSynced, "The API server does not store .spec.type as Fairlead writes it: an admission webhook or policy changes it, or the API server does not support it.")},
		{"created", created, false, is("new-uid", v1.ResourceSynced, "")},
		{"applied", live(plan.Apply), false, is(serviceUID, v1.ResourceSynced, "")},
		{"deleted", live(plan.Delete), false, nil},
		{"not deleted", failedWith(live(plan.Delete), errOther), false, is(serviceUID, v1.ResourceFailed, "something else.")},
		{"is deleting", live(plan.WaitDeletion), false, is(serviceUID, v1.ResourcePending, "Terminating; will be recreated.")},
		{"is deleting in the foreground", held(plan.WaitDeletion, metav1.FinalizerDeleteDependents), false, is(serviceUID, v1.ResourcePending, "Terminating; will be recreated.")},
		{"is held by a finalizer", held(plan.WaitDeletion, metav1.FinalizerDeleteDependents, "example.com/a"), false,
			is(serviceUID, v1.ResourcePending, "Terminating until its controller removes the finalizer example.com/a; will then be recreated.")},
		{"is held by two finalizers", held(plan.WaitDeletion, "example.com/a", "example.com/b"), false,
			is(serviceUID, v1.ResourcePending, "Terminating until their controllers remove the finalizers example.com/a, example.com/b; will then be recreated.")},
		{"is switched off and held by a finalizer", superfluous(held(plan.WaitDeletion, "example.com/a")), false,
			is(serviceUID, v1.ResourcePending, "Terminating until its controller removes the finalizer example.com/a.")},
		{"failed", failedWith(live(plan.Apply), errOther), false, is(serviceUID, v1.ResourceFailed, "something else.")},
		{"created in vain: what was there is remembered", failedWith(missing(plan.Create), errOther), false, is("old-uid", v1.ResourceFailed, "something else.")},
		{"in a namespace that goes", failedWith(missing(plan.Create), terminating()), false, is("old-uid", v1.ResourcePending, "The namespace is being deleted.")},
		{"foreign: its UID is never taken for ours", because(live(plan.NotOwned), "Service web exists"), false, is("", v1.ResourceConflict, "Service web exists.")},
		{"changed by others again and again", fields(live(plan.Backoff), ".spec.type", ".spec.ports"), false, is(serviceUID, v1.ResourceFailed, "Another writer keeps changing .spec.type, .spec.ports; repair is backing off.")},
		{"deleted by others again and again", missing(plan.Backoff), false, is("old-uid", v1.ResourceFailed, "Another writer keeps deleting it; repair is backing off.")},
		{"observed: as rendered", live(plan.Keep), true, is(serviceUID, v1.ResourceSynced, "")},
		{"observed: differs", fields(live(plan.Apply), "a", "b", "c", "d", "e", "f", "g"), true, is(serviceUID, v1.ResourceDrifted, "It differs in a, b, c, d, e and 2 more.")},
		{"observed: differs, and in Fairlead's own annotations", fields(live(plan.Apply), hash, ".metadata.annotations."+v1.AnnotationRevision, "a"), true, is(serviceUID, v1.ResourceDrifted, "It differs in a.")},
		{"observed: differs in Fairlead's own annotations", fields(live(plan.Apply), hash), true, is(serviceUID, v1.ResourceDrifted, "It has fields that the Application no longer sets, or differs only in annotations in which Fairlead keeps its state.")},
		{"observed: differs, who knows where", live(plan.Apply), true, is(serviceUID, v1.ResourceDrifted, "It differs in what Fairlead sets.")},
		{"observed: differs again and again", fields(live(plan.Backoff), "a"), true, is(serviceUID, v1.ResourceDrifted, "It differs in a.")},
		{"observed: missing", missing(plan.Create), true, is("old-uid", v1.ResourceDrifted, "It is missing.")},
		{"observed: would be deleted", live(plan.Delete), true, is(serviceUID, v1.ResourceDrifted, "It would be deleted.")},
		{"observed: being deleted", live(plan.WaitDeletion), true, is(serviceUID, v1.ResourcePending, "Another client is deleting it.")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := with(replace(test.result))
			if test.observe {
				in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
			}
			in.Snapshot.Application.Status.Resources = []v1.ResourceStatus{{Kind: "Service", Name: "web", UID: "old-uid"}}
			want := []v1.ResourceStatus{{Group: "apps", Kind: "Deployment", Name: "web", UID: deploymentUID, State: v1.ResourceSynced}}
			if test.want != nil {
				want = append(want, *test.want)
			}
			if diff := cmp.Diff(want, compute(in, noon).Resources); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSummaryCountsTheOthers(t *testing.T) {
	denied := apierrors.NewForbidden(services, "web", errors.New(`User "fairlead" cannot `+strings.Repeat("x", 2*maxMessage)+` resource "x"`))
	for others, want := range map[int]string{0: "Ingress web: ", 1: "Ingress web and 1 more: ", 3: "Ingress web and 3 more: "} {
		in := with(func(in *Input, _ *appsv1.Deployment) {
			for range others + 1 {
				in.Results = append(in.Results, failedWith(result(plan.Create, child.Ingress, "web", nil), denied))
			}
		})
		message := compute(in, noon).Conditions[0].Message
		if len(message) > maxMessage || !strings.HasPrefix(message, want) {
			t.Errorf("%d others: %q", others, message)
		}
	}
}

// Ready has the worst reason, and names the children that a user has to unblock for other reasons. One that is retried is left out: it may come
// and go.
func TestOtherReasonsAreNamed(t *testing.T) {
	foreign := result(plan.NotOwned, child.Service, "web", newService())
	foreign.Reason = "Service web exists and does not belong to the Application"
	quota := apierrors.NewForbidden(services, "web", errors.New("exceeded quota: small, requested: count/ingresses=1, used: count/ingresses=1, limited: count/ingresses=1"))
	in := with(replace(foreign), func(in *Input, _ *appsv1.Deployment) {
		in.Results = append(in.Results,
			failedWith(result(plan.Create, child.Ingress, "web", nil), quota),
			failedWith(result(plan.Apply, child.PodDisruptionBudget, "web", nil), errOther))
	})
	const want = "Service web exists and does not belong to the Application. Checked again within 30 s. Also blocked, see status.resources: Ingress web (QuotaExceeded)."
	if got := compute(in, noon).Conditions[0]; got.Reason != v1.ReasonConflict || got.Message != want {
		t.Errorf("Ready is %s: %q, want %q", got.Reason, got.Message, want)
	}
}

// Every message about foreign objects names them, and the condition counts them.
func TestConflictsAreNamed(t *testing.T) {
	foreign := func(kind child.Kind, name string) plan.Result {
		service := newService()
		service.OwnerReferences = controllerRef("Shop", "front", "1")
		r := result(plan.NotOwned, kind, name, service)
		r.Reason = plan.NotOwnedMessage(&v1.Application{}, r.Ref, service)
		return r
	}
	waits := result(plan.WaitDependency, child.Ingress, "web", nil)
	waits.Needs = []child.Ref{ref(child.Service, "web")}
	one, two := foreign(child.Service, "web"), foreign(child.ConfigMap, "web-config")
	orphan := func(kind child.Kind) plan.Result {
		r := result(plan.NotOwned, kind, "web", newService())
		r.Step = r.Foreign(&v1.Application{}, &metav1.ObjectMeta{})
		return r
	}
	left := func(kind child.Kind) plan.Result {
		r := result(plan.NotOwned, kind, "web", newService())
		r.Step = r.Foreign(&v1.Application{}, &metav1.ObjectMeta{
			Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy}, Annotations: map[string]string{v1.AnnotationOwnerUID: "earlier"},
		})
		return r
	}
	expressions := result(plan.NotOwned, child.Deployment, "web", nil)
	expressions.Step = expressions.Foreign(&v1.Application{}, &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}},
	}}})
	for _, test := range []struct {
		results []plan.Result
		want    string
		events  []string
	}{
		{
			[]plan.Result{expressions, orphan(child.Service)},
			"Deployment web and 1 more exist and do not belong to the Application; see status.resources for what to do about each, or give the Application another name. Checked again within 30 s.",
			[]string{
				"Deployment web exists and does not belong to the Application; delete it with --cascade=orphan, which keeps its pods, or give the Application another name.",
				"Service web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name.",
			},
		},
		{
			[]plan.Result{one}, "Service web exists and belongs to Shop front (UID 1); give the Application another name. Checked again within 30 s.",
			[]string{"Service web exists and belongs to Shop front (UID 1); give the Application another name."},
		},
		{
			[]plan.Result{one, two, waits},
			"Service web and 1 more exist and do not belong to the Application; see status.resources for what to do about each, or give the Application another name. Waiting for them: Ingress web. Checked again within 30 s.",
			[]string{
				"Service web exists and belongs to Shop front (UID 1); give the Application another name.",
				"ConfigMap web-config exists and belongs to Shop front (UID 1); give the Application another name.",
			},
		},
		{
			[]plan.Result{orphan(child.Deployment), orphan(child.Service)},
			"Deployment web and 1 more exist and do not belong to the Application; let the Application adopt what it can (spec.adoptionPolicy), see status.resources for what to do about each, or give the Application another name. Checked again within 30 s.",
			[]string{
				"Deployment web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which replaces no pod until you say so, " +
					"delete it with --cascade=orphan, which keeps its pods, or give the Application another name.",
				"Service web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name.",
			},
		},
		{
			[]plan.Result{left(child.Deployment), left(child.Service)},
			"Deployment web and 1 more exist, left behind by an earlier Application; take them back as docs/guides/take-back.md says, or give the Application another name. Checked again within 30 s.",
			[]string{
				"Deployment web exists, left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name.",
				"Service web exists, left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name.",
			},
		},
		{ // An Application takes back, and does not adopt, what was left behind. Pods may read the ConfigMap.
			[]plan.Result{left(child.Service), orphan(child.ConfigMap)},
			"Service web and 1 more exist and do not belong to the Application; take back what an earlier Application left behind (docs/guides/take-back.md), " +
				"see status.resources for what to do about each, or give the Application another name. Checked again within 30 s.",
			[]string{
				"Service web exists, left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name.",
				"ConfigMap web exists and does not belong to the Application; delete it if nothing needs it, or give the Application another name.",
			},
		},
		{ // Other pods probably run as the ServiceAccount.
			[]plan.Result{orphan(child.ServiceAccount), orphan(child.ConfigMap)},
			"ServiceAccount web and 1 more exist and do not belong to the Application; name the ServiceAccount in spec.serviceAccount.name if that is allowed, " +
				"see status.resources for what to do about each, or give the Application another name. Checked again within 30 s.",
			[]string{
				"ServiceAccount web exists and does not belong to the Application; name it in spec.serviceAccount.name if that is allowed, delete it if nothing needs it, or give the Application another name.",
				"ConfigMap web exists and does not belong to the Application; delete it if nothing needs it, or give the Application another name.",
			},
		},
		{ // Not all of them were left behind.
			[]plan.Result{left(child.Deployment), orphan(child.Service)},
			"Deployment web and 1 more exist and do not belong to the Application; take back what an earlier Application left behind (docs/guides/take-back.md), let the Application adopt what it can (spec.adoptionPolicy), see status.resources for what to do about each, or give the Application another name. Checked again within 30 s.",
			[]string{
				"Deployment web exists, left behind by an earlier Application; take it back as docs/guides/take-back.md says, or give the Application another name.",
				"Service web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name.",
			},
		},
	} {
		in := with(func(in *Input, _ *appsv1.Deployment) { in.Results = append(in.Results[:1:1], test.results...) })
		got := compute(in, noon)
		if got.Conditions[0].Message != test.want {
			t.Errorf("the message is %q, want %q", got.Conditions[0].Message, test.want)
		}
		var events []string
		for _, transition := range Transitions(newApplication().Status, got) {
			events = append(events, transition.Message)
		}
		if diff := cmp.Diff(test.events, events); diff != "" {
			t.Errorf("Events (-want +got):\n%s", diff)
		}
	}
}

// A revision of an older controller lacks an annotation, and that is no drift: nobody would carry it out.
func TestObservedRevisionOfAnOlderController(t *testing.T) {
	const notes = ".metadata.annotations." + v1.AnnotationServicePorts
	for field, want := range map[string]v1.ResourceState{notes: v1.ResourceSynced, ".metadata.labels.a": v1.ResourceDrifted} {
		in := with(func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
			revision := result(plan.Apply, child.ControllerRevision, "web-1", &appsv1.ControllerRevision{})
			revision.Fields = []string{field}
			in.Results = append(in.Results, revision)
		})
		got := compute(in, noon)
		if state := got.Resources[len(got.Resources)-1].State; state != want {
			t.Errorf("%s: the revision is %s, want %s", field, state, want)
		}
		if drifted := meta.IsStatusConditionTrue(got.Conditions, v1.ConditionDrifted); drifted != (want == v1.ResourceDrifted) {
			t.Errorf("%s: drifted is %t", field, drifted)
		}
	}
}
