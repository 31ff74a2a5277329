// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Monitoring is how Prometheus scrapes the application.
type Monitoring struct {
	// Name of the port, from ports. Default: the primary port.
	// +kubebuilder:validation:MaxLength=15
	// +optional
	Port string `json:"port,omitempty"`

	// Path of the metrics. Default: /metrics.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	// +optional
	Path string `json:"path,omitempty"`

	// Time between two scrapes, as Prometheus writes durations: 30s, 1m. At least 5s. Default: Prometheus'
	// own.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`
	// +optional
	Interval string `json:"interval,omitempty"`
}
