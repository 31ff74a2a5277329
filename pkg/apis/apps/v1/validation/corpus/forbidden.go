// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"maps"
	"slices"
)

// places are where an Application can have a container, with the path that an error there begins with.
var places = map[string]struct{ path, spec string }{
	"application":    {"spec.", `%s`},
	"init-container": {"spec.initContainers[0].", `initContainers: [{name: other, image: "registry.example.com/other:1", %s}]`},
	"native-sidecar": {"spec.initContainers[0].", `initContainers: [{name: other, image: "registry.example.com/other:1", restartPolicy: Always, %s}]`},
	"sidecar":        {"spec.sidecars[0].", `sidecars: [{name: other, image: "registry.example.com/other:1", %s}]`},
}

// privileges are the fields of a container that Pod Security restricted forbids.
var privileges = map[string]string{
	"capability":           `securityContext: {capabilities: {add: [NET_ADMIN]}}`,
	"host-port":            `ports: [{containerPort: 80, hostPort: 80}]`,
	"host-process":         `securityContext: {windowsOptions: {hostProcess: true}}`,
	"privilege-escalation": `securityContext: {allowPrivilegeEscalation: true}`,
	"privileged":           `securityContext: {privileged: true}`,
	"root":                 `securityContext: {runAsUser: 0}`,
	"root-allowed":         `securityContext: {runAsNonRoot: false}`,
	"unconfined-apparmor":  `securityContext: {appArmorProfile: {type: Unconfined}}`,
	"unconfined-seccomp":   `securityContext: {seccompProfile: {type: Unconfined}}`,
	"unconfined-selinux":   `securityContext: {seLinuxOptions: {type: spc_t}}`,
	"unmasked-proc":        `securityContext: {procMount: Unmasked}`,
	"host-of-a-hook":       `lifecycle: {postStart: {httpGet: {host: 10.0.0.1, port: 80}}}`,
}

// Forbidden returns an Application for each privilege at each place where a container could ask for
// it. Errors has how the path of the refused field begins.
func Forbidden() []Case {
	var cases []Case
	for _, privilege := range slices.Sorted(maps.Keys(privileges)) {
		for _, place := range slices.Sorted(maps.Keys(places)) {
			switch {
			case privilege == "host-port" && place == "application":
				continue // Its ports are of a type of their own, without such a field.
			case privilege == "host-of-a-hook" && place == "init-container":
				continue // It has no lifecycle at all.
			}
			name := privilege + "-of-" + place
			cases = append(cases, Case{
				Name: "forbidden/" + name, Layer: Admission, Errors: []string{places[place].path},
				Object: fmt.Sprintf("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: registry.example.com/web:1\n  "+places[place].spec+"\n", privileges[privilege]),
			})
		}
	}
	return cases
}
