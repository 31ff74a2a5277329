// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// Looking for other objects is a courtesy, and must not make a request slow or fail.
const (
	maxLookups        = 16
	concurrentLookups = 4
	lookupTimeout     = time.Second
)

// references warns of missing objects, and of missing keys of objects, that the request begins to refer to. It is a warning,
// because the user may create them next. Where the controller cannot look, it says nothing.
func (h *Handler) references(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 {
		return nil
	}
	referred := map[Reference]bool{}
	if in.old != nil {
		for _, old := range referencesOf(in.old) {
			referred[old] = true
		}
		for old := range h.certificatesOf(ctx, in.old) {
			referred[old] = true
		}
		for _, old := range peersOf(in.old) {
			referred[old] = true
		}
	}
	needed, certificates, keys := referencesOf(in.new), h.certificatesOf(ctx, in.new), newKeys(in.old, in.new)
	ofClass, of := h.newPullSecretsOfClass(ctx, in)
	var wanted []Reference
	for _, reference := range slices.Concat(needed, sortedReferences(certificates), ofClass, peersOf(in.new)) {
		isNew := !referred[reference] || len(keys[reference]) > 0
		if isNew && len(wanted) < maxLookups && !slices.Contains(wanted, reference) {
			wanted = append(wanted, reference)
		}
	}
	for i, result := range h.lookUp(ctx, wanted) {
		missing := fmt.Sprintf("%s %q does not exist in namespace %q", wanted[i].Kind, wanted[i].Name, wanted[i].Namespace)
		switch {
		case !result.known:
		case result.object != nil:
			found.warnings = append(found.warnings, lackingKeys(wanted[i], result.object, keys[wanted[i]])...)
		case referred[wanted[i]]: // It was missing before.
		case wanted[i].Kind == KindApplication:
			found.warnings = append(found.warnings, missing+": until it does, what spec.networkPolicy allows it has no effect")
		case onlyPullsImages(in.new, wanted[i]) && certificates[wanted[i]] == "":
			found.warnings = append(found.warnings, missing+", so the nodes pull the image without its credentials")
		case slices.Contains(needed, wanted[i]):
			found.warnings = append(found.warnings, missing+", and the pods need it")
		case slices.Contains(ofClass, wanted[i]) && certificates[wanted[i]] == "":
			found.warnings = append(found.warnings, fmt.Sprintf("%s, so the nodes pull the image without its credentials: class %s names it", missing, of))
		default:
			found.warnings = append(found.warnings, fmt.Sprintf("%s, and route %q takes its certificate from it: create it, or let a controller such as cert-manager create it",
				missing, certificates[wanted[i]]))
		}
	}
	return nil
}

func sortedReferences(certificates map[Reference]string) []Reference {
	return slices.SortedFunc(maps.Keys(certificates), func(a, b Reference) int { return strings.Compare(a.Name, b.Name) })
}

// lookup is what is known of an object.
type lookup struct {
	// known is false where the object could not be read.
	known bool
	// object is nil if there is none.
	object *metav1.PartialObjectMetadata
}

// lookUp looks for the objects, a few at a time.
func (h *Handler) lookUp(ctx context.Context, wanted []Reference) []lookup {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	results := make([]lookup, len(wanted))
	slots := make(chan struct{}, concurrentLookups)
	var lookups sync.WaitGroup
	for i, reference := range wanted {
		slots <- struct{}{}
		lookups.Go(func() {
			defer func() { <-slots }()
			results[i] = h.lookUpOne(ctx, reference)
		})
	}
	lookups.Wait()
	return results
}

func (h *Handler) lookUpOne(ctx context.Context, reference Reference) (result lookup) {
	// A panic here is not in the goroutine of the request, whose guard would catch it.
	defer func() {
		if panicked := recover(); panicked != nil {
			h.config.Metrics.panics.WithLabelValues(string(Validating)).Inc()
			klog.FromContext(ctx).Error(nil, "Panic while looking for a referenced object", "kind", reference.Kind, "panic", fmt.Sprint(panicked))
			result = lookup{}
		}
	}()
	object, err := h.config.Find(ctx, reference)
	if err != nil {
		if !apierrors.IsForbidden(err) { // Without the optional permission there is nothing to say.
			klog.FromContext(ctx).V(2).Info("Referenced object was not looked for", "kind", reference.Kind,
				"object", klog.KRef(reference.Namespace, reference.Name), "err", err)
		}
		return lookup{}
	}
	return lookup{known: true, object: object}
}

// ineffective warns of fields that the request begins to set and that have no effect, or not the one that was meant.
func (h *Handler) ineffective(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 {
		return nil
	}
	warnings := func(application *v1.Application) []string {
		fields := ineffectiveFields(&application.Spec, in.new.Status.DesiredReplicas)
		if len(probesOf(&application.Spec)) == 0 {
			return fields
		}
		return append(fields, LateProbes(application, h.resolved(ctx, application))...)
	}
	var before []string
	if in.old != nil {
		before = warnings(in.old)
	}
	for _, warning := range warnings(in.new) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// Ineffective returns a warning for each field that has no effect, or not the one that was meant. Each begins with the field's
// path and a colon. It needs no cluster.
func Ineffective(spec *v1.ApplicationSpec) []string {
	return ineffectiveFields(spec, 0)
}

func ineffectiveFields(spec *v1.ApplicationSpec, pods int32) []string {
	return inSpec(slices.Concat(unheeded(spec.Routes), urlPaths(spec), servicePorts(spec), unsplit(spec), specQuantities(spec),
		decimalModes(spec.Mounts), hidden(spec), blockedDrains(spec, pods)))
}

// inSpec has the paths that the warnings begin with start at the object, as those of errors do.
func inSpec(warnings []string) []string {
	for i := range warnings {
		warnings[i] = "spec." + warnings[i]
	}
	return warnings
}

// unheeded returns a warning for each field that an HTTPRoute does not have. A route of type Auto may become an
// Ingress, which has them. The warnings name the route, not its index, so moving it in the list repeats none.
func unheeded(routes []v1.Route) []string {
	var warnings []string
	for _, route := range routes {
		if route.Type != v1.RouteHTTPRoute {
			continue
		}
		if route.TLS != nil && route.TLS.SecretName != "" {
			warnings = append(warnings, fmt.Sprintf("routes[%s].tls.secretName: it has no effect, because the type of the route is HTTPRoute: the Gateway's listener has the certificate", route.Name))
		}
		if route.IngressClassName != nil {
			warnings = append(warnings, fmt.Sprintf("routes[%s].ingressClassName: it has no effect, because the type of the route is HTTPRoute: parentRefs name its Gateways", route.Name))
		}
	}
	return warnings
}

// namedProbe is a probe of the application container and its field.
type namedProbe struct {
	field string
	probe *v1.Probe
}

// probesOf returns the probes that the spec has.
func probesOf(spec *v1.ApplicationSpec) []namedProbe {
	all := []namedProbe{{"livenessProbe", spec.LivenessProbe}, {"readinessProbe", spec.ReadinessProbe}, {"startupProbe", spec.StartupProbe}}
	return slices.DeleteFunc(all, func(named namedProbe) bool { return named.probe == nil })
}

// LateProbes returns a warning for each probe of given that lets no pod become ready before the rollout counts as failed. resolved is given
// with the defaults of its class, which may have a deadline.
func LateProbes(given, resolved *v1.Application) []string {
	deadline, raise := render.ProgressDeadlineSeconds(resolved), "raise progressDeadlineSeconds"
	if given.Spec.ProgressDeadlineSeconds == nil {
		raise = "set a higher progressDeadlineSeconds"
	}
	var warnings []string
	for _, named := range probesOf(&given.Spec) {
		delay := named.probe.InitialDelaySeconds
		if named.field == "livenessProbe" || delay == nil || *delay < deadline {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("spec.%s.initialDelaySeconds: no pod becomes ready before %d s, so each rollout counts as failed after %d s: lower it, or %s",
			named.field, *delay, deadline, raise))
	}
	return warnings
}

// urlPaths returns a warning for each probe whose path is a URL: the kubelet requests it as a path of the pod.
func urlPaths(spec *v1.ApplicationSpec) []string {
	var warnings []string
	for _, named := range probesOf(spec) {
		if named.probe.HTTPGet == nil || !strings.Contains(named.probe.HTTPGet.Path, "://") {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s.httpGet.path: the kubelet requests %s as a path of the pod, and not as a URL: write the path alone, such as /healthz",
			named.field, named.probe.HTTPGet.Path))
	}
	return warnings
}

// servicePorts returns a warning for each probe of a port that only the Service has: the kubelet probes the pod. Another number may be a port
// that the spec does not list.
func servicePorts(spec *v1.ApplicationSpec) []string {
	var warnings []string
	for _, named := range probesOf(spec) {
		action, probed := probedPort(named.probe)
		i := slices.IndexFunc(spec.Ports, func(port v1.ApplicationPort) bool { return render.ServicePort(port) == probed })
		if probed == 0 || i < 0 || listens(spec, probed) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s.%s.port: nothing in the spec listens on %d, which is a port of the Service: the container's port is %d",
			named.field, action, probed, spec.Ports[i].ContainerPort))
	}
	return warnings
}

// probedPort returns the action of the probe, and the number of the port of the pod that it connects to; 0 if that is not in the spec.
func probedPort(probe *v1.Probe) (action string, number int32) {
	ofPod := func(port *intstr.IntOrString, host string) int32 {
		if port == nil || port.Type != intstr.Int || host != "" {
			return 0
		}
		return port.IntVal
	}
	switch {
	case probe.HTTPGet != nil:
		return "httpGet", ofPod(probe.HTTPGet.Port, probe.HTTPGet.Host)
	case probe.TCPSocket != nil:
		return "tcpSocket", ofPod(probe.TCPSocket.Port, probe.TCPSocket.Host)
	case probe.GRPC != nil && probe.GRPC.Port != nil:
		return "grpc", *probe.GRPC.Port
	default:
		return "", 0
	}
}

// listens reports whether a container of the running pod has the port. All share the pod's address.
func listens(spec *v1.ApplicationSpec, number int32) bool {
	return slices.ContainsFunc(spec.Ports, func(port v1.ApplicationPort) bool { return port.ContainerPort == number }) ||
		slices.ContainsFunc(slices.Concat(spec.Sidecars, spec.InitContainers), func(container corev1.Container) bool {
			return slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return port.ContainerPort == number })
		})
}
