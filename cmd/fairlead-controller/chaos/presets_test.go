// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

// presets are the specs of new Applications.
func presets() map[string]string {
	return map[string]string{
		"small": `{image: registry.example.com/web:1, replicas: 1}`,
		"full": `{image: registry.example.com/web:1, ports: [{name: http, containerPort: 8080, servicePort: 80}], config: {mountPath: /etc/web, data: {a: "1"}},
			resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 70},
			routes: [{name: public, hostnames: [NAME.example.com]}], networkPolicy: {}, disruptionBudget: {mode: Custom, maxUnavailable: 1}}`,
		"references": `{image: registry.example.com/web:1, replicas: 1, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: credentials}}]}`,
		"orphan":     `{image: registry.example.com/web:1, replicas: 1, deletionPolicy: Orphan, config: {mountPath: /etc/web, data: {a: "1"}}, ports: [{name: http, containerPort: 8080}]}`,
		"classed":    `{image: registry.example.com/web:1, replicas: 1, className: NAMESPACE}`,
		"routed": `{image: registry.example.com/web:1, replicas: 1, ports: [{name: http, containerPort: 8080}], monitoring: {interval: 30s},
			routes: [{name: public, type: HTTPRoute, hostnames: [NAME.example.com], parentRefs: [{name: shared, namespace: infra}]}]}`,
		"observed": `{image: registry.example.com/web:1, replicas: 1, reconcilePolicy: Observe, ports: [{name: http, containerPort: 8080}]}`,
	}
}

func presetNames() []string { return slices.Sorted(maps.Keys(presets())) }

// preset returns a new Application. A preset that is no YAML is a mistake in this file.
func preset(preset, name, namespace string) *v1.Application {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	text := strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "\t", "").Replace(presets()[preset])
	if err := yaml.UnmarshalStrict([]byte(text), &application.Spec); err != nil {
		panic(err)
	}
	return application
}

// edits are merge patches of a spec.
func edits() map[string]string {
	return map[string]string{
		"image":         `{"image":"registry.example.com/web:COUNT"}`,
		"replicas":      `{"replicas":2,"autoscaling":null}`,
		"zero":          `{"replicas":0,"autoscaling":null,"disruptionBudget":null}`,
		"free-replicas": `{"replicas":null,"autoscaling":null}`,
		"autoscaling":   `{"replicas":null,"resources":{"requests":{"cpu":"10m"}},"autoscaling":{"minReplicas":1,"maxReplicas":3,"targetCPUUtilizationPercentage":50}}`,
		"ports":         `{"ports":[{"name":"http","containerPort":8080},{"name":"admin","containerPort":9090}]}`,
		"other-ports":   `{"ports":[{"name":"http","containerPort":9090}]}`,
		"no-ports":      `{"ports":null,"routes":null,"service":null,"monitoring":null}`,
		"config":        `{"config":{"mountPath":"/etc/web","data":{"a":"COUNT"}}}`,
		"no-config":     `{"config":null}`,
		"route":         `{"ports":[{"name":"http","containerPort":8080}],"routes":[{"name":"public","hostnames":["NAME.example.com"]}]}`,
		"two-routes":    `{"ports":[{"name":"http","containerPort":8080}],"routes":[{"name":"public","hostnames":["NAME.example.com"]},{"name":"other","hostnames":["other-NAME.example.com"]}]}`,
		"gateway":       `{"ports":[{"name":"http","containerPort":8080}],"routes":[{"name":"public","hostnames":["NAME.example.com"],"parentRefs":[{"name":"shared","namespace":"infra"}]}]}`,
		"monitoring":    `{"ports":[{"name":"http","containerPort":8080}],"monitoring":{"interval":"30s"}}`,
		"no-monitoring": `{"monitoring":null}`,
		"no-routes":     `{"routes":null}`,
		"references":    `{"envFrom":[{"configMapRef":{"name":"settings"}},{"secretRef":{"name":"credentials"}}]}`,
		"no-references": `{"envFrom":null}`,
		"account":       `{"serviceAccount":{"name":"default"}}`,
		"own-account":   `{"serviceAccount":null}`,
		"budget":        `{"disruptionBudget":{"mode":"Custom","minAvailable":1}}`,
		"no-budget":     `{"disruptionBudget":null}`,
		"policy":        `{"networkPolicy":{}}`,
		"no-policy":     `{"networkPolicy":null}`,
		"class":         `{"className":"NAMESPACE"}`,
		"no-class":      `{"className":null}`,
		"pause":         `{"paused":true}`,
		"resume":        `{"paused":false}`,
		"invalid":       `{"ports":[{"name":"http","containerPort":8080}],"routes":[{"name":"public","hostnames":["NAME.example.com"],"paths":[{"path":"/a/../b"}]}]}`,
	}
}

func editNames() []string { return slices.Sorted(maps.Keys(edits())) }

// drawSpec replaces the spec by one that is drawn from all fields of the API.
func drawSpec(ctx context.Context, w *world, arguments []string) error {
	seed, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	spec := rendertest.Specs().Example(seed)
	// Nothing provides what the pods of such a spec would wait for; the children are what matters.
	spec.Paused, spec.ConfigChangePolicy, spec.ReconcilePolicy = new(true), v1.ConfigChangeIgnore, v1.ReconcileEnforce
	spec.Routes, spec.ClassName = nil, ""
	client := w.fairlead.AppsV1().Applications(w.namespace)
	live, err := client.Get(ctx, arguments[0], metav1.GetOptions{})
	if err != nil {
		return tolerate(err)
	}
	if spec.DeletionPolicy == v1.DeletionOrphan {
		w.past.orphaned(arguments[0])
	}
	encoded, err := json.Marshal(map[string]any{"spec": cleared(live.Spec, spec)})
	if err != nil {
		return err
	}
	return w.patch(ctx, arguments[0], string(encoded))
}

// cleared is a merge patch that makes one spec the other: what is no longer there is null.
func cleared(from, to v1.ApplicationSpec) map[string]any {
	before, after := fieldsOf(from), fieldsOf(to)
	for field := range before {
		if _, stays := after[field]; !stays {
			after[field] = nil
		}
	}
	return after
}

func fieldsOf(spec v1.ApplicationSpec) map[string]any {
	fields := map[string]any{}
	encoded, _ := json.Marshal(spec)
	_ = json.Unmarshal(encoded, &fields)
	return fields
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}
