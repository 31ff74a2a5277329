// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// merger fills one field of the spec from the defaults, where the spec leaves it open, and notes in
// taken what it took. Whatever the spec says itself stays.
type merger func(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults)

// Merge returns the Application with the defaults, and what of them it took: nil for nothing, and
// then the Application is the one that was given. Merging twice changes nothing more.
//
// Scalars are taken where there is none; maps are merged by their keys; what becomes of a list its
// doc comment in v1.ApplicationDefaults says.
func Merge(application *v1.Application, defaults *v1.ApplicationDefaults) (*v1.Application, *v1.ApplicationDefaults) {
	if defaults == nil {
		return application, nil
	}
	merged := application.DeepCopy()
	defaults = defaults.DeepCopy()
	taken := &v1.ApplicationDefaults{}
	for _, merge := range []merger{
		mergeResources,
		mergeStrategy,
		mergeProgressDeadline,
		mergeTopologySpread,
		mergeNodeSelector,
		mergeTolerations,
		mergePriorityClassName,
		mergeImagePullSecrets,
		mergePodMetadata,
		mergeNetworkPolicy,
		mergeGracePeriod,
		mergeRoutes(merged.Name),
	} {
		merge(&merged.Spec, defaults, taken)
	}
	if equality.Semantic.DeepEqual(taken, &v1.ApplicationDefaults{}) {
		return application, nil
	}
	return merged, taken.DeepCopy() // The spec and the status share nothing.
}

// mergeKeys adds the entries of defaults whose keys own does not have, and returns them.
func mergeKeys[K comparable, V any](own *map[K]V, defaults map[K]V) map[K]V {
	var taken map[K]V
	for key, value := range defaults {
		if _, found := (*own)[key]; !found {
			put(own, key, value)
			put(&taken, key, value)
		}
	}
	return taken
}

func put[K comparable, V any](entries *map[K]V, key K, value V) {
	if *entries == nil {
		*entries = map[K]V{}
	}
	(*entries)[key] = value
}

// mergeItems adds the items of defaults that own does not have, after its own, and returns them.
func mergeItems[T any](own *[]T, defaults []T, same func(a, b T) bool) []T {
	var taken []T
	for _, item := range defaults {
		if !containsFunc(*own, item, same) {
			*own = append(*own, item)
			taken = append(taken, item)
		}
	}
	return taken
}

func containsFunc[T any](items []T, item T, same func(a, b T) bool) bool {
	for _, other := range items {
		if same(other, item) {
			return true
		}
	}
	return false
}
