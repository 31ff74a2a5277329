// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"sigs.k8s.io/yaml"
)

// TestSchemaRefuses: a mistake in the values fails before anything is installed, and the message names the field.
func TestSchemaRefuses(t *testing.T) {
	for values, want := range map[string]string{
		`{replica: 3}`:                          `'replica'`,
		`{replicas: -1}`:                        `/replicas`,
		`{image: {digest: "sha256:abc"}}`:       `/image/digest`,
		`{certificates: {issuer: vault}}`:       `/certificates/issuer`,
		`{securityProfile: strict}`:             `/securityProfile`,
		`{watchNamespaces: [Shop]}`:             `/watchNamespaces/0`,
		`{extraArgs: ["workers=3"]}`:            `/extraArgs/0`,
		`{networkPolicy: {apiServerPorts: []}}`: `/networkPolicy/apiServerPorts`,
		`{monitoring: true}`:                    `/monitoring`,
	} {
		t.Run(values, func(t *testing.T) {
			var parsed map[string]any
			if err := yaml.UnmarshalStrict([]byte(values), &parsed); err != nil {
				t.Fatal(err)
			}
			_, err := renderFiles(t, parsed)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the chart says %v, want an error with %s", err, want)
			}
		})
	}
}

// TestLint is helm lint --strict, except that the chart has no icon.
func TestLint(t *testing.T) {
	linter := lint.RunAll(directory, map[string]any{}, operatorNamespace)
	for _, message := range linter.Messages {
		if message.Severity > support.InfoSev {
			t.Error(message)
		}
	}
	// The missing icon is a message too.
	if len(linter.Messages) == 0 {
		t.Error("nothing was checked")
	}
}
