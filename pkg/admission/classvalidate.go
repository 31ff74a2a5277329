// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
)

const (
	// ValidateClassPath is about ApplicationClasses.
	ValidateClassPath = "/validate/applicationclasses"
	// ValidatingClassWebhookName names its webhook.
	ValidatingClassWebhookName = "validate.applicationclasses.apps.fairlead.dev"
)

// classWebhook is the only one that a deletion waits for: an Application can be deleted while the webhooks are
// down.
func classWebhook(endpoint Endpoint) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    ValidatingClassWebhookName,
		AdmissionReviewVersions: []string{"v1"},
		ClientConfig:            endpoint.clientConfig(ValidateClassPath),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete},
			Rule: admissionregistrationv1.Rule{
				APIGroups:   []string{v1.GroupName},
				APIVersions: []string{v1.SchemeGroupVersion.Version},
				Resources:   []string{v1.ApplicationClassResource},
				Scope:       new(admissionregistrationv1.ClusterScope),
			},
		}},
		FailurePolicy:     new(admissionregistrationv1.Fail),
		MatchPolicy:       new(admissionregistrationv1.Equivalent),
		SideEffects:       new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:    new(int32(TimeoutSeconds)),
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
	}
}

// validateClass refuses a class that no Application could have, and the deletion of one that some have. It warns of a
// change that stalls or changes Applications.
func (h *Handler) validateClass(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	allowed := &admissionv1.AdmissionResponse{Allowed: true}
	if h.config.Classes == nil || request.SubResource != "" {
		return allowed, nil
	}
	old := &v1.ApplicationClass{}
	if len(request.OldObject.Raw) > 0 {
		if _, _, err := h.codec.lenient.Decode(request.OldObject.Raw, nil, old); err != nil {
			return nil, fmt.Errorf("decode oldObject: %w", err)
		}
	}
	if request.Operation == admissionv1.Delete {
		return h.classDeletion(old)
	}
	updated := &v1.ApplicationClass{}
	if _, _, err := h.codec.lenient.Decode(request.Object.Raw, nil, updated); err != nil {
		status := apierrors.NewBadRequest(fmt.Sprintf("decode the class: %v", err)).ErrStatus
		return &admissionv1.AdmissionResponse{Result: &status}, nil
	}
	// What is stored already is not held against a change of something else.
	if request.Operation == admissionv1.Create || !equality.Semantic.DeepEqual(old.Spec, updated.Spec) {
		if errs := validation.ValidateApplicationClass(updated); len(errs) > 0 {
			status := apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind(v1.ApplicationClassKind).GroupKind(), updated.Name, errs).ErrStatus
			return &admissionv1.AdmissionResponse{Result: &status}, nil
		}
	}
	allowed.Warnings = classMistakes(updated, old)
	if class.IsMarkedDefault(updated) && !class.IsMarkedDefault(old) {
		warning, err := h.otherDefault(updated)
		if err != nil {
			return nil, err
		}
		allowed.Warnings = append(allowed.Warnings, warning...)
	}
	allowed.Warnings = append(allowed.Warnings, h.classImpact(ctx, request, old, updated)...)
	return allowed, nil
}

// IneffectiveInClass returns a warning for each annotation and field of a class that has no effect, or most likely not the one that was
// meant. It needs no cluster.
func IneffectiveInClass(class *v1.ApplicationClass) []string {
	return classMistakes(class, &v1.ApplicationClass{})
}

// classMistakes warns of what a request begins to say and most likely does not mean.
func classMistakes(updated, old *v1.ApplicationClass) []string {
	return slices.Concat(unclearDefault(updated, old), misplacedDefault(updated, old), classQuantities(updated, old), unlikelyLimits(updated, old))
}

// unclearDefault warns of a value that does not make the class a default.
func unclearDefault(updated, old *v1.ApplicationClass) []string {
	value := updated.Annotations[v1.AnnotationDefaultClass]
	if value == old.Annotations[v1.AnnotationDefaultClass] || value == "" || value == "true" || value == "false" {
		return nil
	}
	return []string{fmt.Sprintf("the annotation %s is %q: only \"true\" makes the class a default", v1.AnnotationDefaultClass, value)}
}

// misplacedDefault warns of an annotation that other kinds of classes are made a default with, such as IngressClasses, and of the annotation
// of this kind as a label.
func misplacedDefault(updated, old *v1.ApplicationClass) []string {
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(updated.Annotations)) {
		name := key[strings.LastIndex(key, "/")+1:]
		if _, before := old.Annotations[key]; before || key == v1.AnnotationDefaultClass || name != "is-default" && name != "is-default-class" {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the annotation %s has no effect here: %s: \"true\" makes the class a default", key, v1.AnnotationDefaultClass))
	}
	_, labelled := updated.Labels[v1.AnnotationDefaultClass]
	if _, before := old.Labels[v1.AnnotationDefaultClass]; labelled && !before {
		warnings = append(warnings, fmt.Sprintf("the label %s has no effect: as an annotation, with the value \"true\", it makes the class a default", v1.AnnotationDefaultClass))
	}
	return warnings
}

// unlikelyLimits warns of limits that the request begins to have and that most likely allow less than was meant.
func unlikelyLimits(updated, old *v1.ApplicationClass) []string {
	warnings := func(class *v1.ApplicationClass) []string {
		limits := class.Spec.Limits
		if limits == nil {
			return nil
		}
		warnings := missingDefaultLimits(&class.Spec)
		if limits.AllowedRegistries != nil && len(limits.AllowedRegistries) == 0 {
			warnings = append(warnings, "spec.limits.allowedRegistries: it is empty, so the class allows no image and no Application: leave the field out to allow every image")
		}
		if most := limits.MaxReplicas; most != nil && *most == 0 {
			warnings = append(warnings, "spec.limits.maxReplicas: it is 0, so the class allows only an Application with replicas: 0: leave the field out to allow any number")
		}
		for _, key := range limits.AllowedAnnotations {
			if strings.Contains(key, ".") && !strings.ContainsAny(key, "/*") {
				warnings = append(warnings, fmt.Sprintf("spec.limits.allowedAnnotations: %s allows the one annotation that is called so; %s/* allows those with this prefix", key, key))
			}
		}
		return warnings
	}
	before := warnings(old)
	return slices.DeleteFunc(warnings(updated), func(warning string) bool { return slices.Contains(before, warning) })
}

// missingDefaultLimits warns of each default limit that the class requires and lacks beside others. Without any, each Application sets its own.
func missingDefaultLimits(spec *v1.ApplicationClassSpec) []string {
	required := spec.Limits.RequireResourceLimits
	if required == nil || !*required || spec.Defaults == nil || spec.Defaults.Resources == nil || len(spec.Defaults.Resources.Limits) == 0 {
		return nil
	}
	var warnings []string
	for _, name := range validation.LimitedResources() {
		if _, found := spec.Defaults.Resources.Limits[name]; !found {
			warnings = append(warnings, fmt.Sprintf(
				"spec.defaults.resources.limits: there is none for %[1]s, and requireResourceLimits asks for one, so an Application that sets no %[1]s limit is refused: add %[1]s", name))
		}
	}
	return warnings
}

// otherDefault warns of a second default class. It is a warning, because the user may be replacing the first. The API server sets the
// creation timestamp of a new class before it asks.
func (h *Handler) otherDefault(updated *v1.ApplicationClass) ([]string, error) {
	all, err := h.config.Classes.Classes()
	if err != nil {
		return nil, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	var other *v1.ApplicationClass
	for _, marked := range all {
		if marked.Name != updated.Name && class.IsMarkedDefault(marked) {
			other = class.Newest(other, marked)
		}
	}
	if other == nil {
		return nil, nil
	}
	applies, superseded := updated, other
	if class.Newest(updated, other) == other {
		applies, superseded = other, updated
	}
	return []string{fmt.Sprintf("ApplicationClass %s is marked as default too; where both select a namespace, %s applies, because it %s",
		other.Name, applies.Name, class.Precedence(applies, superseded))}, nil
}

// byDefault returns the Applications that have the class because it is the default of their namespace, or may have
// it where the labels of the namespace are unknown.
func (h *Handler) byDefault(old *v1.ApplicationClass) ([]*v1.Application, error) {
	if !class.IsMarkedDefault(old) {
		return nil, nil
	}
	all, err := h.config.Classes.Classes()
	if err != nil {
		return nil, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	unnamed, err := h.config.Classes.OfClass("")
	if err != nil {
		return nil, err
	}
	has := func(application *v1.Application) bool {
		chosen, undecided := class.Default(all, h.cachedNamespace(application.Namespace))
		return undecided != nil || chosen != nil && chosen.Name == old.Name
	}
	return slices.DeleteFunc(unnamed, func(a *v1.Application) bool { return !has(a) }), nil
}

// classDeletion refuses to delete a class that Applications have: they would lose its limits, or stall.
func (h *Handler) classDeletion(old *v1.ApplicationClass) (*admissionv1.AdmissionResponse, error) {
	users, err := h.config.Classes.OfClass(old.Name)
	if err != nil {
		return nil, err
	}
	byDefault, err := h.byDefault(old)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(users, byDefault)
	if len(all) == 0 {
		return &admissionv1.AdmissionResponse{Allowed: true}, nil
	}
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status: metav1.StatusFailure,
		Code:   http.StatusConflict,
		Reason: metav1.StatusReasonConflict,
		Message: fmt.Sprintf("ApplicationClass %s is in use by %s (%s): %s; then delete it",
			old.Name, counted(len(all), "Application", "Applications"), someNames(all), beforeDeletion(old, len(users) > 0, len(byDefault) > 0, h.config.RequireClass)),
	}}, nil
}

// beforeDeletion says what to do first. While a class is the default, the webhook writes its name into Applications that
// have none, so the annotation alone is not enough to remove, and must go before the field does. Where every Application needs a class,
// that would stall those without a name, so they get another class before.
func beforeDeletion(old *v1.ApplicationClass, named, unnamed, required bool) string {
	var first []string
	if class.IsMarkedDefault(old) {
		first = append(first, "remove its annotation "+v1.AnnotationDefaultClass)
	}
	another := "set another class in spec.className"
	switch {
	case required && named && unnamed:
		another += ", or, for those that name none, mark another class as default"
	case required && unnamed:
		another += ", or mark another class as default"
	case named && !required:
		another += ", or remove that field"
	}
	switch {
	case required:
		first = append([]string{another}, first...)
	case named:
		first = append(first, another)
	}
	return strings.Join(first, ", then ")
}

// someNames are the first few, in alphabetical order.
func someNames(applications []*v1.Application) string {
	const most = 3
	var names []string
	for _, application := range applications {
		names = append(names, nameOf(application))
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}
