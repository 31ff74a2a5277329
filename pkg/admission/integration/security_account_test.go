// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
)

// serviceAccount creates an account that no Application owns.
func (f *fixture) serviceAccount(name string) {
	f.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := f.kube.CoreV1().ServiceAccounts(f.namespace).Create(f.Context(), account, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
}

// wantNoCode fails if an Application that runs as the account got the image of the attacker.
func (f *fixture) wantNoCode(account, image string) {
	f.Helper()
	list, err := f.apps().List(f.Context(), metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range list.Items {
		a := &list.Items[i]
		effective := a.Name
		if a.Spec.ServiceAccount != nil && a.Spec.ServiceAccount.Name != "" {
			effective = a.Spec.ServiceAccount.Name
		}
		if effective == account && a.Spec.Image == image {
			f.Errorf("Application %s runs %s as ServiceAccount %s", a.Name, image, account)
		}
	}
}

// S5: a tenant without the right to an account never decides what runs as it: not in an Application of its own, not
// in one that runs as the account already, and not in one that only has the account's name.
func TestS5NoCodeOfOthersRunsAsAnAccount(t *testing.T) {
	f := serve(t)
	f.register()
	const evil = "registry.example.com/evil:1"
	f.serviceAccount("deployer")
	f.serviceAccount("default") // Every namespace of a whole cluster has it.
	runEvil := func(a *v1.Application) { a.Spec.Image = evil }
	withToken := func(a *v1.Application) { a.Spec.ServiceAccount = &v1.ServiceAccount{AutomountToken: new(true)} }
	f.create("release", account("deployer"))
	f.create("web")
	mallory := f.tenant("mallory")
	jane := f.tenant("jane", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"deployer"}, Verbs: []string{"impersonate"}})
	update := func(client appsclient.ApplicationInterface, name string, changes ...func(*v1.Application)) error {
		t.Helper()
		application, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			change(application)
		}
		_, err = client.Update(t.Context(), application, metav1.UpdateOptions{})
		return err
	}

	for what, change := range map[string]func(*v1.Application){
		"another image":   runEvil,
		"another command": func(a *v1.Application) { a.Spec.Command = []string{"sh", "-c", "steal"} },
		"a sidecar":       func(a *v1.Application) { a.Spec.Sidecars = []corev1.Container{{Name: "evil", Image: evil}} },
		"another variable": func(a *v1.Application) {
			a.Spec.Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "/evil.so"}}
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := &fixture{T: t}
			f.wantRefused(update(mallory, "release", change), "spec.serviceAccount.name", "mallory", "impersonate", "deployer")
		})
	}
	_, err := mallory.Create(t.Context(), f.application("deployer", runEvil, withToken), metav1.CreateOptions{})
	f.wantRefused(err, "metadata.name", "deployer", "mallory", "impersonate")
	_, err = mallory.Create(t.Context(), f.application("default", runEvil, withToken), metav1.CreateOptions{})
	f.wantRefused(err, "metadata.name", "default")
	// An account takes the name of an Application that is there already.
	f.serviceAccount("web")
	f.wantRefused(update(mallory, "web", runEvil, withToken), "metadata.name", "web")
	for _, account := range []string{"deployer", "default", "web"} {
		f.wantNoCode(account, evil)
	}

	// What changes no code asks for no right: scaling, and a label.
	if _, err := f.apps().Patch(t.Context(), "release", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("an administrator scales: %v", err)
	}
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "release", Namespace: f.namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	body := f.fairlead(f.cp.Config()).RESTClient().Put().Namespace(f.namespace).Resource(v1.ApplicationResource).Name("release").SubResource("scale").Body(scale)
	if err := body.Do(t.Context()).Error(); err != nil {
		t.Errorf("an autoscaler scales: %v", err)
	}
	if err := update(mallory, "release", func(a *v1.Application) { a.Labels = map[string]string{"team": "a"} }); err != nil {
		t.Errorf("a label: %v", err)
	}
	// Pods run as the account until they are replaced, so letting go of it takes the right too.
	f.wantRefused(update(mallory, "release", account(""), runEvil), "spec.serviceAccount.name", "mallory", "impersonate")
	if err := update(jane, "release", account("")); err != nil {
		t.Errorf("jane lets go of the account: %v", err)
	}
	// Who has the right may use the account, and create what waits for its name.
	if err := update(jane, "release", account("deployer")); err != nil {
		t.Errorf("jane names the account: %v", err)
	}
	if _, err := jane.Create(t.Context(), f.application("deployer"), dryRun); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Errorf("jane takes the name: %v", err)
	}
}
