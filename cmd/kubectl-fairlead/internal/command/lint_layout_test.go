// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintOfLayout: a field that lacks its indentation, and the rest of a value behind a comma in braces, are no fields to remove.
func TestLintOfLayout(t *testing.T) {
	const (
		item  = "where a hyphen begins each item"
		comma = "a comma in braces ends a value: put the text of value in quotes"
	)
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"variables": {"env:\nLOG_LEVEL: debug\nPORT: \"8080\"", []string{
			"8: spec.LOG_LEVEL: write it below env, as an item: - {name: LOG_LEVEL, value: …}",
			"9: spec.PORT: write it below env, as an item: - {name: PORT, value: …}",
		}},
		"fields of an item": {"env:\nname: A\nvalue: b", []string{
			"8: spec.name: indent it below env, " + item, "9: spec.value: indent it below env, " + item,
		}},
		"of the last item":              {"env:\n- name: A\nvalue: b", []string{"9: spec.value: indent it, as a field of the last item of env"}},
		"not what the last item has":    {"env:\n- {name: A, value: b}\nvalue: c", []string{"9: spec.value: remove it, or correct its name"}},
		"a probe":                       {"readinessProbe:\nhttpGet:\n  port: 80", []string{"8: spec.httpGet: indent it below readinessProbe"}},
		"deeper":                        {"readinessProbe:\n  httpGet:\n  port: 80", []string{"9: spec.readinessProbe.port: indent it below httpGet"}},
		"autoscaling":                   {"autoscaling:\nmaxReplicas: 3", []string{"8: spec.maxReplicas: indent it below autoscaling"}},
		"a map":                         {"nodeSelector:\ndisktype: ssd", []string{"8: spec.disktype: indent it below nodeSelector"}},
		"a typing error behind a map":   {"nodeSelector:\nreplicass: 2", []string{"8: spec.replicass: did you mean replicas?"}},
		"behind a field with its value": {"nodeSelector: {disktype: ssd}\nsurplus: 2", []string{"8: spec.surplus: remove it, or correct its name"}},
		"a comma":                       {"env:\n- {name: A, value: -X, -Y}", []string{"8: spec.env[0].-Y: " + comma}},
		"commas":                        {"env:\n- {name: A, value: -X, -Y=1, -Z}", []string{"8: spec.env[0].-Y=1: " + comma, "8: spec.env[0].-Z: " + comma}},
		"behind quotes":                 {"env:\n- {name: A, value: \"-X\", -Y}", []string{"8: spec.env[0].-Y: remove it, or correct its name"}},
		"a probe that is set":           {"initialDelaySeconds: 3\nreadinessProbe: {httpGet: {port: 80}}", []string{"7: spec.initialDelaySeconds: did you mean spec.readinessProbe.initialDelaySeconds?"}},
		"no probe": {"initialDelaySeconds: 3", []string{"7: spec.initialDelaySeconds: did you mean spec.livenessProbe.initialDelaySeconds, " +
			"spec.readinessProbe.initialDelaySeconds or spec.startupProbe.initialDelaySeconds?"}},
		"said already": {"replicas: 2\nreplicaCount: 3", []string{"8: spec.replicaCount: remove it: replicas is set"}},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, _ := genericiooptions.NewTestIOStreams()
			in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata:\n  name: web\nspec:\n  image: web\n  " +
				strings.ReplaceAll(test.spec, "\n", "\n  ") + "\n")
			var want strings.Builder
			for _, line := range test.want {
				place, hint, _ := strings.Cut(line, ": ")
				field, hint, _ := strings.Cut(hint, ": ")
				want.WriteString("-:" + place + ": " + field + ": Forbidden: unknown field: " + hint + " (schema)\n")
			}
			if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want.String() {
				t.Errorf("exit code %d, %s, want %s", code, out, want.String())
			}
		})
	}
}
