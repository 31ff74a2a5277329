// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// defaultProgressDeadlineSeconds is the API's documented default.
const defaultProgressDeadlineSeconds = 600

func validateStrategy(in input) field.ErrorList {
	errs := between(in.path.Child("minReadySeconds"), in.spec.MinReadySeconds, 0, 86400)
	errs = append(errs, between(in.path.Child("progressDeadlineSeconds"), in.spec.ProgressDeadlineSeconds, 1, 86400)...)
	errs = append(errs, validateProgressDeadline(in)...)
	strategy := in.spec.Strategy
	if strategy == nil {
		return errs
	}
	path := in.path.Child("strategy")
	errs = append(errs, enum(path.Child("type"), strategy.Type, appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType)...)
	rolling := strategy.RollingUpdate
	if rolling == nil {
		return errs
	}
	path = path.Child("rollingUpdate")
	if strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return append(errs, field.Forbidden(path, "strategy.rollingUpdate needs type RollingUpdate"))
	}
	// The default of an omitted number makes room for the other one. Only two explicit zeros leave none.
	unavailable, unavailableErrs := parseAmount(path.Child("maxUnavailable"), rolling.MaxUnavailable)
	surge, surgeErrs := parseAmount(path.Child("maxSurge"), rolling.MaxSurge)
	errs = append(append(errs, unavailableErrs...), surgeErrs...)
	unavailableZero := rolling.MaxUnavailable != nil && len(unavailableErrs) == 0 && unavailable.number == 0
	surgeZero := rolling.MaxSurge != nil && len(surgeErrs) == 0 && surge.number == 0
	if unavailableZero && surgeZero {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), unavailable.String(),
			"must be more than 0 while maxSurge is 0: otherwise no pod could ever be replaced"))
	}
	return append(errs, unavailable.atMost100Percent(path.Child("maxUnavailable"))...)
}

func validateProgressDeadline(in input) field.ErrorList {
	deadline, ready := int32(defaultProgressDeadlineSeconds), int32(0)
	if in.spec.ProgressDeadlineSeconds != nil {
		deadline = *in.spec.ProgressDeadlineSeconds
	}
	if in.spec.MinReadySeconds != nil {
		ready = *in.spec.MinReadySeconds
	}
	if ready < deadline {
		return nil
	}
	return field.ErrorList{field.Invalid(in.path.Child("minReadySeconds"), ready, fmt.Sprintf("must be less than progressDeadlineSeconds (%d)", deadline))}
}

// amount is a number of pods, or a share of them.
type amount struct {
	number  int64
	percent bool
}

func (a amount) String() string {
	if a.percent {
		return fmt.Sprintf("%d%%", a.number)
	}
	return strconv.FormatInt(a.number, 10)
}

func (a amount) atMost100Percent(path *field.Path) field.ErrorList {
	if !a.percent || a.number <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, a.String(), "must not be more than 100%")}
}

// of is the number of pods that the amount means, rounded up.
func (a amount) of(replicas int32) int64 {
	if !a.percent {
		return a.number
	}
	return (int64(replicas)*a.number + 99) / 100
}

const amountMessage = "must be a number of pods, or a percentage such as 25%"

// parseAmount refuses what Kubernetes refuses, and percentages that overflow it. Nil is 0.
func parseAmount(path *field.Path, value *intstr.IntOrString) (amount, field.ErrorList) {
	if value == nil {
		return amount{}, nil
	}
	if value.Type == intstr.Int {
		if value.IntVal < 0 {
			return amount{}, field.ErrorList{field.Invalid(path, value.IntVal, "must be greater than or equal to 0")}
		}
		return amount{number: int64(value.IntVal)}, nil
	}
	percent, err := strconv.ParseInt(strings.TrimSuffix(value.StrVal, "%"), 10, 32)
	if err != nil || len(validation.IsValidPercent(value.StrVal)) > 0 {
		return amount{}, field.ErrorList{field.Invalid(path, value.StrVal, amountMessage)}
	}
	return amount{number: percent, percent: true}, nil
}

// validateDisruptionBudget refuses a budget that would block every drain: then no node of the
// cluster could be upgraded.
func validateDisruptionBudget(in input) field.ErrorList {
	budget := in.spec.DisruptionBudget
	if budget == nil {
		return nil
	}
	path := in.path.Child("disruptionBudget")
	errs := enum(path.Child("mode"), budget.Mode, v1.DisruptionBudgetAuto, v1.DisruptionBudgetCustom, v1.DisruptionBudgetDisabled)
	if budget.Mode != v1.DisruptionBudgetCustom {
		if budget.MinAvailable != nil || budget.MaxUnavailable != nil {
			errs = append(errs, field.Forbidden(path, "minAvailable and maxUnavailable need mode Custom"))
		}
		return errs
	}
	errs = append(errs, exactlyOne(path, []string{"minAvailable", "maxUnavailable"}, budget.MinAvailable != nil, budget.MaxUnavailable != nil)...)
	if budget.MaxUnavailable != nil {
		errs = append(errs, validateMaxUnavailable(path.Child("maxUnavailable"), budget.MaxUnavailable)...)
	}
	if budget.MinAvailable != nil {
		errs = append(errs, validateMinAvailable(in, path.Child("minAvailable"), budget.MinAvailable)...)
	}
	return errs
}

func validateMaxUnavailable(path *field.Path, value *intstr.IntOrString) field.ErrorList {
	unavailable, errs := parseAmount(path, value)
	if len(errs) > 0 {
		return errs
	}
	if unavailable.number == 0 {
		return field.ErrorList{field.Invalid(path, unavailable.String(), "must be more than 0, because it would block every drain of a node")}
	}
	return unavailable.atMost100Percent(path)
}

// PodsForDrain returns how many pods there must be at least, so that the budget of a spec that leaves their number open lets a drain of a
// node evict one. It is 0 if the spec sets the number, or if its budget fits any number.
func PodsForDrain(spec *v1.ApplicationSpec) int64 {
	budget := spec.DisruptionBudget
	if _, known := fewest(spec); known || budget == nil || budget.Mode != v1.DisruptionBudgetCustom {
		return 0
	}
	available, errs := parseAmount(nil, budget.MinAvailable)
	switch {
	case len(errs) > 0 || available.number == 0 || available.percent && available.number >= 100:
		return 0
	case available.percent:
		return (100 + 99 - available.number) / (100 - available.number)
	default:
		return available.number + 1
	}
}

func validateMinAvailable(in input, path *field.Path, value *intstr.IntOrString) field.ErrorList {
	available, errs := parseAmount(path, value)
	if len(errs) > 0 {
		return errs
	}
	replicas, known := fewest(in.spec)
	switch {
	case available.percent && available.number >= 100:
		return field.ErrorList{field.Invalid(path, available.String(), "must be less than 100%, because it would block every drain of a node")}
	case known && replicas > 0 && available.of(replicas) >= int64(replicas):
		howMany := "is only 1 pod"
		if replicas > 1 {
			howMany = fmt.Sprintf("are only %d pods", replicas)
		}
		return field.ErrorList{field.Invalid(path, available.String(),
			fmt.Sprintf("would block every drain of a node while there %s: lower it, or run more pods", howMany))}
	}
	return nil
}
