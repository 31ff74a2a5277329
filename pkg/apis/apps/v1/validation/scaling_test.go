// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestReplicas(t *testing.T) {
	run(t, []testCase{{
		name: "none",
		spec: `replicas: 0`,
	}, {
		name: "negative",
		spec: `replicas: -1`,
		want: []string{`spec.replicas: Invalid value: -1: must be between 0 and 10000`},
	}, {
		name: "exclusive",
		spec: `{replicas: 2, autoscaling: {minReplicas: 2, maxReplicas: 2}}`,
		want: []string{`spec.replicas: Forbidden: replicas (2) and autoscaling (up to 2) exclude each other: remove replicas to scale automatically, or autoscaling for a fixed number`},
	}})
}

func TestAutoscaling(t *testing.T) {
	run(t, []testCase{{
		name: "equal numbers need no metric",
		spec: `autoscaling: {minReplicas: 3, maxReplicas: 3}`,
	}, {
		name: "off",
		spec: `autoscaling: {minReplicas: 0, maxReplicas: 0}`,
	}, {
		name: "a limit is a request",
		spec: `{resources: {limits: {cpu: 1, memory: 1Gi}}, autoscaling: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, targetMemoryUtilizationPercentage: 200}}`,
	}, {
		name: "down to nothing",
		spec: `autoscaling: {minReplicas: 0, maxReplicas: 3, metrics: [{type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: 1}}}]}`,
	}, {
		name: "numbers",
		spec: `autoscaling: {minReplicas: 5, maxReplicas: 4}`,
		want: []string{
			`spec.autoscaling.maxReplicas: Invalid value: 4: must be at least minReplicas (5): lower minReplicas, or raise maxReplicas`,
		},
	}, {
		name: "out of range",
		spec: `autoscaling: {minReplicas: -1, maxReplicas: 10001, targetCPUUtilizationPercentage: 0, targetMemoryUtilizationPercentage: 1001}`,
		want: []string{
			`spec.autoscaling.minReplicas: Invalid value: -1: must be between 0 and 10000`,
			`spec.autoscaling.maxReplicas: Invalid value: 10001: must be between 0 and 10000`,
			`spec.autoscaling.targetCPUUtilizationPercentage: Invalid value: 0: must be between 1 and 1000`,
			`spec.autoscaling.targetCPUUtilizationPercentage: Forbidden: utilization is a share of the request: set resources.requests[cpu]`,
			`spec.autoscaling.targetMemoryUtilizationPercentage: Invalid value: 1001: must be between 1 and 1000`,
			`spec.autoscaling.targetMemoryUtilizationPercentage: Forbidden: utilization is a share of the request: set resources.requests[memory]`,
		},
	}, {
		name: "the default of minReplicas is 1",
		spec: `autoscaling: {maxReplicas: 0}`,
		want: []string{`spec.autoscaling.maxReplicas: Invalid value: 0: must be at least minReplicas (1, the default): lower minReplicas, or raise maxReplicas`},
	}, {
		name: "nothing to measure",
		spec: `autoscaling: {maxReplicas: 2}`,
		want: []string{`spec.autoscaling: Required value: at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, metrics must be set`},
	}, {
		name: "nothing to measure at 0",
		spec: `{resources: {requests: {cpu: 1}}, autoscaling: {minReplicas: 0, maxReplicas: 2, targetCPUUtilizationPercentage: 50}}`,
		want: []string{`spec.autoscaling.minReplicas: Invalid value: 0: needs an Object or External metric, because there is no pod to measure at 0`},
	}, {
		name: "a request of 0 is none",
		spec: `{resources: {requests: {cpu: 0}}, autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 50}}`,
		want: []string{`spec.autoscaling.targetCPUUtilizationPercentage: Forbidden: utilization is a share of the request: set resources.requests[cpu]`},
	}, {
		name: "behavior",
		spec: `
autoscaling:
  minReplicas: 1
  maxReplicas: 1
  behavior:
    scaleUp: {stabilizationWindowSeconds: 3601, selectPolicy: Most, tolerance: -0.1, policies: [{type: Pods, value: 0, periodSeconds: 1801}]}
    scaleDown: {stabilizationWindowSeconds: -1, selectPolicy: Disabled, tolerance: 0.1, policies: [{type: Share, value: 1, periodSeconds: 0}]}`,
		want: []string{
			`spec.autoscaling.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be between 0 and 3600`,
			`spec.autoscaling.behavior.scaleUp.selectPolicy: Unsupported value: "Most": supported values: "Max", "Min", "Disabled"`,
			`spec.autoscaling.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than 0`,
			`spec.autoscaling.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be between 1 and 1800`,
			`spec.autoscaling.behavior.scaleUp.tolerance: Invalid value: "-100m": must be greater than or equal to 0`,
			`spec.autoscaling.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be between 0 and 3600`,
			`spec.autoscaling.behavior.scaleDown.policies[0].type: Unsupported value: "Share": supported values: "Percent", "Pods"`,
			`spec.autoscaling.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be between 1 and 1800`,
		},
	}})
}

func TestMetrics(t *testing.T) {
	// With equal numbers nothing else is said.
	const fixed = "autoscaling:\n  minReplicas: 1\n  maxReplicas: 1\n  metrics:\n"
	run(t, []testCase{{
		name: "raw values need no request",
		spec: fixed + `
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: web, target: {type: AverageValue, averageValue: 100m}}}`,
	}, {
		name: "type and source",
		spec: fixed + `
  - {}
  - {type: Pods}
  - {type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}, external: {metric: {name: a}, target: {type: Value, value: 1}}}`,
		want: []string{
			`spec.autoscaling.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
			`spec.autoscaling.metrics[1].pods: Required value: type Pods needs it`,
			`spec.autoscaling.metrics[2].external: Forbidden: only the source that type names may be set`,
		},
	}, {
		name: "targets",
		spec: fixed + `
  - {type: Pods, pods: {metric: {name: a}, target: {type: Value, value: 1}}}
  - {type: Pods, pods: {metric: {name: a}, target: {averageValue: 1}}}
  - {type: External, external: {metric: {name: a}, target: {type: Value, value: 0, averageValue: -1}}}
  - {type: External, external: {metric: {name: a}, target: {type: AverageValue}}}
  - {type: Object, object: {describedObject: {kind: a/b, apiVersion: a/b/c}, metric: {name: a/b}, target: {type: Value, averageValue: 1}}}
  - {type: External, external: {metric: {name: "", selector: {matchExpressions: [{key: a, operator: Is}]}}, target: {type: Value, value: 1}}}`,
		want: []string{
			`spec.autoscaling.metrics[0].pods.target.averageValue: Required value: must be set`,
			`spec.autoscaling.metrics[0].pods.target.value: Forbidden: this kind of metric takes only averageValue`,
			`spec.autoscaling.metrics[1].pods.target.type: Invalid value: "": must be AverageValue with averageValue`,
			`spec.autoscaling.metrics[2].external.target.type: Invalid value: "Value": must be AverageValue with averageValue`,
			`spec.autoscaling.metrics[2].external.target: Forbidden: exactly one of value, averageValue may be set: keep one of value, averageValue`,
			`spec.autoscaling.metrics[2].external.target.value: Invalid value: "0": must be greater than 0`,
			`spec.autoscaling.metrics[2].external.target.averageValue: Invalid value: "-1": must be greater than 0`,
			`spec.autoscaling.metrics[3].external.target: Required value: exactly one of value, averageValue must be set`,
			`spec.autoscaling.metrics[4].object.describedObject.kind: Invalid value: "a/b": may not contain '/'`,
			`spec.autoscaling.metrics[4].object.describedObject.name: Required value: must be set`,
			`spec.autoscaling.metrics[4].object.describedObject.apiVersion: Invalid value: "a/b/c": must be <version> or <group>/<version>`,
			`spec.autoscaling.metrics[4].object.metric.name: Invalid value: "a/b": may not contain '/'`,
			`spec.autoscaling.metrics[4].object.target.type: Invalid value: "Value": must be AverageValue with averageValue`,
			`spec.autoscaling.metrics[5].external.metric.selector.matchExpressions[0].operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
			`spec.autoscaling.metrics[5].external.metric.name: Required value: must be the name of a metric`,
		},
	}, {
		name: "resources",
		spec: fixed + `
  - {type: Resource, resource: {name: "", target: {type: Utilization, averageUtilization: 0}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
  - {type: ContainerResource, containerResource: {name: gpu, container: "", target: {type: Utilization, averageUtilization: 50, averageValue: 1}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: web, target: {type: Utilization, averageUtilization: 50}}}`,
		want: []string{
			`spec.autoscaling.metrics[0].resource.name: Required value: must be a resource, e.g. cpu`,
			`spec.autoscaling.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
			`spec.autoscaling.metrics[1].resource.target.averageUtilization: Forbidden: utilization is a share of the request: set resources.requests[cpu]`,
			`spec.autoscaling.metrics[2].containerResource.name: Unsupported value: "gpu": supported values: "cpu", "memory", "ephemeral-storage", "hugepages-<size>", "<domain>/<resource>"`,
			`spec.autoscaling.metrics[2].containerResource.target.type: Invalid value: "Utilization": must be AverageValue with averageValue`,
			`spec.autoscaling.metrics[2].containerResource.target: Forbidden: exactly one of averageUtilization, averageValue may be set: keep one of averageUtilization, averageValue`,
			`spec.autoscaling.metrics[2].containerResource.container: Unsupported value: "": supported values: "web"`,
			`spec.autoscaling.metrics[3].containerResource.target.averageUtilization: Forbidden: utilization is a share of the request: set resources.requests[cpu]`,
		},
	}})
}
