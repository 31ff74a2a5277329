// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// kubernetesWords are fields of Kubernetes' own kinds, of charts and of Compose files, and the fields of Fairlead for the same purpose: by
// their paths from the map that the unknown field is in, or from the top.
var kubernetesWords = map[string][]string{
	"allowPrivileged":              {"securityProfile"},
	"allowedDomains":               {"allowedHostnames"},
	"allowedHosts":                 {"allowedHostnames"},
	"allowedImages":                {"allowedRegistries"},
	"allowedNamespaces":            {"namespaceSelector", "spec.namespaceSelector"},
	"annotations":                  {"podMetadata.annotations", "service.annotations"},
	"applicationClass":             {"className"},
	"applicationClassName":         {"className"},
	"arguments":                    {"args"},
	"automountServiceAccountToken": {"automountToken", "spec.serviceAccount.automountToken"},
	"averageUtilization":           {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage"},
	"backend":                      {"port", "paths[].port"},
	"class":                        {"className", "ingressClassName"},
	"cmd":                          {"args", "exec.command"},
	"configMaps":                   {"envFrom", "mounts"},
	"containerSecurityContext":     {"securityContext"},
	"content":                      {"data"},
	"cpu":                          {"requests", "limits", "targetCPUUtilizationPercentage"},
	"deadline":                     {"progressDeadlineSeconds"},
	"delay":                        {"initialDelaySeconds"},
	"domain":                       {"hostnames", "spec.routes[].hostnames"},
	"entryPoint":                   {"command"},
	"entrypoint":                   {"command"},
	"enviroment":                   {"env"}, //nolint:misspell // A typo of users.
	"environment":                  {"env"},
	"envVars":                      {"env"},
	"files":                        {"data"},
	"forceHttps":                   {"redirect", "tls.redirect"},
	"forceHTTPS":                   {"redirect", "tls.redirect"},
	"gateway":                      {"parentRefs", "routes.parentRefs", "spec.routes[].parentRefs"},
	"gateways":                     {"parentRefs", "routes.parentRefs", "spec.routes[].parentRefs"},
	"gracePeriod":                  {"terminationGracePeriodSeconds"},
	"health":                       {"livenessProbe", "readinessProbe"},
	"healthCheck":                  {"livenessProbe", "readinessProbe"},
	"healthChecks":                 {"livenessProbe", "readinessProbe"},
	"healthcheck":                  {"livenessProbe", "readinessProbe"},
	"horizontalPodAutoscaler":      {"autoscaling"},
	"host":                         {"hostnames", "spec.routes[].hostnames"},
	"hostname":                     {"hostnames", "spec.routes[].hostnames"},
	"hostnames":                    {"allowedHostnames", "sharedHostnames", "spec.routes[].hostnames"},
	"hosts":                        {"hostnames", "spec.routes[].hostnames"},
	"hpa":                          {"autoscaling"},
	"http":                         {"paths"},
	"httpsRedirect":                {"redirect", "tls.redirect"},
	"images":                       {"allowedRegistries"},
	"ingress":                      {"routes"},
	"ingressClass":                 {"ingressClassName", "spec.routes[].ingressClassName"},
	"instances":                    {"replicas"},
	"interval":                     {"periodSeconds", "spec.monitoring.interval"},
	"labels":                       {"podMetadata.labels"},
	"memory":                       {"requests", "limits", "targetMemoryUtilizationPercentage"},
	"name":                         {"secretName", "claimName"},
	"nodeName":                     {"nodeSelector"},
	"path":                         {"mountPath", "paths", "httpGet.path"},
	"pdb":                          {"disruptionBudget"},
	"podAnnotations":               {"podMetadata.annotations"},
	"podDisruptionBudget":          {"disruptionBudget"},
	"podLabels":                    {"podMetadata.labels"},
	"podSecurity":                  {"securityProfile"},
	"port":                         {"containerPort", "servicePort", "paths[].port", "httpGet.port", "tcpSocket.port", "grpc.port"},
	"probe":                        {"livenessProbe", "readinessProbe", "startupProbe"},
	"probes":                       {"livenessProbe", "readinessProbe", "startupProbe"},
	"pvc":                          {"persistentVolumeClaim"},
	"replicaCount":                 {"replicas"},
	"readyProbe":                   {"readinessProbe"},
	"redirectToHttps":              {"redirect", "tls.redirect"},
	"redirectToHTTPS":              {"redirect", "tls.redirect"},
	"requireLimits":                {"requireResourceLimits"},
	"retries":                      {"failureThreshold"},
	"rules":                        {"paths"},
	"secrets":                      {"envFrom", "mounts"},
	"serviceMonitor":               {"monitoring"},
	"sharedHosts":                  {"sharedHostnames"},
	"sslRedirect":                  {"redirect", "tls.redirect"},
	"targetAverageUtilization":     {"targetCPUUtilizationPercentage", "targetMemoryUtilizationPercentage", "target.averageUtilization"},
	"targetAverageValue":           {"target.averageValue"},
	"targetPort":                   {"containerPort", "spec.ports[].containerPort"},
	"updateStrategy":               {"strategy"},
	"rollbackOnFailure":            {"rollback.policy"},
	"val":                          {"value"},
	"volume":                       {"mounts"},
	"volumeMounts":                 {"mounts"},
	"volumes":                      {"mounts"},
	"workdir":                      {"workingDir"},
	"workingDirectory":             {"workingDir"},
}

// Hints that more than one field has.
const (
	notOffered = "remove it: Fairlead does not offer it"
	inDNS      = notOffered + ", and the pods use the DNS of the cluster"
	podFields  = "write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata"
	hostPort   = "remove it: no pod of an Application opens a port of its node; set routes, or service.type"
	headless   = "remove it: the Service of an Application has a cluster IP; for the addresses of the pods under one DNS name, " +
		"create a headless Service with the selector " + v1.LabelApplication + ": NAME"
	nodePort       = "remove it: Kubernetes chooses the node port"
	cloudField     = notOffered + "; many clouds have an annotation for it, which belongs in service.annotations"
	peers          = "a peer is an application, a podSelector, a namespaceSelector or an ipBlock; a NetworkPolicy knows no host names"
	peerName       = "did you mean application, as in {application: {name: NAME}}?"
	besideMetadata = "move it to the level of metadata"
	imageTag       = "write it in image, behind a colon, as in image: registry.example.com/web:1.2"
	issuer         = "did you mean the annotation cert-manager.io/issuer, or cert-manager.io/cluster-issuer for a ClusterIssuer, in annotations of the route?"
	classIssuer    = "did you mean the annotation cert-manager.io/cluster-issuer, or cert-manager.io/issuer for an Issuer of each namespace, in defaults.routes.annotations?"
	claim          = "Fairlead creates no PersistentVolumeClaim: create one, and name it in mounts[].persistentVolumeClaim.claimName"
	nameOfSecret   = "did you mean name?"
	ofNamespace    = "remove it: it is the namespace of the Application"
	podName        = "remove it: Kubernetes names the pods"
	tlsSet         = "remove it: TLS is enabled where it is set, even if empty, as in tls: {}"
	routeTLSSet    = "remove it: TLS is enabled where tls is set: for an Ingress with secretName in it; for an HTTPRoute even if empty, as in tls: {}, " +
		"since its listener has the certificate"
	rollbackOn   = "did you mean policy: OnFailure?"
	namespaces   = "a namespace is selected by the label with its name, as in namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}"
	defaultClass = "the annotation " + v1.AnnotationDefaultClass + ": \"true\" makes the class a default"
	zone         = "set nodeSelector, with the label topology.kubernetes.io/zone, for one zone; to spread the pods over all zones, set topologySpreadConstraints"
	amounts      = "a class has no maximum of CPU or memory: set requireResourceLimits, and a LimitRange or a ResourceQuota in the namespaces"
)

// hints say what to do about fields for which a kind has no field, or has it elsewhere: by the kind and the path.
var hints = map[string]map[string]string{
	v1.ApplicationKind: {
		"metadata.spec":                                             besideMetadata,
		"spec.activeDeadlineSeconds":                                "remove it: the pods of an Application always run; use a Job for a task",
		"spec.autoscaling.enabled":                                  "remove it: autoscaling is enabled where it is set",
		"spec.config.name":                                          "remove it: Fairlead names the ConfigMap of config; one that exists already belongs in mounts[].configMap",
		"spec.containers":                                           "write the fields of the main container, such as image, in the spec itself, and other containers in sidecars",
		"spec.cpu":                                                  "did you mean resources.requests.cpu or resources.limits.cpu?",
		"spec.disruptionBudget.enabled":                             "remove it: for no budget, set mode: Disabled",
		"spec.dnsConfig":                                            inDNS,
		"spec.dnsPolicy":                                            inDNS,
		"spec.enableServiceLinks":                                   "remove it: it is false in all pods of an Application",
		"spec.envFrom[].configMapName":                              "did you mean configMapRef.name?",
		"spec.envFrom[].configMapRef.configMapName":                 "did you mean name?",
		"spec.envFrom[].configMapRef.secretName":                    "did you mean name, or secretRef instead of configMapRef?",
		"spec.envFrom[].secretRef.configMapName":                    "did you mean name, or configMapRef instead of secretRef?",
		"spec.envFrom[].secretRef.secretName":                       "did you mean name?",
		"spec.mounts[].configMap.configMapName":                     "did you mean name?",
		"spec.mounts[].configMap.secretName":                        "did you mean name, or secret instead of configMap?",
		"spec.envFrom[].name":                                       "did you mean configMapRef.name or secretRef.name?",
		"spec.envFrom[].secretName":                                 "did you mean secretRef.name?",
		"spec.env[].key":                                            "did you mean name?",
		"spec.env[].valueFrom.configMapKeyRef.configMap":            "did you mean name?",
		"spec.env[].valueFrom.configMapKeyRef.configMapName":        "did you mean name?",
		"spec.env[].valueFrom.secretKeyRef.secret":                  "did you mean name?",
		"spec.env[].valueFrom.secretKeyRef.secretName":              "did you mean name?",
		"spec.ephemeralContainers":                                  "remove it: kubectl debug adds such a container to a running pod",
		"spec.expose":                                               "did you mean routes, for HTTP from outside of the cluster, service.type or ports?",
		"spec.hostAliases":                                          notOffered + "; make the DNS resolve the name, or create a Service without a selector, and an EndpointSlice with the address",
		"spec.hostIPC":                                              "remove it: no pod of an Application uses the IPC namespace of its node",
		"spec.hostNetwork":                                          "remove it: no pod of an Application uses the host network",
		"spec.hostPID":                                              "remove it: no pod of an Application sees the processes of its node",
		"spec.imagePullSecrets[].namespace":                         ofNamespace,
		"spec.imagePullSecrets[].secret":                            nameOfSecret,
		"spec.imagePullSecrets[].secretName":                        nameOfSecret,
		"spec.imageTag":                                             imageTag,
		"spec.loadBalancer":                                         "did you mean service.type: LoadBalancer?",
		"spec.memory":                                               "did you mean resources.requests.memory or resources.limits.memory?",
		"spec.metrics":                                              "did you mean monitoring or autoscaling.metrics?",
		"spec.monitoring.enabled":                                   "remove it: monitoring is enabled where it is set, even if empty, as in monitoring: {}",
		"spec.mounts[].csi":                                         claim,
		"spec.mounts[].ephemeral":                                   claim,
		"spec.mounts[].hostPath":                                    "no pod of an Application mounts a path of its node: use emptyDir, or a persistentVolumeClaim",
		"spec.mounts[].name":                                        "remove it: a mount has its source beside mountPath, such as secret, configMap or emptyDir",
		"spec.mounts[].nfs":                                         claim,
		"spec.mounts[].persistentVolumeClaim.size":                  claim,
		"spec.mounts[].projected.sources[].configMap.configMapName": nameOfSecret,
		"spec.mounts[].projected.sources[].secret.secretName":       nameOfSecret,
		"spec.mounts[].volumeClaimTemplate":                         claim,
		"spec.name":                                                 "did you mean metadata.name?",
		"spec.namespace":                                            "did you mean metadata.namespace?",
		"spec.networkPolicy.egress[].to[].name":                     peerName,
		"spec.networkPolicy.egress[].to[].namespace":                namespaces,
		"spec.networkPolicy.ingress[].from[].name":                  peerName,
		"spec.networkPolicy.ingress[].from[].namespace":             namespaces,
		"spec.networkPolicy.enabled":                                "remove it: a networkPolicy is enabled where it is set, even if empty, as in networkPolicy: {}",
		"spec.networkPolicy.podSelector":                            "remove it: a networkPolicy is for the pods of its Application",
		"spec.networkPolicy.policyTypes":                            "remove it: a networkPolicy allows only what it lists, in both directions",
		"spec.nodePort":                                             "Kubernetes chooses the node port: did you mean service.type: NodePort?",
		"spec.path":                                                 "did you mean routes[].paths[].path, mounts[].mountPath, or httpGet.path of a probe?",
		"spec.persistence":                                          claim,
		"spec.pod":                                                  podFields,
		"spec.podMetadata.name":                                     podName,
		"spec.podMetadata.namespace":                                ofNamespace,
		"spec.podSpec":                                              podFields,
		"spec.podTemplate":                                          podFields,
		"spec.policy":                                               "did you mean reconcilePolicy, deletionPolicy, adoptionPolicy, configChangePolicy or rollback.policy?",
		"spec.ports[].hostIP":                                       hostPort,
		"spec.ports[].hostPort":                                     hostPort,
		"spec.ports[].nodePort":                                     nodePort,
		"spec.pvc":                                                  "did you mean mounts[].persistentVolumeClaim.claimName?",
		"spec.restart":                                              "remove it: the containers of an Application always restart",
		"spec.restartPolicy":                                        "remove it: the containers of an Application always restart",
		"spec.rollback.enabled":                                     rollbackOn,
		"spec.routes[].clusterIssuer":                               issuer,
		"spec.routes[].issuer":                                      issuer,
		"spec.routes[].paths[].exact":                               "did you mean path, with pathType: Exact?",
		"spec.routes[].paths[].prefix":                              "did you mean path, with pathType: Prefix?",
		"spec.routes[].paths[].service":                             "remove it: a route leads to the Service of its Application; port names one of its ports",
		"spec.routes[].tls.clusterIssuer":                           issuer,
		"spec.routes[].tls.enabled":                                 routeTLSSet,
		"spec.routes[].tls.issuer":                                  issuer,
		"spec.schedule":                                             "remove it: the pods of an Application always run; use a CronJob for a task",
		"spec.selector":                                             "remove it: Fairlead sets the selectors of the Deployment and the Service",
		"spec.service.clusterIP":                                    headless,
		"spec.service.enabled":                                      "remove it: an Application has a Service where it has ports",
		"spec.service.headless":                                     headless,
		"spec.service.externalName":                                 notOffered + "; create a Service of type ExternalName beside the Application",
		"spec.service.labels":                                       "remove it: Fairlead sets the labels of the Service",
		"spec.service.loadBalancer":                                 "did you mean type: LoadBalancer?",
		"spec.service.loadBalancerIP":                               cloudField,
		"spec.service.loadBalancerSourceRanges":                     cloudField,
		"spec.service.nodePort":                                     nodePort,
		"spec.service.nodePorts":                                    nodePort,
		"spec.service.protocol":                                     "did you mean spec.ports[].protocol?",
		"spec.service.sessionAffinityConfig":                        notOffered + ", and an affinity lasts three hours",
		"spec.service.name":                                         "remove it: the Service has the name of the Application",
		"spec.service.port":                                         "did you mean spec.ports[].servicePort?",
		"spec.service.ports":                                        "did you mean spec.ports?",
		"spec.service.selector":                                     "remove it: Fairlead sets the selector of the Service",
		"spec.serviceAccount.create":                                "remove it: Fairlead creates a ServiceAccount unless you set name",
		"spec.storage":                                              claim,
		"spec.suspend":                                              "did you mean paused, or reconcilePolicy: Suspend?",
		"spec.tag":                                                  imageTag,
		"spec.template":                                             podFields,
		"spec.volumeClaimTemplates":                                 claim,
		"spec.type":                                                 "did you mean service.type or strategy.type?",
		"spec.url":                                                  "its host name belongs in routes[].hostnames, and its path in routes[].paths[].path",
		"spec.user":                                                 "did you mean securityContext.runAsUser or podSecurityContext.runAsUser?",
		"spec.version":                                              imageTag,
		"spec.zone":                                                 zone,
		"spec.zones":                                                zone,
	},
	kindClass: {
		"metadata.spec":      besideMetadata,
		"metadata.isDefault": defaultClass,
		"spec.default":       defaultClass + "; its settings belong in defaults",
		"spec.defaultClass":  defaultClass,
		"spec.defaults.imagePullSecrets[].namespace":             ofNamespace,
		"spec.defaults.imagePullSecrets[].secret":                nameOfSecret,
		"spec.defaults.imagePullSecrets[].secretName":            nameOfSecret,
		"spec.defaults.networkPolicy.egress[].to[].name":         peerName,
		"spec.defaults.networkPolicy.egress[].to[].namespace":    namespaces,
		"spec.defaults.networkPolicy.ingress[].from[].name":      peerName,
		"spec.defaults.networkPolicy.ingress[].from[].namespace": namespaces,
		"spec.defaults.podMetadata.name":                         podName,
		"spec.defaults.podMetadata.namespace":                    ofNamespace,
		"spec.defaults.rollback.enabled":                         rollbackOn,
		"spec.defaults.routes.clusterIssuer":                     classIssuer,
		"spec.defaults.routes.hostnames":                         "a class has no host names; limits.allowedHostnames restricts them",
		"spec.defaults.routes.issuer":                            classIssuer,
		"spec.defaults.routes.tls.clusterIssuer":                 classIssuer,
		"spec.defaults.routes.tls.enabled":                       tlsSet,
		"spec.defaults.routes.tls.issuer":                        classIssuer,
		"spec.is-default":                                        defaultClass,
		"spec.isDefault":                                         defaultClass,
		"spec.limits.cpu":                                        amounts,
		"spec.limits.maxCPU":                                     amounts,
		"spec.limits.maxCpu":                                     amounts,
		"spec.limits.maxMemory":                                  amounts,
		"spec.limits.memory":                                     amounts,
		"spec.limits.minReplicas":                                "remove it: a class has no minimum of replicas",
		"spec.limits.resources":                                  amounts,
		"spec.namespace":                                         namespaces,
		"spec.namespaceSelector.matchNames":                      namespaces,
		"spec.namespaces":                                        namespaces,
	},
}

// hintIfDisabled says how to turn off what "enabled: false" is in. To remove that line alone would turn it on. It is "" if the field is another
// one, or says something else.
func (d *Document) hintIfDisabled(path string) string {
	parent, isSwitch := strings.CutSuffix(path, ".enabled")
	if !isSwitch || !slices.Contains([]string{"false", "no", "off"}, strings.ToLower(d.given(path))) {
		return ""
	}
	switch name := parent[strings.LastIndex(parent, ".")+1:]; name {
	case "rollback":
		return "did you mean policy: Never?"
	case "autoscaling", "livenessProbe", "monitoring", "networkPolicy", "readinessProbe", "startupProbe", "tls":
		return "remove " + name + " as a whole: it is enabled where it is set"
	}
	return ""
}
