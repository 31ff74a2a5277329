// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestUninstallSaysWhoRuns: before the question, a user reads which controller stays, or that none runs.
func TestUninstallSaysWhoRuns(t *testing.T) {
	l := newLab(t, controlplane.APIOnly())
	l.create("goes", v1.DeletionDelete)
	const (
		none      = "no controller runs in the cluster: unless one runs on your machine, start one (make run), or the deletion waits for it\nDelete them? "
		namespace = "stays: Namespace fairlead-system, with what is in it, such as the Secret that a controller creates; if you need none of it: kubectl delete namespace fairlead-system\ndeletes: "
		deployed  = "stays: Deployment fairlead-system/fairlead-controller, with the namespace and what else is in it; make undeploy DELETE_CRDS=1, or helm uninstall, deletes it\ndeletes: "
	)
	for _, step := range []struct {
		name     string
		prepare  func()
		saysNone bool
		stays    string
	}{
		{name: "nothing needs a controller", prepare: func() {}},
		{name: "no controller", prepare: func() { l.create("stays", v1.DeletionOrphan) }, saysNone: true},
		{name: "one ran", prepare: l.createSystemNamespace, saysNone: true, stays: namespace},
		{name: "one starts", prepare: func() { l.createController(0) }, saysNone: true, stays: deployed},
		{name: "one runs", prepare: func() { l.createController(1) }, stays: deployed},
	} {
		step.prepare()
		declined := l.options
		declined.confirm = func(ctx context.Context, out io.Writer) error { return confirm(ctx, out, strings.NewReader("no\n")) }
		var output strings.Builder
		if err := run(t.Context(), []string{"uninstall-crds"}, declined, &output); !errors.Is(err, errDeclined) {
			t.Errorf("%s: %v", step.name, err)
		}
		if strings.Contains(output.String(), none) != step.saysNone || strings.Contains(output.String(), "no controller") != step.saysNone {
			t.Errorf("%s: %q is in the output, want %t:\n%s", step.name, none, step.saysNone, &output)
		}
		for _, line := range []string{namespace, deployed} {
			if strings.Contains(output.String(), line) != (line == step.stays) {
				t.Errorf("%s: %q is in the output, want %t:\n%s", step.name, line, line == step.stays, &output)
			}
		}
	}
}

// TestUndeployKeepsForeignNamespace: the namespace in which a controller outside of the cluster keeps its Secret stays.
func TestUndeployKeepsForeignNamespace(t *testing.T) {
	l := newLab(t, controlplane.APIOnly())
	l.createSystemNamespace()
	o := l.options
	o.overlay = filepath.Join("..", "..", "artifacts", "overlays", "default")
	const stays = "stays: Namespace fairlead-system, which no deployment made, with what is in it, such as the Secret that a controller creates; " +
		"if you need none of it: kubectl delete namespace fairlead-system\n"
	if output := mustRun(t, "uninstall", o); !strings.Contains(output, stays) {
		t.Errorf("the output lacks %q:\n%s", stays, output)
	}
	namespace, err := l.kube.CoreV1().Namespaces().Get(t.Context(), systemNamespace, metav1.GetOptions{})
	if err != nil || namespace.DeletionTimestamp != nil {
		t.Fatalf("the namespace does not stay: %v", err)
	}
}

func (l *lab) createSystemNamespace() {
	l.t.Helper()
	if _, err := l.kube.CoreV1().Namespaces().Create(l.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

// createController creates the Deployment of a controller, or changes how many of its replicas are available.
func (l *lab) createController(available int32) {
	l.t.Helper()
	labels := map[string]string{nameLabel: controllerName}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: controllerName, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: controllerContainer, Image: "example.com/controller:1"}}},
			},
		},
	}
	deployments := l.kube.AppsV1().Deployments(systemNamespace)
	if available == 0 {
		if _, err := deployments.Create(l.t.Context(), deployment, metav1.CreateOptions{}); err != nil {
			l.t.Fatal(err)
		}
		return
	}
	live, err := deployments.Get(l.t.Context(), controllerName, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	live.Status = appsv1.DeploymentStatus{Replicas: available, UpdatedReplicas: available, ReadyReplicas: available, AvailableReplicas: available}
	if _, err := deployments.UpdateStatus(l.t.Context(), live, metav1.UpdateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}
