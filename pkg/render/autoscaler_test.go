// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestAutoscaler(t *testing.T) {
	const target = `scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}`
	checkFragments(t, child.HorizontalPodAutoscaler, "spec", []fragmentCase{
		{"none", `replicas: 2`, ``},
		{"no room to scale", `autoscaling: {minReplicas: 2, maxReplicas: 2, targetCPUUtilizationPercentage: 70}`, ``},
		{"nothing to scale", `autoscaling: {minReplicas: 0, maxReplicas: 0}`, ``},
		{"cpu", `autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 70}`, `
` + target + `
minReplicas: 1
maxReplicas: 4
metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]`},
		{"everything", `
autoscaling:
  minReplicas: 2
  maxReplicas: 4
  metrics:
  - {type: External, external: {metric: {name: queue, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: 1000m}}}
  - {type: ContainerResource, containerResource: {container: proxy, name: cpu, target: {type: Value, value: "2"}}}
  targetMemoryUtilizationPercentage: 80
  targetCPUUtilizationPercentage: 70
  behavior:
    scaleDown: {stabilizationWindowSeconds: 0, selectPolicy: Disabled}
    scaleUp: {policies: [{type: Pods, value: 2, periodSeconds: 60}], tolerance: 0.05}`, `
` + target + `
minReplicas: 2
maxReplicas: 4
metrics:
- {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
- {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}
- {type: External, external: {metric: {name: queue, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: "1"}}}
- {type: ContainerResource, containerResource: {container: proxy, name: cpu, target: {type: Value, value: "2"}}}
behavior:
  scaleDown: {stabilizationWindowSeconds: 0, selectPolicy: Disabled}
  scaleUp: {policies: [{type: Pods, value: 2, periodSeconds: 60}], tolerance: 50m}`},
		{"a rule that says nothing", `autoscaling: {maxReplicas: 4, behavior: {scaleUp: {}, scaleDown: {selectPolicy: Disabled}}}`, `
` + target + `
minReplicas: 1
maxReplicas: 4
behavior: {scaleDown: {selectPolicy: Disabled}}`},
		{"rules that say nothing", `autoscaling: {maxReplicas: 4, behavior: {scaleUp: {}, scaleDown: {}}}`, `
` + target + `
minReplicas: 1
maxReplicas: 4`},
		{"empty behavior", `autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 70, behavior: {}}`, `
` + target + `
minReplicas: 1
maxReplicas: 4
metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]`},
	})
}
