// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"

// kubernetesWords are fields of Kubernetes' own kinds, of charts and of Compose files, and the fields of Fairlead for the same purpose: by
// their paths from the map that the unknown field is in, or from the top.
var kubernetesWords = map[string][]string{
	"allowedDomains":           {"allowedHostnames"},
	"allowedHosts":             {"allowedHostnames"},
	"allowedImages":            {"allowedRegistries"},
	"annotations":              {"podMetadata.annotations", "service.annotations"},
	"arguments":                {"args"},
	"averageUtilization":       {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"backend":                  {"port", "paths[].port"},
	"class":                    {"className", "ingressClassName"},
	"cmd":                      {"args", "exec.command"},
	"configMaps":               {"envFrom", "mounts"},
	"containerSecurityContext": {"securityContext"},
	"content":                  {"data"},
	"cpu":                      {"requests", "limits", "targetCPUUtilizationPercentage"},
	"domain":                   {"hostnames", "spec.routes[].hostnames"},
	"entryPoint":               {"command"},
	"entrypoint":               {"command"},
	"environment":              {"env"},
	"files":                    {"data"},
	"gateway":                  {"parentRefs", "spec.routes[].parentRefs"},
	"health":                   {"livenessProbe", "readinessProbe"},
	"healthCheck":              {"livenessProbe", "readinessProbe"},
	"healthChecks":             {"livenessProbe", "readinessProbe"},
	"healthcheck":              {"livenessProbe", "readinessProbe"},
	"horizontalPodAutoscaler":  {"autoscaling"},
	"host":                     {"hostnames", "spec.routes[].hostnames"},
	"hostname":                 {"hostnames", "spec.routes[].hostnames"},
	"hostnames":                {"allowedHostnames", "sharedHostnames", "spec.routes[].hostnames"},
	"hosts":                    {"hostnames", "spec.routes[].hostnames"},
	"hpa":                      {"autoscaling"},
	"http":                     {"paths"},
	"images":                   {"allowedRegistries"},
	"ingress":                  {"routes"},
	"ingressClass":             {"ingressClassName", "spec.routes[].ingressClassName"},
	"labels":                   {"podMetadata.labels"},
	"memory":                   {"requests", "limits", "targetMemoryUtilizationPercentage"},
	"name":                     {"secretName", "claimName"},
	"path":                     {"mountPath", "paths", "httpGet.path"},
	"pdb":                      {"disruptionBudget"},
	"podAnnotations":           {"podMetadata.annotations"},
	"podDisruptionBudget":      {"disruptionBudget"},
	"podLabels":                {"podMetadata.labels"},
	"port":                     {"containerPort", "servicePort", "paths[].port", "httpGet.port", "tcpSocket.port", "grpc.port"},
	"probe":                    {"livenessProbe", "readinessProbe", "startupProbe"},
	"probes":                   {"livenessProbe", "readinessProbe", "startupProbe"},
	"pvc":                      {"persistentVolumeClaim"},
	"readyProbe":               {"readinessProbe"},
	"rules":                    {"paths"},
	"secrets":                  {"envFrom", "mounts"},
	"serviceMonitor":           {"monitoring"},
	"targetAverageUtilization": {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage", "target.averageUtilization"},
	"targetAverageValue":       {"target.averageValue"},
	"targetPort":               {"containerPort", "spec.ports[].containerPort"},
	"updateStrategy":           {"strategy"},
	"volumeMounts":             {"mounts"},
	"volumes":                  {"mounts"},
}

const (
	// podFields is about a pod template: an Application has its fields in the spec.
	podFields = "write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata"
	// imageTag is about a tag that charts have beside the image.
	imageTag     = "write it in image, behind a colon, as in image: registry.example.com/web:1.2"
	defaultClass = "the annotation " + v1.AnnotationDefaultClass + ": \"true\" makes the class a default"
	amounts      = "a class has no maximum of CPU or memory: set requireResourceLimits, and a LimitRange or a ResourceQuota in the namespaces"
)

// instead says what to do about fields for which a kind has no field, or has it elsewhere: by the kind and the path.
var instead = map[string]map[string]string{
	v1.ApplicationKind: {
		"spec.autoscaling.enabled":      "remove it: autoscaling is enabled where it is set",
		"spec.config.name":              "remove it: Fairlead names the ConfigMap of config; one that exists already belongs in mounts[].configMap",
		"spec.containers":               "write the fields of the main container, such as image, in the spec itself, and other containers in sidecars",
		"spec.cpu":                      "did you mean resources.requests.cpu or resources.limits.cpu?",
		"spec.disruptionBudget.enabled": "remove it: mode: Disabled makes no budget",
		"spec.envFrom[].configMapName":  "did you mean configMapRef.name?",
		"spec.envFrom[].name":           "did you mean configMapRef.name or secretRef.name?",
		"spec.envFrom[].secretName":     "did you mean secretRef.name?",
		"spec.imageTag":                 imageTag,
		"spec.memory":                   "did you mean resources.requests.memory or resources.limits.memory?",
		"spec.monitoring.enabled":       "remove it: monitoring is enabled where it is set, even if empty, as in monitoring: {}",
		"spec.mounts[].hostPath":        "no pod of an Application mounts a path of its node: use emptyDir, or a persistentVolumeClaim",
		"spec.mounts[].name":            "remove it: a mount has its source beside mountPath, such as secret, configMap or emptyDir",
		"spec.networkPolicy.enabled":    "remove it: a networkPolicy is enabled where it is set, even if empty, as in networkPolicy: {}",
		"spec.pod":                      podFields,
		"spec.podSpec":                  podFields,
		"spec.podTemplate":              podFields,
		"spec.ports[].nodePort":         "remove it: Kubernetes chooses the node port",
		"spec.restartPolicy":            "remove it: the containers of an Application always restart",
		"spec.rollback.enabled":         "did you mean policy: OnFailure?",
		"spec.selector":                 "remove it: Fairlead sets the selectors of the Deployment and the Service",
		"spec.service.port":             "did you mean spec.ports[].servicePort?",
		"spec.service.ports":            "did you mean spec.ports?",
		"spec.service.selector":         "remove it: Fairlead sets the selector of the Service",
		"spec.tag":                      imageTag,
		"spec.template":                 podFields,
	},
	kindClass: {
		"metadata.isDefault":    defaultClass,
		"spec.default":          defaultClass,
		"spec.defaultClass":     defaultClass,
		"spec.is-default":       defaultClass,
		"spec.isDefault":        defaultClass,
		"spec.limits.cpu":       amounts,
		"spec.limits.maxCPU":    amounts,
		"spec.limits.maxCpu":    amounts,
		"spec.limits.maxMemory": amounts,
		"spec.limits.memory":    amounts,
		"spec.limits.resources": amounts,
	},
}
