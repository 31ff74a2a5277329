// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

const (
	// ValidateScalePath is about the scale subresource of Applications.
	ValidateScalePath = "/validate/applications/scale"
	// ValidatingScaleWebhookName names its webhook.
	ValidatingScaleWebhookName = "validate.scale.applications.apps.fairlead.dev"
)

// scaledUp spares the calls for scaling down, which exceeds no limit. A number of 0 is left out of the object.
const scaledUp = `has(object.spec.replicas) && (!has(oldObject.spec.replicas) || object.spec.replicas > oldObject.spec.replicas)`

// scaleWebhook differs from that of Applications in its failure policy: scaling up works while no controller answers,
// since it is needed most in an outage. The sync applies the limit anyway.
func scaleWebhook(endpoint Endpoint, operatorNamespace string) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    ValidatingScaleWebhookName,
		AdmissionReviewVersions: []string{"v1"},
		ClientConfig:            endpoint.clientConfig(ValidateScalePath),
		Rules:                   rules(v1.ApplicationResource+"/scale", admissionregistrationv1.Update),
		FailurePolicy:           new(admissionregistrationv1.Ignore),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(TimeoutSeconds)),
		NamespaceSelector:       otherNamespaces(operatorNamespace),
		ObjectSelector:          &metav1.LabelSelector{},
		MatchConditions:         []admissionregistrationv1.MatchCondition{changed("scaled-up", scaledUp)},
	}
}

// validateScale refuses more replicas than the class allows, as an update of the Application would. Everything but the
// numbers comes from the cache; an Application that is not cached yet is the sync's to judge.
func (h *Handler) validateScale(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	allowed := &admissionv1.AdmissionResponse{Allowed: true}
	if h.config.Classes == nil || request.Operation != admissionv1.Update || request.SubResource != "scale" {
		return allowed, nil
	}
	var updated, old autoscalingv1.Scale
	if _, _, err := h.codec.lenient.Decode(request.Object.Raw, nil, &updated); err != nil {
		return nil, fmt.Errorf("decode the scale: %w", err)
	}
	if _, _, err := h.codec.lenient.Decode(request.OldObject.Raw, nil, &old); err != nil {
		return nil, fmt.Errorf("decode oldObject: %w", err)
	}
	cached, found, err := h.config.Classes.Application(cache.ObjectName{Namespace: request.Namespace, Name: request.Name})
	if err != nil || !found {
		return allowed, err
	}
	errs, err := h.config.Validate(ctx, withReplicas(cached, updated.Spec.Replicas))
	if err != nil || !validation.OnlyExceedsClass(errs) {
		return allowed, err
	}
	added, _, err := h.splitExcess(ctx, errs, withReplicas(cached, old.Spec.Replicas))
	if err != nil {
		return nil, err
	}
	return (&verdict{errs: added}).response(request.Name), nil
}

// withReplicas returns a copy; the cache owns the Application.
func withReplicas(application *v1.Application, replicas int32) *v1.Application {
	scaled := application.DeepCopy()
	scaled.Spec.Replicas = &replicas
	return scaled
}
