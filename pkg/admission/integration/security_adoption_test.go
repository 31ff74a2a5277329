// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// S12: no tenant lets an Application adopt what it may not update and delete itself, and none consents to that.
func TestS12AdoptionNeedsRights(t *testing.T) {
	f := serve(t)
	f.register()
	consented := func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented }
	rights := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"web"}, Verbs: verbs},
			{APIGroups: []string{""}, Resources: []string{"services"}, ResourceNames: []string{"web"}, Verbs: verbs},
		}
	}
	powerless, editor, owner := f.tenant("mallory"), f.tenant("eve", rights("get", "update", "patch")...), f.tenant("jane", rights("update", "delete")...)

	_, err := powerless.Create(t.Context(), f.application("web", consented), metav1.CreateOptions{})
	f.wantRefused(err, "spec.adoptionPolicy", `user "mallory" must be allowed to update deployments "web"`, `delete services "web"`)
	_, err = editor.Create(t.Context(), f.application("web", consented), metav1.CreateOptions{})
	f.wantRefused(err, "spec.adoptionPolicy", `user "eve" must be allowed to delete deployments "web"`)
	// The rights to one object are none to another one, whose name the API server chooses.
	_, err = owner.Create(t.Context(), f.application("other", consented), metav1.CreateOptions{})
	f.wantRefused(err, `user "jane" must be allowed to update deployments "other"`)
	_, err = owner.Create(t.Context(), f.application("", consented, func(a *v1.Application) { a.GenerateName = "web-" }), metav1.CreateOptions{})
	f.wantRefused(err, "spec.adoptionPolicy", `user "jane" must be allowed`)

	// Nor does a later edit help: by an update, and by a patch of that field alone.
	created, err := powerless.Create(t.Context(), f.application("web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed := created.DeepCopy()
	consented(changed)
	_, err = powerless.Update(t.Context(), changed, metav1.UpdateOptions{})
	f.wantRefused(err, "spec.adoptionPolicy", "mallory")
	_, err = owner.Update(t.Context(), changed, metav1.UpdateOptions{})
	if err != nil {
		t.Errorf("a tenant with the rights: %v", err)
	}
	// The consent itself is a write to the object, for which Kubernetes asks for the right.
	consent := []byte(`{"metadata":{"annotations":{"` + v1.AnnotationAdoptableBy + `":"` + string(created.UID) + `"}}}`)
	deployments := kubernetes.NewForConfigOrDie(f.cp.ConfigFor("mallory")).AppsV1().Deployments(f.namespace)
	_, err = deployments.Patch(t.Context(), "web", types.MergePatchType, consent, metav1.PatchOptions{})
	f.wantRefused(err, `User "mallory" cannot patch resource "deployments"`)
}
