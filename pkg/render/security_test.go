// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestPodSecurity(t *testing.T) {
	checkFragments(t, child.Deployment, podPath+".securityContext", []fragmentCase{
		{"default", ``, `{runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}`},
		{"merged", `podSecurityContext: {runAsUser: 1000, fsGroup: 1000}`,
			`{runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}, runAsUser: 1000, fsGroup: 1000}`},
		{"overridden", `podSecurityContext: {runAsNonRoot: false, seccompProfile: {type: Unconfined}}`,
			`{runAsNonRoot: false, seccompProfile: {type: Unconfined}}`},
	})
}

func TestApplicationSecurity(t *testing.T) {
	checkFragments(t, child.Deployment, applicationPath+".securityContext", []fragmentCase{
		{"default", ``, `{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}`},
		{"merged", `securityContext: {runAsUser: 1000, capabilities: {add: [NET_BIND_SERVICE]}}`,
			`{allowPrivilegeEscalation: false, capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}, readOnlyRootFilesystem: true, runAsUser: 1000}`},
		{"overridden", `securityContext: {allowPrivilegeEscalation: true, capabilities: {drop: [KILL]}, readOnlyRootFilesystem: false}`,
			`{allowPrivilegeEscalation: true, capabilities: {drop: [KILL]}, readOnlyRootFilesystem: false}`},
		{"privileged, with which the API refuses the default", `securityContext: {privileged: true}`,
			`{privileged: true, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}`},
		{"a capability with which the API refuses the default", `securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}`,
			`{capabilities: {add: [CAP_SYS_ADMIN], drop: [ALL]}, readOnlyRootFilesystem: true}`},
	})
}

func TestSecurityOfFurtherContainers(t *testing.T) {
	for _, test := range []struct{ list, path string }{
		{"sidecars", podPath + ".containers[1].securityContext"},
		{"initContainers", podPath + ".initContainers[0].securityContext"},
	} {
		t.Run(test.list, func(t *testing.T) {
			checkFragments(t, child.Deployment, test.path, []fragmentCase{
				{"default", test.list + `: [{name: helper, image: helper:1}]`,
					`{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`},
				{"merged", test.list + `: [{name: helper, image: helper:1, securityContext: {runAsUser: 1, capabilities: {add: [CHOWN]}}}]`,
					`{allowPrivilegeEscalation: false, capabilities: {add: [CHOWN], drop: [ALL]}, runAsUser: 1}`},
				{"overridden", test.list + `: [{name: helper, image: helper:1, securityContext: {allowPrivilegeEscalation: true, capabilities: {drop: [KILL]}}}]`,
					`{allowPrivilegeEscalation: true, capabilities: {drop: [KILL]}}`},
			})
		})
	}
}
