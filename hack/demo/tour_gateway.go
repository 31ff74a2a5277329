// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"fairlead.dev/fairlead/hack/internal/objects"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// turnIntoHTTPRoute changes the route's type, and plays the gateway, which this cluster has none of.
func (d *demo) turnIntoHTTPRoute(ctx context.Context) error {
	if err := d.installGatewayAPI(ctx); err != nil {
		return err
	}
	err := d.editAndAwait(ctx, `{"spec": {"routes": [{"name": "public", "type": "HTTPRoute", "hostnames": ["harbour.example.com"], "parentRefs": [{"name": "public"}]}]}}`,
		func(application *v1.Application) bool {
			routes := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionRoutesReady)
			return isCurrent(application) && routes != nil && routes.Status != metav1.ConditionTrue && stateOf(application, child.HTTPRoute) == v1.ResourceSynced
		})
	if err != nil {
		return err
	}
	d.out.Good("There is an HTTPRoute now. The Ingress stays until a gateway has accepted it, and ten seconds more")
	d.out.Good("No gateway has accepted the route; the tour says so in the name of one")
	if err := d.acceptRoute(ctx); err != nil {
		return err
	}
	err = d.awaitToured(ctx, func(application *v1.Application) bool {
		return allWell(application) && stateOf(application, child.Ingress) == ""
	})
	if err != nil {
		return err
	}
	return d.expectNone(ctx, child.Ingress, toured)
}

// stateOf returns the state of the child of this kind. It is empty if the Application has none.
func stateOf(application *v1.Application, kind child.Kind) v1.ResourceState {
	for _, resource := range application.Status.Resources {
		if resource.Kind == kind.Kind {
			return resource.State
		}
	}
	return ""
}

// installGatewayAPI applies the definition of HTTPRoutes from the module that the types come from. The controller, which
// has been running all the time, finds out.
func (d *demo) installGatewayAPI(ctx context.Context) error {
	const module = "sigs.k8s.io/gateway-api"
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir = d.options.root
	var problems bytes.Buffer
	list.Stderr = &problems
	dir, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the module %s: %w: %s", module, err, strings.TrimSpace(problems.String()))
	}
	crds, err := objects.ReadFiles(filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"))
	if err != nil {
		return err
	}
	return d.install(ctx, crds)
}

// acceptRoute writes what a gateway's controller writes.
func (d *demo) acceptRoute(ctx context.Context) error {
	client := d.resourceOf(child.HTTPRoute)
	route, err := client.Get(ctx, toured, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get HTTPRoute %s: %w", toured, err)
	}
	condition := func(kind gatewayv1.RouteConditionType, reason gatewayv1.RouteConditionReason) metav1.Condition {
		return metav1.Condition{
			Type: string(kind), Status: metav1.ConditionTrue, Reason: string(reason), Message: "The tour says so.",
			ObservedGeneration: route.GetGeneration(), LastTransitionTime: metav1.NewTime(time.Now()),
		}
	}
	status, err := json.Marshal(map[string]any{"status": gatewayv1.HTTPRouteStatus{RouteStatus: gatewayv1.RouteStatus{Parents: []gatewayv1.RouteParentStatus{{
		ParentRef:      gatewayv1.ParentReference{Name: "public"},
		ControllerName: "tour.fairlead.dev/gateway",
		Conditions: []metav1.Condition{
			condition(gatewayv1.RouteConditionAccepted, gatewayv1.RouteReasonAccepted),
			condition(gatewayv1.RouteConditionResolvedRefs, gatewayv1.RouteReasonResolvedRefs),
		},
	}}}}})
	if err != nil {
		return fmt.Errorf("encode the status of HTTPRoute %s: %w", toured, err)
	}
	if _, err := client.Patch(ctx, toured, types.MergePatchType, status, metav1.PatchOptions{FieldManager: "gateway"}, "status"); err != nil {
		return fmt.Errorf("write the status of HTTPRoute %s: %w", toured, err)
	}
	return nil
}
