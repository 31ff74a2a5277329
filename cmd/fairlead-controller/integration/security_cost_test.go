// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// mostStatusBytes is more than any status takes; see pkg/status/bounds.go.
const mostStatusBytes = 64 << 10

// costly are the most expensive Applications that the API server stores without webhooks, each in its
// own way. Those that are too large come to Invalid, the others to what they ask for.
func costly() map[string]struct {
	spec     v1.ApplicationSpec
	tooLarge bool
} {
	type application = struct {
		spec     v1.ApplicationSpec
		tooLarge bool
	}
	// As many and as long paths as there may be, so that the Ingress has all of its 512 KiB.
	paths := make([]v1.RoutePath, 16)
	for i := range paths {
		paths[i] = v1.RoutePath{Path: fmt.Sprintf("/%d/%s", i, strings.Repeat("p", 900))}
	}
	route := v1.Route{Name: "all", Paths: paths}
	for i := range 32 {
		route.Hostnames = append(route.Hostnames, fmt.Sprintf("h%d.costly.example.com", i))
	}
	sidecars := make([]corev1.Container, 2)
	for i := range sidecars {
		sidecars[i] = corev1.Container{Name: fmt.Sprintf("sidecar-%d", i), Image: "registry.example.com/proxy:1"}
		for j := range 128 {
			sidecars[i].Env = append(sidecars[i].Env, corev1.EnvVar{Name: fmt.Sprintf("V%d", j), Value: "x"})
		}
	}
	ports := []v1.ApplicationPort{{Name: "http", ContainerPort: 80}}
	all := map[string]application{
		"routes": {spec: v1.ApplicationSpec{Ports: ports, Routes: []v1.Route{route}}},
		"config": {spec: v1.ApplicationSpec{Config: &v1.Config{MountPath: "/etc/app", Data: map[string]string{"a": strings.Repeat("x", v1.MaxConfigBytes-1)}}}},
		"env":    {spec: v1.ApplicationSpec{Sidecars: sidecars}},
		"long":   {tooLarge: true, spec: v1.ApplicationSpec{Args: []string{strings.Repeat("x", 1<<20)}}},
	}
	for name, application := range all {
		application.spec.Image = "registry.example.com/web:1"
		all[name] = application
	}
	return all
}

// TestS18CostOfAnApplication lets a tenant write the most expensive Applications that can be stored,
// without webhooks. Each gets a status that the API server accepts; what is too large is told so and costs
// nothing more; and another Application works meanwhile.
func TestS18CostOfAnApplication(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	applications := costly()
	for name, application := range applications {
		tenant.create(&v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: application.spec})
	}
	tenant.create(named(small, "other"))
	e.waitObserved("other")
	get[appsv1.Deployment](e, "other")
	for name, application := range applications {
		status := e.waitObserved(name).Status
		if encoded, err := json.Marshal(status); err != nil || len(encoded) > mostStatusBytes {
			t.Errorf("%s: a status of %d bytes (%v), want at most %d", name, len(encoded), err, mostStatusBytes)
		}
		if application.tooLarge {
			e.waitCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
			if find[appsv1.Deployment](e, name) != nil {
				t.Errorf("%s: there is a Deployment of what is too large", name)
			}
			continue
		}
		get[appsv1.Deployment](e, name)
	}
	if ingress := get[networkingv1.Ingress](e, "routes"); len(ingress.Spec.Rules) != 32 {
		t.Errorf("the Ingress has %d rules, want one for each of the 32 host names", len(ingress.Spec.Rules))
	}
	// What was too large is an ordinary Application once it is shortened.
	edit(e, "long", func(application *v1.Application) { application.Spec.Args = nil })
	e.waitApplication("long", "an ordinary Application", func(application *v1.Application) bool {
		return application.Status.ObservedGeneration == application.Generation && len(application.Status.Resources) > 0
	})
	get[appsv1.Deployment](e, "long")
}

// TestS18StoredAboveALimit has an Application from before its lists had limits. The sync goes on with it, and every edit that does
// not touch the list is possible; one that shortens it is too, and none that leaves it too long.
func TestS18StoredAboveALimit(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t, controlplane.APIOnly()))
	e.cluster.InstallCRDs(t, looseCRDs(t))
	tenant := e.writer()
	tenant.create(&v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.ApplicationSpec{
		Image: "registry.example.com/web:1", Args: slices.Repeat([]string{"x"}, 300),
	}})
	e.cluster.InstallCRDs(t, crds)
	tooLong := []byte(`{"spec":{"args":["` + strings.Repeat(`y","`, 299) + `y"]}}`)
	e.eventually("the schema refuses another list as long", func() (bool, string) {
		_, err := tenant.applications().Patch(t.Context(), "web", types.MergePatchType, tooLong, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err), fmt.Sprint(err)
	})
	e.run()
	e.waitObserved("web")
	if args := get[appsv1.Deployment](e, "web").Spec.Template.Spec.Containers[0].Args; len(args) != 300 {
		t.Errorf("the pods have %d arguments, want those that were stored", len(args))
	}
	tenant.store("web", `{"metadata":{"labels":{"a":"b"}}}`)
	e.follows(tenant, "web", "registry.example.com/web:2")
	tenant.store("web", `{"spec":{"args":["x"]}}`)
	e.follows(tenant, "web", "registry.example.com/web:3")
}
