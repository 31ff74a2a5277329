// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// probeKind distinguishes the three probes of a container.
type probeKind string

const (
	liveness  probeKind = "livenessProbe"
	readiness probeKind = "readinessProbe"
	startup   probeKind = "startupProbe"
)

// probed is the container of a probe.
type probed struct {
	ports namedPorts
	// primary is the port that an omitted one defaults to; empty if there is none.
	primary string
}

func validateApplicationProbes(in input) field.ErrorList {
	target := probed{ports: applicationPorts(in.spec)}
	if len(in.spec.Ports) > 0 {
		target.primary = in.spec.Ports[0].Name
	}
	errs := validateProbe(in.path, liveness, in.spec.LivenessProbe, target)
	errs = append(errs, validateProbe(in.path, readiness, in.spec.ReadinessProbe, target)...)
	return append(errs, validateProbe(in.path, startup, in.spec.StartupProbe, target)...)
}

func validateProbe(parent *field.Path, kind probeKind, probe *v1.Probe, target probed) field.ErrorList {
	if probe == nil {
		return nil
	}
	path := parent.Child(string(kind))
	errs := exactlyOne(path, []string{"exec", "httpGet", "tcpSocket", "grpc"},
		probe.Exec != nil, probe.HTTPGet != nil, probe.TCPSocket != nil, probe.GRPC != nil)
	if probe.Exec != nil {
		errs = append(errs, validateExec(path.Child("exec"), probe.Exec)...)
	}
	if action := probe.HTTPGet; action != nil {
		path := path.Child("httpGet")
		errs = append(errs, validateProbePort(path.Child("port"), action.Port, target)...)
		errs = append(errs, validateHTTPGet(path, action.Path, action.Scheme, action.HTTPHeaders)...)
	}
	if action := probe.TCPSocket; action != nil {
		errs = append(errs, validateProbePort(path.Child("tcpSocket", "port"), action.Port, target)...)
	}
	if action := probe.GRPC; action != nil {
		errs = append(errs, validateProbePort(path.Child("grpc", "port"), intOrNil(action.Port), target)...)
	}
	errs = append(errs, notNegative(path.Child("initialDelaySeconds"), probe.InitialDelaySeconds)...)
	errs = append(errs, positive(path.Child("timeoutSeconds"), probe.TimeoutSeconds)...)
	errs = append(errs, positive(path.Child("periodSeconds"), probe.PeriodSeconds)...)
	errs = append(errs, positive(path.Child("failureThreshold"), probe.FailureThreshold)...)
	if success := probe.SuccessThreshold; kind != readiness && success != nil && *success != 1 {
		errs = append(errs, field.Invalid(path.Child("successThreshold"), *success, "must be 1 for "+string(kind)))
	} else {
		errs = append(errs, positive(path.Child("successThreshold"), success)...)
	}
	if grace := probe.TerminationGracePeriodSeconds; kind == readiness && grace != nil {
		errs = append(errs, field.Forbidden(path.Child("terminationGracePeriodSeconds"), "must not be set for readinessProbe, which never ends the container"))
	} else {
		errs = append(errs, positive(path.Child("terminationGracePeriodSeconds"), grace)...)
	}
	return errs
}

// positive accepts nil, which has a default.
func positive[T int32 | int64](path *field.Path, value *T) field.ErrorList {
	if value == nil || *value > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "must be greater than 0")}
}

func intOrNil(port *int32) *intstr.IntOrString {
	if port == nil {
		return nil
	}
	return new(intstr.FromInt32(*port))
}

// validateProbePort checks the port. An omitted one means the primary port; a name must be that of a TCP port.
func validateProbePort(path *field.Path, port *intstr.IntOrString, target probed) field.ErrorList {
	if port != nil {
		return validatePortRef(path, *port, target.ports)
	}
	if target.primary == "" {
		return field.ErrorList{field.Required(path, "there is no primary port to default to: name a number, or add ports")}
	}
	if protocol := target.ports[target.primary]; protocol != corev1.ProtocolTCP {
		return field.ErrorList{field.Required(path, fmt.Sprintf("the primary port %q is %s and cannot be probed: name a TCP port", target.primary, protocol))}
	}
	return nil
}

func validatePortRef(path *field.Path, port intstr.IntOrString, ports namedPorts) field.ErrorList {
	if port.Type == intstr.Int {
		return invalid(path, port.IntVal, utilvalidation.IsValidPortNum(int(port.IntVal)))
	}
	if errs := quotedNumber(path, port); errs != nil {
		return errs
	}
	return validateTCPPortName(path, port.StrVal, ports)
}

// quotedNumber refuses the text of a number as the name of a port, which needs a letter.
func quotedNumber(path *field.Path, port intstr.IntOrString) field.ErrorList {
	if _, err := strconv.Atoi(port.StrVal); port.Type != intstr.String || err != nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, port.StrVal, "a number must not be quoted: write "+port.StrVal)}
}

func validateTCPPortName(path *field.Path, name string, ports namedPorts) field.ErrorList {
	protocol, found := ports[name]
	switch {
	case !found && len(ports) == 0:
		return field.ErrorList{field.Invalid(path, name, "must be a number, because no port of the container has a name")}
	case !found:
		return field.ErrorList{field.NotSupported(path, name, sortedKeys(ports))}
	case protocol != corev1.ProtocolTCP:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("must be a TCP port, not %s", protocol))}
	}
	return nil
}

func validateExec(path *field.Path, action *corev1.ExecAction) field.ErrorList {
	if len(action.Command) == 0 {
		return field.ErrorList{field.Required(path.Child("command"), "must have at least the program to run")}
	}
	return nil
}

func validateHTTPGet(path *field.Path, urlPath string, scheme corev1.URIScheme, headers []corev1.HTTPHeader) field.ErrorList {
	errs := enum(path.Child("scheme"), scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	if hasControl(urlPath) {
		errs = append(errs, field.Invalid(path.Child("path"), urlPath, "must not contain control characters"))
	}
	for i, header := range headers {
		path := path.Child("httpHeaders").Index(i)
		errs = append(errs, invalid(path.Child("name"), header.Name, utilvalidation.IsHTTPHeaderName(header.Name))...)
		if hasControl(header.Value) {
			errs = append(errs, field.Invalid(path.Child("value"), header.Value, "must not contain control characters"))
		}
	}
	return errs
}
