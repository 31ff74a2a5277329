// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mutate writes what must be stored: the defaults, and the finalizer of deletionPolicy Orphan. It refuses
// nothing. The schema and the validating webhook refuse what it cannot decode, with better messages.
func (h *Handler) mutate(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	response := &admissionv1.AdmissionResponse{Allowed: true}
	subject, err := subjectOf(request)
	if err != nil || subject == nil {
		return response, err
	}
	operations, err := h.setDefaults(ctx, subject)
	if err != nil {
		return nil, err
	}
	operations = append(operations, ensureOrphanFinalizer(subject.new)...)
	if len(operations) == 0 {
		return response, nil
	}
	if response.Patch, err = json.Marshal(operations); err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	response.PatchType = new(admissionv1.PatchTypeJSONPatch)
	return response, nil
}

// setDefaults returns the operations that write the defaults of a spec. An update that leaves the spec
// alone, or turns a switch, gets none: taking off a finalizer rolls nothing out.
func (h *Handler) setDefaults(ctx context.Context, subject *subject) ([]operation, error) {
	if subject.changed != anything || len(subject.new.Spec) == 0 {
		return nil, nil
	}
	before, err := subject.new.application(h.codec.lenient)
	if err != nil {
		return nil, nil //nolint:nilerr // the schema refuses it, and says more
	}
	if tooLarge := before.FindExcess() != nil; tooLarge {
		return nil, nil // It is refused, so it needs no defaults.
	}
	after := before.DeepCopy()
	v1.SetDefaults(after)
	for _, set := range h.config.Defaulters {
		set(ctx, after)
	}
	return patchSpec(subject.new.Spec, &before.Spec, &after.Spec)
}

// patchSpec returns the operations that bring the difference between before and after into raw, the
// spec that before was decoded from.
func patchSpec(raw json.RawMessage, before, after *v1.ApplicationSpec) ([]operation, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return nil, nil
	}
	var trees [3]any
	for i, value := range []any{raw, before, after} {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode the spec: %w", err)
		}
		if err := utiljson.Unmarshal(data, &trees[i]); err != nil {
			return nil, fmt.Errorf("decode the spec: %w", err)
		}
	}
	return diff("/spec", trees[0], trees[1], trees[2]), nil
}
