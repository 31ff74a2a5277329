// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ApplicationPort is one port on which the application listens.
type ApplicationPort struct {
	// Name of the port, an IANA service name, e.g. http.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('[a-zA-Z]')",message="a port name needs at least one letter, such as http"
	// +kubebuilder:validation:XValidation:rule="!self.contains('--')",message="a port name cannot contain --: write a single -"
	Name string `json:"name"`

	// Port of the container.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ContainerPort int32 `json:"containerPort"`

	// Port of the Service. Default: containerPort.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	ServicePort *int32 `json:"servicePort,omitempty"`

	// Name of the port in the Service, if it must differ from name, the default: for example because clients know it by
	// another one. It may be empty if the Application has a single port. If it is set, Ingresses refer to the port by its number.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	ServicePortName *string `json:"servicePortName,omitempty"`

	// Transport protocol. Default TCP.
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// Application protocol as Services know it, e.g. http or kubernetes.io/h2c.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	AppProtocol *string `json:"appProtocol,omitempty"`
}

// Config are files that the Application itself carries.
type Config struct {
	// Absolute path of the directory in which the files appear.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^:]+$`
	MountPath string `json:"mountPath"`

	// File name to content. All together at most 256 KiB.
	// +mapType=granular
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.map(name, size(name) + size(self[name])).sum() <= 262144",message="file names and contents have more than 262144 bytes together: use a ConfigMap or volume of your own",messageExpression="'file names and contents have %d bytes together, more than 262144: use a ConfigMap or volume of your own'.format([self.map(name, size(name) + size(self[name])).sum()])"
	Data map[string]string `json:"data"`
}

// Mount is a path in the container, and what appears there: exactly one of the other fields.
//
// +kubebuilder:validation:XValidation:rule="[has(self.secret), has(self.configMap), has(self.emptyDir), has(self.persistentVolumeClaim), has(self.projected)].filter(x, x).size() == 1",message="exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set",messageExpression="has(self.secret) || has(self.configMap) || has(self.emptyDir) || has(self.persistentVolumeClaim) || has(self.projected) ? 'exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set: keep one of %s'.format([(has(self.secret) ? ['secret'] : []) + (has(self.configMap) ? ['configMap'] : []) + (has(self.emptyDir) ? ['emptyDir'] : []) + (has(self.persistentVolumeClaim) ? ['persistentVolumeClaim'] : []) + (has(self.projected) ? ['projected'] : [])]) : 'exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set, and none is'"
type Mount struct {
	// Absolute path in the container.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^:]+$`
	MountPath string `json:"mountPath"`

	// Path inside the volume, instead of its root.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	SubPath string `json:"subPath,omitempty"`

	// Mounts read-only. Default: true for secret, configMap and projected, else false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`

	// A Secret of this namespace.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// A ConfigMap of this namespace.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// A directory that lives as long as the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// A PersistentVolumeClaim of this namespace.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`

	// Several sources in one directory.
	// +optional
	Projected *corev1.ProjectedVolumeSource `json:"projected,omitempty"`
}

// Probe is corev1.Probe, with the port optional: it defaults to the primary port, and a path
// gets its leading slash. Times are in seconds.
//
// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].filter(x, x).size() == 1",message="exactly one of exec, httpGet, tcpSocket, grpc must be set",messageExpression="has(self.exec) || has(self.httpGet) || has(self.tcpSocket) || has(self.grpc) ? 'exactly one of exec, httpGet, tcpSocket, grpc must be set: keep one of %s'.format([(has(self.exec) ? ['exec'] : []) + (has(self.httpGet) ? ['httpGet'] : []) + (has(self.tcpSocket) ? ['tcpSocket'] : []) + (has(self.grpc) ? ['grpc'] : [])]) : 'exactly one of exec, httpGet, tcpSocket, grpc must be set, and none is'"
type Probe struct {
	// Succeeds when the command exits with 0.
	// +optional
	Exec *corev1.ExecAction `json:"exec,omitempty"`

	// Succeeds when the answer's status is at least 200 and below 400.
	// +optional
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`

	// Succeeds when a connection can be opened.
	// +optional
	TCPSocket *TCPSocketAction `json:"tcpSocket,omitempty"`

	// Succeeds when the gRPC health service answers SERVING.
	// +optional
	GRPC *GRPCAction `json:"grpc,omitempty"`

	// Seconds to wait before the first probe. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +optional
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// Seconds after which a probe counts as failed. Default 1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// Seconds between probes. Default 10.
	// +kubebuilder:validation:Minimum=1
	// +optional
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// Successes in a row that make it succeed. Default 1; must be 1 for liveness and startup.
	// +kubebuilder:validation:Minimum=1
	// +optional
	SuccessThreshold *int32 `json:"successThreshold,omitempty"`

	// Failures in a row that make it fail. Default 3.
	// +kubebuilder:validation:Minimum=1
	// +optional
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`

	// Seconds between SIGTERM and SIGKILL when this probe fails, instead of the pod's. Not for
	// readiness.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// HTTPGetAction is corev1.HTTPGetAction with the port optional.
type HTTPGetAction struct {
	// Path of the request. Default /.
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Path string `json:"path,omitempty"`

	// Name or number of the container's port. Default: the primary port.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`

	// Host to connect to, and of the header Host. Default: the pod's address.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Host string `json:"host,omitempty"`

	// Scheme of the request. Default HTTP.
	// +kubebuilder:validation:Enum=HTTP;HTTPS
	// +optional
	Scheme corev1.URIScheme `json:"scheme,omitempty"`

	// Headers of the request.
	// An apply replaces the list as a whole, because a header may be repeated.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	HTTPHeaders []corev1.HTTPHeader `json:"httpHeaders,omitempty"`
}

// TCPSocketAction is corev1.TCPSocketAction with the port optional.
type TCPSocketAction struct {
	// Name or number of the container's port. Default: the primary port.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`

	// Host to connect to. Default: the pod's address.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Host string `json:"host,omitempty"`
}

// GRPCAction is corev1.GRPCAction with the port optional.
type GRPCAction struct {
	// Number of the container's port. Default: the primary port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Service name in the health check's request. Default empty: the server as a whole.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Service *string `json:"service,omitempty"`
}
