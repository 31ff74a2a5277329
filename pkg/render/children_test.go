// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

func TestChildren(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       []string
	}{
		{"the smallest", ``, []string{"ServiceAccount shop/web", "Deployment shop/web"}},
		{"with a ServiceAccount of its own choice", `serviceAccount: {name: other}`, []string{"Deployment shop/web"}},
		{"with everything but an autoscaler", `
replicas: 2
ports: [{name: http, containerPort: 8080}]
config: {mountPath: /etc/web, data: {a: b}}
networkPolicy: {}
routes:
- {name: public, hostnames: [web.example.com]}
- {name: internal, hostnames: [web.internal]}
`, []string{
			"ServiceAccount shop/web", "ConfigMap shop/web-config", "NetworkPolicy shop/web",
			"Deployment shop/web", "Service shop/web", "PodDisruptionBudget shop/web",
			"Ingress shop/web", "Ingress shop/web-internal",
		}},
		{"with an autoscaler", `autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}`, []string{
			"ServiceAccount shop/web", "Deployment shop/web",
			"HorizontalPodAutoscaler shop/web", "PodDisruptionBudget shop/web",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := refs(rendered(t, application(t, test.spec)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
		})
	}
}

// A change of the pod template replaces every pod, so features that do not concern the pods must not change it.
func TestOtherFeaturesLeaveThePodTemplate(t *testing.T) {
	base := `
ports: [{name: http, containerPort: 8080}]
config: {mountPath: /etc/web, data: {a: b}}
mounts: [{mountPath: /data, emptyDir: {}}]
`
	template := func(app *v1.Application, facts render.Facts) string {
		return fragment(t, renderedWith(t, app, facts), child.Deployment, "spec.template")
	}
	want := template(application(t, base), render.Facts{})
	for _, feature := range []string{
		`replicas: 3`,
		`autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 70}`,
		`routes: [{name: public, hostnames: [web.example.com], tls: {secretName: web-tls}}]`,
		`disruptionBudget: {mode: Disabled}`,
		`networkPolicy: {ingress: [{from: [{application: {name: shop}}]}]}`,
		`service: {type: LoadBalancer, annotations: {a: b}, sessionAffinity: ClientIP}`,
		`serviceAccount: {annotations: {a: b}}`,
		`strategy: {type: Recreate}`,
		`minReadySeconds: 10`,
		`progressDeadlineSeconds: 60`,
		`revisionHistoryLimit: 1`,
		`paused: true`,
		`reconcilePolicy: Observe`,
		`deletionPolicy: Orphan`,
	} {
		t.Run(feature, func(t *testing.T) {
			got := template(application(t, base+feature), render.Facts{RouteControllerNamespaces: []string{"ingress-nginx"}})
			wantYAML(t, "pod template", got, want)
		})
	}
	t.Run("labels and annotations of the Application", func(t *testing.T) {
		app := application(t, base)
		app.Labels = map[string]string{"team": "shop"}
		app.Annotations = map[string]string{"note": "of the Application"}
		app.Generation = 7
		wantYAML(t, "pod template", template(app, render.Facts{}), want)
	})
}

func TestChildrenLeavesTheApplication(t *testing.T) {
	app := application(t, `
ports: [{name: http, containerPort: 8080}]
env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
resources: {requests: {cpu: 100u}}
mounts:
- {mountPath: /b, projected: {sources: [{serviceAccountToken: {path: token}}]}}
- {mountPath: /a, emptyDir: {}}
sidecars: [{name: proxy, image: envoy, ports: [{containerPort: 9000}], env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
networkPolicy: {ingress: [{from: [{podSelector: {}}]}]}
`)
	before := app.DeepCopy()
	rendered(t, app)
	if diff := cmp.Diff(before, app); diff != "" {
		t.Errorf("Children changed the Application (-before +after):\n%s", diff)
	}
}

// The children are the same whether or not the API server has set the defaults of the CRD.
func TestDefaultsOfTheCRDChangeNothing(t *testing.T) {
	silent := rendered(t, application(t, `
ports: [{name: http, containerPort: 8080}]
service: {}
routes: [{name: public, hostnames: [web.example.com]}, {name: internal, hostnames: [web.internal], paths: [{}]}]
disruptionBudget: {}
networkPolicy: {egress: [{to: [{application: {name: db}}], ports: [{port: 5432}]}]}
`))
	defaulted := rendered(t, application(t, `
ports: [{name: http, containerPort: 8080, protocol: TCP}]
service: {type: ClusterIP, sessionAffinity: None}
routes:
- {name: public, type: Ingress, hostnames: [web.example.com]}
- {name: internal, type: Ingress, hostnames: [web.internal], paths: [{path: /, pathType: Prefix}]}
disruptionBudget: {mode: Auto}
networkPolicy: {egress: [{to: [{application: {name: db}}], ports: [{port: 5432, protocol: TCP}]}]}
reconcilePolicy: Enforce
deletionPolicy: Delete
`))
	if diff := cmp.Diff(silent, defaulted); diff != "" {
		t.Errorf("children (-silent +defaulted):\n%s", diff)
	}
}
