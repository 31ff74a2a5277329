// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Webhooks that end with the controller do not review every change, so the sync refuses to run pods as an account. They say so
// at once, also to a user who may use the account.
func TestUnreviewedServiceAccount(t *testing.T) {
	for temporary, reason := range map[bool]string{
		false: "the controller has no webhooks that check access to the account",
		true:  "the controller runs outside of the cluster (--webhook-url), so nothing checks access to the account while it is stopped",
	} {
		c := &cluster{allowed: []string{"deployer"}, exist: []string{"ServiceAccount/deployer"}, config: func(c *Config) {
			c.Validation.ForeignServiceAccounts, c.Validation.TemporaryWebhooks = false, temporary
		}}
		response := ask(t, c.handler(t), ValidatePath, review(t, application(withAccount("deployer")), nil))
		if response.Allowed {
			t.Fatal("it was allowed")
		}
		contains(t, messageOf(response), []string{"spec.serviceAccount.name: Forbidden: " + reason + ": remove name, or start the controller with --allow-unreviewed-service-accounts"})
	}
}

// The warning of an account with the Application's own name does not advise what the same controller would refuse.
func TestAdviceOfServiceAccount(t *testing.T) {
	const warning = `ServiceAccount "web" in namespace "shop" is not this Application's: the pods wait until it is gone`
	for named, want := range map[bool]string{
		false: warning,
		true:  warning + ", or until spec.serviceAccount.name names it",
	} {
		c := &cluster{allowed: []string{"web"}, exist: []string{"ServiceAccount/web"}, config: func(c *Config) { c.Validation.ForeignServiceAccounts = named }}
		response := ask(t, c.handler(t), ValidatePath, review(t, application(nil), nil))
		if !response.Allowed || !slices.Contains(response.Warnings, want) {
			t.Errorf("allowed %t %s, warnings %q, want %q", response.Allowed, messageOf(response), response.Warnings, want)
		}
	}
}

func TestBelongsTo(t *testing.T) {
	owner := func(kind, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			{APIVersion: v1.SchemeGroupVersion.String(), Kind: kind, Name: name, Controller: new(true)},
		}}
	}
	annotated := func(uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{v1.AnnotationOwnerUID: uid}}
	}
	both := owner("Deployment", "web")
	both.Annotations = annotated("7").Annotations
	for _, test := range []struct {
		name    string
		account metav1.ObjectMeta
		uid     string
		want    bool
	}{
		{"of nobody", metav1.ObjectMeta{}, "7", false},
		{"of the Application", owner(v1.ApplicationKind, "web"), "7", true},
		{"of another Application", owner(v1.ApplicationKind, "db"), "7", false},
		{"of another kind", owner("Deployment", "web"), "7", false},
		{"under Orphan", annotated("7"), "7", true},
		{"an orphan of a former Application", annotated("6"), "7", false},
		{"an orphan, for an Application that is being created", annotated(""), "", false},
		{"the annotation beside another controller", both, "7", false},
	} {
		account := &metav1.PartialObjectMetadata{ObjectMeta: test.account}
		application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "7"}}
		if test.uid == "" {
			application.UID = ""
		}
		if got := belongsTo(account, application); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// All that the API server says about the requester goes into the question, and nothing else does.
func TestReviewOfTheRequester(t *testing.T) {
	c := &cluster{}
	ask(t, c.handler(t), ValidatePath, review(t, application(withAccount("powerful")), nil))
	want := []authorizationv1.SubjectAccessReviewSpec{{
		User: "jane", UID: "7", Groups: []string{"team"}, Extra: map[string]authorizationv1.ExtraValue{"scope": {"x"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "shop", Verb: "impersonate", Version: "v1", Resource: "serviceaccounts", Name: "powerful"},
	}}
	if diff := cmp.Diff(want, c.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	// Without the field there is nothing to ask.
	c.asked = nil
	ask(t, c.handler(t), ValidatePath, review(t, application(image("web:2")), application(nil)))
	if len(c.asked) > 0 {
		t.Errorf("asked %v", c.asked)
	}
}
