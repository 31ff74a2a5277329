// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Application is one workload and everything it needs around it: from it Fairlead keeps a
// Deployment, Service, ServiceAccount, ConfigMap, HorizontalPodAutoscaler,
// PodDisruptionBudget, NetworkPolicy, Ingresses, HTTPRoutes and a ServiceMonitor, and reports in
// status whether the application works and, if not, why not.
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
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.status.desiredReplicas`
// +kubebuilder:printcolumn:name="Updated",type=integer,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,priority=1,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="URL",type=string,priority=1,JSONPath=`.status.urls[0]`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be an RFC 1035 label: at most 63 characters, lower-case letters, digits and '-', starting with a letter and ending with a letter or digit"
type Application struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The name becomes the name of the children and must be an RFC
	// 1035 label of at most 63 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What should run.
	Spec ApplicationSpec `json:"spec"`

	// What does run. The default of observedGeneration, -1, never equals a generation, so that
	// a new Application cannot be read as current before the controller has seen it.
	// +kubebuilder:default:={"observedGeneration":-1}
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`

	// DecodeErrors are the fields that were left out because they do not decode. Only the decoder
	// sets it: it is no part of the API, so no user can.
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
// +kubebuilder:validation:XValidation:rule="!(has(self.replicas) && has(self.autoscaling))",message="replicas and autoscaling are exclusive: set replicas for a fixed number, or autoscaling.minReplicas and maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || has(self.ports)",message="service needs at least one entry in ports"
// +kubebuilder:validation:XValidation:rule="!has(self.routes) || has(self.ports)",message="routes need at least one entry in ports"
// +kubebuilder:validation:XValidation:rule="!has(self.monitoring) || has(self.ports)",message="monitoring needs at least one entry in ports"
// +kubebuilder:validation:XValidation:rule="(has(self.env) ? size(self.env) : 0) + (has(self.sidecars) ? self.sidecars.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) + (has(self.initContainers) ? self.initContainers.map(c, has(c.env) ? size(c.env) : 0).sum() : 0) <= 1024",message="the containers have more than 1024 environment variables together: use envFrom"
type ApplicationSpec struct {
	// ApplicationClass with the platform's defaults and limits. Omitted: the default class, if there
	// is one; the mutating webhook writes its name here. It may be changed: the Application is then
	// what the other class makes of it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +optional
	ClassName string `json:"className,omitempty"`

	// Container image of the application, with a tag or digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// When the kubelet pulls the image. Kubernetes' default: Always for the tag latest, else
	// IfNotPresent.
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
	// Atomic, because the order of the words is their meaning.
	// +listType=atomic
	// +optional
	Command []string `json:"command,omitempty"`

	// Arguments to the entrypoint, instead of the image's.
	// Atomic, because the order of the words is their meaning.
	// +listType=atomic
	// +optional
	Args []string `json:"args,omitempty"`

	// Working directory of the container, instead of the image's.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`

	// Ports on which the application listens. The first is the primary one: probes and routes
	// that name no port mean it. Without ports the application is a worker and gets no Service.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Ports []ApplicationPort `json:"ports,omitempty"`

	// Environment variables of the application container.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// ConfigMaps and Secrets whose keys become environment variables.
	// Atomic, because of two sources with the same key the later one wins.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// Files that the Application itself carries. They are kept in a ConfigMap of the
	// Application and mounted read-only; a change rolls the pods.
	// +optional
	Config *Config `json:"config,omitempty"`

	// Further volumes of the application container, one source each.
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Mounts []Mount `json:"mounts,omitempty"`

	// What a change of a ConfigMap or Secret that env, envFrom or mounts refer to does: replace the
	// pods, once it has settled (Rollout), or nothing (Ignore). With Rollout, pods are not replaced
	// while one that is not optional is missing. Rollout puts a hash of the content on the pods. So
	// the change from Ignore to Rollout replaces them once, unless they have the hash of the present
	// content: nobody knows with which content they run. The change to Ignore replaces nothing.
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

	// Holds the other probes back until it has succeeded once.
	// +optional
	StartupProbe *Probe `json:"startupProbe,omitempty"`

	// Actions on start and stop of the container. Omitted while there are ports: a preStop sleep
	// of 5 seconds, so that endpoints drain before the process gets SIGTERM.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`

	// Seconds between SIGTERM (or preStop) and SIGKILL. Default 30.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Containers that run before the application. restartPolicy Always makes a native sidecar:
	// it starts before the application and runs as long.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`

	// Containers that run beside the application. They mount its volumes by name: tmp, config, and
	// for a mount the name that an error message tells.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Sidecars []corev1.Container `json:"sidecars,omitempty"`

	// Number of pods. Exclusive with autoscaling. Omitted, and no autoscaling: the number is not
	// managed; the Deployment starts with 1 and keeps what others set.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Scales the number of pods by metrics. Exclusive with replicas.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// How pods are replaced. Default: RollingUpdate with maxUnavailable 0 and maxSurge 25%; an
	// unset half keeps its default.
	// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type in ['RollingUpdate', 'Recreate']",message="strategy.type must be RollingUpdate or Recreate"
	// +kubebuilder:validation:XValidation:rule="!has(self.rollingUpdate) || !has(self.type) || self.type == 'RollingUpdate'",message="strategy.rollingUpdate needs type RollingUpdate"
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// Seconds that a new pod must stay ready before it counts as available. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// Seconds without progress after which a rollout counts as failed. Default 600. Must be more
	// than minReadySeconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// How many old revisions are kept, each as a ControllerRevision and as a ReplicaSet. Default 5.
	// The ControllerRevision that was healthy last always stays. Fewer ControllerRevisions stay if they exceed 1 MiB
	// together.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// Stops rollouts, as a Deployment's paused does; everything else is still kept.
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// What becomes of a rollout that misses progressDeadlineSeconds. Omitted: the policy Never.
	// +optional
	Rollback *Rollback `json:"rollback,omitempty"`

	// Whether the controller enforces the children (Enforce), only reports how they differ
	// (Observe), or leaves the Application and its children alone (Suspend), but for what
	// deletionPolicy asks for.
	// +kubebuilder:default=Enforce
	// +optional
	ReconcilePolicy ReconcilePolicy `json:"reconcilePolicy,omitempty"`

	// The Service in front of ports.
	// +optional
	Service *Service `json:"service,omitempty"`

	// How the application is reached from outside of the cluster. The first route takes the name
	// of the Application, further ones <application>-<route>. All routes together may have 512 paths,
	// counted under each hostname.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.map(route, size(route.hostnames) * (has(route.paths) ? size(route.paths) : 1)).sum() <= 512",message="the routes have more than 512 paths, counted under each hostname: use fewer, or several Applications"
	// +optional
	Routes []Route `json:"routes,omitempty"`

	// How many pods voluntary disruptions (a node drain) may take. Default Auto.
	// +optional
	DisruptionBudget *DisruptionBudget `json:"disruptionBudget,omitempty"`

	// Who may talk to the application, and to whom it may talk. Omitted: no NetworkPolicy.
	// Set, even empty: only what is listed, plus DNS, plus the route controllers for the ports
	// that have routes.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// The identity of the pods. Default: a ServiceAccount of the Application, without a token.
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
	// Atomic, because a toleration has no name.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Node and pod affinity.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// How the pods spread over the cluster. Omitted: a soft spread over nodes and zones. An empty
	// labelSelector means the Application's pods.
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// PriorityClass of the pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Has the application's metrics scraped, by a ServiceMonitor of the Prometheus Operator. Where the
	// cluster does not serve that API, the condition MonitoringReady says so, and all else works.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// Further labels and annotations of the pods.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// What becomes of the children when the Application is deleted: they go too (Delete), or stay
	// (Orphan). With Orphan they have no ownerReference, so that nothing deletes them with the
	// Application. It is honoured whatever reconcilePolicy says.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}
