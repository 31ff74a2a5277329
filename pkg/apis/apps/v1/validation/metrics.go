// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateMetrics(in input, fldPath *field.Path, metrics []autoscalingv2.MetricSpec) field.ErrorList {
	errs := tooMany(fldPath, len(metrics), 32)
	for i := range metrics {
		errs = append(errs, validateMetric(in, fldPath.Index(i), &metrics[i])...)
	}
	return errs
}

// validateMetric follows the API server's rules: type names the source that is set.
func validateMetric(in input, fldPath *field.Path, metric *autoscalingv2.MetricSpec) field.ErrorList {
	var errs field.ErrorList
	sources := []struct {
		kind  autoscalingv2.MetricSourceType
		name  string
		isSet bool
	}{
		{autoscalingv2.ContainerResourceMetricSourceType, "containerResource", metric.ContainerResource != nil},
		{autoscalingv2.ExternalMetricSourceType, "external", metric.External != nil},
		{autoscalingv2.ObjectMetricSourceType, "object", metric.Object != nil},
		{autoscalingv2.PodsMetricSourceType, "pods", metric.Pods != nil},
		{autoscalingv2.ResourceMetricSourceType, "resource", metric.Resource != nil},
	}
	known := false
	var kinds []autoscalingv2.MetricSourceType
	for _, source := range sources {
		kinds = append(kinds, source.kind)
		named := source.kind == metric.Type
		known = known || named
		switch {
		case named && !source.isSet:
			errs = append(errs, field.Required(fldPath.Child(source.name), "type "+string(metric.Type)+" needs it"))
		case !named && source.isSet:
			errs = append(errs, field.Forbidden(fldPath.Child(source.name), "only the source that type names may be set"))
		}
	}
	if !known {
		errs = append(errs, field.NotSupported(fldPath.Child("type"), metric.Type, kinds))
	}
	if source := metric.Object; source != nil {
		fldPath := fldPath.Child("object")
		errs = append(errs, validateDescribedObject(fldPath.Child("describedObject"), source.DescribedObject)...)
		errs = append(errs, validateMetricIdentifier(fldPath.Child("metric"), source.Metric)...)
		errs = append(errs, validateTarget(fldPath.Child("target"), source.Target, valueTarget, averageValueTarget)...)
	}
	if source := metric.External; source != nil {
		fldPath := fldPath.Child("external")
		errs = append(errs, validateMetricIdentifier(fldPath.Child("metric"), source.Metric)...)
		errs = append(errs, validateTarget(fldPath.Child("target"), source.Target, valueTarget, averageValueTarget)...)
	}
	if source := metric.Pods; source != nil {
		fldPath := fldPath.Child("pods")
		errs = append(errs, validateMetricIdentifier(fldPath.Child("metric"), source.Metric)...)
		errs = append(errs, validateTarget(fldPath.Child("target"), source.Target, averageValueTarget)...)
	}
	if source := metric.Resource; source != nil {
		fldPath := fldPath.Child("resource")
		errs = append(errs, validateMetricResource(fldPath.Child("name"), source.Name)...)
		errs = append(errs, validateTarget(fldPath.Child("target"), source.Target, utilizationTarget, averageValueTarget)...)
		if source.Target.AverageUtilization != nil && source.Name != "" {
			errs = append(errs, needsRequest(in, fldPath.Child("target", "averageUtilization"), source.Name)...)
		}
	}
	if source := metric.ContainerResource; source != nil {
		errs = append(errs, validateContainerResource(in, fldPath.Child("containerResource"), source)...)
	}
	return errs
}

func validateContainerResource(in input, fldPath *field.Path, source *autoscalingv2.ContainerResourceMetricSource) field.ErrorList {
	errs := validateMetricResource(fldPath.Child("name"), source.Name)
	errs = append(errs, validateTarget(fldPath.Child("target"), source.Target, utilizationTarget, averageValueTarget)...)
	if refErrs := validateContainerRef(in, fldPath.Child("container"), source.Container); len(refErrs) > 0 {
		return append(errs, refErrs...)
	}
	if source.Container == in.app.Name && source.Target.AverageUtilization != nil && source.Name != "" {
		errs = append(errs, needsRequest(in, fldPath.Child("target", "averageUtilization"), source.Name)...)
	}
	return errs
}

func validateMetricResource(fldPath *field.Path, name corev1.ResourceName) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(fldPath, "must be a resource, e.g. cpu")}
	}
	return validateResourceName(fldPath, name)
}

func validateMetricIdentifier(fldPath *field.Path, metric autoscalingv2.MetricIdentifier) field.ErrorList {
	errs := validateLabelSelector(fldPath.Child("selector"), metric.Selector)
	if metric.Name == "" {
		return append(errs, field.Required(fldPath.Child("name"), "must be the name of a metric"))
	}
	return append(errs, invalid(fldPath.Child("name"), metric.Name, content.IsPathSegmentName(metric.Name))...)
}

func validateDescribedObject(fldPath *field.Path, object autoscalingv2.CrossVersionObjectReference) field.ErrorList {
	var errs field.ErrorList
	for _, part := range []struct{ name, value string }{{"kind", object.Kind}, {"name", object.Name}} {
		if part.value == "" {
			errs = append(errs, field.Required(fldPath.Child(part.name), "must be set"))
		} else {
			errs = append(errs, invalid(fldPath.Child(part.name), part.value, content.IsPathSegmentName(part.value))...)
		}
	}
	if _, err := schema.ParseGroupVersion(object.APIVersion); err != nil {
		errs = append(errs, field.Invalid(fldPath.Child("apiVersion"), object.APIVersion, "must be <version> or <group>/<version>"))
	}
	return errs
}

// targetKind is a kind of target value, with the name of its field.
type targetKind string

const (
	utilizationTarget  targetKind = "averageUtilization"
	valueTarget        targetKind = "value"
	averageValueTarget targetKind = "averageValue"
)

// validateTarget requires exactly one of the allowed values, and the type that names it. The API server lets them
// differ; then the autoscaler uses the value.
func validateTarget(fldPath *field.Path, target autoscalingv2.MetricTarget, allowed ...targetKind) field.ErrorList {
	var errs field.ErrorList
	isSet := map[targetKind]bool{
		utilizationTarget:  target.AverageUtilization != nil,
		valueTarget:        target.Value != nil,
		averageValueTarget: target.AverageValue != nil,
	}
	types := map[targetKind]autoscalingv2.MetricTargetType{
		utilizationTarget:  autoscalingv2.UtilizationMetricType,
		valueTarget:        autoscalingv2.ValueMetricType,
		averageValueTarget: autoscalingv2.AverageValueMetricType,
	}
	var allowedNames []string
	var setAllowed []bool
	for _, kind := range allowed {
		allowedNames = append(allowedNames, string(kind))
		setAllowed = append(setAllowed, isSet[kind])
		if isSet[kind] && types[kind] != target.Type {
			errs = append(errs, field.Invalid(fldPath.Child("type"), target.Type, "must be "+string(types[kind])+" with "+string(kind)))
		}
		delete(isSet, kind)
	}
	errs = append(errs, exactlyOne(fldPath, allowedNames, setAllowed...)...)
	for _, kind := range sortedKeys(isSet) {
		if isSet[kind] {
			errs = append(errs, field.Forbidden(fldPath.Child(string(kind)), "this kind of metric takes only "+strings.Join(allowedNames, " or ")))
		}
	}
	errs = append(errs, positiveQuantity(fldPath.Child("value"), target.Value)...)
	errs = append(errs, positiveQuantity(fldPath.Child("averageValue"), target.AverageValue)...)
	return append(errs, positive(fldPath.Child("averageUtilization"), target.AverageUtilization)...)
}

func positiveQuantity(fldPath *field.Path, quantity *resource.Quantity) field.ErrorList {
	if quantity == nil || quantity.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, quantity.String(), "must be greater than 0")}
}
