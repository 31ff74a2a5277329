// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintOfFieldsWithoutValue: lint warns of a field with nothing behind it if server-side apply refuses it. That is a field of the spec
// which has no default.
func TestLintOfFieldsWithoutValue(t *testing.T) {
	const refuses = "kubectl apply --server-side refuses a field without a value: remove the field, or write "
	for name, test := range map[string]struct{ given, want string }{
		"application": {`apiVersion: apps.fairlead.dev/v1
kind: Application
metadata:
  name: web
  creationTimestamp:
  labels:
spec:
  image: web:1
  args:
  replicas: ~
  resources: {requests: {cpu: 10m, memory: null}}
  nodeSelector:
  affinity:
  autoscaling:
  monitoring: null
  deletionPolicy:
  env:
  - name: A
    value:
  envFrom:
  - configMapRef: {name: web, optional: }
status:
`, `-:9: warning: spec.args: ` + refuses + `a list or [] (effect)
-:10: warning: spec.replicas: ` + refuses + `its value (effect)
-:11: warning: spec.resources.requests[memory]: ` + refuses + `its value (effect)
-:12: warning: spec.nodeSelector: ` + refuses + `a map or {} (effect)
-:13: warning: spec.affinity: ` + refuses + `its fields or {} (effect)
-:14: warning: spec.autoscaling: ` + refuses + `its fields (effect)
-:15: warning: spec.monitoring: ` + refuses + `its fields or {} (effect)
-:19: warning: spec.env[0].value: ` + refuses + `its value (effect)
-:21: warning: spec.envFrom[0].configMapRef.optional: ` + refuses + `its value (effect)
1 object checked, nothing else found; the limits of a default class were not: if there is one, pass it with --class-file
`},
		"class": {`apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: gold}
spec:
  namespaceSelector:
`, `-:5: warning: spec.namespaceSelector: ` + refuses + `its fields or {} (effect)
1 object checked, nothing else found
`},
		"class without a spec": {`apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: gold}
`, "1 object checked, nothing found\n"},
		"class with an empty spec": {`apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: gold}
spec:
`, `-:4: warning: spec: ` + refuses + `its fields or {} (effect)
1 object checked, nothing else found
`},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, _ := genericiooptions.NewTestIOStreams()
			fmt.Fprint(in, test.given)
			if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitYes || out.String() != test.want {
				t.Errorf("exit code %d, got\n%s\nwant\n%s", code, out, test.want)
			}
		})
	}
}
