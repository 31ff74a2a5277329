// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRollbackKeepsServicePort: the failing spec renamed the port of the pods, and removed another. The clients know the Service by the
// numbers, so the rollback brings both back.
func TestRollbackKeepsServicePort(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	const ports = ", ports: [{name: http, containerPort: 8080, servicePort: 80}, {name: admin, containerPort: 9999, servicePort: 81}]"
	h.follow(e, "web",
		step{applySpec(onFailure + ports), oneReady},
		step{editing(func(spec *v1.ApplicationSpec) {
			spec.Image, spec.Ports = bad+"2", []v1.ApplicationPort{{Name: "web", ContainerPort: 9090, ServicePort: new(int32(80))}}
		}), takenBack("1 pod is available at revision 1")},
	)
	const want = "http 80→http, admin 81→admin"
	e.eventually("the Service has its ports again", func() (bool, string) {
		got := ""
		for _, port := range get[corev1.Service](e, "web").Spec.Ports {
			if got != "" {
				got += ", "
			}
			got += fmt.Sprintf("%s %d→%s", port.Name, port.Port, port.TargetPort.String())
		}
		return got == want, got
	})
}
