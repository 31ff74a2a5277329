// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

// droppedDefaults warns of defaults that the class has for the Application, and that the request begins to contradict. Otherwise a quota
// that asks for requests and limits refuses the pods, and nothing says why they lack them.
func (h *Handler) droppedDefaults(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || h.config.Classes == nil {
		return nil
	}
	rules, err := h.config.classRules(ctx, in.new.Namespace)
	if err != nil {
		return err
	}
	var before []string
	if in.old != nil {
		before = DroppedDefaults(in.old, rules)
	}
	for _, warning := range DroppedDefaults(in.new, rules) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// otherDefaults warns of another class whose defaults change the pods that run, their NetworkPolicy or routes, where the rest of the update does not.
func (h *Handler) otherDefaults(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || h.config.Classes == nil || in.old == nil || in.old.Spec.ClassName == in.new.Spec.ClassName ||
		in.old.Status.Replicas == 0 || in.new.Spec.ReconcilePolicy.Withholds() {
		return nil
	}
	rules, err := h.config.classRules(ctx, in.new.Namespace)
	if err != nil {
		return err
	}
	if in.new.Spec.ClassName != "" && class.Choose(in.new, rules) == nil {
		return nil // The Application waits for the class.
	}
	before, after := &lastResolved(in.old, rules).Spec, &class.Resolve(in.new, rules).Application.Spec
	if equality.Semantic.DeepEqual(in.old.Spec.NetworkPolicy, in.new.Spec.NetworkPolicy) && !equality.Semantic.DeepEqual(before.NetworkPolicy, after.NetworkPolicy) &&
		(after.NetworkPolicy != nil || !h.lacksOwn(ctx, in.new, child.NetworkPolicy)) {
		found.warnings = append(found.warnings, "spec.className: the Application "+otherPolicy(after.NetworkPolicy))
	}
	if equality.Semantic.DeepEqual(in.old.Spec.Routes, in.new.Spec.Routes) && !equality.Semantic.DeepEqual(before.Routes, after.Routes) {
		found.warnings = append(found.warnings, "spec.className: the Application gets "+otherRoutes)
	}
	if toRevision(in.new) != 0 || !revision.SamePods(&in.old.Spec, &in.new.Spec) || revision.SamePods(before, after) {
		return nil
	}
	warning := "spec.className: the Application gets other defaults, which may replace its pods"
	if paused(&in.new.Spec) {
		warning += " once you set spec.paused to false"
	}
	found.warnings = append(found.warnings, warning)
	return nil
}

// otherPolicy says what the NetworkPolicy of another class does; nil if that has none.
func otherPolicy(policy *v1.NetworkPolicy) string {
	const gets = "gets a new NetworkPolicy, after which its pods may connect "
	switch {
	case policy == nil:
		return "loses its NetworkPolicy, " + restricts
	case len(policy.Egress) > 0:
		return gets + onlyToListed
	default:
		return gets + onlyToDNS
	}
}

// lastResolved is the Application with the defaults that its children have, although its class may be gone.
func lastResolved(application *v1.Application, rules class.Rules) *v1.Application {
	applied := application.Status.Class
	switch {
	case applied == nil:
		return application
	case applied.DefaultsOmitted:
		return class.Resolve(application, rules).Application
	}
	merged, _ := class.Merge(application, applied.Defaults)
	return merged
}

// DroppedDefaults returns a warning for each default of the Application's class that its own fields exclude.
func DroppedDefaults(application *v1.Application, rules class.Rules) []string {
	chosen := class.Choose(application, rules)
	if chosen == nil {
		return nil
	}
	var warnings []string
	for _, dropped := range class.DroppedResources(&application.Spec, chosen.Spec.Defaults) {
		own, compared, advice := "request", "higher", "set a limit, or Fairlead sets none"
		if dropped.Field == class.Requests {
			own, advice = "limit", "set a request, or Kubernetes takes the limit as the request"
		}
		if dropped.Own.Cmp(dropped.Default) < 0 {
			compared = "lower"
		}
		warnings = append(warnings, fmt.Sprintf("resources.%s[%s]: the default %s of ApplicationClass %q is not taken, because your %s %s is %s: %s",
			dropped.Field, dropped.Name, dropped.Default.String(), chosen.Name, own, dropped.Own.String(), compared, advice))
	}
	for _, dropped := range class.DroppedFields(&application.Spec, chosen.Spec.Defaults) {
		warnings = append(warnings, fmt.Sprintf("%s: the default %s of ApplicationClass %q is not taken, because %s: %s",
			dropped.Field, dropped.Default, chosen.Name, dropped.Because, dropped.Instead))
	}
	return inSpec(warnings)
}
