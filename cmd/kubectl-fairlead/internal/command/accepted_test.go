// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestAccepted: what the API server refuses ends diff. What it answers about permissions does not.
func TestAccepted(t *testing.T) {
	resource := v1.Resource(v1.ApplicationResource)
	host := field.Invalid(field.NewPath("spec", "routes").Index(0).Child("hostnames").Index(0), "a.example.com", "belongs to Application t10/b of another namespace, with all its paths: choose another host name")
	invalid := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "web", field.ErrorList{host})
	twice := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "web", field.ErrorList{field.Required(field.NewPath("spec", "a"), ""), field.Required(field.NewPath("spec", "b"), "")})
	denied := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "web", field.ErrorList{host})
	denied.ErrStatus.Message = `admission webhook "validate.applications.apps.fairlead.dev" denied the request: ` + denied.ErrStatus.Message
	unclassed := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "web", field.ErrorList{
		field.Required(field.NewPath("spec", "className"), `no default ApplicationClass selects namespace "shop": name a class that does`),
	})
	const byField = `the Application would be refused (Invalid): spec.routes[0].hostnames[0]: Invalid value: "a.example.com": belongs to Application t10/b of another namespace, with all its paths: choose another host name`
	const policy = `admission webhook "images.example.com" denied the request: no latest tag`
	const down = `failed calling webhook "images.example.com": connection refused`
	const ends = "unable to create new content in namespace shop because it is being terminated"
	terminating := apierrors.NewForbidden(resource, "web", errors.New(ends))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause, Message: "namespace shop is being terminated", Field: "metadata.namespace"}}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"accepted":          {},
		"invalid":           {invalid, byField},
		"invalid twice":     {twice, "the Application would be refused (Invalid): [spec.a: Required value, spec.b: Required value]"},
		"denied as invalid": {denied, byField},
		"no class": {
			unclassed, `the Application would be refused (ClassRequired): spec.className: Required value: no default ApplicationClass selects namespace "shop": name a class that does`,
		},
		"denied by a policy": {
			&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusBadRequest, Message: policy}},
			"the Application would be refused (PolicyDenied): " + policy,
		},
		"a quota": {
			apierrors.NewForbidden(resource, "web", errors.New("exceeded quota: few, requested: 1, used: 2, limited: 2")),
			`the Application would be refused (QuotaExceeded): applications.apps.fairlead.dev "web" is forbidden: exceeded quota: few, requested: 1, used: 2, limited: 2`,
		},
		"no permission":  {err: apierrors.NewForbidden(resource, "web", errors.New(`User "jo" cannot patch resource "applications" in API group "apps.fairlead.dev" in the namespace "shop"`))},
		"a webhook down": {apierrors.NewInternalError(errors.New(down)), "the Application would be refused: Internal error occurred: " + down},
		"no namespace": {
			apierrors.NewNotFound(corev1.Resource("namespaces"), "shop"),
			`the Application would be refused (NamespaceNotFound): namespaces "shop" not found. Create the namespace first`,
		},
		"a namespace that ends": {terminating, `the Application would be refused (NamespaceTerminating): applications.apps.fairlead.dev "web" is forbidden: ` + ends},
		"another failure":       {err: apierrors.NewInternalError(errors.New("etcd has no leader"))},
		"no connection":         {err: errors.New("connection refused")},
		"gone, or edited":       {err: errChanged},
	} {
		t.Run(name, func(t *testing.T) {
			live := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid", ResourceVersion: "1"}}
			live.Spec.Image = "web:1"
			file := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: v1.ApplicationSpec{Image: "web:2"}}
			for verb, old := range map[string]*v1.Application{"create": nil, "patch": live} {
				client := fake.NewClientset()
				asked := 0
				client.PrependReactor(verb, "applications", func(action clienttesting.Action) (bool, runtime.Object, error) {
					asked++
					if options := optionsOf(action); options != fmt.Sprint(fieldManager, []string{metav1.DryRunAll}) {
						t.Errorf("%s with %s, want a dry run as %s", verb, options, fieldManager)
					}
					return true, file, test.err
				})
				err := accepted(t.Context(), &cluster.Clients{Fairlead: client}, old, file)
				if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && got != test.want {
					t.Errorf("%s: %s\nwant %s", verb, got, test.want)
				}
				if asked != 1 || len(client.Actions()) != 1 {
					t.Errorf("%s: asked %d times: %v", verb, asked, client.Actions())
				}
			}
			client := fake.NewClientset()
			if err := accepted(t.Context(), &cluster.Clients{Fairlead: client}, live, live); err != nil || len(client.Actions()) > 0 {
				t.Errorf("a file without a difference: %v, %v", err, client.Actions())
			}
		})
	}
}

// optionsOf are the field manager and the dry run of a write.
func optionsOf(action clienttesting.Action) string {
	switch write := action.(type) {
	case clienttesting.CreateActionImpl:
		return fmt.Sprint(write.CreateOptions.FieldManager, write.CreateOptions.DryRun)
	case clienttesting.PatchActionImpl:
		return fmt.Sprint(write.PatchOptions.FieldManager, write.PatchOptions.DryRun)
	}
	return ""
}
