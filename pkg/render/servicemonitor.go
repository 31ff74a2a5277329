// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// serviceMonitors renders the ServiceMonitor, if the spec enables monitoring. Its spec is an untyped map: the Go
// types of the Prometheus Operator would add a framework to the dependencies for a handful of fields.
func serviceMonitors(app *v1.Application, _ Facts) ([]any, error) {
	ports := monitoredPorts(app)
	if len(ports) == 0 {
		return nil, nil
	}
	endpoint := map[string]any{
		"path": cmp.Or(app.Spec.Monitoring.Path, "/metrics"),
	}
	if name := ServicePortName(app, ports[0]); name != "" {
		endpoint["port"] = name
	} else {
		endpoint["targetPort"] = ports[0].Name // The Service has no name for it; the container has.
	}
	if interval := app.Spec.Monitoring.Interval; interval != "" {
		endpoint["interval"] = interval
	}
	return []any{&serviceMonitor{
		TypeMetaApplyConfiguration:   *metav1ac.TypeMeta().WithAPIVersion(child.ServiceMonitor.GroupVersionKind().GroupVersion().String()).WithKind(child.ServiceMonitor.Kind),
		ObjectMetaApplyConfiguration: objectMeta(app, app.Name, nil),
		Spec: map[string]any{
			"selector":  map[string]any{"matchLabels": Selector(app)},
			"endpoints": []any{endpoint},
		},
	}}, nil
}

// serviceMonitor is the apply configuration of a ServiceMonitor.
type serviceMonitor struct {
	metav1ac.TypeMetaApplyConfiguration    `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`

	Spec map[string]any `json:"spec"`
}

// monitoredPorts returns the metrics port, or none.
func monitoredPorts(app *v1.Application) []v1.ApplicationPort {
	primary := PrimaryPort(app)
	if app.Spec.Monitoring == nil || primary == nil {
		return nil
	}
	return declaredPorts(app, []string{cmp.Or(app.Spec.Monitoring.Port, primary.Name)})
}
