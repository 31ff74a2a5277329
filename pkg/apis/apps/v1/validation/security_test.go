// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestSecurityContexts(t *testing.T) {
	run(t, []testCase{{
		name:    "root, said so",
		profile: "baseline",
		spec:    `{podSecurityContext: {runAsNonRoot: false}, securityContext: {runAsUser: 0}}`,
	}, {
		name:    "privileged, said so",
		profile: "privileged",
		spec:    `{securityContext: {privileged: true, runAsNonRoot: false, runAsUser: 0}, sidecars: [{name: s, image: s, securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}}]}`,
	}, {
		name: "numbers",
		spec: `
podSecurityContext: {runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [1, -1]}
securityContext: {runAsUser: 2147483648, runAsGroup: 2147483648}
sidecars: [{name: s, image: s, securityContext: {runAsUser: -2}}]`,
		want: []string{
			`spec.podSecurityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.podSecurityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.podSecurityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.podSecurityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			`spec.securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`,
			`spec.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`,
			`spec.sidecars[0].securityContext.runAsUser: Invalid value: -2: must be between 0 and 2147483647, inclusive`,
		},
	}, {
		name:    "words",
		profile: "privileged",
		spec: `
podSecurityContext:
  fsGroupChangePolicy: Never
  supplementalGroupsPolicy: None
  seLinuxChangePolicy: None
  sysctls: [{name: "", value: x}, {name: A, value: x}, {name: kernel.a, value: x}, {name: kernel.a, value: y}, {name: net/ipv4/a, value: "1"}]
  seccompProfile: {type: ""}
  appArmorProfile: {type: Local}
securityContext: {procMount: Some}`,
		want: []string{
			`spec.podSecurityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"`,
			`spec.podSecurityContext.supplementalGroupsPolicy: Unsupported value: "None": supported values: "Merge", "Strict"`,
			`spec.podSecurityContext.seLinuxChangePolicy: Unsupported value: "None": supported values: "MountOption", "Recursive"`,
			`spec.podSecurityContext.sysctls[0].name: Required value: must be the name of a sysctl`,
			`spec.podSecurityContext.sysctls[1].name: Invalid value: "A": must be lower-case words, separated by '.' or '/', of no more than 253 characters together`,
			`spec.podSecurityContext.sysctls[3].name: Duplicate value: "kernel.a": spec.podSecurityContext.sysctls[2].name has it too`,
			`spec.podSecurityContext.seccompProfile.type: Unsupported value: "": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
			`spec.podSecurityContext.appArmorProfile.type: Unsupported value: "Local": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
			`spec.securityContext.procMount: Unsupported value: "Some": supported values: "Default", "Unmasked"`,
		},
	}, {
		name: "profiles of the node",
		spec: `
podSecurityContext: {seccompProfile: {type: Localhost}, appArmorProfile: {type: Localhost}}
securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../a}, appArmorProfile: {type: Localhost, localhostProfile: " a"}}
sidecars:
- {name: a, image: a, securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: a}, appArmorProfile: {type: RuntimeDefault, localhostProfile: a}}}
- {name: b, image: b, securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ""}}}`,
		want: []string{
			`spec.podSecurityContext.seccompProfile.localhostProfile: Required value: must be set with type Localhost`,
			`spec.podSecurityContext.appArmorProfile.localhostProfile: Required value: must be set with type Localhost`,
			`spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../a": must not contain '..'`,
			`spec.securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not begin or end with white space`,
			`spec.sidecars[0].securityContext.seccompProfile.localhostProfile: Invalid value: "a": needs type Localhost`,
			`spec.sidecars[0].securityContext.appArmorProfile.localhostProfile: Invalid value: "a": needs type Localhost`,
			`spec.sidecars[1].securityContext.appArmorProfile.localhostProfile: Required value: must be set with type Localhost`,
		},
	}, {
		name:    "what excludes each other",
		profile: "privileged",
		spec: `
securityContext: {privileged: true, allowPrivilegeEscalation: false, procMount: Unmasked}
initContainers: [{name: i, image: i, securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}, allowPrivilegeEscalation: false}}]
sidecars: [{name: s, image: s, securityContext: {windowsOptions: {hostProcess: true}}}]`,
		want: []string{
			`spec.securityContext.procMount: Invalid value: "Unmasked": needs a user namespace, which an Application does not have`,
			`spec.securityContext.allowPrivilegeEscalation: Invalid value: false: must not be false while privileged is true`,
			`spec.initContainers[0].securityContext.allowPrivilegeEscalation: Invalid value: false: must not be false while CAP_SYS_ADMIN is added`,
			`spec.sidecars[0].securityContext.windowsOptions.hostProcess: Invalid value: true: needs the host's network, which an Application cannot have`,
		},
	}, {
		name:    "root while runAsNonRoot is true by default",
		profile: "baseline",
		spec:    `{podSecurityContext: {runAsUser: 0}, securityContext: {runAsNonRoot: false}, sidecars: [{name: s, image: s}, {name: t, image: t, securityContext: {runAsUser: 1}}]}`,
		want:    []string{`spec.sidecars[0].securityContext.runAsUser: Invalid value: 0: needs runAsNonRoot false, whose default here is true`},
	}, {
		name: "Windows",
		spec: `
podSecurityContext: {windowsOptions: {gmsaCredentialSpecName: A, gmsaCredentialSpec: "", runAsUserName: 'A\B\C'}}
sidecars: [{name: s, image: s, securityContext: {windowsOptions: {runAsUserName: ". "}}}, {name: t, image: t, securityContext: {windowsOptions: {runAsUserName: 'NT AUTHORITY\SYSTEM'}}}]`,
		want: []string{
			`spec.podSecurityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.podSecurityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": must be 1 to 65536 bytes`,
			`spec.podSecurityContext.windowsOptions.runAsUserName: Invalid value: "A\\B\\C": must be USER or DOMAIN\USER, of no more than 104 and 255 characters, without control characters and any of "/\:;|=,+*?<>@[]`,
			`spec.sidecars[0].securityContext.windowsOptions.runAsUserName: Invalid value: ". ": must be USER or DOMAIN\USER, of no more than 104 and 255 characters, without control characters and any of "/\:;|=,+*?<>@[]`,
		},
	}})
}
