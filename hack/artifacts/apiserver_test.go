// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const apiServer = "fairlead-apiserver"

// named returns the one of these objects with the name.
func named[T any, P interface {
	*T
	GetName() string
}](t *testing.T, name string, all []*T) *T {
	t.Helper()
	i := slices.IndexFunc(all, func(object *T) bool { return P(object).GetName() == name })
	if i < 0 {
		t.Fatalf("there is no %T %s", all, name)
	}
	return all[i]
}

// TestAPIServerPod holds what the pod of the aggregated API server must be, and that the rest of the component fits to it.
func TestAPIServerPod(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	flags := flagsOf(t, apiServer)
	for _, variant := range []string{aggregated, aggregated + "-cert-manager"} {
		t.Run(variant, func(t *testing.T) {
			objects := parse(t, build(t, variant))
			deployments := typed[appsv1.Deployment](t, objects, "Deployment")
			deployment, controller := named(t, apiServer, deployments), named(t, "fairlead-controller", deployments)
			template := deployment.Spec.Template
			for _, result := range evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
				if !result.Allowed {
					t.Errorf("Pod Security restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			if *deployment.Spec.Replicas < 2 {
				t.Errorf("there are %d replicas", *deployment.Spec.Replicas)
			}
			container, ofController := template.Spec.Containers[0], controller.Spec.Template.Spec.Containers[0]
			if container.Image != ofController.Image {
				t.Errorf("the image is %s, and that of the controller %s", container.Image, ofController.Image)
			}
			if !*container.SecurityContext.ReadOnlyRootFilesystem {
				t.Error("the root file system can be written to")
			}
			for _, argument := range container.Args {
				if flag, _, _ := strings.Cut(argument, "="); !flags[flag] {
					t.Errorf("the server has no flag %s", flag)
				}
			}
			checkMemory(t, container)

			service := named(t, apiServer, typed[corev1.Service](t, objects, "Service"))
			if !slices.Contains(ofController.Args, "--aggregated-api-service="+service.Name) {
				t.Errorf("the controller does not look after the Service: %q", ofController.Args)
			}
			if name := "--serving-name=" + service.Name + "." + service.Namespace + ".svc"; !slices.Contains(container.Args, name) {
				t.Errorf("the server may be ready without a certificate for the Service: %q lacks %s", container.Args, name)
			}
			for key, value := range service.Spec.Selector {
				if template.Labels[key] != value {
					t.Errorf("the Service selects %s=%s", key, value)
				}
			}
			if target := service.Spec.Ports[0].TargetPort.StrVal; target != container.Ports[0].Name {
				t.Errorf("the Service leads to port %s", target)
			}
			checkSelects(t, named(t, apiServer, typed[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget")).Spec.Selector, template.Labels)
			policies := typed[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy")
			checkSelects(t, &named(t, apiServer, policies).Spec.PodSelector, template.Labels)
			checkProbeAllowed(t, named(t, "fairlead-controller", policies), container.Ports[0].ContainerPort)
		})
	}
}

// checkProbeAllowed makes sure that the controller may ask the server, and DNS for it.
func checkProbeAllowed(t *testing.T, of *networkingv1.NetworkPolicy, port int32) {
	t.Helper()
	for _, want := range []int32{53, port} {
		if !slices.ContainsFunc(of.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
			return slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntVal == want })
		}) {
			t.Errorf("NetworkPolicy %s does not let the controller reach port %d", of.Name, want)
		}
	}
}
