// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/admission"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// lab is a cluster of its own without Fairlead's controller: its CRDs are deleted.
type lab struct {
	t       *testing.T
	config  *rest.Config
	kube    kubernetes.Interface
	options options
	as      func(user string) *rest.Config
}

func newLab(t *testing.T, option controlplane.Option) *lab {
	t.Helper()
	cp := controlplane.ForTest(t, option)
	o := options{kubeconfig: cp.Kubeconfig(), crds: filepath.Join("..", "..", "artifacts", "crds"), timeout: time.Minute}
	mustRun(t, "install-crds", o)
	return &lab{t: t, config: cp.Config(), kube: kubernetes.NewForConfigOrDie(cp.Config()), options: o, as: func(user string) *rest.Config { return cp.ConfigFor(user) }}
}

func (l *lab) in(t *testing.T) *lab {
	t.Helper()
	other := *l
	other.t = t
	return &other
}

func (l *lab) applications() dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(l.config).Resource(v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)).Namespace(metav1.NamespaceDefault)
}

// create creates an Application and a Deployment that it owns.
func (l *lab) create(name string, policy v1.DeletionPolicy) {
	l.t.Helper()
	application, err := l.applications().Create(l.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(),
		"kind":       v1.ApplicationKind,
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"image": "example.com/web:1", "deletionPolicy": string(policy)},
	}}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.createOwned(name, application)
}

func (l *lab) createOwned(name string, application metav1.Object) {
	l.t.Helper()
	owner := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web:1"}}},
			},
		},
	}
	if _, err := l.kube.AppsV1().Deployments(metav1.NamespaceDefault).Create(l.t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) get(name string) *unstructured.Unstructured {
	l.t.Helper()
	live, err := l.applications().Get(l.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return live
}

func (l *lab) delete(name string) {
	l.t.Helper()
	if err := l.applications().Delete(l.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) patch(name, patch string) {
	l.t.Helper()
	if _, err := l.applications().Patch(l.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) deployment(name string) (*appsv1.Deployment, error) {
	return l.kube.AppsV1().Deployments(metav1.NamespaceDefault).Get(l.t.Context(), name, metav1.GetOptions{})
}

func (l *lab) release(name string) {
	l.t.Helper()
	_, err := l.kube.AppsV1().Deployments(metav1.NamespaceDefault).
		Patch(l.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
}

// waitCollector waits until the garbage collector knows Applications. It looks for new kinds every 30 seconds, and tries what it
// has met of an unknown kind ever more seldom, so it gets a new object each time.
func (l *lab) waitCollector() {
	l.t.Helper()
	gone := &unstructured.Unstructured{}
	gone.SetName("gone")
	gone.SetUID("gone")
	number, last := 0, ""
	err := wait.PollUntilContextTimeout(l.t.Context(), time.Second, 2*time.Minute, true, func(context.Context) (bool, error) {
		if number > 0 {
			if _, err := l.deployment(last); apierrors.IsNotFound(err) {
				return true, nil
			}
		}
		number++
		last = fmt.Sprintf("dangling-%d", number)
		l.createOwned(last, gone)
		return false, nil
	})
	if err != nil {
		l.t.Fatalf("wait for the garbage collector: %v", err)
	}
}

func (l *lab) waitCollected(name string) {
	l.t.Helper()
	err := wait.PollUntilContextTimeout(l.t.Context(), pollInterval, 2*time.Minute, true, func(context.Context) (bool, error) {
		_, err := l.deployment(name)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		l.t.Fatalf("wait until the Deployment %s is collected: %v", name, err)
	}
}

func (l *lab) wantUntouched(name string) {
	l.t.Helper()
	if live := l.get(name); len(live.GetFinalizers()) > 0 || live.GetDeletionTimestamp() != nil {
		l.t.Errorf("the Application was changed: %v", live.Object["metadata"])
	}
}

func (l *lab) cluster(config *rest.Config) *cluster {
	l.t.Helper()
	c, err := newCluster(config, l.t.Output())
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lab) uninstall(config *rest.Config) error {
	l.t.Helper()
	return uninstallCRDsAlone(l.t.Context(), l.cluster(config), l.options)
}

// registerWebhooks does it as a controller outside of the cluster does, which then was killed.
func registerWebhooks(t *testing.T, config *rest.Config) {
	t.Helper()
	mutating, validating := admission.Configurations(admission.OutOfClusterConfigurationName, admission.Endpoint{URL: "https://127.0.0.1:1"}, "")
	registration := kubernetes.NewForConfigOrDie(config).AdmissionregistrationV1()
	if _, err := registration.MutatingWebhookConfigurations().Create(t.Context(), mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := registration.ValidatingWebhookConfigurations().Create(t.Context(), validating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// notAllowedToPatch is a user who may delete everything.
func (l *lab) notAllowedToPatch() *rest.Config {
	l.t.Helper()
	meta := metav1.ObjectMeta{Name: "deletes"}
	_, err := l.kube.RbacV1().ClusterRoles().Create(l.t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}, Verbs: []string{"get", "list", "delete"},
	}}}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = l.kube.RbacV1().ClusterRoleBindings().Create(l.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}},
	}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	config := l.as("ann")
	err = wait.PollUntilContextTimeout(l.t.Context(), pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if apierrors.IsForbidden(err) {
			return false, nil // The authorizer does not know the binding yet.
		}
		return err == nil, err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return config
}
