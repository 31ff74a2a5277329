// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintOfLabelsInSelector: a label that is written into a selector itself belongs in its matchLabels.
func TestLintOfLabelsInSelector(t *testing.T) {
	wantLint(t, map[string]string{
		`networkPolicy: {ingress: [{from: [{podSelector: {app: web}}]}]}`:                                               `spec.networkPolicy.ingress[0].from[0].podSelector.app: Forbidden: unknown field: a label belongs in spec.networkPolicy.ingress[0].from[0].podSelector.matchLabels`,
		`networkPolicy: {ingress: [{from: [{podSelector: {matchLabel: {app: web}}}]}]}`:                                 `spec.networkPolicy.ingress[0].from[0].podSelector.matchLabel: Forbidden: unknown field: did you mean matchLabels?`,
		`networkPolicy: {ingress: [{from: [{podSelector: {example.com/tier: "front"}}]}]}`:                              `spec.networkPolicy.ingress[0].from[0].podSelector.example.com/tier: Forbidden: unknown field: a label belongs in spec.networkPolicy.ingress[0].from[0].podSelector.matchLabels`,
		`networkPolicy: {ingress: [{from: [{podSelector: {matchExpressions: [{key: a, operator: In, value: [b]}]}}]}]}`: `spec.networkPolicy.ingress[0].from[0].podSelector.matchExpressions[0].value: Forbidden: unknown field: did you mean values?`,
	})
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	fmt.Fprint(in, "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {namespaceSelector: {example.com/tenant: \"true\"}}\n")
	const want = "-:4: spec.namespaceSelector.example.com/tenant: Forbidden: unknown field: a label belongs in spec.namespaceSelector.matchLabels (schema)\n"
	if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, out, want)
	}
}

// TestLintOfStrategyType: a type that does not exist is one mistake, whatever else the strategy has.
func TestLintOfStrategyType(t *testing.T) {
	for kind, want := range map[string]string{
		"rollingUpdate": "strategy.type must be RollingUpdate or Recreate, not rollingUpdate",
		"Recreate":      "strategy.rollingUpdate has no effect with strategy.type Recreate: change the type to RollingUpdate, or remove rollingUpdate",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, strategy: {type: %s, rollingUpdate: {maxSurge: 1}}}\n", kind)
		want = "-:4: spec.strategy: Invalid value: " + want + " (cel)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %q, want %q", code, out, want)
		}
	}
}

// TestLintOfFieldsOfOtherTools: what users of charts, Compose files and older autoscalers write names the field of an Application.
func TestLintOfFieldsOfOtherTools(t *testing.T) {
	const inTemplate = `write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata`
	const inImage = `write it in image, behind a colon, as in image: registry.example.com/web:1.2`
	wants := map[string]string{}
	for field, want := range map[string]string{
		`cpu: 100m`:                         `spec.cpu: did you mean resources.requests.cpu or resources.limits.cpu?`,
		`memory: 64Mi`:                      `spec.memory: did you mean resources.requests.memory or resources.limits.memory?`,
		`resources: {request: {cpu: 100m}}`: `spec.resources.request: did you mean requests?`,
		`entrypoint: [sh]`:                  `spec.entrypoint: did you mean command?`,
		`cmd: [sh]`:                         `spec.cmd: did you mean args?`,
		`probes: {liveness: {}}`:            `spec.probes: did you mean livenessProbe, readinessProbe or startupProbe?`,
		`healthCheck: {path: /}`:            `spec.healthCheck: did you mean livenessProbe or readinessProbe?`,
		`liveness: {path: /}`:               `spec.liveness: did you mean livenessProbe?`,
		`readyProbe: {path: /}`:             `spec.readyProbe: did you mean readinessProbe?`,
		`tag: v1`:                           `spec.tag: ` + inImage,
		`imageTag: v1`:                      `spec.imageTag: ` + inImage,
		`podTemplate: {}`:                   `spec.podTemplate: ` + inTemplate,
		`hostnames: [a.example.com]`:        `spec.hostnames: did you mean spec.routes[].hostnames?`,
		`config: {a.yaml: b}`:               `spec.config.a.yaml: a file belongs in data, as in data: {a.yaml: …}`,
		`config: {mountPath: /a, files: {a.yaml: b}}`:  `spec.config.files: did you mean data?`,
		`config: {name: a, mountPath: /a}`:             `spec.config.name: remove it: Fairlead names the ConfigMap of config; one that exists already belongs in mounts[].configMap`,
		`autoscaling: {enabled: true, maxReplicas: 2}`: `spec.autoscaling.enabled: remove it: autoscaling is enabled where it is set`,
		`monitoring: {enabled: true}`:                  `spec.monitoring.enabled: remove it: monitoring is enabled where it is set, even if empty, as in monitoring: {}`,
		`networkPolicy: {enabled: true}`:               `spec.networkPolicy.enabled: remove it: a networkPolicy is enabled where it is set, even if empty, as in networkPolicy: {}`,
		`disruptionBudget: {enabled: false}`:           `spec.disruptionBudget.enabled: remove it: mode: Disabled makes no budget`,
		`rollback: {enabled: true}`:                    `spec.rollback.enabled: did you mean policy: OnFailure?`,
		`autoscaling: {targetAverageUtilization: 80}`:  `spec.autoscaling.targetAverageUtilization: did you mean targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage?`,
		`autoscaling: {maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, targetAverageUtilization: 80}}]}`: `spec.autoscaling.metrics[0].resource.targetAverageUtilization: did you mean target.averageUtilization?`,
	} {
		at, instead, _ := strings.Cut(want, ": ")
		wants[field] = at + ": Forbidden: unknown field: " + instead
	}
	wantLint(t, wants)
}

// TestLintOfFieldsThatClassesLack: a class has other fields than an Application, and an annotation makes it the default.
func TestLintOfFieldsThatClassesLack(t *testing.T) {
	const marker = `the annotation applicationclass.apps.fairlead.dev/is-default: "true" makes the class a default`
	const amounts = `a class has no maximum of CPU or memory: set requireResourceLimits, and a LimitRange or a ResourceQuota in the namespaces`
	for fields, want := range map[string]string{
		"metadata: {name: gold, isDefault: true}\nspec: {}":                     "-:3: metadata.isDefault: " + marker,
		"metadata: {name: gold}\nspec: {isDefault: true}":                       "-:4: spec.isDefault: " + marker,
		"metadata: {name: gold}\nspec: {default: true}":                         "-:4: spec.default: " + marker,
		"metadata: {name: gold}\nspec: {defaults: {image: web}}":                "-:4: spec.defaults.image: remove it: a class has no default for image, and each Application sets its own",
		"metadata: {name: gold}\nspec: {image: web}":                            "-:4: spec.image: remove it: a class has no default for image, and each Application sets its own",
		"metadata: {name: gold}\nspec: {resources: {}}":                         "-:4: spec.resources: did you mean spec.defaults.resources?",
		"metadata: {name: gold}\nspec: {defaults: {ingressClassName: nginx}}":   "-:4: spec.defaults.ingressClassName: did you mean routes.ingressClassName?",
		"metadata: {name: gold}\nspec: {limits: {maxCPU: 1}}":                   "-:4: spec.limits.maxCPU: " + amounts,
		"metadata: {name: gold}\nspec: {limits: {memory: 1Gi}}":                 "-:4: spec.limits.memory: " + amounts,
		"metadata: {name: gold}\nspec: {limits: {allowedImages: [ghcr.io]}}":    "-:4: spec.limits.allowedImages: did you mean allowedRegistries?",
		"metadata: {name: gold}\nspec: {limits: {allowedHosts: [example.com]}}": "-:4: spec.limits.allowedHosts: did you mean allowedHostnames?",
		"metadata: {name: gold}\nspec: {limits: {hostnames: [example.com]}}":    "-:4: spec.limits.hostnames: did you mean allowedHostnames or sharedHostnames?",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\n%s\n", fields)
		line, rest, _ := strings.Cut(want, ": ")
		at, instead, _ := strings.Cut(rest, ": ")
		want = line + ": " + at + ": Forbidden: unknown field: " + instead + " (schema)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %s, want %s", code, out, want)
		}
	}
}
