// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Quantities beyond these are possible, and nearly always a wrong unit. A container with fewer bytes does not start.
var (
	manyCores   = resource.MustParse("100")
	littleBytes = resource.MustParse("1Mi")
)

// specQuantities warns of quantities of all containers that most likely have a wrong unit.
func specQuantities(spec *v1.ApplicationSpec) []string {
	var warnings []string
	if spec.Resources != nil {
		warnings = wrongUnits("resources", *spec.Resources)
	}
	for field, containers := range map[string][]corev1.Container{"initContainers": spec.InitContainers, "sidecars": spec.Sidecars} {
		for i := range containers {
			warnings = append(warnings, wrongUnits(fmt.Sprintf("%s[%s].resources", field, containers[i].Name), containers[i].Resources)...)
		}
	}
	slices.Sort(warnings)
	return warnings
}

// classQuantities warns of those of a class that the request begins to have.
func classQuantities(updated, old *v1.ApplicationClass) []string {
	warnings := func(class *v1.ApplicationClass) []string {
		if class.Spec.Defaults == nil || class.Spec.Defaults.Resources == nil {
			return nil
		}
		return inSpec(wrongUnits("defaults.resources", *class.Spec.Defaults.Resources))
	}
	before := warnings(old)
	return slices.DeleteFunc(warnings(updated), func(warning string) bool { return slices.Contains(before, warning) })
}

func wrongUnits(path string, resources corev1.ResourceRequirements) []string {
	var warnings []string
	for _, list := range []struct {
		field string
		items corev1.ResourceList
	}{{"requests", resources.Requests}, {"limits", resources.Limits}} {
		if cores := list.items[corev1.ResourceCPU]; cores.Cmp(manyCores) >= 0 {
			warnings = append(warnings, fmt.Sprintf("%s.%s[cpu]: %s means %s cores; a thousandth of a core is m, as in 500m", path, list.field, cores.String(), cores.AsDec()))
		}
		if bytes := list.items[corev1.ResourceMemory]; bytes.Sign() > 0 && bytes.Cmp(littleBytes) < 0 {
			warnings = append(warnings, fmt.Sprintf("%s.%s[memory]: %s means %s bytes; a mebibyte is Mi, as in 64Mi", path, list.field, bytes.String(), bytes.AsDec()))
		}
	}
	return warnings
}
