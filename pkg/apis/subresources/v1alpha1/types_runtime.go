// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplicationRuntime is how an Application runs at this moment: its pods by state, their restarts, the oldest
// problem, and the CPU and memory that they use. It is computed from caches and never stored.
//
// Name, namespace, labels, uid, generation and creationTimestamp are those of the Application. The resourceVersion is
// a position in the history of the server process that answers. You may start a watch from it; another
// process answers such a watch with 410, as after a compaction, and the client lists again. It is no
// version of the Application.
//
// +genclient
// +genclient:onlyVerbs=get,list,watch
// +genclient:noStatus
// +genclient:method=GetTree,verb=get,subresource=tree,result=ApplicationTree
// +genclient:method=GetTimeline,verb=get,subresource=timeline,result=ApplicationTimeline
// +genclient:method=Restart,verb=create,subresource=restart,input=RestartOptions,result=RestartOptions
// +genclient:method=Rollback,verb=create,subresource=rollback,input=RollbackOptions,result=RollbackOptions
// +genclient:method=Pause,verb=create,subresource=pause,input=PauseOptions,result=PauseOptions
// +genclient:method=Resume,verb=create,subresource=resume,input=ResumeOptions,result=ResumeOptions
// +genclient:method=Render,verb=create,subresource=render,input=RenderOptions,result=ApplicationRendering
// +resourceName=applications
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationRuntime struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata of the Application, with a resourceVersion of this view.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The Application's condition Ready: True, False or Unknown.
	// +optional
	Ready metav1.ConditionStatus `json:"ready,omitempty" protobuf:"bytes,2,opt,name=ready,casttype=k8s.io/apimachinery/pkg/apis/meta/v1.ConditionStatus"`

	// The reason of the condition Ready.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,3,opt,name=reason"`

	// The message of the condition Ready.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,4,opt,name=message"`

	// The running image.
	// +optional
	Image string `json:"image,omitempty" protobuf:"bytes,5,opt,name=image"`

	// The pods by state. Each pod counts once.
	Pods PodCounts `json:"pods" protobuf:"bytes,6,opt,name=pods"`

	// Restarts of all containers of the pods that exist.
	// +optional
	Restarts int32 `json:"restarts,omitempty" protobuf:"varint,7,opt,name=restarts"`

	// The problem that has lasted longest, of the pods that do not serve.
	// +optional
	OldestProblem *PodProblem `json:"oldestProblem,omitempty" protobuf:"bytes,8,opt,name=oldestProblem"`

	// CPU of all pods.
	CPU ResourceUse `json:"cpu" protobuf:"bytes,9,opt,name=cpu"`

	// Memory of all pods.
	Memory ResourceUse `json:"memory" protobuf:"bytes,10,opt,name=memory"`
}

// ApplicationRuntimeList is a list of ApplicationRuntimes.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	Items []ApplicationRuntime `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// PodCounts are numbers of pods.
type PodCounts struct {
	// The number that the Application asks for.
	// +optional
	Desired int32 `json:"desired,omitempty" protobuf:"varint,1,opt,name=desired"`

	// Ready pods.
	// +optional
	Ready int32 `json:"ready,omitempty" protobuf:"varint,2,opt,name=ready"`

	// Pods that run without being ready.
	// +optional
	NotReady int32 `json:"notReady,omitempty" protobuf:"varint,3,opt,name=notReady"`

	// Pods that wait for a node, or whose containers have not started.
	// +optional
	Pending int32 `json:"pending,omitempty" protobuf:"varint,4,opt,name=pending"`

	// Pods that ended, such as evicted ones.
	// +optional
	Ended int32 `json:"ended,omitempty" protobuf:"varint,5,opt,name=ended"`

	// Pods that are being deleted.
	// +optional
	Terminating int32 `json:"terminating,omitempty" protobuf:"varint,6,opt,name=terminating"`
}

// PodProblem is why one pod does not serve.
type PodProblem struct {
	// The reason, as in the Application's status.problems.
	Reason string `json:"reason" protobuf:"bytes,1,opt,name=reason"`

	// What the kubelet, the registry or the scheduler says.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`

	// The pod.
	Pod string `json:"pod" protobuf:"bytes,3,opt,name=pod"`

	// The container, if the problem is about one.
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,4,opt,name=container"`

	// Since when the pod has not been ready.
	Since metav1.Time `json:"since" protobuf:"bytes,5,opt,name=since"`
}

// ResourceUse compares what pods requested with what they use.
type ResourceUse struct {
	// The sum of the containers' requests.
	// +optional
	Requested *resource.Quantity `json:"requested,omitempty" protobuf:"bytes,1,opt,name=requested"`

	// The sum of what the containers use, by the metrics API; absent if the cluster does not serve that, or has no
	// measurement yet.
	// +optional
	Used *resource.Quantity `json:"used,omitempty" protobuf:"bytes,2,opt,name=used"`
}
