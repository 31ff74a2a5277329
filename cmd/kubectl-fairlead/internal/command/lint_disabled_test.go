// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintOfDisabledFields: for "enabled: false", lint says how to turn the thing off. Without that line, it would be on.
func TestLintOfDisabledFields(t *testing.T) {
	const whole = " as a whole: it is enabled where it is set"
	const forbidden = "enabled: Forbidden: unknown field: "
	wantLint(t, map[string]string{
		`autoscaling: {enabled: false, maxReplicas: 2}`: "spec.autoscaling." + forbidden + "remove autoscaling" + whole,
		`livenessProbe: {enabled: false}`:               "spec.livenessProbe." + forbidden + "remove livenessProbe" + whole,
		`monitoring: {enabled: no}`:                     "spec.monitoring." + forbidden + "remove monitoring" + whole,
		`networkPolicy: {enabled: "False"}`:             "spec.networkPolicy." + forbidden + "remove networkPolicy" + whole,
		`rollback: {enabled: false}`:                    "spec.rollback." + forbidden + "did you mean policy: Never?",
		`routes: [{name: web, tls: {enabled: false}}]`:  "spec.routes[0].tls." + forbidden + "remove tls" + whole,
	})
	for field, want := range map[string]string{
		`networkPolicy: {enabled: false}`: "networkPolicy." + forbidden + "remove networkPolicy" + whole,
		`rollback: {enabled: false}`:      "rollback." + forbidden + "did you mean policy: Never?",
		`rollback: {enabled: true}`:       "rollback." + forbidden + "did you mean policy: OnFailure?",
		`routes: {tls: {enabled: false}}`: "routes.tls." + forbidden + "remove tls" + whole,
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {defaults: {%s}}\n", field)
		want = "-:4: spec.defaults." + want + " (schema)\n"
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitNo || out.String() != want {
			t.Errorf("exit code %d, %s, want %s", code, out, want)
		}
	}
}
