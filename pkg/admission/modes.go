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
	checkItems := func(path string, items []corev1.KeyToPath) {
		for _, item := range items {
			check(fmt.Sprintf("%s.items[%s].mode", path, item.Key), item.Mode)
		}
	}
	for i := range mounts {
		path := "mounts[" + mounts[i].MountPath + "]"
		if source := mounts[i].Secret; source != nil {
			check(path+".secret.defaultMode", source.DefaultMode)
			checkItems(path+".secret", source.Items)
		}
		if source := mounts[i].ConfigMap; source != nil {
			check(path+".configMap.defaultMode", source.DefaultMode)
			checkItems(path+".configMap", source.Items)
		}
		if source := mounts[i].Projected; source != nil {
			check(path+".projected.defaultMode", source.DefaultMode)
			for i, projection := range source.Sources {
				path := fmt.Sprintf("%s.projected.sources[%d]", path, i) // A source has no name of its own.
				if projection.Secret != nil {
					checkItems(path+".secret", projection.Secret.Items)
				}
				if projection.ConfigMap != nil {
					checkItems(path+".configMap", projection.ConfigMap.Items)
				}
				if projection.DownwardAPI != nil {
					for _, item := range projection.DownwardAPI.Items {
						check(fmt.Sprintf("%s.downwardAPI.items[%s].mode", path, item.Path), item.Mode)
					}
				}
			}
		}
	}
	return warnings
}
