// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestS4PodSecurityRestricted(t *testing.T) {
	run(t, []testCase{{
		name: "what is left out is restricted",
		spec: `{podSecurityContext: {fsGroup: 1}, securityContext: {readOnlyRootFilesystem: false}, initContainers: [{name: i, image: i}], sidecars: [{name: s, image: s, securityContext: {runAsUser: 1}}]}`,
	}, {
		name: "an unknown profile is restricted",
		// The zero value is, too: it is what every other case here has.
		profile: "Baseline",
		spec:    `securityContext: {privileged: true}`,
		want: []string{
			`spec.securityContext.privileged: Forbidden: Pod Security level restricted: privileged: container "web" must not set securityContext.privileged=true`,
		},
	}, {
		name: "the pod",
		spec: `podSecurityContext: {runAsNonRoot: false, runAsUser: 0, seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}, seLinuxOptions: {user: root}, sysctls: [{name: kernel.msgmax, value: "1"}], windowsOptions: {hostProcess: true}}`,
		want: []string{
			`spec.podSecurityContext.appArmorProfile: Forbidden: Pod Security level restricted: forbidden AppArmor profile: pod must not set AppArmor profile type to "Unconfined"`,
			`spec.podSecurityContext.runAsNonRoot: Forbidden: Pod Security level restricted: runAsNonRoot != true: pod must not set securityContext.runAsNonRoot=false`,
			`spec.podSecurityContext.runAsUser: Forbidden: Pod Security level restricted: runAsUser=0: pod must not set runAsUser=0`,
			`spec.podSecurityContext.seLinuxOptions: Forbidden: Pod Security level restricted: seLinuxOptions: pod set forbidden securityContext.seLinuxOptions: user may not be set`,
			`spec.podSecurityContext.seccompProfile: Forbidden: Pod Security level restricted: seccompProfile: pod must not set securityContext.seccompProfile.type to "Unconfined"`,
			`spec.podSecurityContext.sysctls: Forbidden: Pod Security level restricted: forbidden sysctls: kernel.msgmax`,
			`spec.podSecurityContext.windowsOptions.hostProcess: Forbidden: Pod Security level restricted: hostProcess: pod must not set securityContext.windowsOptions.hostProcess=true`,
		},
	}, {
		name: "each container",
		spec: `
securityContext: {allowPrivilegeEscalation: true, capabilities: {add: [SYS_ADMIN], drop: [NET_RAW]}, seccompProfile: {type: Unconfined}}
initContainers: [{name: i, image: i, securityContext: {runAsNonRoot: false, runAsUser: 0}}]
sidecars: [{name: s, image: s, ports: [{containerPort: 1, hostPort: 1}], securityContext: {procMount: Unmasked, seLinuxOptions: {type: spc_t}, appArmorProfile: {type: Unconfined}}}]`,
		want: []string{
			`spec.securityContext.allowPrivilegeEscalation: Forbidden: Pod Security level restricted: allowPrivilegeEscalation != false: container "web" must set securityContext.allowPrivilegeEscalation=false`,
			`spec.securityContext.capabilities: Forbidden: Pod Security level restricted: unrestricted capabilities: container "web" must set securityContext.capabilities.drop=["ALL"]; container "web" must not include "SYS_ADMIN" in securityContext.capabilities.add`,
			`spec.securityContext.seccompProfile: Forbidden: Pod Security level restricted: seccompProfile: container "web" must not set securityContext.seccompProfile.type to "Unconfined"`,
			`spec.initContainers[0].securityContext.runAsNonRoot: Forbidden: Pod Security level restricted: runAsNonRoot != true: container "i" must not set securityContext.runAsNonRoot=false`,
			`spec.initContainers[0].securityContext.runAsUser: Forbidden: Pod Security level restricted: runAsUser=0: container "i" must not set runAsUser=0`,
			`spec.sidecars[0].securityContext.appArmorProfile: Forbidden: Pod Security level restricted: forbidden AppArmor profile: container "s" must not set AppArmor profile type to "Unconfined"`,
			`spec.sidecars[0].ports: Forbidden: Pod Security level restricted: hostPort: container "s" uses hostPort 1`,
			`spec.sidecars[0].securityContext.procMount: Forbidden: Pod Security level restricted: procMount: container "s" must not set securityContext.procMount to "Unmasked"`,
			`spec.sidecars[0].securityContext.seLinuxOptions: Forbidden: Pod Security level restricted: seLinuxOptions: container "s" set forbidden securityContext.seLinuxOptions: type "spc_t"`,
		},
	}, {
		name: "hosts that a kubelet connects to",
		spec: `
livenessProbe: {httpGet: {host: 10.0.0.1, port: 80}}
readinessProbe: {tcpSocket: {host: localhost, port: 80}}
startupProbe: {httpGet: {port: 80}}
lifecycle: {postStart: {httpGet: {host: a, port: 80}}}
sidecars: [{name: s, image: s, startupProbe: {httpGet: {host: b, port: 80}}, lifecycle: {preStop: {httpGet: {host: c, port: 80}}}}]`,
		want: []string{
			`spec.livenessProbe.httpGet.host: Forbidden: Pod Security level restricted: probe or lifecycle host: container "web" uses probe or lifecycle hosts "10.0.0.1", "a", "localhost"`,
			`spec.readinessProbe.tcpSocket.host: Forbidden: Pod Security level restricted: probe or lifecycle host: container "web" uses probe or lifecycle hosts "10.0.0.1", "a", "localhost"`,
			`spec.lifecycle.postStart.httpGet.host: Forbidden: Pod Security level restricted: probe or lifecycle host: container "web" uses probe or lifecycle hosts "10.0.0.1", "a", "localhost"`,
			`spec.sidecars[0].startupProbe.httpGet.host: Forbidden: Pod Security level restricted: probe or lifecycle host: container "s" uses probe or lifecycle hosts "b", "c"`,
			`spec.sidecars[0].lifecycle.preStop.httpGet.host: Forbidden: Pod Security level restricted: probe or lifecycle host: container "s" uses probe or lifecycle hosts "b", "c"`,
		},
	}})
}

func TestPodSecurityBaseline(t *testing.T) {
	run(t, []testCase{{
		name:    "what restricted forbids",
		profile: "baseline",
		spec: `
podSecurityContext: {runAsNonRoot: false, runAsUser: 0}
securityContext: {allowPrivilegeEscalation: true, capabilities: {add: [CHOWN], drop: [NET_RAW]}}`,
	}, {
		name:    "what baseline forbids",
		profile: "baseline",
		spec: `
podSecurityContext: {seccompProfile: {type: Unconfined}}
securityContext: {privileged: true}
initContainers: [{name: i, image: i, ports: [{containerPort: 1, hostPort: 1}]}]
sidecars: [{name: s, image: s, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]`,
		want: []string{
			`spec.podSecurityContext.seccompProfile: Forbidden: Pod Security level baseline: seccompProfile: pod must not set securityContext.seccompProfile.type to "Unconfined"`,
			`spec.securityContext.privileged: Forbidden: Pod Security level baseline: privileged: container "web" must not set securityContext.privileged=true`,
			`spec.initContainers[0].ports: Forbidden: Pod Security level baseline: hostPort: container "i" uses hostPort 1`,
			`spec.sidecars[0].securityContext.capabilities: Forbidden: Pod Security level baseline: non-default capabilities: container "s" must not include "SYS_ADMIN" in securityContext.capabilities.add`,
		},
	}})
}

func TestPodSecurityPrivileged(t *testing.T) {
	run(t, []testCase{{
		name:    "anything",
		profile: "privileged",
		spec: `
podSecurityContext: {runAsNonRoot: false, seccompProfile: {type: Unconfined}, sysctls: [{name: kernel.msgmax, value: "1"}], seLinuxOptions: {user: root}}
securityContext: {privileged: true, runAsUser: 0, appArmorProfile: {type: Unconfined}}
livenessProbe: {httpGet: {host: 10.0.0.1, port: 80}}
sidecars: [{name: s, image: s, ports: [{containerPort: 1, hostPort: 1}], securityContext: {capabilities: {add: [SYS_ADMIN]}}}]`,
	}})
}

// Every check must lead to a field: a new one in the library shows here.
func TestEveryCheckHasItsField(t *testing.T) {
	// No mount can have a forbidden source, and no field of an Application reaches the host's
	// namespaces.
	without := []policy.CheckID{"hostNamespaces", "hostPathVolumes", "restrictedVolumes"}
	for _, check := range policy.DefaultChecks() {
		_, known := securityFields[check.ID]
		if !known && check.ID != checkHostPorts && check.ID != checkHosts && !slices.Contains(without, check.ID) {
			t.Errorf("check %s has no field", check.ID)
		}
	}
}

// The levels must consist of the checks that the library's own evaluator runs.
func TestLevelsAreTheLibrarys(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []podsecurity.Level{podsecurity.LevelPrivileged, podsecurity.LevelBaseline, podsecurity.LevelRestricted} {
		whole := wholePod(newInput(application(t, everything), Options{}))
		want := len(evaluator.EvaluatePod(podsecurity.LevelVersion{Level: level, Version: podsecurity.LatestVersion()}, &metav1.ObjectMeta{}, &whole))
		if got := len(podSecurityChecks(level)); got != want {
			t.Errorf("level %s: %d checks, want %d", level, got, want)
		}
	}
}

// TestS4VolumesReachTheChecks fails when a mount gets a source that the Pod Security checks do not see.
func TestS4VolumesReachTheChecks(t *testing.T) {
	for i := range reflect.TypeFor[v1.Mount]().NumField() {
		var mount v1.Mount
		source := reflect.TypeFor[v1.Mount]().Field(i)
		if source.Type.Kind() != reflect.Pointer || source.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		reflect.ValueOf(&mount).Elem().Field(i).Set(reflect.New(source.Type.Elem()))
		volume := mountedVolumes([]v1.Mount{mount})[0].VolumeSource
		if field := reflect.ValueOf(volume).FieldByName(source.Name); !field.IsValid() || field.IsNil() {
			t.Errorf("the checks see nothing of mounts[].%s", source.Name)
		}
	}
}
