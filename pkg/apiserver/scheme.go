// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// fieldReady is a selectable field beside metadata.name and metadata.namespace.
const fieldReady = "ready"

// newScheme returns the scheme of the server. There is one version, so its types are the internal ones too, and no
// conversion changes anything.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.Install(scheme))
	internal := schema.GroupVersion{Group: v1alpha1.GroupName, Version: runtime.APIVersionInternal}
	for kind := range scheme.KnownTypes(v1alpha1.SchemeGroupVersion) {
		object, err := scheme.New(v1alpha1.SchemeGroupVersion.WithKind(kind))
		utilruntime.Must(err)
		if _, ours := object.(metav1.Object); ours || kind == "ApplicationRuntimeList" {
			scheme.AddKnownTypes(internal, object)
		}
	}
	// Status and the kinds of discovery.
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(scheme.AddConversionFunc((*url.Values)(nil), (*v1alpha1.ApplicationLogOptions)(nil), convertLogOptions))
	utilruntime.Must(scheme.AddConversionFunc((*url.Values)(nil), (*v1alpha1.ApplicationExecOptions)(nil), convertExecOptions))
	utilruntime.Must(scheme.AddConversionFunc((*url.Values)(nil), (*v1alpha1.ApplicationPortForwardOptions)(nil), convertPortForwardOptions))
	utilruntime.Must(scheme.AddFieldLabelConversionFunc(v1alpha1.SchemeGroupVersion.WithKind("ApplicationRuntime"), selectableField))
	return scheme
}

func selectableField(label, value string) (string, string, error) {
	switch label {
	case "metadata.name", "metadata.namespace", fieldReady:
		return label, value, nil
	default:
		return "", "", fmt.Errorf("field label not supported: %s; select by metadata.name, metadata.namespace or %s", label, fieldReady)
	}
}
