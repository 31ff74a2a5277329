// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mergeMonitoring takes the fields that the Application omits, if it has the port.
func mergeMonitoring(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if defaults.Monitoring == nil || len(spec.Ports) == 0 {
		return
	}
	merged, from := v1.Monitoring{}, v1.Monitoring{}
	if spec.Monitoring != nil {
		merged = *spec.Monitoring
	} else if !scrapes(spec, defaults.Monitoring.Port) {
		return
	}
	for _, field := range []struct{ own, from, value *string }{
		{&merged.Port, &from.Port, &defaults.Monitoring.Port},
		{&merged.Path, &from.Path, &defaults.Monitoring.Path},
		{&merged.Interval, &from.Interval, &defaults.Monitoring.Interval},
	} {
		if *field.own == "" {
			*field.own, *field.from = *field.value, *field.value
		}
	}
	if from.Port != "" && !scrapes(spec, from.Port) {
		merged.Port, from.Port = "", ""
	}
	if spec.Monitoring == nil || from != (v1.Monitoring{}) {
		spec.Monitoring, taken.Monitoring = &merged, &from
	}
}

// scrapes reports whether the Application has the metrics port: the primary one, if the name is empty.
func scrapes(spec *v1.ApplicationSpec, name string) bool {
	name = cmp.Or(name, spec.Ports[0].Name)
	return slices.ContainsFunc(spec.Ports, func(port v1.ApplicationPort) bool {
		return port.Name == name && cmp.Or(port.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP
	})
}
