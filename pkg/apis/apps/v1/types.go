// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Application is one workload and everything around it. Fairlead writes its Deployment, Service,
// ServiceAccount, ConfigMap, HorizontalPodAutoscaler, PodDisruptionBudget, NetworkPolicy, Ingresses,
// HTTPRoutes and ServiceMonitor, and reports in status whether the application works and, if not, why.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applications,singular=application,shortName=fla,categories={all,fairlead},scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:selectablefield:JSONPath=`.spec.className`
// +kubebuilder:selectablefield:JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Desired",type=integer,priority=1,JSONPath=`.status.desiredReplicas`
// +kubebuilder:printcolumn:name="Updated",type=integer,priority=1,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name="Running image",type=string,priority=1,JSONPath=`.status.image`
// +kubebuilder:printcolumn:name="Spec image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="URL",type=string,priority=1,JSONPath=`.status.urls[0]`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",fieldPath=".metadata.name",message="must be an RFC 1035 label: at most 63 characters, lower-case letters, digits and hyphens, starting with a letter and ending with a letter or digit",messageExpression="'\"%s\": must be an RFC 1035 label: at most 63 characters, lower-case letters, digits and hyphens, starting with a letter and ending with a letter or digit'.format([self.metadata.name])"
type Application struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The name becomes the name of the children and must be an RFC
	// 1035 label of at most 63 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state.
	Spec ApplicationSpec `json:"spec"`

	// The observed state. The default of observedGeneration, -1, never equals a generation, so a new Application does
	// not look up to date before the controller has observed it.
	// +kubebuilder:default:={"observedGeneration":-1,"desiredReplicas":0,"replicas":0,"updatedReplicas":0,"readyReplicas":0,"availableReplicas":0,"summary":"The controller has not observed it yet.","conditions":{{"type":"Ready","status":"Unknown","reason":"NotObserved","message":"The controller has not observed it yet.","lastTransitionTime":"1970-01-01T00:00:00Z"}}}
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`

	// DecodeErrors has the fields that were left out because they do not decode. Only the decoder sets it: it is not
	// part of the API, so no user can.
	DecodeErrors []DecodeError `json:"-"`
}

// ApplicationList is a list of Applications.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Application `json:"items"`
}

// ApplicationSpec is the desired state of an Application. Only image is required.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.replicas) && has(self.autoscaling))",message="replicas and autoscaling exclude each other: remove replicas to scale automatically, or autoscaling for a fixed number",messageExpression="'replicas %s and autoscaling, with maxReplicas %s, exclude each other: remove replicas to scale automatically, or autoscaling for a fixed number'.format([string(self.replicas), string(self.autoscaling.maxReplicas)])"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || has(self.ports)",message="service needs at least one entry in ports: add a port, or remove service"
// +kubebuilder:validation:XValidation:rule="!has(self.routes) || has(self.ports)",message="routes need at least one entry in ports: add a port, or remove routes"
// +kubebuilder:validation:XValidation:rule="!has(self.monitoring) || has(self.ports)",message="monitoring needs at least one entry in ports: add a port, or remove monitoring"
// +kubebuilder:validation:XValidation:rule="(has(self.env) ? size(self.env) : 0) + (has(self.sidecars) ? self.sidecars.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) + (has(self.initContainers) ? self.initContainers.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) <= 256",message="the containers have more than 256 environment variables together: use envFrom",messageExpression="'the containers have %d environment variables together, more than 256: use envFrom'.format([(has(self.env) ? size(self.env) : 0) + (has(self.sidecars) ? self.sidecars.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) + (has(self.initContainers) ? self.initContainers.map(c, has(c.env) ? size(c.env) : 0).sum() : 0)])"
type ApplicationSpec struct {
	// ApplicationClass with the platform's defaults and limits. Defaults to the default class of the namespace, if
	// there is one; the mutating webhook writes its name here. You may change it; the defaults and limits of the new
	// class then apply.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ClassName string `json:"className,omitempty"`

	// Container image of the application, with a tag or digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// When the kubelet pulls the image. Defaults to Always for the tag latest, otherwise to IfNotPresent.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Secrets of this namespace with the credentials to pull the images.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Entrypoint, instead of the image's. Not run in a shell.
	// An apply replaces the list as a whole, because the order matters.
	// +listType=atomic
	// +optional
	Command []string `json:"command,omitempty"`

	// Arguments to the entrypoint, instead of the image's.
	// An apply replaces the list as a whole, because the order matters.
	// +listType=atomic
	// +optional
	Args []string `json:"args,omitempty"`

	// Working directory of the container, instead of the image's.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`

	// Ports on which the application listens. The first is the primary port: the default of probes and routes.
	// Without ports the application is a worker and has no Service.
	// +kubebuilder:validation:XValidation:rule="self.size() == 1 || self.all(p, !has(p.servicePortName) || p.servicePortName != '')",message="servicePortName may be empty only if there is a single port: name it, or remove servicePortName",messageExpression="'servicePortName may be empty only if there is a single port, and there are %d: name it, or remove servicePortName'.format([self.size()])"
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Ports []ApplicationPort `json:"ports,omitempty"`

	// Environment variables of the application container.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// ConfigMaps and Secrets whose keys become environment variables. An apply replaces the list as a whole,
	// because if two sources have the same key, the later one wins.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// Files with their content. They are stored in a ConfigMap of the Application and mounted read-only; a change
	// rolls the pods.
	// +optional
	Config *Config `json:"config,omitempty"`

	// Further volumes of the application container, one source each.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Mounts []Mount `json:"mounts,omitempty"`

	// What happens when the content of a ConfigMap or Secret changes that env, envFrom or mounts refer to. Rollout (the
	// default): new pods with the new content replace the old ones, a few seconds after the last change. Ignore:
	// nothing; running pods keep environment variables and subPath mounts as they were when they started.
	//
	// With Rollout, new pods also wait until every referenced object exists that is not optional. Rollout writes a hash
	// of the content into the pod template, so changing Ignore to Rollout replaces the pods once, unless they have the
	// hash of the current content already. Changing to Ignore replaces none.
	// +kubebuilder:default=Rollout
	// +optional
	ConfigChangePolicy ConfigChangePolicy `json:"configChangePolicy,omitempty"`

	// Compute resources of the application container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Restarts the container when it fails.
	// +optional
	LivenessProbe *Probe `json:"livenessProbe,omitempty"`

	// Takes the pod out of the Service while it fails.
	// +optional
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`

	// Delays the other probes until it has succeeded once.
	// +optional
	StartupProbe *Probe `json:"startupProbe,omitempty"`

	// Actions on start and stop of the container. With ports, defaults to a preStop sleep of 5 seconds, but at most half
	// of terminationGracePeriodSeconds, so that endpoints drain before the process gets SIGTERM.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`

	// Seconds between SIGTERM (or preStop) and SIGKILL. Default 30.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Containers that run before the application. restartPolicy Always makes a native sidecar:
	// it starts before the application and runs as long. They get the restricted defaults, except for
	// a read-only root file system.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// Containers that run beside the application in each pod. Their volumeMounts may name the volumes of the
	// application: tmp, config, and one for each entry of mounts. If you name another volume, the error lists the
	// names that exist. They get the restricted defaults, except for a read-only root file system.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Sidecars []corev1.Container `json:"sidecars,omitempty"`

	// Number of pods. Mutually exclusive with autoscaling. Without both, Fairlead does not manage the number: the
	// Deployment starts with 1 and keeps what you or another controller set.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Scales the number of pods by metrics. Mutually exclusive with replicas. Needs at least one of
	// targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage and metrics, unless minReplicas is
	// maxReplicas. A target in percent needs a request: resources.requests.cpu for a target of CPU.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// How pods are replaced. Defaults to RollingUpdate with maxUnavailable 0 and maxSurge 25%; a field that you omit
	// keeps its default, but with maxSurge 0 maxUnavailable is then 1. Both take a number of pods, such as 1, or a
	// percentage, such as 25%.
	// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type in ['RollingUpdate', 'Recreate']",message="strategy.type must be RollingUpdate or Recreate",messageExpression="'strategy.type must be RollingUpdate or Recreate, not %s'.format([self.type])"
	// +kubebuilder:validation:XValidation:rule="!has(self.rollingUpdate) || !has(self.type) || self.type != 'Recreate'",message="strategy.rollingUpdate needs type RollingUpdate: change strategy.type, or remove strategy.rollingUpdate",messageExpression="'strategy.rollingUpdate has no effect with strategy.type ' + self.type + ': change the type to RollingUpdate, or remove rollingUpdate'"
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// Seconds that a new pod must stay ready before it counts as available. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// Seconds without progress after which a rollout counts as failed. Defaults to what the class has, or
	// else to 600. Must be greater than minReadySeconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// Number of old revisions to keep, each as a ControllerRevision and as a ReplicaSet. Defaults to 5. The last
	// healthy ControllerRevision always stays. Fewer stay if they exceed 1 MiB together.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// Stops rollouts, as a Deployment's paused does. Fairlead still maintains everything else: running pods see new
	// files of config.
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// How to go back to an earlier revision of the pods: automatically when a rollout fails, or because you name the
	// revision. Defaults to the policy of the class, or else to Never.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// Whether the controller repairs differences between the children and the spec (Enforce, the default), only reports
	// them (Observe), or does nothing (Suspend). deletionPolicy applies in each case.
	// +kubebuilder:default=Enforce
	// +optional
	ReconcilePolicy ReconcilePolicy `json:"reconcilePolicy,omitempty"`

	// The Service in front of ports.
	// +optional
	Service *Service `json:"service,omitempty"`

	// How clients outside of the cluster reach the application. The first route has the name of the Application,
	// further ones <application>-<route>. All routes together may have 512 paths,
	// counted under each hostname.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.map(route, size(route.hostnames) * (has(route.paths) ? size(route.paths) : 1)).sum() <= 512",message="the routes have more than 512 paths, counted under each hostname: use fewer, or several Applications",messageExpression="'the routes have %d paths, counted under each hostname, more than 512: use fewer, or several Applications'.format([self.map(route, size(route.hostnames) * (has(route.paths) ? size(route.paths) : 1)).sum()])"
	// +optional
	Routes []Route `json:"routes,omitempty"`

	// How many pods voluntary disruptions, such as a node drain, may evict. Defaults to Auto.
	// +optional
	DisruptionBudget *DisruptionBudget `json:"disruptionBudget,omitempty"`

	// Which peers may connect to the application, and to which it may connect. If omitted, there is no NetworkPolicy.
	// If set, even if empty, it allows only what it lists, DNS, the route controllers for the ports that have routes,
	// and, with monitoring, the namespaces of Prometheus for the metrics port.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// The identity of the pods. Defaults to a ServiceAccount of the Application, without a token.
	// +optional
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`

	// Security of the pod, merged field by field over the restricted defaults.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`

	// Security of the application container, merged field by field over the restricted defaults.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// Labels that a node must have.
	// +mapType=granular
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Taints that the pods tolerate.
	// An apply replaces the list as a whole, because a toleration has no key.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Node and pod affinity.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// How the pods spread over the cluster. Defaults to a soft spread over nodes and zones. An empty labelSelector
	// selects the Application's pods.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// PriorityClass of the pods. While it does not exist, the API server refuses new pods, and status.problems quotes
	// its message.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Scrapes the application's metrics with a ServiceMonitor of the Prometheus Operator. If the cluster does not
	// serve that API, the condition MonitoringReady reports it, and everything else works.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// Further labels and annotations of the pods.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// Whether the children are deleted with the Application (Delete, the default) or stay (Orphan). With Orphan they have
	// no ownerReference, so that the garbage collector does not delete them. It applies with every reconcilePolicy.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// Whether the Application takes over a Deployment or Service of its name that runs already. Never (the default): it
	// leaves such an object alone. Consented: it adopts the object once a user consents, with three marks on it: the
	// annotation apps.fairlead.dev/adoptable-by with the UID of the Application, and the labels
	// apps.fairlead.dev/application with its name and app.kubernetes.io/managed-by with fairlead, by which the controller
	// finds the object. It replaces no pod: a Deployment keeps its selector, and spec.paused must be true until the pods
	// may be replaced. The condition Adopted reports the progress.
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
}
