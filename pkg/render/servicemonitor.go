// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// serviceMonitors renders the ServiceMonitor, if monitoring is asked for. It is written as plain data:
// the Go types of the Prometheus Operator would bring a framework along, for a handful of fields.
func serviceMonitors(app *v1.Application, _ Facts) ([]any, error) {
	ports := monitoredPorts(app)
	if len(ports) == 0 {
		return nil, nil
	}
	endpoint := map[string]any{
		"port": ports[0].Name,
		"path": cmp.Or(app.Spec.Monitoring.Path, "/metrics"),
	}
	if interval := app.Spec.Monitoring.Interval; interval != "" {
		endpoint["interval"] = interval
	}
	return []any{map[string]any{
		"apiVersion": child.ServiceMonitor.GroupVersionKind().GroupVersion().String(),
		"kind":       child.ServiceMonitor.Kind,
		"metadata":   objectMeta(app, app.Name, nil),
		"spec": map[string]any{
			"selector":  map[string]any{"matchLabels": Selector(app)},
			"endpoints": []any{endpoint},
		},
	}}, nil
}

// monitoredPorts is the port with the metrics, or none.
func monitoredPorts(app *v1.Application) []v1.ApplicationPort {
	primary := PrimaryPort(app)
	if app.Spec.Monitoring == nil || primary == nil {
		return nil
	}
	return declaredPorts(app, []string{cmp.Or(app.Spec.Monitoring.Port, primary.Name)})
}
