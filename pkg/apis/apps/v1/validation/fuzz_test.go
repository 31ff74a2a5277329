// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	podsecurity "k8s.io/pod-security-admission/api"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// FuzzValidateApplication decodes any JSON as an Application, as an API server without a schema
// would: there is no panic, no change, and the same answer twice.
func FuzzValidateApplication(f *testing.F) {
	encoded, err := json.Marshal(application(f, everything))
	if err != nil {
		f.Fatal(err)
	}
	for i, seed := range []string{
		string(encoded),
		`{}`,
		`{"metadata":{"name":"web"},"spec":{"image":"nginx"}}`,
		`{"spec":{"livenessProbe":{"httpGet":{"port":"http"}},"readinessProbe":{"grpc":{}},"startupProbe":{"tcpSocket":{"port":-1}}}}`,
		`{"spec":{"mounts":[null,{"mountPath":"/a","projected":{"sources":[null,{"clusterTrustBundle":{}},{"podCertificate":{}},{"downwardAPI":{"items":[null]}}]}}]}}`,
		`{"spec":{"initContainers":[null,{"restartPolicy":"Always","livenessProbe":{},"lifecycle":{"preStop":{}},"securityContext":{"capabilities":{}}}],"sidecars":[null]}}`,
		`{"spec":{"autoscaling":{"metrics":[null,{"type":"Object","object":{}},{"type":"Resource","resource":{}}],"behavior":{"scaleUp":{},"scaleDown":null}}}}`,
		`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"","maxUnavailable":"%"}},"disruptionBudget":{"mode":"Custom","minAvailable":"999999999999999999999%"}}}`,
		`{"spec":{"routes":[null,{"hostnames":[""],"paths":[null,{"path":"%"}],"tls":{}}],"networkPolicy":{"ingress":[null],"egress":[{"to":[null,{"ipBlock":{"cidr":"x","except":[""]}}],"ports":[null]}]}}}`,
		`{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}},"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[null]}},"topologySpreadConstraints":[null],"tolerations":[null]}}`,
		`{"spec":{"resources":{"limits":{"":"1e1000","hugepages-":"-1","cpu":"1n"}},"env":[{"valueFrom":{"resourceFieldRef":{"divisor":"0.1"},"fieldRef":{"fieldPath":"a['"}}}],"envFrom":[null]}}`,
		`{"spec":{"podSecurityContext":{"windowsOptions":{"runAsUserName":"\\"},"seccompProfile":{},"appArmorProfile":{},"sysctls":[null]},"securityContext":{"windowsOptions":{},"seLinuxOptions":{}}}}`,
	} {
		f.Add([]byte(seed), i%3)
	}
	f.Fuzz(func(t *testing.T, data []byte, level int) {
		app := &v1.Application{}
		if json.Unmarshal(data, app) != nil {
			t.Skip("not an Application")
		}
		levels := []podsecurity.Level{podsecurity.LevelRestricted, podsecurity.LevelBaseline, podsecurity.LevelPrivileged}
		checkInvariants(t, app, Options{SecurityProfile: levels[uint(level)%3]})
	})
}

// checkInvariants returns what is wrong with the Application.
func checkInvariants(t interface {
	Helper()
	Errorf(format string, args ...any)
}, app *v1.Application, options Options) []string {
	t.Helper()
	before := app.DeepCopy()
	first := messages(ValidateApplication(app, options))
	if diff := cmp.Diff(before, app); diff != "" {
		t.Errorf("the Application was changed (-before +after):\n%s", diff)
	}
	for range 3 {
		if diff := cmp.Diff(first, messages(ValidateApplication(app, options))); diff != "" {
			t.Errorf("not the same answer twice (-first +later):\n%s", diff)
		}
	}
	if len(first) > maxErrors+1 {
		t.Errorf("%d errors", len(first))
	}
	return first
}

// drawMutated is an Application with a few mistakes, or none.
func drawMutated(t *rapid.T) *v1.Application {
	choice := rapid.Custom(func(t *rapid.T) *v1.ApplicationSpec {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		spec, ok := mutator{pick: pick}.mutated(oneElement(mutator{pick}, bases()))
		if !ok {
			return nil
		}
		return &spec
	})
	spec := choice.Filter(func(spec *v1.ApplicationSpec) bool { return spec != nil }).Draw(t, "spec")
	app := &v1.Application{Spec: *spec}
	app.Name, app.Namespace, app.UID = "web", "shop", "1"
	return app
}

func TestInvariants(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		checkInvariants(t, drawMutated(t), Options{})
	})
}
