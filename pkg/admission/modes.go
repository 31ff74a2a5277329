// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// octalDigits are modes that users write without the leading zero of an octal number. Validation refuses the larger ones, such as 644.
var octalDigits = []int32{400, 440, 444, 500}

// decimalModes returns a warning for each mode of files that is most likely meant as an octal number. Each names its mount by mountPath, since
// an index would change when the mount moves.
func decimalModes(mounts []v1.Mount) []string {
	var warnings []string
	check := func(path string, mode *int32) {
		if mode == nil || !slices.Contains(octalDigits, *mode) {
			return
		}
		meant, _ := strconv.ParseInt(strconv.Itoa(int(*mode)), 8, 32) // Each of octalDigits parses.
		warnings = append(warnings, fmt.Sprintf("%s: %d is decimal, and %#o in octal; did you mean 0%d, which is %d in JSON?", path, *mode, *mode, *mode, meant))
	}
	checkAll := func(path string, mode *int32, items []corev1.KeyToPath) {
		check(path+".defaultMode", mode)
		for _, item := range items {
			check(fmt.Sprintf("%s.items[%s].mode", path, item.Key), item.Mode)
		}
	}
	for i := range mounts {
		path := "mounts[" + mounts[i].MountPath + "]"
		if source := mounts[i].Secret; source != nil {
			checkAll(path+".secret", source.DefaultMode, source.Items)
		}
		if source := mounts[i].ConfigMap; source != nil {
			checkAll(path+".configMap", source.DefaultMode, source.Items)
		}
		if source := mounts[i].Projected; source != nil {
			check(path+".projected.defaultMode", source.DefaultMode)
		}
	}
	return warnings
}
