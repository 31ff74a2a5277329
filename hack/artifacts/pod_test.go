// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestS21Pod holds what the controller's pod must be in every overlay.
func TestS21Pod(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	flags := flagsOf(t, "fairlead-controller")
	for _, overlay := range overlays(t) {
		t.Run(overlay, func(t *testing.T) {
			objects := rendered(t, overlay)
			deployment := one[appsv1.Deployment](t, objects, "Deployment")
			template := deployment.Spec.Template

			for _, result := range evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
				if !result.Allowed {
					t.Errorf("Pod Security restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			namespace := one[corev1.Namespace](t, objects, "Namespace")
			if level := namespace.Labels[podsecurity.EnforceLevelLabel]; level != string(podsecurity.LevelRestricted) {
				t.Errorf("the namespace enforces Pod Security %q", level)
			}
			if *deployment.Spec.Replicas < 2 {
				t.Errorf("there are %d replicas", *deployment.Spec.Replicas)
			}
			if value, found := template.Labels[v1.LabelManagedBy]; found {
				t.Errorf("the label %s=%s would make the controller look like a child", v1.LabelManagedBy, value)
			}

			container := template.Spec.Containers[0]
			if !*container.SecurityContext.ReadOnlyRootFilesystem {
				t.Error("the root file system can be written to")
			}
			for _, argument := range container.Args {
				flag, _, _ := strings.Cut(argument, "=")
				if !flags[flag] {
					t.Errorf("the controller has no flag %s", flag)
				}
			}
			checkMemory(t, container)
			checkPorts(t, container, typed[corev1.Service](t, objects, "Service"))
			for _, budget := range typed[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget") {
				checkSelects(t, budget.Spec.Selector, template.Labels)
			}
			for _, policy := range typed[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy") {
				checkSelects(t, &policy.Spec.PodSelector, template.Labels)
			}
		})
	}
}

// checkMemory makes sure that Go's own limit leaves room below the kernel's.
func checkMemory(t *testing.T, container corev1.Container) {
	t.Helper()
	for _, variable := range container.Env {
		if variable.Name != "GOMEMLIMIT" {
			continue
		}
		soft, err := resource.ParseQuantity(strings.TrimSuffix(variable.Value, "B"))
		if err != nil {
			t.Fatal(err)
		}
		hard := container.Resources.Limits[corev1.ResourceMemory]
		if ratio := soft.AsApproximateFloat64() / hard.AsApproximateFloat64(); ratio < 0.8 || ratio > 0.95 {
			t.Errorf("GOMEMLIMIT is %s, which is %.2f of the limit of %s", &soft, ratio, &hard)
		}
		return
	}
	t.Error("GOMEMLIMIT is not set")
}

// checkPorts makes sure that each port has its listener, and each Service its port.
func checkPorts(t *testing.T, container corev1.Container, services []*corev1.Service) {
	t.Helper()
	arguments := strings.Join(container.Args, " ")
	for _, port := range container.Ports {
		listens := regexp.MustCompile(`--` + port.Name + `-bind-address=\S*:` + resource.NewQuantity(int64(port.ContainerPort), resource.DecimalSI).String() + `\b`)
		if !listens.MatchString(arguments) {
			t.Errorf("nothing listens on port %s, %d", port.Name, port.ContainerPort)
		}
	}
	for _, service := range services {
		for _, port := range service.Spec.Ports {
			named := func(p corev1.ContainerPort) bool { return p.Name == port.TargetPort.StrVal }
			if !slices.ContainsFunc(container.Ports, named) {
				t.Errorf("Service %s leads to port %s, which the container does not have", service.Name, port.TargetPort.StrVal)
			}
		}
	}
}

func checkSelects(t *testing.T, selector *metav1.LabelSelector, podLabels map[string]string) {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Matches(labels.Set(podLabels)) {
		t.Errorf("%s does not select the pods", s)
	}
}

// flagsOf returns the flags that --help of a command lists.
func flagsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "-trimpath", "-buildvcs=false", "./cmd/"+name, "--help")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s --help: %v\n%s", name, err, output)
	}
	flags := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^ +(?:(-[a-z]), )?(--[a-z-]+)`).FindAllStringSubmatch(string(output), -1) {
		flags[found[1]] = true
		flags[found[2]] = true
	}
	return flags
}
