// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// defaultGracePeriodSeconds is Kubernetes' default of terminationGracePeriodSeconds.
const defaultGracePeriodSeconds = 30

func gracePeriodSeconds(spec *v1.ApplicationSpec) int64 {
	if spec.TerminationGracePeriodSeconds == nil {
		return defaultGracePeriodSeconds
	}
	return *spec.TerminationGracePeriodSeconds
}

func validateApplicationLifecycle(in input) field.ErrorList {
	return validateLifecycle(in.path.Child("lifecycle"), in.spec.Lifecycle, applicationPorts(in.spec), gracePeriodSeconds(in.spec))
}

func validateLifecycle(path *field.Path, lifecycle *corev1.Lifecycle, ports namedPorts, grace int64) field.ErrorList {
	if lifecycle == nil {
		return nil
	}
	errs := validateLifecycleHandler(path.Child("postStart"), lifecycle.PostStart, ports, grace)
	errs = append(errs, validateLifecycleHandler(path.Child("preStop"), lifecycle.PreStop, ports, grace)...)
	if lifecycle.StopSignal != nil {
		errs = append(errs, field.Forbidden(path.Child("stopSignal"), "Kubernetes takes a stop signal only with the pod's os.name, which an Application does not set: use STOPSIGNAL of the image, or preStop"))
	}
	return errs
}

func validateLifecycleHandler(path *field.Path, handler *corev1.LifecycleHandler, ports namedPorts, grace int64) field.ErrorList {
	if handler == nil {
		return nil
	}
	var errs field.ErrorList
	if handler.TCPSocket != nil {
		errs = append(errs, field.Forbidden(path.Child("tcpSocket"), "Kubernetes accepts it and it always fails: use exec, httpGet or sleep"))
	} else {
		errs = exactlyOne(path, []string{"exec", "httpGet", "sleep"}, handler.Exec != nil, handler.HTTPGet != nil, handler.Sleep != nil)
	}
	if handler.Exec != nil {
		errs = append(errs, validateExec(path.Child("exec"), handler.Exec)...)
	}
	if action := handler.HTTPGet; action != nil {
		errs = append(errs, validateCoreHTTPGet(path.Child("httpGet"), action, ports)...)
	}
	if sleep := handler.Sleep; sleep != nil && (sleep.Seconds < 0 || sleep.Seconds > grace) {
		errs = append(errs, field.Invalid(path.Child("sleep", "seconds"), sleep.Seconds, fmt.Sprintf("must be between 0 and terminationGracePeriodSeconds (%d)", grace)))
	}
	return errs
}

// validateCoreHTTPGet checks actions whose port cannot be omitted.
func validateCoreHTTPGet(path *field.Path, action *corev1.HTTPGetAction, ports namedPorts) field.ErrorList {
	errs := validatePortRef(path.Child("port"), action.Port, ports)
	errs = append(errs, validateHTTPGet(path, action.Path, action.Scheme, action.HTTPHeaders)...)
	return append(errs, validateHTTPProtocol(path, action)...)
}

// validateHTTPProtocol checks a protocol to the pod itself: HTTP/2 without TLS.
func validateHTTPProtocol(path *field.Path, action *corev1.HTTPGetAction) field.ErrorList {
	if action.Protocol == nil {
		return nil
	}
	protocol := *action.Protocol
	switch {
	case protocol == corev1.HTTPProtocolHTTP1:
		return nil
	case protocol != corev1.HTTPProtocolHTTP2:
		return field.ErrorList{field.NotSupported(path.Child("protocol"), protocol, []corev1.HTTPProtocol{corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2})}
	case action.Scheme == corev1.URISchemeHTTPS:
		return field.ErrorList{field.Invalid(path.Child("protocol"), protocol, "needs scheme HTTP")}
	case action.Host != "":
		return field.ErrorList{field.Invalid(path.Child("host"), action.Host, "must be empty with protocol HTTP2")}
	}
	return nil
}
