// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The names of the two webhook configurations: both kinds have the same.
const (
	// ConfigurationName is that of the installed controller.
	ConfigurationName = "fairlead"
	// OutOfClusterConfigurationName is that of a controller which registers itself by URL.
	OutOfClusterConfigurationName = "fairlead-out-of-cluster"
	// probeConfigurationName is the one by which such a controller finds out whether the API server reaches it.
	probeConfigurationName = OutOfClusterConfigurationName + "-probe"
)

// The names of the webhooks inside of the configurations.
const (
	MutatingWebhookName   = "mutate.applications.apps.fairlead.dev"
	ValidatingWebhookName = "validate.applications.apps.fairlead.dev"
)

// TimeoutSeconds is how long the API server waits for an answer.
const TimeoutSeconds = 5

// Endpoint is where the API server finds the webhooks: through a Service, or by URL.
type Endpoint struct {
	// Service in the cluster; its Path is set here. Exclusive with URL.
	Service *admissionregistrationv1.ServiceReference
	// URL is https://host:port, without a path.
	URL string
	// CABundle has the certificates, in PEM, that verify the server's. Empty: the controller or
	// cert-manager writes them later.
	CABundle []byte
}

// Configurations returns the two objects that make the API server call the webhooks. The manifests are
// generated from them.
//
// Of Applications only these themselves are matched, when they are created or changed, and their scale when it
// changes; not their status. Neither a deletion nor the controller ever waits for a webhook. The operator's own
// namespace is left out, so that nothing there depends on the operator.
func Configurations(name string, endpoint Endpoint, operatorNamespace string) (*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration) {
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    MutatingWebhookName,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            endpoint.clientConfig(MutatePath),
			Rules:                   rules(v1.ApplicationResource, admissionregistrationv1.Create, admissionregistrationv1.Update),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			MatchPolicy:             new(admissionregistrationv1.Equivalent),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(TimeoutSeconds)),
			NamespaceSelector:       otherNamespaces(operatorNamespace),
			ObjectSelector:          &metav1.LabelSelector{},
			// Another webhook may write a host name after us. Asking again is cheap and changes nothing.
			ReinvocationPolicy: new(admissionregistrationv1.IfNeededReinvocationPolicy),
			MatchConditions:    []admissionregistrationv1.MatchCondition{notDeleted(), changed("spec-changed", specChanged)},
		}},
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    ValidatingWebhookName,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            endpoint.clientConfig(ValidatePath),
			Rules:                   rules(v1.ApplicationResource, admissionregistrationv1.Create, admissionregistrationv1.Update),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			MatchPolicy:             new(admissionregistrationv1.Equivalent),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(TimeoutSeconds)),
			NamespaceSelector:       otherNamespaces(operatorNamespace),
			ObjectSelector:          &metav1.LabelSelector{},
			MatchConditions:         []admissionregistrationv1.MatchCondition{notDeleted(), changed("spec-or-labels-changed", specChanged+" || "+labelsChanged)},
		}, classWebhook(endpoint), scaleWebhook(endpoint, operatorNamespace)},
	}
	return mutating, validating
}

func (e Endpoint) clientConfig(path string) admissionregistrationv1.WebhookClientConfig {
	config := admissionregistrationv1.WebhookClientConfig{CABundle: e.CABundle}
	if e.Service != nil {
		service := *e.Service
		service.Path = &path
		config.Service = &service
		return config
	}
	config.URL = new(e.URL + path)
	return config
}

// rules match operations on a resource of the namespaces.
func rules(resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups:   []string{v1.GroupName},
			APIVersions: []string{v1.SchemeGroupVersion.Version},
			Resources:   []string{resource},
			Scope:       new(admissionregistrationv1.NamespacedScope),
		},
	}}
}

// otherNamespaces are all but the operator's; a controller outside of the cluster has none.
func otherNamespaces(operatorNamespace string) *metav1.LabelSelector {
	if operatorNamespace == "" {
		return &metav1.LabelSelector{}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{operatorNamespace},
	}}}
}

// The conditions save calls, above all for what controllers write: finalizers, annotations, owners. A
// condition that fails refuses the request, so each checks that a field exists before it reads it. The
// schema refuses a missing spec.
const (
	specChanged   = `oldObject == null || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec`
	labelsChanged = `has(object.metadata.labels) && (!has(oldObject.metadata.labels) || object.metadata.labels != oldObject.metadata.labels)`
)

func notDeleted() admissionregistrationv1.MatchCondition {
	return admissionregistrationv1.MatchCondition{Name: "not-being-deleted", Expression: `!has(object.metadata.deletionTimestamp)`}
}

func changed(name, expression string) admissionregistrationv1.MatchCondition {
	return admissionregistrationv1.MatchCondition{Name: name, Expression: expression}
}
