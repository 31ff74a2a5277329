// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

const (
	// impactTimeout bounds the work for a class of thousands of Applications: the warning is a courtesy.
	impactTimeout = time.Second
	// firstNames is how many Applications a warning names, unless the request is a dry run.
	firstNames = 3
	// The API server passes 4096 characters of warnings to the client; beyond that it cuts each to 256.
	maxWarning  = 256
	maxWarnings = 1800 // One list of names; there are two.
)

// impact is what the change of a class does to the Applications that have it, or get it.
type impact struct {
	stalling, changing []string
	// reason is the error of the first stalling Application.
	reason *field.Error
	// unexamined counts those that the time did not suffice for.
	unexamined int
}

// classImpact warns of Applications that the change stalls, or gives other defaults. They may be in any namespace; the
// requester may change a class, which is a right of the platform. Only caches are read.
func (h *Handler) classImpact(ctx context.Context, request *admissionv1.AdmissionRequest, old, updated *v1.ApplicationClass) []string {
	if equality.Semantic.DeepEqual(old.Spec, updated.Spec) && class.IsMarkedDefault(old) == class.IsMarkedDefault(updated) {
		return nil
	}
	before, err := h.config.Classes.Classes()
	if err != nil {
		return nil // Not listed yet, so nothing is known.
	}
	users, err := h.config.Classes.OfClass(updated.Name)
	if err != nil {
		return nil
	}
	users = slices.Clone(users)
	if class.IsMarkedDefault(old) || class.IsMarkedDefault(updated) {
		unnamed, err := h.config.Classes.OfClass("")
		if err != nil {
			return nil
		}
		users = append(users, unnamed...)
	}
	after := append(slices.DeleteFunc(slices.Clone(before), func(c *v1.ApplicationClass) bool { return c.Name == updated.Name }), updated)
	ctx, cancel := context.WithTimeout(ctx, impactTimeout)
	defer cancel()
	return h.impactOn(ctx, users, before, after).warnings(request.DryRun != nil && *request.DryRun)
}

func (h *Handler) impactOn(ctx context.Context, users []*v1.Application, before, after []*v1.ApplicationClass) impact {
	slices.SortFunc(users, func(a, b *v1.Application) int { return strings.Compare(nameOf(a), nameOf(b)) })
	var found impact
	for i, application := range users {
		if ctx.Err() != nil {
			found.unexamined = len(users) - i
			break
		}
		rules := class.Rules{Classes: before, Namespace: h.cachedNamespace(application.Namespace), Required: h.config.RequireClass}
		changed := rules
		changed.Classes = after
		switch effect, errs := class.EffectOf(application, rules, changed, h.config.Validation); effect {
		case class.Stalls:
			if found.reason == nil {
				found.reason = errs[0]
			}
			found.stalling = append(found.stalling, nameOf(application))
		case class.NewDefaults:
			found.changing = append(found.changing, nameOf(application))
		case class.NoEffect:
		}
	}
	return found
}

// cachedNamespace asks no API server. A namespace whose labels are unknown counts as selected by no class that has a
// selector, before and after.
func (h *Handler) cachedNamespace(name string) class.Namespace {
	namespace := class.Namespace{Name: name}
	labels, found := h.config.Classes.NamespaceLabels(name)
	if namespace.Labels = labels; !found {
		namespace.Unreadable = "not cached"
	}
	return namespace
}

func (i impact) warnings(all bool) []string {
	var warnings []string
	if n := len(i.stalling); n > 0 {
		warnings = append(warnings, listed(fmt.Sprintf("with this change %s and not updated any more: ", counted(n, "Application is stalled", "Applications are stalled")), i.stalling, all)...)
		warnings = append(warnings, fmt.Sprintf("%s: %s", i.stalling[0], i.reason))
	}
	if n := len(i.changing); n > 0 {
		warnings = append(warnings, listed(fmt.Sprintf("with this change %s other defaults, which may replace pods: ", counted(n, "Application gets", "Applications get")), i.changing, all)...)
	}
	if i.unexamined > 0 {
		warnings = append(warnings, counted(i.unexamined, "further Application was", "further Applications were")+" not examined in time")
	}
	return warnings
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// listed appends names to the text: the first few, or all of them in as many warnings as the API server passes on.
func listed(text string, names []string, all bool) []string {
	if !all {
		shown := names[:min(len(names), firstNames)]
		text += strings.Join(shown, ", ")
		if more := len(names) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more; --dry-run=server names all beforehand", more)
		}
		return []string{text}
	}
	var warnings []string
	size := 0
	for i, name := range names {
		if size+len(text) > maxWarnings {
			return append(warnings, fmt.Sprintf("%s and %d more", strings.TrimSuffix(text, ", "), len(names)-i))
		}
		if len(text)+len(name) > maxWarning {
			warnings, size, text = append(warnings, strings.TrimSuffix(text, ", ")), size+len(text), ""
		}
		text += name + ", "
	}
	return append(warnings, strings.TrimSuffix(text, ", "))
}

func nameOf(application *v1.Application) string {
	return application.Namespace + "/" + application.Name
}
