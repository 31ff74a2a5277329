// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/fairlead/pkg/generated/openapi"
)

func groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: "sessions.labs.fairlead.dev", Version: "v1"}
}

// Session is a visit to a server. It exists in the server's memory alone, and ends with the server.
type Session struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Minutes int `json:"minutes"`
}

// SessionList is what a list returns.
type SessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Session `json:"items"`
}

// copied and the next two are what deepcopy-gen writes for types with many fields.
func (s *Session) copied() *Session {
	c := &Session{TypeMeta: s.TypeMeta, Minutes: s.Minutes}
	s.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return c
}

// DeepCopyObject implements [runtime.Object].
func (s *Session) DeepCopyObject() runtime.Object { return s.copied() }

// DeepCopyObject implements [runtime.Object].
func (l *SessionList) DeepCopyObject() runtime.Object {
	c := &SessionList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].copied())
	}
	return c
}

// newScheme knows the types under their version and as internal ones: with one version, nothing is converted.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion(), &Session{}, &SessionList{})
	scheme.AddKnownTypes(schema.GroupVersion{Group: groupVersion().Group, Version: runtime.APIVersionInternal}, &Session{}, &SessionList{})
	metav1.AddToGroupVersion(scheme, groupVersion())
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // Status, and the kinds of discovery
	utilruntime.Must(scheme.SetVersionPriority(groupVersion()))
	return scheme
}

// OpenAPIModelName implements what the OpenAPI document asks of a type.
func (Session) OpenAPIModelName() string { return "dev.fairlead.labs.Session" }

// OpenAPIModelName implements what the OpenAPI document asks of a type.
func (SessionList) OpenAPIModelName() string { return "dev.fairlead.labs.SessionList" }

// definitions are what openapi-gen writes, for kubectl explain and server-side apply. Those of metav1 are Fairlead's.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := openapi.GetOpenAPIDefinitions(ref)
	object := common.OpenAPIDefinition{Schema: spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}}
	all[Session{}.OpenAPIModelName()], all[SessionList{}.OpenAPIModelName()] = object, object
	return all
}
