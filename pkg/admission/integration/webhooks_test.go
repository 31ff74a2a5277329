// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestRefused(t *testing.T) {
	f := serve(t)
	f.register()
	_, err := f.apps().Create(t.Context(), f.application("web", func(a *v1.Application) {
		a.Spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}
		a.Spec.LivenessProbe = &v1.Probe{TCPSocket: &v1.TCPSocketAction{}, SuccessThreshold: new(int32(2))}
	}), metav1.CreateOptions{})
	f.wantRefused(err, "validate.applications.apps.fairlead.dev", "spec.resources.requests[cpu]", "spec.livenessProbe.successThreshold")
	if !apierrors.IsInvalid(err) {
		t.Errorf("the error is %#v", err)
	}
	created := f.create("web")
	created.Spec.WorkingDir = "relative"
	_, err = f.apps().Update(t.Context(), created, metav1.UpdateOptions{})
	f.wantRefused(err, "spec.workingDir")
	_, err = f.apps().Create(t.Context(), f.application("labelled", func(a *v1.Application) { a.Labels = map[string]string{v1.LabelApplication: "db"} }), metav1.CreateOptions{})
	f.wantRefused(err, "metadata.labels[apps.fairlead.dev/application]")
	// What the schema refuses is still the schema's to explain.
	_, err = f.apps().Create(t.Context(), f.application("web2", func(a *v1.Application) { a.Spec.Image = "" }), metav1.CreateOptions{})
	f.wantRefused(err, "spec.image")
}

func TestDefaultsAreStored(t *testing.T) {
	f := serve(t)
	f.register()
	change := func(a *v1.Application) {
		a.GenerateName, a.Name = "web-", ""
		a.Spec.LivenessProbe = &v1.Probe{HTTPGet: &v1.HTTPGetAction{Path: "live"}}
		a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"Web.Example.com"}, Paths: []v1.RoutePath{{Path: "shop"}}}}
	}
	for _, options := range []metav1.CreateOptions{dryRun, {}} {
		created, err := f.apps().Create(t.Context(), f.application("", change), options)
		if err != nil {
			t.Fatal(err)
		}
		if spec := created.Spec; spec.LivenessProbe.HTTPGet.Path != "/live" || spec.Routes[0].Hostnames[0] != "web.example.com" || spec.Routes[0].Paths[0].Path != "/shop" {
			t.Errorf("stored is %+v", spec)
		}
		_, err = f.apps().Get(t.Context(), created.Name, metav1.GetOptions{})
		if isDryRun := len(options.DryRun) > 0; isDryRun != apierrors.IsNotFound(err) {
			t.Errorf("after a dry run (%t): %v", isDryRun, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	f := serve(t)
	f.register()
	if _, err := f.kube.CoreV1().ConfigMaps(f.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "there"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	refer := func(names ...string) func(*v1.Application) {
		return func(a *v1.Application) {
			for _, name := range names {
				a.Spec.EnvFrom = append(a.Spec.EnvFrom, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
			}
			a.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
		}
	}
	apps, heard := f.warned()
	created, err := apps.Create(t.Context(), f.application("web", refer("there", "missing")), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := heard.all(); !strings.Contains(got, `ConfigMap "missing"`) || !strings.Contains(got, `Secret "pull"`) || strings.Contains(got, "there") {
		t.Errorf("the warnings are %q", got)
	}
	created.Spec.Image = "registry.example.com/web:2"
	if _, err := apps.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil || heard.all() != "" {
		t.Errorf("an update that refers to nothing new: %v", err)
	}
}

// S5: an Application does not lend a ServiceAccount to somebody without the right to it.
func TestS5ForeignServiceAccount(t *testing.T) {
	f := serve(t)
	f.register()
	powerless := f.tenant("mallory")
	entitled := f.tenant("jane", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"powerful"}, Verbs: []string{"impersonate"}})

	_, err := powerless.Create(t.Context(), f.application("web", account("powerful")), metav1.CreateOptions{})
	f.wantRefused(err, "spec.serviceAccount.name", "mallory", "impersonate")
	created, err := powerless.Create(t.Context(), f.application("web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account("powerful")(created)
	_, err = powerless.Update(t.Context(), created, metav1.UpdateOptions{})
	f.wantRefused(err, "spec.serviceAccount.name")
	if created, err = entitled.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	account("other")(created)
	_, err = entitled.Update(t.Context(), created, metav1.UpdateOptions{})
	f.wantRefused(err, "spec.serviceAccount.name", "other")
	// An annotation that claims to be somebody else does not help: S3.
	_, err = powerless.Create(t.Context(), f.application("forged", account("powerful"), func(a *v1.Application) {
		a.Annotations = map[string]string{"apps.fairlead.dev/requested-by": "jane"}
	}), metav1.CreateOptions{})
	f.wantRefused(err, "mallory")
}

// S8: a host name belongs to the namespace that had it first, with all its paths, and with the wildcards above it.
func TestS8RouteHijack(t *testing.T) {
	f := serve(t)
	f.register()
	domain := f.namespace + ".example.com" // Other tests have host names of example.com too.
	bank := "bank." + domain
	f.create("victim", route(bank))
	attacker := f.cp.Namespace(t)
	apps := f.fairlead(f.cp.Config()).Applications(attacker)
	f.eventually("the cache has the owner", func() (bool, error) {
		_, err := apps.Create(t.Context(), f.application("thief", route(bank), func(a *v1.Application) { a.Namespace = attacker }), dryRun)
		return err != nil, nil
	})
	for name, changes := range map[string][]func(*v1.Application){
		"as it is":     {route(bank)},
		"in capitals":  {route("BANK." + domain)},
		"another type": {route(bank), func(a *v1.Application) { a.Spec.Routes[0].Paths = []v1.RoutePath{{Path: "/", PathType: "Exact"}} }},
		"another path": {route(bank), func(a *v1.Application) { a.Spec.Routes[0].Paths = []v1.RoutePath{{Path: "/login"}} }},
		"a wildcard":   {route("*." + domain)},
		"in second place": {func(a *v1.Application) {
			a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"thief." + domain, bank}}}
		}},
	} {
		application := f.application("thief", changes...)
		application.Namespace = attacker
		_, err := apps.Create(t.Context(), application, metav1.CreateOptions{})
		f.wantRefused(err, domain, f.namespace+"/victim")
		if err == nil {
			t.Errorf("%s, it is accepted", name)
		}
	}
	// The owner itself may be edited, and its namespace may divide the paths.
	victim, err := f.apps().Get(t.Context(), "victim", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	victim.Spec.Image = "registry.example.com/web:2"
	if _, err := f.apps().Update(t.Context(), victim, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	neighbour := f.application("neighbour", route(bank), func(a *v1.Application) {
		a.Spec.Routes[0].Paths = []v1.RoutePath{{Path: "/atm"}}
	})
	if _, err := f.apps().Create(t.Context(), neighbour, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// What was stored before the webhooks came can still be labelled, and go. It is told that it is wrong.
func TestOldObjectsAreNotLockedIn(t *testing.T) {
	f := serve(t)
	old := f.create("old", invalid)
	f.register()
	apps, heard := f.warned()
	old.Labels = map[string]string{"team": "a"}
	old.Finalizers = []string{"example.com/held"}
	old, err := apps.Update(t.Context(), old, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := heard.all(); !strings.Contains(got, "spec.workingDir") {
		t.Errorf("the warnings are %q", got)
	}
	if err := apps.Delete(t.Context(), "old", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := apps.Patch(t.Context(), "old", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := apps.Get(t.Context(), old.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// S15: with the webhooks down, new and changed specs are refused, and nothing else is held up.
func TestS15WebhooksDown(t *testing.T) {
	f := serve(t)
	f.register()
	app := f.create("web", func(a *v1.Application) { a.Finalizers = []string{"example.com/held"} })
	big := f.create("big", func(a *v1.Application) {
		a.Spec.Config = &v1.Config{MountPath: "/etc/app", Data: map[string]string{"a": strings.Repeat("x", 250<<10)}}
		for i := range 250 {
			a.Spec.Env = append(a.Spec.Env, corev1.EnvVar{Name: "V" + strings.Repeat("A", i), Value: "x"})
		}
	})
	f.server.Close()

	_, err := f.apps().Create(t.Context(), f.application("other"), metav1.CreateOptions{})
	f.wantRefused(err, "failed calling webhook")
	changed := app.DeepCopy()
	changed.Spec.Image = "registry.example.com/web:2"
	_, err = f.apps().Update(t.Context(), changed, metav1.UpdateOptions{})
	f.wantRefused(err, "failed calling webhook")

	app.Status = v1.ApplicationStatus{ObservedGeneration: 1, Image: "x"}
	if app, err = f.apps().UpdateStatus(t.Context(), app, metav1.UpdateOptions{}); err != nil || app.Status.Image != "x" {
		t.Fatalf("status: %v", err)
	}
	for _, step := range []struct {
		what, name, patch string
		subresource       []string
	}{
		{"an annotation", "web", `{"metadata":{"annotations":{"note":"x"}}}`, nil},
		{"an annotation of a very large one", big.Name, `{"metadata":{"annotations":{"note":"x"}}}`, nil},
		{"the scale", "web", `{"spec":{"replicas":3}}`, []string{"scale"}},
	} {
		err := f.fairlead(f.cp.Config()).RESTClient().Patch(types.MergePatchType).Namespace(f.namespace).Resource(v1.ApplicationResource).
			Name(step.name).SubResource(step.subresource...).Body([]byte(step.patch)).Do(t.Context()).Error()
		if err != nil {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	if err := f.apps().Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := f.apps().Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("take off the finalizer: %v", err)
	}
	if _, err := f.apps().Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}
