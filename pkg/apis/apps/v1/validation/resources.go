// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateApplicationResources(in input) field.ErrorList {
	if in.spec.Resources == nil {
		return nil
	}
	return validateResources(in.path.Child("resources"), in.spec.Resources)
}

// validateResources follows the API server's rules, and refuses what it only warns of or rounds: fractions of a
// millicore and of a byte are always a wrong unit (memory: 100m).
func validateResources(path *field.Path, resources *corev1.ResourceRequirements) field.ErrorList {
	var errs field.ErrorList
	hugePages, cpuOrMemory := false, false
	for _, list := range []struct {
		path  *field.Path
		items corev1.ResourceList
	}{{path.Child("limits"), resources.Limits}, {path.Child("requests"), resources.Requests}} {
		for _, name := range sortedKeys(list.items) {
			errs = append(errs, validateResourceName(list.path.Key(truncate(string(name), maxValue)), name)...)
			errs = append(errs, validateQuantity(list.path.Key(truncate(string(name), maxValue)), name, list.items[name])...)
			hugePages = hugePages || isHugePages(name)
			cpuOrMemory = cpuOrMemory || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	for _, name := range sortedKeys(resources.Requests) {
		path := path.Child("requests").Key(truncate(string(name), maxValue))
		request := resources.Requests[name]
		limit, limited := resources.Limits[name]
		switch {
		case !limited && !mayOvercommit(name):
			errs = append(errs, field.Invalid(path, request.String(), "needs a limit of the same value, because the resource cannot be overcommitted"))
		case limited && !mayOvercommit(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(path, request.String(), "must be equal to the limit of "+limit.String()+", because the resource cannot be overcommitted"))
		case limited && request.Cmp(limit) > 0 && !isFractionOfByte(name, request): // Such a request is refused already.
			errs = append(errs, field.Invalid(path, request.String(), "must be less than or equal to the limit of "+cmp.Or(inBinaryUnit(name, limit), limit.String())))
		}
	}
	if hugePages && !cpuOrMemory {
		errs = append(errs, field.Forbidden(path, "huge pages need a request or limit of cpu or memory too"))
	}
	if len(resources.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "an Application has no pod resource claims to refer to"))
	}
	return errs
}

func validateResourceName(path *field.Path, name corev1.ResourceName) field.ErrorList {
	if errs := invalid(path, name, validation.IsQualifiedName(string(name))); len(errs) > 0 {
		return errs
	}
	switch {
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, isHugePages(name):
		return nil
	case !strings.Contains(string(name), "/"):
		return field.ErrorList{field.NotSupported(path, name, []corev1.ResourceName{
			corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceHugePagesPrefix + "<size>", "<domain>/<resource>",
		})}
	case !isNative(name) && !isExtended(name):
		return field.ErrorList{field.Invalid(path, name, "must not start with requests., and must be short enough to be prefixed with it")}
	}
	return nil
}

func validateQuantity(path *field.Path, name corev1.ResourceName, quantity resource.Quantity) field.ErrorList {
	if quantity.Sign() < 0 {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than or equal to 0")}
	}
	var message string
	switch {
	case name == corev1.ResourceCPU && !isMultiple(quantity, resource.Milli):
		message = "must be a multiple of 1m, a thousandth of a core"
	case isFractionOfByte(name, quantity):
		message = wholeBytes(name, quantity)
	case isHugePages(name) && !wholePages(name, quantity):
		message = "must be a multiple of the page size, which is the suffix of hugepages-"
	case isExtended(name) && !isMultiple(quantity, 0):
		message = "must be an integer"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.String(), message)}
}

func isFractionOfByte(name corev1.ResourceName, quantity resource.Quantity) bool {
	return (name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage) && !isMultiple(quantity, 0)
}

// binaryUnits are the suffixes of quantities in powers of 1024, the greatest first.
var binaryUnits = []string{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"}

// wholeBytes says what to write instead of a fraction of a byte. Kubernetes rewrites 0.3Gi to 322122547200m, which its user never wrote.
// A few thousandths are likelier to be megabytes with a wrong suffix.
func wholeBytes(name corev1.ResourceName, quantity resource.Quantity) string {
	const enough = 50 // So many of a unit are exact enough to round.
	unit, count := "", quantity.AsApproximateFloat64()
	for _, binary := range slices.Backward(binaryUnits) {
		if count < enough*1024 {
			break
		}
		unit, count = binary, count/1024
	}
	if unit == "" && count < 1024 {
		return "must be a whole number of bytes: the suffix m means thousandths, M megabytes, Mi mebibytes"
	}
	down := math.Floor(count)
	return fmt.Sprintf("must be a whole number of bytes, and %s is %s: write %.0f%s or %.0f%s", cmp.Or(inBinaryUnit(name, quantity), "it"),
		strings.TrimRight(quantity.AsDec().String(), "0"), down, unit, down+1, unit)
}

// inBinaryUnit is a quantity with a fraction of a byte as its user is likely to have written it, as in 0.3Gi; "" if it is no short number
// of any unit, or has no such fraction. 10.24 cores are no 0.01Ki, and a few bytes with a suffix m are no small part of a unit.
func inBinaryUnit(name corev1.ResourceName, quantity resource.Quantity) string {
	const least, decimals, tolerance = 0.01, 1e3, 1e-10
	if !isFractionOfByte(name, quantity) || quantity.CmpInt64(1024) < 0 {
		return ""
	}
	for i, unit := range binaryUnits {
		count := quantity.AsApproximateFloat64() / math.Pow(1024, float64(len(binaryUnits)-i))
		if short := math.Round(count*decimals) / decimals; count >= least && math.Abs(count-short) <= tolerance*count {
			return strconv.FormatFloat(short, 'f', -1, 64) + unit
		}
	}
	return ""
}

// isMultiple reports whether the quantity is a multiple of 10^scale.
func isMultiple(quantity resource.Quantity, scale resource.Scale) bool {
	rounded := quantity.DeepCopy()
	return rounded.RoundUp(scale)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func wholePages(name corev1.ResourceName, quantity resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || !isMultiple(size, 0) || !isMultiple(quantity, 0) {
		return false
	}
	return quantity.Value()%size.Value() == 0
}

func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func mayOvercommit(name corev1.ResourceName) bool { return isNative(name) && !isHugePages(name) }

// requested reports whether the container has a request for the resource, or a limit, from which Kubernetes defaults the
// request.
func requested(resources *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	if resources == nil {
		return false
	}
	quantity, ok := resources.Requests[name]
	if !ok {
		quantity = resources.Limits[name]
	}
	return quantity.Sign() > 0
}
