{{/* Generated from the roles of artifacts by make generate. Do not edit. */}}

{{- define "fairlead.rules.watched" }}
# What it is all about. patch puts the finalizer of deletionPolicy Orphan on, and takes it off.
- apiGroups: [apps.fairlead.dev]
  resources: [applications]
  verbs: [get, list, watch, patch]
# The one status write of a sync.
- apiGroups: [apps.fairlead.dev]
  resources: [applications/status]
  verbs: [update, patch]
# Children carry an ownerReference with blockOwnerDeletion. Where the admission plugin
# OwnerReferencesPermissionEnforcement is on, writing one needs this.
- apiGroups: [apps.fairlead.dev]
  resources: [applications/finalizers]
  verbs: [update]
# The children: read by informers; created by POST, changed by server-side apply, deleted when their feature is switched
# off. get is for one that lost the label by which the informers find it. No update, no deletecollection.
- apiGroups: [""]
  resources: [configmaps, serviceaccounts, services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [controllerrevisions, deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# The same, where the cluster serves these APIs.
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [monitoring.coreos.com]
  resources: [servicemonitors]
  verbs: [get, list, watch, create, patch, delete]
# Why an Application is not ready: the reasons are in its pods, and the ReplicaSet says to which revision a pod belongs.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [replicasets]
  verbs: [list, watch]
# Events tell transitions; a repeated one is a patch of the first.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "fairlead.rules.classes" }}
# The platform's defaults and limits.
- apiGroups: [apps.fairlead.dev]
  resources: [applicationclasses]
  verbs: [get, list, watch]
# The labels by which a class selects the namespaces that may use it. get is for a namespace that is newer than the caches.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
# Whether a class can be used, and by how many it is.
- apiGroups: [apps.fairlead.dev]
  resources: [applicationclasses/status]
  verbs: [update]
{{- end }}

{{- define "fairlead.rules.cluster" }}
# Does the cluster serve HTTPRoutes and ServiceMonitors? Their definitions, and no others: by name, which list and watch
# respect since they select that name.
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames: [httproutes.gateway.networking.k8s.io, servicemonitors.monitoring.coreos.com]
  verbs: [list, watch]
# Who asks for /metrics?
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
# May they? And may the author of an Application use the ServiceAccount that it names?
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{- define "fairlead.rules.caBundle" }}
# Puts the caBundle of its own CA into its own webhook configurations, and no others: by name, which list and watch
# respect since they select that name.
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  resourceNames: [fairlead]
  verbs: [get, list, watch, patch]
{{- end }}

{{- define "fairlead.rules.own" }}
# The lease of the leader.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [fairlead-controller]
  verbs: [get, update]
# The first time. A create cannot be restricted to a name: the API server decides before it knows the name.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
# Who leads, as Events of the lease.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "fairlead.rules.certificate" }}
# The serving certificate and its CA: made and rotated by the leader, watched by every replica.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [fairlead-controller-certs]
  verbs: [get, list, watch, update]
# The first time, and after somebody has deleted it. As above, not by name.
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}

{{- define "fairlead.rules.secrets" }}
# list and watch tell that one changed; get reads the one that an Application refers to, to hash it.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch]
{{- end }}

{{- define "fairlead.rules.hashKey" }}
# The key of the hashes, which keeps them from giving weak Secrets away.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [fairlead-config-hash-key]
  verbs: [get]
# The first time. A create cannot be restricted to a name.
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}
