// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestPodSpec(t *testing.T) {
	for _, test := range []struct {
		path  string
		cases []fragmentCase
	}{
		{"terminationGracePeriodSeconds", []fragmentCase{
			{"default", ``, `30`},
			{"zero", `terminationGracePeriodSeconds: 0`, `0`},
		}},
		{"enableServiceLinks", []fragmentCase{{"never", ``, `false`}}},
		{"imagePullSecrets", []fragmentCase{
			{"default", ``, ``},
			{"given", `imagePullSecrets: [{name: registry}, {name: other}]`, `[{name: registry}, {name: other}]`},
		}},
		{"nodeSelector", []fragmentCase{
			{"default", ``, ``},
			{"given", `nodeSelector: {disk: ssd}`, `{disk: ssd}`},
		}},
		{"tolerations", []fragmentCase{
			{"default", ``, ``},
			{"given", `tolerations: [{key: gpu, operator: Exists}, {key: node, effect: NoExecute, tolerationSeconds: 0}]`,
				`[{key: gpu, operator: Exists}, {key: node, effect: NoExecute, tolerationSeconds: 0}]`},
		}},
		{"priorityClassName", []fragmentCase{
			{"default", ``, ``},
			{"given", `priorityClassName: high`, `high`},
		}},
		{"affinity", []fragmentCase{
			{"default", ``, ``},
			{"empty", `affinity: {}`, ``},
			{"given", `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}, namespaceSelector: {}}]}}`,
				`podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}, namespaceSelector: {}}]}`},
		}},
		{"topologySpreadConstraints", []fragmentCase{
			{"default", ``, `
- {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}}
- {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}}`},
			{"given", `
topologySpreadConstraints:
- {maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, minDomains: 2}
- {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
- {maxSkew: 3, topologyKey: room, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}`, `
- {maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}}
- {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {apps.fairlead.dev/application: web}}}
- {maxSkew: 3, topologyKey: room, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}`},
		}},
	} {
		t.Run(test.path, func(t *testing.T) { checkFragments(t, child.Deployment, podPath+"."+test.path, test.cases) })
	}
}
