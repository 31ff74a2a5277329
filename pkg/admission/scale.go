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

// replicasChanged lets scaling down through too: it exceeds no limit, but the sync may not apply it, and only a warning tells
// the user. A number of 0 is left out of the object, as is one that the Application lacks, so it counts as a change.
const replicasChanged = `!has(object.spec.replicas) || !has(oldObject.spec.replicas) || object.spec.replicas != oldObject.spec.replicas`

// scaleWebhook differs from that of Applications in its failure policy: scaling works while no controller answers, since
// scaling up is needed most in an outage. The sync applies the limit anyway; only the warnings are missing then.
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
		MatchConditions:         []admissionregistrationv1.MatchCondition{changed("replicas-changed", replicasChanged)},
	}
}

// validateScale refuses more replicas than the class allows, and warns of a number that is stored but has no effect, as for
// an update of the Application. An autoscaler has the warnings in its log at most. Everything but the numbers comes from the
// cache; an Application that is not cached yet is the sync's to judge.
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
	in := input{request: request, new: withReplicas(cached, updated.Spec.Replicas), old: cached}
	if cached.Spec.Replicas != nil || old.Spec.Replicas != 0 { // The API server shows a missing number as 0.
		in.old = withReplicas(cached, old.Spec.Replicas)
	}
	var judged verdict
	for _, rule := range []rule{h.scaled, h.keptConflict, h.missingClass, h.pinned, held} {
		if err := rule(ctx, in, &judged); err != nil {
			return nil, err
		}
	}
	return judged.response(request.Name), nil
}

// scaled applies the rules of the sync. A limit refuses what scaling adds, as in spec; what else is wrong was stored before.
func (h *Handler) scaled(ctx context.Context, in input, found *verdict) error {
	errs, err := h.config.Validate(ctx, in.new)
	if err != nil || len(errs) == 0 {
		return err
	}
	added, kept, err := h.splitExcess(ctx, errs, in)
	if err != nil {
		return err
	}
	if validation.OnlyExceedsClass(added) {
		found.errs = added
		return nil
	}
	found.warnings = notApplied(in, append(kept, added...))
	return nil
}

// withReplicas returns a copy; the cache owns the Application.
func withReplicas(application *v1.Application, replicas int32) *v1.Application {
	scaled := application.DeepCopy()
	scaled.Spec.Replicas = &replicas
	return scaled
}
