// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"slices"

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
		mergeRollback,
		mergeTopologySpread,
		mergeNodeSelector,
		mergeTolerations,
		mergePriorityClassName,
		mergeImagePullSecrets,
		mergePodMetadata,
		mergeNetworkPolicy,
		mergeMonitoring,
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

// mergeKeys returns own with the entries of defaults whose keys it does not have, and those entries.
func mergeKeys[K comparable, V any](own, defaults map[K]V) (merged, taken map[K]V) {
	merged = own
	for key, value := range defaults {
		if _, found := own[key]; !found {
			taken = with(taken, key, value)
		}
	}
	for key, value := range taken {
		merged = with(merged, key, value)
	}
	return merged, taken
}

// with adds an entry to a map, and makes the map if there is none.
func with[M ~map[K]V, K comparable, V any](entries M, key K, value V) M {
	if entries == nil {
		entries = M{}
	}
	entries[key] = value
	return entries
}

// mergeItems adds the items of defaults that own does not have, after its own, and returns them.
func mergeItems[T any](own *[]T, defaults []T, same func(a, b T) bool) []T {
	var taken []T
	for _, item := range defaults {
		if !slices.ContainsFunc(*own, func(other T) bool { return same(other, item) }) {
			*own = append(*own, item)
			taken = append(taken, item)
		}
	}
	return taken
}
