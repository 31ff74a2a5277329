// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestAskServer: the plugin takes the server's answer, and does the work itself where no server does it for this user. Another error
// is one of the user's file, and the answer.
func TestAskServer(t *testing.T) {
	resource := v1alpha1.Resource("applications")
	other := errors.New("connection refused")
	for _, test := range []struct {
		name   string
		err    error
		served bool
		want   error
	}{
		{"an answer", nil, true, nil},
		{"not installed", apierrors.NewGenericServerResponse(404, "create", resource, "web", "404 page not found", 0, true), false, nil},
		{"down", apierrors.NewServiceUnavailable("down"), false, nil},
		{"not allowed", apierrors.NewForbidden(resource, "web", nil), false, nil},
		{"too many", apierrors.NewTooManyRequests("too many", 0), false, nil},
		{"no connection", other, true, other},
	} {
		fairlead := fake.NewClientset()
		fairlead.PrependReactor("create", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &v1alpha1.ApplicationRendering{Revision: 2}, test.err
		})
		application := &v1.Application{Spec: v1.ApplicationSpec{Image: "example.com/web:2"}}
		application.Namespace, application.Name = "shop", "web"
		answer, served, err := (&tool{connected: &cluster.Clients{Fairlead: fairlead}}).askServer(t.Context(), application)
		if served != test.served || !errors.Is(err, test.want) || test.err == nil && answer.Revision != 2 {
			t.Errorf("%s: %+v, served %v, %v; want served %v, %v", test.name, answer, served, err, test.served, test.want)
		}
	}
}

// TestServerAsksForTheClass: the plugin does not call it refused that an Application waits for its class, also where the server computes the effect.
func TestServerAsksForTheClass(t *testing.T) {
	path := field.NewPath("spec")
	missing := field.NotFound(path.Child("className"), "gold")
	missing.Detail = "there is no ApplicationClass of this name"
	invalid := func(errs ...*field.Error) error {
		return apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), "web", errs)
	}
	const want = `the Application would wait for its class (ClassNotFound): spec.className: Not found: "gold": there is no ApplicationClass of this name`
	if got := asRefused(invalid(missing)); got.Error() != want {
		t.Errorf("%q, want %q", got, want)
	}
	const (
		detail = `in revision 1, which spec.rollback.toRevision asks for: ApplicationClass "lim" allows images of ghcr.io/acme; ` +
			"no edit of the spec changes a revision: name another one, or remove toRevision"
		wantPinned = `the Application would be stored, but not carried out: spec.image: Invalid value: "web:1": ` + detail
	)
	pinned := field.Invalid(path.Child("image"), "web:1", detail)
	if got := asRefused(invalid(pinned)); got.Error() != wantPinned {
		t.Errorf("%q, want %q", got, wantPinned)
	}
	other := field.Invalid(path.Child("image"), "web:", "the tag is empty")
	for _, err := range []error{nil, invalid(other), invalid(missing, other), errors.New("no connection"), apierrors.NewNotFound(v1.Resource("applications"), "web")} {
		if got := asRefused(err); got != err { //nolint:errorlint // It is the very error.
			t.Errorf("%v became %v", err, got)
		}
	}
}

// TestServedDifference: what the server says comes out as what the plugin computes.
func TestServedDifference(t *testing.T) {
	image := v1alpha1.FieldChange{Path: ".spec.template.spec.containers[web].image", Before: `"web:1"`, After: `"web:2"`}
	got, err := servedDifference(&v1alpha1.ApplicationRendering{
		Pods: v1alpha1.RenderedPods{Replaced: true, Because: []v1alpha1.FieldChange{image}, Strategy: "Recreate", Live: 2, Before: new(int32(2)), After: new(int32(3))},
		Changes: []v1alpha1.RenderedChange{
			{Kind: "Deployment", Name: "web", Action: "Update", Fields: []v1alpha1.FieldChange{image, {Path: ".spec.replicas", Before: "2", After: "3"}, {Path: ".spec.paused", After: "true"}}},
			{Kind: "Service", Name: "web", Action: "Blocked", Reason: "not ours"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	change := preview.Change{Path: image.Path, Before: "web:1", After: "web:2"}
	want := preview.Difference{
		Pods: preview.Pods{Replaced: true, Because: []preview.Change{change}, Strategy: appsv1.RecreateDeploymentStrategyType, Live: 2, Before: new(int32(2)), After: new(int32(3))},
		Children: []preview.Child{
			{Kind: "Deployment", Name: "web", Action: preview.Update, Changes: []preview.Change{
				change, {Path: ".spec.replicas", Before: 2.0, After: 3.0}, {Path: ".spec.paused", After: true},
			}},
			{Kind: "Service", Name: "web", Action: preview.Blocked, Reason: "not ours"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := servedDifference(&v1alpha1.ApplicationRendering{Pods: v1alpha1.RenderedPods{Because: []v1alpha1.FieldChange{{Path: ".a", After: "{"}}}}); err == nil {
		t.Error("a value that is no JSON is no error")
	}
}

// TestServedChildren: a server that is newer may render kinds that the plugin does not know.
func TestServedChildren(t *testing.T) {
	answer := &v1alpha1.ApplicationRendering{}
	for _, text := range []string{
		`{"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "web"}}`,
		`{"apiVersion": "example.com/v9", "kind": "Newer", "metadata": {"namespace": "shop", "name": "web"}}`,
		`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "web"}, "spec": {"replicas": 2}}`,
	} {
		answer.Children = append(answer.Children, runtime.RawExtension{Raw: []byte(text)})
	}
	children, err := servedChildren(answer)
	if err != nil || len(children) != 2 || children[0].Kind != child.Service || children[1].Kind != child.Deployment || children[1].Name != "web" || children[1].Namespace != "shop" {
		t.Errorf("%+v, %v", children, err)
	}
	answer.Children[0].Raw = []byte("{")
	if _, err := servedChildren(answer); err == nil {
		t.Error("a child that is no JSON is no error")
	}
}
