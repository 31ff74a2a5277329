// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	appsv1ac "fairlead.dev/fairlead/pkg/generated/applyconfiguration/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// The generated fake applies by the schema that the generated apply configurations carry: it
// must find our types in it, and know the keys of our lists.
func TestFakeClientsetApplies(t *testing.T) {
	applications := fake.NewClientset().AppsV1().Applications("shop")
	created := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       v1.ApplicationSpec{Image: "web:1", Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}},
	}
	if _, err := applications.Create(t.Context(), created, metav1.CreateOptions{FieldManager: "creator"}); err != nil {
		t.Fatal(err)
	}
	applied, err := applications.Apply(t.Context(), appsv1ac.Application("web", "shop").WithSpec(
		appsv1ac.ApplicationSpec().WithImage("web:2").WithPorts(
			appsv1ac.ApplicationPort().WithName("metrics").WithContainerPort(9090))),
		metav1.ApplyOptions{FieldManager: "applier", Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if applied.Spec.Image != "web:2" || len(applied.Spec.Ports) != 2 {
		t.Errorf("image %s, ports %v: want web:2, and the ports of both managers", applied.Spec.Image, applied.Spec.Ports)
	}
}
