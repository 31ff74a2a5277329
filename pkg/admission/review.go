// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	apicodec "fairlead.dev/fairlead/pkg/codec"
)

// codec decodes reviews and the objects in them.
type codec struct {
	strict, lenient runtime.Decoder
}

func newCodec() (codec, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionv1.AddToScheme, autoscalingv1.AddToScheme, v1.Install} {
		if err := add(scheme); err != nil {
			return codec{}, fmt.Errorf("make the scheme of admission: %w", err)
		}
	}
	info, found := runtime.SerializerInfoForMediaType(serializer.NewCodecFactory(scheme).SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		return codec{}, errors.New("there is no serializer for " + runtime.ContentTypeJSON)
	}
	return codec{strict: apicodec.Guard(info.StrictSerializer), lenient: apicodec.Guard(info.Serializer)}, nil
}

// review decodes a request of the API server. Unknown fields are allowed: a newer API server may send some,
// and refusing them would refuse every Application after an upgrade of the cluster. The Application inside
// is decoded strictly (see application).
func (c codec) review(body []byte) (*admissionv1.AdmissionReview, error) {
	decoded, got, err := c.lenient.Decode(body, nil, &admissionv1.AdmissionReview{})
	if err != nil {
		return nil, fmt.Errorf("decode the review: %w", err)
	}
	review, ok := decoded.(*admissionv1.AdmissionReview)
	switch {
	case !ok || review.Kind == "" || review.APIVersion == "":
		return nil, fmt.Errorf("the review must say that it is an AdmissionReview of %s, and is taken for a %s of %s", admissionv1.SchemeGroupVersion, got.Kind, got.GroupVersion())
	case review.Request == nil:
		return nil, errors.New("the review has no request")
	case review.Request.UID == "":
		return nil, errors.New("the request has no uid")
	}
	return review, nil
}

// object is an Application of a request whose spec has not been decoded.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     json.RawMessage   `json:"spec"`
	Status   json.RawMessage   `json:"status"`
}

// status is the part of the status that rules look at: which class was applied, how many pods there are, and whether they are those of the spec.
func (o object) status() v1.ApplicationStatus {
	var status struct {
		Class           *v1.AppliedClass   `json:"class"`
		Revision        *v1.RevisionStatus `json:"revision"`
		DesiredReplicas int32              `json:"desiredReplicas"`
		Replicas        int32              `json:"replicas"`
		UpdatedReplicas int32              `json:"updatedReplicas"`
		ReadyReplicas   int32              `json:"readyReplicas"`
		Conditions      []metav1.Condition `json:"conditions"`
	}
	if json.Unmarshal(o.Status, &status) != nil {
		return v1.ApplicationStatus{}
	}
	return v1.ApplicationStatus{
		Class: status.Class, Revision: status.Revision, Conditions: status.Conditions,
		DesiredReplicas: status.DesiredReplicas, Replicas: status.Replicas, UpdatedReplicas: status.UpdatedReplicas, ReadyReplicas: status.ReadyReplicas,
	}
}

func parse(raw runtime.RawExtension) (object, error) {
	var o object
	if err := json.Unmarshal(raw.Raw, &o); err != nil {
		return object{}, fmt.Errorf("decode the object: %w", err)
	}
	return o, nil
}

// application decodes the spec. With a strict decoder an unknown field is an error: the schema knows it,
// since the API server has not dropped it, but this version of the controller would ignore it. Of the
// status only few fields count, so that the rest cannot fail an edit of the spec.
func (o object) application(decoder runtime.Decoder) (*v1.Application, error) {
	spec := o.Spec
	if len(spec) == 0 {
		spec = json.RawMessage("{}")
	}
	data, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Spec            json.RawMessage `json:"spec"`
	}{metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationKind}, spec})
	if err != nil {
		return nil, fmt.Errorf("encode the spec: %w", err)
	}
	application := &v1.Application{}
	if _, _, err := decoder.Decode(data, nil, application); err != nil {
		return nil, err
	}
	application.ObjectMeta, application.Status = o.Metadata, o.status()
	return application, nil
}

// extent is how much of the spec a request changes.
type extent int

const (
	// nothing: the request is about labels, finalizers and the like.
	nothing extent = iota
	// switches: only the fields that stop Fairlead, or let it continue: see switchFields. A user can always
	// turn them, whatever else is wrong.
	switches
	// anything: other fields too, or the Application is new.
	anything
)

// switchFields let a user stop rollouts, stop Fairlead altogether, and keep the children.
var switchFields = []string{"paused", "reconcilePolicy", "deletionPolicy"}

// compareSpecs compares two specs without understanding them.
func compareSpecs(a, b object) extent {
	if bytes.Equal(a.Spec, b.Spec) {
		return nothing
	}
	var before, after map[string]any
	switch {
	case utiljson.Unmarshal(a.Spec, &before) != nil, utiljson.Unmarshal(b.Spec, &after) != nil:
		return anything
	case reflect.DeepEqual(before, after):
		return nothing
	}
	for _, name := range switchFields {
		delete(before, name)
		delete(after, name)
	}
	if reflect.DeepEqual(before, after) {
		return switches
	}
	return anything
}

// subject is what a request is about.
type subject struct {
	new object
	// old is what an update changes; nil for a create.
	old     *object
	changed extent
}

// subjectOf returns nil for a request that is not about the Application itself, or about one that is being deleted:
// both are allowed. The configurations do not match such requests, but another configuration may.
func subjectOf(request *admissionv1.AdmissionRequest) (*subject, error) {
	concerned := request.Operation == admissionv1.Create || request.Operation == admissionv1.Update
	if !concerned || request.SubResource != "" {
		return nil, nil
	}
	if kind := request.Kind; kind.Group != v1.GroupName || kind.Version != v1.SchemeGroupVersion.Version || kind.Kind != v1.ApplicationKind {
		return nil, fmt.Errorf("the request is about a %s, and this webhook knows %s of %s only", kind, v1.ApplicationKind, v1.SchemeGroupVersion)
	}
	updated, err := parse(request.Object)
	if err != nil {
		return nil, err
	}
	if updated.Metadata.DeletionTimestamp != nil {
		return nil, nil
	}
	switch updated.Metadata.Namespace {
	case request.Namespace:
	case "":
		updated.Metadata.Namespace = request.Namespace
	default:
		// An API server never sends that. The answer to another client must not tell about a third namespace.
		return nil, fmt.Errorf("metadata.namespace is %q and must be the request's namespace, %q", updated.Metadata.Namespace, request.Namespace)
	}
	s := &subject{new: updated, changed: anything}
	if request.Operation == admissionv1.Update {
		old, err := parse(request.OldObject)
		if err != nil {
			return nil, fmt.Errorf("oldObject: %w", err)
		}
		s.old, s.changed = &old, compareSpecs(old, updated)
	}
	return s, nil
}
