// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Looking for referenced objects is a courtesy, and must not make a request slow or fail.
const (
	maxLookups        = 16
	concurrentLookups = 4
	lookupTimeout     = time.Second
)

// references warns of objects that the request begins to refer to and that are not there. It is a
// warning, because they may be created right after; and it says nothing where it could not look.
func (h *Handler) references(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 {
		return nil
	}
	referred := map[Reference]bool{}
	if in.old != nil {
		for _, old := range referencesOf(in.old) {
			referred[old] = true
		}
	}
	var wanted []Reference
	for _, reference := range referencesOf(in.new) {
		if !referred[reference] && len(wanted) < maxLookups {
			wanted = append(wanted, reference)
		}
	}
	for i, missing := range h.missing(ctx, wanted) {
		if missing {
			found.warnings = append(found.warnings, fmt.Sprintf("%s %q does not exist in namespace %q, and the pods need it",
				wanted[i].Kind, wanted[i].Name, wanted[i].Namespace))
		}
	}
	return nil
}

// missing tells for each object whether it is known not to be there.
func (h *Handler) missing(ctx context.Context, wanted []Reference) []bool {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	missing := make([]bool, len(wanted))
	slots := make(chan struct{}, concurrentLookups)
	var lookups sync.WaitGroup
	for i, reference := range wanted {
		slots <- struct{}{}
		lookups.Go(func() {
			defer func() { <-slots }()
			missing[i] = h.isMissing(ctx, reference)
		})
	}
	lookups.Wait()
	return missing
}

func (h *Handler) isMissing(ctx context.Context, reference Reference) (missing bool) {
	// A panic here is not in the goroutine of the request, whose guard would catch it.
	defer func() {
		if panicked := recover(); panicked != nil {
			h.config.Metrics.panics.WithLabelValues(string(Validating)).Inc()
			klog.FromContext(ctx).Error(nil, "Panic while looking for a referenced object", "kind", reference.Kind, "panic", fmt.Sprint(panicked))
			missing = false
		}
	}()
	found, err := h.config.Find(ctx, reference)
	if err != nil {
		if !apierrors.IsForbidden(err) { // without the optional permission nothing is to be said
			klog.FromContext(ctx).V(2).Info("Referenced object was not looked for", "kind", reference.Kind,
				"object", klog.KRef(reference.Namespace, reference.Name), "err", err)
		}
		return false
	}
	return found == nil
}

// ineffective warns of what the request begins to say and nothing will heed.
func ineffective(_ context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 {
		return nil
	}
	var before []string
	if in.old != nil {
		before = unheeded(in.old.Spec.Routes)
	}
	for _, warning := range unheeded(in.new.Spec.Routes) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// unheeded is what an HTTPRoute has no use for. A route of type Auto may become an Ingress, which has.
// Routes are told by their names, so that a move in the list warns of nothing anew.
func unheeded(routes []v1.Route) []string {
	var warnings []string
	for _, route := range routes {
		if route.Type != v1.RouteHTTPRoute {
			continue
		}
		if route.TLS != nil && route.TLS.SecretName != "" {
			warnings = append(warnings, fmt.Sprintf("tls.secretName of route %q has no effect, because its type is HTTPRoute: the Gateway's listener has the certificate", route.Name))
		}
		if route.IngressClassName != nil {
			warnings = append(warnings, fmt.Sprintf("ingressClassName of route %q has no effect, because its type is HTTPRoute: parentRefs name its Gateways", route.Name))
		}
	}
	return warnings
}
