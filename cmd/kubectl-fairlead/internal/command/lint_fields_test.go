// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
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
