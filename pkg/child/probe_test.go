// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestDescribeProbe(t *testing.T) {
	for want, handler := range map[string]*corev1.ProbeHandler{
		"":                         nil,
		"GET :8080/ready":          {HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http"), Path: "/ready"}},
		"GET https://:8443/ready":  {HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8443), Path: "/ready", Scheme: corev1.URISchemeHTTPS}},
		"GET :unknown/":            {HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("unknown"), Path: "/"}},
		"TCP :8080":                {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}},
		"gRPC :9000":               {GRPC: &corev1.GRPCAction{Port: 9000}},
		"command /bin/check-ready": {Exec: &corev1.ExecAction{Command: []string{"/bin/check-ready", "--password=canary"}}},
	} {
		container := &corev1.Container{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}
		if handler != nil {
			container.ReadinessProbe = &corev1.Probe{ProbeHandler: *handler}
		}
		if got := describeProbe(container); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
