// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplicationTimeline is what the controller did for an Application, and why, as its leader has recorded it. A recorder
// forgets: it keeps the newest events only, and a new leader begins empty.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ApplicationTimeline struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata of the Application. The resourceVersion is the sequence of the newest event.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// The run of the controller that recorded. Sequences of different instances have nothing to do with each other.
	Instance string `json:"instance" protobuf:"bytes,2,opt,name=instance"`

	// Older events were dropped.
	// +optional
	Truncated bool `json:"truncated,omitempty" protobuf:"varint,3,opt,name=truncated"`

	// The events, oldest first. An object of a watch has only the new ones.
	// +listType=atomic
	Events []TimelineEvent `json:"events" protobuf:"bytes,4,rep,name=events"`
}

// TimelineEvent is one thing that happened. It has names, reasons and paths of fields, and no values.
type TimelineEvent struct {
	// Number of the event. It has gaps.
	Sequence int64 `json:"sequence" protobuf:"varint,1,opt,name=sequence"`

	// When it happened.
	Time metav1.MicroTime `json:"time" protobuf:"bytes,2,opt,name=time"`

	// The stage, as in the live view: watch, handler, queue, worker, observe, consistency, render, plan, apply, status or outcome.
	Stage string `json:"stage" protobuf:"bytes,3,opt,name=stage"`

	// What happened, in one word.
	Type string `json:"type" protobuf:"bytes,4,opt,name=type"`

	// Sequence of the beginning of the sync that the event belongs to.
	// +optional
	Sync int64 `json:"sync,omitempty" protobuf:"varint,5,opt,name=sync"`

	// Resource of the object that it is about, with its group.
	// +optional
	Resource string `json:"resource,omitempty" protobuf:"bytes,6,opt,name=resource"`

	// Name of the object that it is about. Its namespace is the Application's.
	// +optional
	Object string `json:"object,omitempty" protobuf:"bytes,7,opt,name=object"`

	// Why.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,8,opt,name=reason"`

	// How it ended.
	// +optional
	Result string `json:"result,omitempty" protobuf:"bytes,9,opt,name=result"`

	// Why it failed.
	// +optional
	Error string `json:"error,omitempty" protobuf:"bytes,10,opt,name=error"`

	// Paths of the fields that changed or differ.
	// +optional
	// +listType=atomic
	Fields []string `json:"fields,omitempty" protobuf:"bytes,11,rep,name=fields"`

	// Verb of a request.
	// +optional
	Verb string `json:"verb,omitempty" protobuf:"bytes,12,opt,name=verb"`

	// HTTP status of its answer.
	// +optional
	Code int32 `json:"code,omitempty" protobuf:"varint,13,opt,name=code"`

	// A number of objects or steps.
	// +optional
	Count int32 `json:"count,omitempty" protobuf:"varint,14,opt,name=count"`

	// Consecutive failures of the Application's sync.
	// +optional
	Failures int32 `json:"failures,omitempty" protobuf:"varint,15,opt,name=failures"`

	// How long it took, in microseconds.
	// +optional
	Microseconds int64 `json:"microseconds,omitempty" protobuf:"varint,16,opt,name=microseconds"`

	// When the sync returns.
	// +optional
	Due *metav1.MicroTime `json:"due,omitempty" protobuf:"bytes,17,opt,name=due"`
}
