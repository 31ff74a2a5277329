// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// probes sets the probes of the spec. There is no default probe, because only the application's team knows what alive
// or ready means.
func probes(app *v1.Application, container *corev1ac.ContainerApplyConfiguration) error {
	primary := PrimaryPort(app)
	var err error
	if container.LivenessProbe, err = probe(app.Spec.LivenessProbe, primary); err != nil {
		return err
	}
	if container.ReadinessProbe, err = probe(app.Spec.ReadinessProbe, primary); err != nil {
		return err
	}
	container.StartupProbe, err = probe(app.Spec.StartupProbe, primary)
	return err
}

func probe(given *v1.Probe, primary *v1.ApplicationPort) (*corev1ac.ProbeApplyConfiguration, error) {
	if given == nil {
		return nil, nil
	}
	probe := corev1ac.Probe()
	// A time of 0 means the default, which the API server sets: it would not return a 0.
	setTime(given.InitialDelaySeconds, probe.WithInitialDelaySeconds)
	setTime(given.TimeoutSeconds, probe.WithTimeoutSeconds)
	setTime(given.PeriodSeconds, probe.WithPeriodSeconds)
	setTime(given.SuccessThreshold, probe.WithSuccessThreshold)
	setTime(given.FailureThreshold, probe.WithFailureThreshold)
	if seconds := given.TerminationGracePeriodSeconds; seconds != nil {
		probe.WithTerminationGracePeriodSeconds(*seconds)
	}
	if given.Exec != nil {
		probe.WithExec(corev1ac.ExecAction().WithCommand(given.Exec.Command...))
	}
	if given.HTTPGet != nil {
		action, err := httpGet(given.HTTPGet, primary)
		if err != nil {
			return nil, err
		}
		probe.WithHTTPGet(action)
	}
	if given.TCPSocket != nil {
		probe.WithTCPSocket(tcpSocket(given.TCPSocket, primary))
	}
	if given.GRPC != nil {
		probe.WithGRPC(grpc(given.GRPC, primary))
	}
	return probe, nil
}

func setTime(given *int32, set func(int32) *corev1ac.ProbeApplyConfiguration) {
	if given != nil && *given != 0 {
		set(*given)
	}
}

func httpGet(given *v1.HTTPGetAction, primary *v1.ApplicationPort) (*corev1ac.HTTPGetActionApplyConfiguration, error) {
	headers, err := convertAll[corev1ac.HTTPHeaderApplyConfiguration](given.HTTPHeaders)
	if err != nil {
		return nil, err
	}
	path := given.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	action := corev1ac.HTTPGetAction().WithPath(path).WithHTTPHeaders(headers...)
	action.Port = probePort(given.Port, primary)
	if given.Host != "" {
		action.WithHost(given.Host)
	}
	if given.Scheme != "" {
		action.WithScheme(given.Scheme)
	}
	return action, nil
}

func tcpSocket(given *v1.TCPSocketAction, primary *v1.ApplicationPort) *corev1ac.TCPSocketActionApplyConfiguration {
	action := corev1ac.TCPSocketAction()
	action.Port = probePort(given.Port, primary)
	if given.Host != "" {
		action.WithHost(given.Host)
	}
	return action
}

// grpc sets the port by number, because a gRPC probe accepts no name.
func grpc(given *v1.GRPCAction, primary *v1.ApplicationPort) *corev1ac.GRPCActionApplyConfiguration {
	action := corev1ac.GRPCAction()
	switch {
	case given.Port != nil:
		action.WithPort(*given.Port)
	case primary != nil:
		action.WithPort(primary.ContainerPort)
	}
	if given.Service != nil {
		action.WithService(*given.Service)
	}
	return action
}

// probePort returns the given port, or the primary one by its name. It is nil if there is neither; then the API
// server says what is missing.
func probePort(given *intstr.IntOrString, primary *v1.ApplicationPort) *intstr.IntOrString {
	var port intstr.IntOrString
	switch {
	case given != nil:
		port = *given
	case primary != nil:
		port = intstr.FromString(primary.Name)
	default:
		return nil
	}
	return &port
}
