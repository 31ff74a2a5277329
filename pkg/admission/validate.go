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
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
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
// lose a finalizer, be stopped, and go.
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
	case subject.changed == nothing:
		rules = append(rules, h.storedErrors, h.keptConflict)
	case subject.changed == switches:
		rules = append(rules, h.storedErrors, h.keptConflict, h.serviceAccount)
	case in.new.FindExcess() != nil:
		rules = append(rules, h.spec) // It reports the excess. The other rules would pay for it.
	default:
		rules = append(rules, h.spec, h.routes, h.keptConflict, h.heldRoutes, h.serviceAccount, h.adoption, h.missingClass, h.droppedDefaults, h.otherDefaults, h.pinned,
			held, renamedPorts, h.removedPorts, h.foreignChildren, h.references, h.unserved, h.spreads, h.requests, h.ineffective)
	}
	if subject.old != nil {
		// For the rules, what cannot be decoded of the old object was not there.
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

// undecodable responds to a spec that this version does not understand.
func (h *Handler) undecodable(subject *subject, err error) *admissionv1.AdmissionResponse {
	message := fmt.Sprintf("decode the spec: %v", err)
	if subject.changed == nothing {
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

// reservedLabels keeps our labels off the Application itself, where a reader might think that the controller set
// them. The shared validation checks those of podMetadata.
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

// spec applies the rules that the sync applies too. What exceeds a limit of the class already does not refuse an update
// that is about something else: the platform may have tightened the class since, or taken it from the namespace.
func (h *Handler) spec(ctx context.Context, in input, found *verdict) error {
	errs, err := h.config.Validate(ctx, in.new)
	if err != nil || len(errs) == 0 {
		return err
	}
	added, kept, err := h.splitExcess(ctx, errs, in)
	if len(added) > 0 {
		found.errs = append(found.errs, added...)
	} else {
		found.warnings = append(found.warnings, notApplied(in, kept)...)
	}
	return err
}

// splitExcess splits the errors of an update: see validation.SplitExcess. Only an update with errors pays for the
// second validation.
func (h *Handler) splitExcess(ctx context.Context, errs field.ErrorList, in input) (added, kept field.ErrorList, err error) {
	switch {
	case in.old == nil:
		return errs, nil, nil
	case class.OnlyNotSelected(errs) && in.new.Spec.ClassName == in.old.Spec.ClassName && hadClass(in.old):
		added, err := h.addedInClass(ctx, in)
		return added, errs, err
	case !validation.OnlyExceedsClass(errs):
		return errs, nil, nil
	}
	stored, err := h.config.Validate(ctx, in.old)
	if err != nil {
		return nil, nil, err
	}
	added, kept = validation.SplitExcess(errs, stored)
	return added, kept, nil
}

// hadClass reports whether the class that the Application names was applied to it once. Errors about the rules of another class would tell
// its author what these are.
func hadClass(application *v1.Application) bool {
	applied := application.Status.Class
	return applied != nil && applied.Name == application.Spec.ClassName
}

// addedInClass returns the errors that an update adds under a class that does not select the namespace any more. They are
// those that it would add if the class still did.
func (h *Handler) addedInClass(ctx context.Context, in input) (field.ErrorList, error) {
	rules, err := h.config.classRules(ctx, in.new.Namespace)
	if err != nil {
		return nil, err
	}
	rules = rules.Selecting(in.new.Spec.ClassName)
	updated, _ := class.Resolve(in.new, rules).Validate(h.config.Validation)
	stored, _ := class.Resolve(in.old, rules).Validate(h.config.Validation)
	added, _ := validation.SplitExcess(updated, stored)
	return added, nil
}

// storedErrors only warns of what is wrong with the spec, or with the revision that it names: the update does not touch them.
func (h *Handler) storedErrors(ctx context.Context, in input, found *verdict) error {
	errs, err := h.config.Validate(ctx, in.new)
	if err == nil && len(errs) == 0 && toRevision(in.new) > 0 {
		if revisions, known := h.revisions(ctx, in.new); known {
			errs, err = h.pinnedErrors(ctx, in.new, revisions)
		}
	}
	found.warnings = append(found.warnings, notApplied(in, errs)...)
	return err
}

// notApplied warns that the sync refuses the spec, although the request was accepted.
func notApplied(in input, errs field.ErrorList) []string {
	if len(errs) == 0 {
		return nil
	}
	warning := "the spec is stored, but not applied until this is fixed: "
	switch fields := appliedAnyway(in); len(fields) {
	case 1:
		warning = fields[0] + " takes effect at once. The rest of " + warning
	case 2:
		warning = strings.Join(fields, " and ") + " take effect at once. The rest of " + warning
	}
	warning += errs[0].Error()
	if more := len(errs) - 1; more > 0 {
		warning += fmt.Sprintf(" (and %d more)", more)
	}
	return []string{warning}
}

// appliedAnyway names the fields that an update changes and that the sync heeds before it looks at the rest of the spec.
func appliedAnyway(in input) []string {
	if in.old == nil {
		return nil
	}
	var fields []string
	if in.new.Spec.ReconcilePolicy == v1.ReconcileSuspend && in.old.Spec.ReconcilePolicy != v1.ReconcileSuspend {
		fields = append(fields, "spec.reconcilePolicy")
	}
	if (in.old.Spec.DeletionPolicy == v1.DeletionOrphan) != (in.new.Spec.DeletionPolicy == v1.DeletionOrphan) {
		fields = append(fields, "spec.deletionPolicy")
	}
	return fields
}
