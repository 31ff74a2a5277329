// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const portsSpec = `
ports: [{name: http, containerPort: 8080, servicePort: 80}, {name: metrics, containerPort: 9090}]
replicas: 2
`

func ports(s child.Snapshot) *[]corev1.ServicePort {
	return &live[*corev1.Service](s, child.Service).Spec.Ports
}

func pod(s child.Snapshot) *corev1.PodSpec {
	return &live[*appsv1.Deployment](s, child.Deployment).Spec.Template.Spec
}

// What others do to a list, and the patch that exchanges items before the apply; "" for none.
func TestRekey(t *testing.T) {
	for _, test := range []struct {
		name   string
		kind   child.Kind
		change func(child.Snapshot)
		action plan.Action
		want   string
	}{
		{
			name: "the port of a Service changed", kind: child.Service,
			change: func(s child.Snapshot) { (*ports(s))[0].Port = 81 },
			action: plan.Apply,
			want: `
spec:
  ports:
  - {port: 81, protocol: TCP, $patch: delete}
  - {name: http, port: 80, protocol: TCP, targetPort: http}
  - {name: metrics, port: 9090, protocol: TCP, targetPort: metrics}
`,
		},
		{
			name: "the protocol of a Service's port changed", kind: child.Service,
			change: func(s child.Snapshot) { (*ports(s))[0].Protocol = corev1.ProtocolUDP },
			action: plan.Apply,
			want: `
spec:
  ports:
  - {port: 80, protocol: UDP, $patch: delete}
  - {name: http, port: 80, protocol: TCP, targetPort: http}
  - {name: metrics, port: 9090, protocol: TCP, targetPort: metrics}
`,
		},
		{
			name: "both ports changed, and one was added", kind: child.Service,
			change: func(s child.Snapshot) {
				(*ports(s))[0].Port, (*ports(s))[1].Port = 81, 82
				*ports(s) = append(*ports(s), corev1.ServicePort{Name: "debug", Port: 83, Protocol: corev1.ProtocolTCP})
			},
			action: plan.Apply,
			want: `
spec:
  ports:
  - {port: 81, protocol: TCP, $patch: delete}
  - {port: 82, protocol: TCP, $patch: delete}
  - {port: 83, protocol: TCP, $patch: delete}
  - {name: http, port: 80, protocol: TCP, targetPort: http}
  - {name: metrics, port: 9090, protocol: TCP, targetPort: metrics}
`,
		},
		{
			// Putting only port 9090 back would make a second port of the name metrics for a moment.
			name: "the ports exchanged their names, and one moved", kind: child.Service,
			change: func(s child.Snapshot) {
				(*ports(s))[0].Name, (*ports(s))[1].Name, (*ports(s))[1].Port = "metrics", "http", 81
			},
			action: plan.Apply,
			want: `
spec:
  ports:
  - {port: 81, protocol: TCP, $patch: delete}
  - {name: http, port: 80, protocol: TCP, targetPort: http}
  - {name: metrics, port: 9090, protocol: TCP, targetPort: metrics}
`,
		},
		{
			name: "a port was added", kind: child.Service,
			change: func(s child.Snapshot) {
				*ports(s) = append(*ports(s), corev1.ServicePort{Name: "debug", Port: 83, Protocol: corev1.ProtocolTCP})
			},
			action: plan.Keep,
		},
		{
			name: "a port was removed", kind: child.Service,
			change: func(s child.Snapshot) { *ports(s) = (*ports(s))[:1] },
			action: plan.Apply,
		},
		{
			name: "a field beside the key changed", kind: child.Service,
			change: func(s child.Snapshot) { (*ports(s))[0].Name = "web" },
			action: plan.Apply,
		},
		{
			name: "the port of the container changed", kind: child.Deployment,
			change: func(s child.Snapshot) { pod(s).Containers[0].Ports[1].ContainerPort = 9091 },
			action: plan.Apply,
			want: `
spec:
  template:
    spec:
      containers:
      - name: web
        ports:
        - {containerPort: 9091, protocol: TCP, $patch: delete}
        - {containerPort: 8080, name: http, protocol: TCP}
        - {containerPort: 9090, name: metrics, protocol: TCP}
`,
		},
		{
			name: "a topology constraint changed", kind: child.Deployment,
			change: func(s child.Snapshot) {
				pod(s).TopologySpreadConstraints[1].WhenUnsatisfiable = corev1.DoNotSchedule
			},
			action: plan.Apply,
			want: `
spec:
  template:
    spec:
      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, $patch: delete}
      - topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        maxSkew: 1
        labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}
      - topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        maxSkew: 1
        labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}
`,
		},
		{
			name: "two lists changed", kind: child.Deployment,
			change: func(s child.Snapshot) {
				pod(s).Containers[0].Ports[0].ContainerPort = 8081
				pod(s).Containers[0].VolumeMounts[0].MountPath = "/var/tmp"
			},
			action: plan.Apply,
			want: `
spec:
  template:
    spec:
      containers:
      - name: web
        ports:
        - {containerPort: 8081, protocol: TCP, $patch: delete}
        - {containerPort: 8080, name: http, protocol: TCP}
        - {containerPort: 9090, name: metrics, protocol: TCP}
        volumeMounts:
        - {mountPath: /var/tmp, $patch: delete}
        - {mountPath: /tmp, name: tmp}
`,
		},
		{
			name: "a container was added by others", kind: child.Deployment,
			change: func(s child.Snapshot) {
				pod(s).Containers = append(pod(s).Containers, corev1.Container{Name: "injected", Image: "proxy:1"})
				pod(s).Volumes = append(pod(s).Volumes, corev1.Volume{Name: "injected"})
			},
			action: plan.Keep,
		},
		{
			name: "the container was renamed: theirs stays", kind: child.Deployment,
			change: func(s child.Snapshot) { pod(s).Containers[0].Name = "renamed" },
			action: plan.Apply,
		},
		{
			name: "an environment variable of a name was exchanged: theirs stays", kind: child.Deployment,
			change: func(s child.Snapshot) { pod(s).Volumes[0].Name = "renamed" },
			action: plan.Apply,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, portsSpec))
			test.change(snapshot)
			steps := compute(t, snapshot)
			got := step(t, steps, ref(test.kind))
			if got.Action != test.action {
				t.Errorf("the step is %s: %s %q", got.Action, got.Reason, got.Fields)
			}
			wantPatch(t, got.PrePatch, test.want)
			for _, s := range steps {
				if s.Ref.Kind != test.kind && s.Action != plan.Keep {
					t.Errorf("%s %s too", s.Action, s.Ref)
				}
			}
		})
	}
}

// Others changed a port, and the Application changed too, before anybody looked: while the
// controller was down, for one. An apply alone would put our port beside theirs, both of one name,
// which the API server refuses, at each try.
func TestRekeyWhenTheApplicationChangedToo(t *testing.T) {
	snapshot := settled(t, application(t, portsSpec))
	(*ports(snapshot))[0].Port = 81
	snapshot.Application.Labels = map[string]string{"team": "shop"}
	got := step(t, compute(t, snapshot), ref(child.Service))
	if got.Action != plan.Apply || got.Drift || got.Reason != "the Application changed" {
		t.Errorf("the step is %s, drift %t: %s", got.Action, got.Drift, got.Reason)
	}
	wantPatch(t, got.PrePatch, `
spec:
  ports:
  - {port: 81, protocol: TCP, $patch: delete}
  - {name: http, port: 80, protocol: TCP, targetPort: http}
  - {name: metrics, port: 9090, protocol: TCP, targetPort: metrics}
`)
}

// wantPatch compares a patch with one in YAML, both as they travel.
func wantPatch(t *testing.T, got map[string]any, want string) {
	t.Helper()
	if want == "" {
		if got != nil {
			t.Errorf("the patch is %v, want none", got)
		}
		return
	}
	encoded, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var gotFields, wantFields any
	if err := yaml.Unmarshal(encoded, &gotFields); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(want), &wantFields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantFields, gotFields); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}
