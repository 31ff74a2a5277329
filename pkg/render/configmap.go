// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// configMaps renders the ConfigMap with the files of spec.config.
func configMaps(app *v1.Application, _ Facts) ([]any, error) {
	if app.Spec.Config == nil {
		return nil, nil
	}
	configMap := corev1ac.ConfigMap(ConfigMapName(app), app.Namespace).
		WithData(app.Spec.Config.Data)
	configMap.ObjectMetaApplyConfiguration = objectMeta(app, ConfigMapName(app), nil)
	return []any{configMap}, nil
}

// configHash returns a hash of the files, for the pod template. A running process does not notice a changed file, so
// a change must replace the pods.
func configHash(config *v1.Config) string {
	parts := make([]string, 0, 2*len(config.Data))
	for _, name := range slices.Sorted(maps.Keys(config.Data)) {
		parts = append(parts, name, config.Data[name])
	}
	return child.HashOf(parts...)
}
