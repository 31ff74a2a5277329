// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// input is what every rule may look at.
type input struct {
	request *admissionv1.AdmissionRequest
	new     *v1.Application
	// old is what an update changes; nil for a create.
	old *v1.Application
}

// verdict is what the rules found: errors refuse the request, warnings go with it.
type verdict struct {
	errs     field.ErrorList
	warnings []string
}

// rule looks at one subject. An error of its own means that it could not find out.
type rule func(context.Context, input, *verdict) error

// validate refuses what cannot work or is not allowed. What was stored before is never held against
// an update that leaves it alone: an Application that a newer rule calls invalid can still get a label,
// lose a finalizer, and go.
func (h *Handler) validate(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	subject, err := subjectOf(request)
	if err != nil {
		return nil, err
	}
	if subject == nil {
		return &admissionv1.AdmissionResponse{Allowed: true}, nil
	}
	h.probes.saw(subject.new.Metadata.Labels[LabelProbe])
	in := input{request: request}
	var found verdict
	if in.new, err = subject.new.application(h.codec.strict); err != nil {
		return h.undecodable(subject, err), nil
	}
	rules := []rule{reservedLabels}
	switch {
	case !subject.specChanged:
		rules = append(rules, h.unchangedSpec)
	case in.new.FindExcess() != nil:
		rules = append(rules, h.spec) // It says so. The other rules would pay for what is too much.
	default:
		rules = append(rules, h.spec, h.routes, h.serviceAccount, h.references, ineffective)
	}
	if subject.old != nil {
		// What the old object has that cannot be decoded was not there, as far as the rules can tell.
		if in.old, err = subject.old.application(h.codec.lenient); err != nil {
			in.old = &v1.Application{ObjectMeta: subject.old.Metadata}
		}
	}
	for _, rule := range rules {
		if err := rule(ctx, in, &found); err != nil {
			return nil, err
		}
	}
	return found.response(in.new.Name), nil
}

// undecodable answers a spec that this version does not understand.
func (h *Handler) undecodable(subject *subject, err error) *admissionv1.AdmissionResponse {
	message := fmt.Sprintf("decode the spec: %v", err)
	if !subject.specChanged {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"the spec is not understood, as before: " + message}}
	}
	status := apierrors.NewBadRequest(message).ErrStatus
	return &admissionv1.AdmissionResponse{Result: &status}
}

func (v *verdict) response(name string) *admissionv1.AdmissionResponse {
	if len(v.errs) == 0 {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: v.warnings}
	}
	status := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind).GroupKind(), name, v.errs).ErrStatus
	return &admissionv1.AdmissionResponse{Result: &status, Warnings: v.warnings}
}

// reservedLabels keeps our labels off the Application itself, where somebody might take them for a
// statement of the controller. Those of podMetadata are the shared validation's.
func reservedLabels(_ context.Context, in input, found *verdict) error {
	path := field.NewPath("metadata", "labels")
	for _, key := range slices.Sorted(maps.Keys(in.new.Labels)) {
		if !strings.HasPrefix(key, v1.ReservedPrefix) || key == LabelProbe {
			continue
		}
		if in.old != nil {
			if value, had := in.old.Labels[key]; had && value == in.new.Labels[key] {
				continue
			}
		}
		found.errs = append(found.errs, field.Forbidden(path.Key(key), "labels with the prefix "+v1.ReservedPrefix+" are reserved for what Fairlead creates"))
	}
	return nil
}

// spec applies the rules that the sync applies too.
func (h *Handler) spec(ctx context.Context, in input, found *verdict) error {
	errs, err := h.config.Validate(ctx, in.new)
	found.errs = append(found.errs, errs...)
	return err
}

// unchangedSpec only says what is wrong: the update is about something else.
func (h *Handler) unchangedSpec(ctx context.Context, in input, found *verdict) error {
	errs, err := h.config.Validate(ctx, in.new)
	if len(errs) > 0 {
		more := ""
		if len(errs) > 1 {
			more = fmt.Sprintf(" (and %d more errors)", len(errs)-1)
		}
		found.warnings = append(found.warnings, "the spec was invalid before and is not applied: "+errs[0].Error()+more)
	}
	return err
}
