// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestScheduling(t *testing.T) {
	run(t, []testCase{{
		name: "node selector and priority class",
		spec: `{nodeSelector: {a b: c, d: e f}, priorityClassName: A}`,
		want: []string{
			`spec.nodeSelector[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.nodeSelector[d]: Invalid value: "e f": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or '12345')`,
			`spec.priorityClassName: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
		},
	}, {
		name: "tolerations",
		spec: `tolerations: [{}, {operator: Exists, value: x}, {key: a b, operator: Gt, value: "1"}, {key: a, value: b c, effect: Never}, {key: a, effect: NoSchedule, tolerationSeconds: 1}]`,
		want: []string{
			`spec.tolerations[0].operator: Invalid value: "": must be Exists while key is empty, which means every taint`,
			`spec.tolerations[1].value: Invalid value: "x": must be empty with operator Exists`,
			`spec.tolerations[2].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.tolerations[2].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`,
			`spec.tolerations[3].value: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or '12345')`,
			`spec.tolerations[3].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			`spec.tolerations[4].effect: Invalid value: "NoSchedule": must be NoExecute while tolerationSeconds is set`,
		},
	}, {
		name: "spread",
		spec: `
topologySpreadConstraints:
- {maxSkew: 0, topologyKey: "", whenUnsatisfiable: ""}
- {maxSkew: 1, topologyKey: a b, whenUnsatisfiable: Wait, minDomains: 0, nodeAffinityPolicy: Never, nodeTaintsPolicy: Honor}
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}, matchLabelKeys: [a, c, d, ""]}
- {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}, matchLabelKeys: [apps.fairlead.dev/application]}`,
		want: []string{
			`spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than 0`,
			`spec.topologySpreadConstraints[0].topologyKey: Required value: must be a label of nodes, e.g. kubernetes.io/hostname`,
			`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"`,
			`spec.topologySpreadConstraints[1].topologyKey: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.topologySpreadConstraints[1].whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"`,
			`spec.topologySpreadConstraints[1].minDomains: Invalid value: 0: must be greater than 0`,
			`spec.topologySpreadConstraints[1].minDomains: Invalid value: 0: needs whenUnsatisfiable DoNotSchedule`,
			`spec.topologySpreadConstraints[1].nodeAffinityPolicy: Unsupported value: "Never": supported values: "Honor", "Ignore"`,
			`spec.topologySpreadConstraints[2].matchLabelKeys[0]: Invalid value: "a": is in labelSelector already`,
			`spec.topologySpreadConstraints[2].matchLabelKeys[1]: Invalid value: "c": is in labelSelector already`,
			`spec.topologySpreadConstraints[2].matchLabelKeys[3]: Invalid value: "": name part must be non-empty`,
			`spec.topologySpreadConstraints[2].matchLabelKeys[3]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.topologySpreadConstraints[3]: Duplicate value: "{zone, ScheduleAnyway}": spec.topologySpreadConstraints[2] has it too`,
			`spec.topologySpreadConstraints[3].matchLabelKeys[0]: Invalid value: "apps.fairlead.dev/application": is in labelSelector already`,
		},
	}})
}

func TestAffinity(t *testing.T) {
	run(t, []testCase{{
		name: "empty",
		spec: `affinity: {nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {}}`,
	}, {
		name: "nodes",
		spec: `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [b]}, {key: a, operator: Gt, values: ["1", "2"]}, {key: a b, operator: Is}, {key: a, operator: NotIn, values: ["b c"]}]
      - matchFields: [{key: spec.name, operator: Exists, values: [A, b]}]
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {matchExpressions: [{key: "", operator: Exists}]}}]`,
		want: []string{
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be set with operator In`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: must be empty with operator Exists`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: Required value: must have exactly one value with operator Gt`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].operator: Unsupported value: "Is": supported values: "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].values[0]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or '12345')`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].key: Unsupported value: "spec.name": supported values: "metadata.name"`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].values: Required value: must have exactly one value`,
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].values[0]: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be between 1 and 100`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: Invalid value: "": name part must be non-empty`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
		},
	}, {
		name: "no term",
		spec: `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}`,
		want: []string{`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one term`},
	}, {
		name: "pods",
		spec: `
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ""}]
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [a], namespaces: [A], namespaceSelector: {matchExpressions: [{key: a, operator: Is}]}}}]
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a b, labelSelector: {}, matchLabelKeys: [c], mismatchLabelKeys: [c, ""]}]`,
		want: []string{
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: Required value: without it the term matches no pod; {} matches all`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: must be a label of nodes, e.g. kubernetes.io/hostname`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be between 1 and 100`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespaceSelector.matchExpressions[0].operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespaces[0]: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name' or '123-abc')`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.matchLabelKeys[0]: Invalid value: "a": is in labelSelector already`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys[0]: Invalid value: "c": is in matchLabelKeys already`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys[1]: Invalid value: "": name part must be non-empty`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys[1]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
		},
	}})
}
