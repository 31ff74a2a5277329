// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// merger fills one field that the spec omits from the defaults, and records it in taken. It never changes what the spec
// has.
type merger func(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults)

// Merge returns the Application with the defaults, and the defaults that it took. If it took none, they are nil, and the
// Application is the given one. Merging again changes nothing.
//
// Scalars are taken if the spec has none. Maps are merged by key. For each list, its doc comment in
// v1.ApplicationDefaults says how it is merged.
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

// mergeKeys returns own with the entries of defaults whose keys it lacks, and those entries.
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

// with adds an entry to a map, and creates the map if it is nil.
func with[M ~map[K]V, K comparable, V any](entries M, key K, value V) M {
	if entries == nil {
		entries = M{}
	}
	entries[key] = value
	return entries
}

// mergeItems appends the items of defaults that own lacks, and returns both lists.
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
