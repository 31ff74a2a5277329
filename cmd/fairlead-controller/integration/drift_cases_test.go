// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import "fairlead.dev/fairlead/pkg/child"

const (
	hashChanged = `{"metadata":{"annotations":{"apps.fairlead.dev/rendered-hash":"x"}}}`
	hashRemoved = `{"metadata":{"annotations":{"apps.fairlead.dev/rendered-hash":null}}}`
)

// driftSpec sets much, so that much can drift. Only the autoscaler needs pods.
func driftSpec(kind child.Kind) string {
	scaling := "\n  nodeSelector: {disk: ssd}\n  replicas: 0\n"
	if kind == child.HorizontalPodAutoscaler {
		scaling = "\n  autoscaling: {minReplicas: 1, maxReplicas: 4, targetCPUUtilizationPercentage: 60, behavior: {scaleUp: {stabilizationWindowSeconds: 5}}}\n"
	}
	return `
  ports: [{name: http, containerPort: 8080, servicePort: 80, appProtocol: http}, {name: admin, containerPort: 9090}]
  env: [{name: COLOUR, value: blue}, {name: SIZE, value: "1"}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
  args: [serve, --verbose]
  resources: {requests: {cpu: 10m, memory: 16Mi}}
  readinessProbe: {httpGet: {path: /ready}}
  config: {mountPath: /etc/web, data: {web.yaml: "a: 1", other.yaml: "b: 1"}}
  mounts: [{mountPath: /cache, emptyDir: {}}]
  minReadySeconds: 1
  initContainers: [{name: wait, image: "registry.example.com/wait:1"}, {name: migrate, image: "registry.example.com/migrate:1"}]
  sidecars: [{name: shipper, image: "registry.example.com/shipper:1"}]
  podMetadata: {annotations: {scrape: "true"}, labels: {tier: front}}
  serviceAccount: {annotations: {role: web}}
  service: {annotations: {cloud: internal}}
  disruptionBudget: {mode: Custom, maxUnavailable: 1}
  networkPolicy: {ingress: [{from: [{application: {name: shop}}], ports: [http]}], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}
  routes: [{name: public, hostnames: [web.example.com], ingressClassName: nginx, tls: {secretName: web-tls}}]` + scaling
}

// commonDrifts happen to children of all kinds.
func commonDrifts() []drift {
	return []drift{
		{what: "managed-by label removed", patch: `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`},
		{what: "managed-by label changed", patch: `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"}}}`},
		{what: "application label removed", patch: `{"metadata":{"labels":{"apps.fairlead.dev/application":null}}}`},
		{what: "application label changed", patch: `{"metadata":{"labels":{"apps.fairlead.dev/application":"other"}}}`},
		{what: "name and copied label removed", patch: `{"metadata":{"labels":{"app.kubernetes.io/name":null,"team":null}}}`},
		{what: "all labels removed", patch: `{"metadata":{"labels":null}}`},
		{what: "all annotations removed", patch: `{"metadata":{"annotations":null,"labels":{"team":"other"}}}`},
		{what: "ownerReferences removed", patch: `{"metadata":{"ownerReferences":null}}`},
		{what: "ownerReference no controller any more", patch: `[{"op":"remove","path":"/metadata/ownerReferences/0/controller"}]`},
		{what: "blockOwnerDeletion false", patch: `[{"op":"replace","path":"/metadata/ownerReferences/0/blockOwnerDeletion","value":false}]`},
		{what: "hash changed", patch: hashChanged},
		{what: "hash removed", patch: hashRemoved},
		{what: "deleted"},
	}
}

// driftsOf are those of one kind. Each pair of them that belongs to one union of fields (value
// and valueFrom, httpGet and exec) is there because an apply alone would leave both set.
func driftsOf(kind child.Kind) []drift {
	switch kind {
	case child.ServiceAccount:
		return []drift{
			{what: "token mounted", patch: `{"automountServiceAccountToken":true}`},
			{what: "token unset", patch: `{"automountServiceAccountToken":null}`},
			{what: "annotation changed", patch: `{"metadata":{"annotations":{"role":"admin"}}}`},
			{what: "annotation removed", patch: `{"metadata":{"annotations":{"role":null}}}`},
		}
	case child.ConfigMap:
		return []drift{
			{what: "value changed", patch: `{"data":{"web.yaml":"a: 2"}}`},
			{what: "key removed", patch: `{"data":{"web.yaml":null}}`},
			{what: "data removed", patch: `{"data":null}`},
			{what: "key made binary", patch: `{"data":{"web.yaml":null},"binaryData":{"web.yaml":"YTogMg=="}}`},
		}
	case child.Deployment:
		return append(deploymentDrifts(), podDrifts()...)
	case child.Service:
		return serviceDrifts()
	case child.HorizontalPodAutoscaler:
		return []drift{
			{what: "maxReplicas", patch: `{"spec":{"maxReplicas":9}}`},
			{what: "minReplicas", patch: `{"spec":{"minReplicas":2}}`},
			{what: "minReplicas unset", patch: `{"spec":{"minReplicas":3}}`},
			{what: "target", patch: `[{"op":"replace","path":"/spec/metrics/0/resource/target/averageUtilization","value":90}]`},
			{what: "metrics unset", patch: `{"spec":{"metrics":null}}`},
			{what: "metric added", patch: `[{"op":"add","path":"/spec/metrics/-","value":{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}}]`},
			{what: "metric of another kind", patch: `{"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue","averageValue":"1"}}}]}}`},
			{what: "scaleTargetRef", patch: `{"spec":{"scaleTargetRef":{"name":"other"}}}`},
			{what: "behavior", patch: `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":60}}}}`},
		}
	case child.PodDisruptionBudget:
		return []drift{
			{what: "maxUnavailable", patch: `{"spec":{"maxUnavailable":2}}`},
			{what: "minAvailable instead", patch: `{"spec":{"maxUnavailable":null,"minAvailable":1}}`},
			{what: "unhealthyPodEvictionPolicy", patch: `{"spec":{"unhealthyPodEvictionPolicy":"IfHealthyBudget"}}`},
			{what: "unhealthyPodEvictionPolicy unset", patch: `{"spec":{"unhealthyPodEvictionPolicy":null}}`},
			{what: "selector", patch: `{"spec":{"selector":{"matchLabels":{"apps.fairlead.dev/application":"other"}}}}`},
			{what: "selector expression added", patch: `{"spec":{"selector":{"matchExpressions":[{"key":"tier","operator":"Exists"}]}}}`},
		}
	case child.NetworkPolicy:
		return []drift{
			{what: "podSelector", patch: `{"spec":{"podSelector":{"matchLabels":{"apps.fairlead.dev/application":"other"}}}}`},
			{what: "podSelector narrowed", patch: `{"spec":{"podSelector":{"matchLabels":{"tier":"front"}}}}`},
			{what: "ingress opened", patch: `{"spec":{"ingress":[{}]}}`},
			{what: "rule added", patch: `[{"op":"add","path":"/spec/ingress/-","value":{}}]`},
			{what: "ingress removed", patch: `{"spec":{"ingress":null}}`},
			{what: "egress emptied", patch: `{"spec":{"egress":[]}}`},
			{what: "policyTypes", patch: `{"spec":{"policyTypes":["Ingress"]}}`},
			{what: "peer", patch: `[{"op":"replace","path":"/spec/egress/1/to/0/ipBlock/cidr","value":"0.0.0.0/0"}]`},
		}
	case child.Ingress:
		return []drift{
			{what: "host", patch: `[{"op":"replace","path":"/spec/rules/0/host","value":"other.example.com"}]`},
			{what: "rule added", patch: `[{"op":"add","path":"/spec/rules/-","value":{"host":"other.example.com"}}]`},
			{what: "path", patch: `[{"op":"replace","path":"/spec/rules/0/http/paths/0/path","value":"/other"}]`},
			{what: "backend", patch: `[{"op":"replace","path":"/spec/rules/0/http/paths/0/backend","value":{"service":{"name":"other","port":{"number":80}}}}]`},
			{what: "tls removed", patch: `{"spec":{"tls":null}}`},
			{what: "certificate", patch: `[{"op":"replace","path":"/spec/tls/0/secretName","value":"other"}]`},
			{what: "class", patch: `{"spec":{"ingressClassName":"other"}}`},
		}
	default:
		return nil
	}
}

func serviceDrifts() []drift {
	return []drift{
		{what: "port number", patch: `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`},
		{what: "port protocol", patch: `[{"op":"replace","path":"/spec/ports/0/protocol","value":"UDP"}]`},
		{what: "both port numbers", patch: `[{"op":"replace","path":"/spec/ports/0/port","value":81},{"op":"replace","path":"/spec/ports/1/port","value":91}]`},
		{what: "targetPort", patch: `[{"op":"replace","path":"/spec/ports/0/targetPort","value":8081}]`},
		{what: "port name", patch: `[{"op":"replace","path":"/spec/ports/0/name","value":"other"}]`},
		{what: "port names swapped", patch: `[{"op":"replace","path":"/spec/ports/0/name","value":"admin"},{"op":"replace","path":"/spec/ports/1/name","value":"http"}]`},
		{what: "port removed", patch: `[{"op":"remove","path":"/spec/ports/1"}]`},
		{what: "appProtocol", patch: `[{"op":"remove","path":"/spec/ports/0/appProtocol"}]`},
		{what: "selector", patch: `{"spec":{"selector":{"apps.fairlead.dev/application":"other"}}}`},
		{what: "selector narrowed", patch: `{"spec":{"selector":{"tier":"front"}}}`},
		{what: "selector removed", patch: `{"spec":{"selector":null}}`},
		{what: "type NodePort", patch: `{"spec":{"type":"NodePort"}}`},
		{what: "type ExternalName", patch: `{"spec":{"type":"ExternalName","externalName":"example.com"}}`},
		{what: "sessionAffinity", patch: `{"spec":{"sessionAffinity":"ClientIP"}}`},
		{what: "annotation", patch: `{"metadata":{"annotations":{"cloud":"public"}}}`},
	}
}

func deploymentDrifts() []drift {
	return []drift{
		{what: "replicas", patch: `{"spec":{"replicas":2}}`},
		{what: "replicas by scale", patch: `{"spec":{"replicas":2}}`, subresource: "scale"},
		{what: "replicas unset", patch: `{"spec":{"replicas":null}}`},
		{what: "replicas no longer marked as managed", patch: `{"metadata":{"annotations":{"apps.fairlead.dev/replicas-managed":null}}}`},
		{what: "strategy", patch: `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`},
		{what: "maxUnavailable", patch: `{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":"100%"}}}}`},
		{what: "minReadySeconds removed", patch: `{"spec":{"minReadySeconds":null}}`},
		{what: "progressDeadlineSeconds and revisionHistoryLimit", patch: `{"spec":{"progressDeadlineSeconds":60,"revisionHistoryLimit":0}}`},
	}
}

// podDrifts happen to the pod template of the Deployment.
func podDrifts() []drift {
	const (
		pod = "/spec/template/spec/"
		app = pod + "containers/0/"
	)
	return []drift{
		{what: "image", patch: `[{"op":"replace","path":"` + app + `image","value":"registry.example.com/web:hacked"}]`},
		{what: "sidecar's image", patch: `[{"op":"replace","path":"` + pod + `containers/1/image","value":"registry.example.com/shipper:2"}]`},
		{what: "sidecar removed", patch: `[{"op":"remove","path":"` + pod + `containers/1"}]`},
		{what: "args", patch: `[{"op":"replace","path":"` + app + `args/1","value":"--quiet"}]`},
		{what: "variable's value", patch: `[{"op":"replace","path":"` + app + `env/0/value","value":"red"}]`},
		{what: "variables in another order", patch: `[{"op":"move","from":"` + app + `env/0","path":"` + app + `env/1"}]`},
		{what: "containers in another order", patch: `[{"op":"move","from":"` + pod + `containers/0","path":"` + pod + `containers/1"}]`},
		{what: "init containers in another order", patch: `[{"op":"move","from":"` + pod + `initContainers/0","path":"` + pod + `initContainers/1"}]`},
		{what: "variable removed", patch: `[{"op":"remove","path":"` + app + `env/0"}]`},
		{what: "variable renamed", patch: `[{"op":"replace","path":"` + app + `env/0/name","value":"OTHER"},{"op":"remove","path":"` + app + `env/0"}]`},
		{what: "value from elsewhere", patch: `[{"op":"replace","path":"` + app + `env/0","value":{"name":"COLOUR","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}}]`},
		{what: "valueFrom replaced by value", patch: `[{"op":"replace","path":"` + app + `env/2","value":{"name":"NODE","value":"n1"}}]`},
		{what: "container port", patch: `[{"op":"replace","path":"` + app + `ports/0/containerPort","value":8081}]`},
		{what: "container port's name", patch: `[{"op":"replace","path":"` + app + `ports/0/name","value":"other"}]`},
		{what: "resources", patch: `[{"op":"replace","path":"` + app + `resources","value":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}},{"op":"remove","path":"` + app + `resources/limits"}]`},
		{what: "security", patch: `[{"op":"replace","path":"` + app + `securityContext/allowPrivilegeEscalation","value":true},{"op":"replace","path":"` + app + `securityContext/capabilities/drop","value":[]}]`},
		{what: "pod security", patch: `[{"op":"replace","path":"` + pod + `securityContext/runAsNonRoot","value":false}]`},
		{what: "probe's path", patch: `[{"op":"replace","path":"` + app + `readinessProbe/httpGet/path","value":"/"}]`},
		{what: "probe of another kind", patch: `[{"op":"replace","path":"` + app + `readinessProbe","value":{"exec":{"command":["true"]}}}]`},
		{what: "probe removed", patch: `[{"op":"remove","path":"` + app + `readinessProbe"}]`},
		{what: "mount path", patch: `[{"op":"replace","path":"` + app + `volumeMounts/0/mountPath","value":"/var/tmp"}]`},
		{what: "volume of another kind", patch: `[{"op":"replace","path":"` + pod + `volumes/1","value":{"name":"config","emptyDir":{}}}]`},
		{what: "config map of a volume", patch: `[{"op":"replace","path":"` + pod + `volumes/1/configMap/name","value":"other"}]`},
		{what: "spread", patch: `[{"op":"replace","path":"` + pod + `topologySpreadConstraints/0/whenUnsatisfiable","value":"DoNotSchedule"}]`},
		{what: "spread removed", patch: `[{"op":"remove","path":"` + pod + `topologySpreadConstraints"}]`},
		{what: "node selector", patch: `[{"op":"replace","path":"` + pod + `nodeSelector/disk","value":"hdd"}]`},
		{what: "service account", patch: `[{"op":"replace","path":"` + pod + `serviceAccountName","value":"default"}]`},
		{what: "token mounted", patch: `[{"op":"replace","path":"` + pod + `automountServiceAccountToken","value":true}]`},
		{what: "pod label", patch: `[{"op":"replace","path":"/spec/template/metadata/labels/tier","value":"back"}]`},
		{what: "pod annotations", patch: `[{"op":"remove","path":"/spec/template/metadata/annotations"}]`},
	}
}
