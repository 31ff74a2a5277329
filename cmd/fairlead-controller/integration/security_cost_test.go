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
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
	"fairlead.dev/fairlead/pkg/testing/costly"
)

// mostStatusBytes is more than any status takes; see pkg/status/bounds.go.
const mostStatusBytes = 64 << 10

// TestS18CostOfAnApplication lets a tenant write the most expensive Applications that can be stored,
// without webhooks. Each gets a status that the API server accepts; what is too large is told so and costs
// nothing more; and another Application works meanwhile.
func TestS18CostOfAnApplication(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	specs := costly.Specs("costly.example.com")
	specs["long"] = v1.ApplicationSpec{Image: costly.Image, Args: []string{strings.Repeat("x", 1<<20)}} // Too large.
	for name, spec := range specs {
		tenant.create(&v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
	}
	tenant.create(named(small, "other"))
	e.waitObserved("other")
	get[appsv1.Deployment](e, "other")
	for name := range specs {
		status := e.waitObserved(name).Status
		if encoded, err := json.Marshal(status); err != nil || len(encoded) > mostStatusBytes {
			t.Errorf("%s: a status of %d bytes (%v), want at most %d", name, len(encoded), err, mostStatusBytes)
		}
		if name == "long" {
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
