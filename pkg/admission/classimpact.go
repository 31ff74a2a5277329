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
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/revision"
)

const (
	// impactTimeout bounds the work for a class of thousands of Applications: the warning is a courtesy.
	impactTimeout = time.Second
	// firstNames is how many Applications a warning names, unless the request is a dry run.
	firstNames = 3
	// The API server passes 4096 characters of warnings to the client; beyond that it cuts each to 256.
	maxWarning  = 256
	maxWarnings = 3000 // All lists of names together; there are usually two.
)

// What a NetworkPolicy of a class does, after "its pods may connect" and "loses its NetworkPolicy,"; and what else an Application gets.
const (
	onlyToDNS    = "only to DNS, because the class lists no egress" + acceptOnly
	onlyToListed = "only to what the class lists, and to DNS" + acceptOnly
	acceptOnly   = ", and accept only what it lists, beside routes and monitoring"
	restricts    = "which restricts the connections to and from the pods"

	recovers    = "no longer stalled because of the class, so Fairlead carries out what the spec says, which may replace pods"
	otherRoutes = "other defaults of routes, such as tls"
)

// impact is what the change of a class does to the Applications that have it, or get it.
type impact struct {
	// staying were refused before the change, and still are; dropping do not take a default that changes.
	stalling, staying, dropping []string
	// replaced get other defaults of their pods, and changing only of what is none of the others here.
	replaced, changing []string
	// unchanged are refused with the same errors as before the change, by a rule that it does not alter.
	unchanged []string
	// recovering were stalled because of the class.
	recovering []string
	// rerouted get other defaults of their routes.
	rerouted []string
	// unserved get a route that needs an API which the cluster does not serve, and unserving says why.
	unserved  []string
	unserving reasons
	// restricted get a NetworkPolicy that lists egress, enclosed one that lists none, and opened lose theirs.
	restricted, enclosed, opened []string
	// stalls say why the first stalling Applications are refused, and stays the first staying ones: each reason once.
	stalls, stays reasons
	// dropped says why the first dropping one does not take its default.
	dropped reasons
	// unexamined counts those that the time did not suffice for.
	unexamined int
}

// classImpact warns of Applications that the change stalls, leaves stalled, or gives other defaults. They may be in any namespace; the
// requester may change a class, which is a right of the platform. Only caches are read.
func (h *Handler) classImpact(ctx context.Context, request *admissionv1.AdmissionRequest, old, updated *v1.ApplicationClass) []string {
	// An empty list of a limit allows nothing, a missing one everything.
	if equality.Semantic.DeepEqualWithNilDifferentFromEmpty(old.Spec, updated.Spec) && class.IsMarkedDefault(old) == class.IsMarkedDefault(updated) {
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
	var (
		found       impact
		unavailable map[child.Kind]child.Unavailable
	)
	if h.config.Unavailable != nil {
		unavailable = h.config.Unavailable()
	}
	for i, application := range users {
		if ctx.Err() != nil {
			found.unexamined = len(users) - i
			break
		}
		rules := class.Rules{Classes: before, Namespace: h.cachedNamespace(application.Namespace), Required: h.config.RequireClass}
		changed := rules
		changed.Classes = after
		effect := h.pinnedEffect(ctx, application, rules, changed, class.EffectOf(application, rules, changed, h.config.Validation, revision.SamePods))
		found.add(nameOf(application), effect)
		if effect.NewRoutes {
			found.addUnserved(application, rules, changed, unavailable)
		}
		if effect.NewPods {
			found.addDropped(nameOf(application), DroppedDefaults(application, rules), DroppedDefaults(application, changed))
		}
	}
	return found
}

func (i *impact) add(name string, effect class.Effect) {
	if len(effect.Stalls) > 0 {
		i.stalls.add(name, effect.Stalls)
		i.stalling = append(i.stalling, name)
	}
	switch {
	case effect.Unchanged:
		i.unchanged = append(i.unchanged, name)
	case len(effect.Stays) > 0:
		i.stays.add(name, effect.Stays)
		i.staying = append(i.staying, name)
	}
	if effect.Recovers {
		i.recovering = append(i.recovering, name)
	}
	if effect.NewPods {
		i.replaced = append(i.replaced, name)
	}
	if effect.NewDefaults {
		i.changing = append(i.changing, name)
	}
	if effect.NewRoutes {
		i.rerouted = append(i.rerouted, name)
	}
	switch policy := effect.NewPolicy; {
	case effect.LosesPolicy:
		i.opened = append(i.opened, name)
	case policy == nil:
	case len(policy.Egress) > 0:
		i.restricted = append(i.restricted, name)
	default:
		i.enclosed = append(i.enclosed, name)
	}
}

// addDropped adds an Application that has not taken other defaults before.
func (i *impact) addDropped(name string, before, after []string) {
	isNew := func(warning string) bool { return !slices.Contains(before, warning) }
	if at := slices.IndexFunc(after, isNew); at >= 0 {
		if len(i.dropping) == 0 {
			i.dropped = reasons{name + ": " + after[at]}
		}
		i.dropping = append(i.dropping, name)
	}
}

// addUnserved adds an Application that has a route which the cluster begins not to serve.
func (i *impact) addUnserved(application *v1.Application, before, after class.Rules, unavailable map[child.Kind]child.Unavailable) {
	had := unservedFields(application, class.Resolve(application, before).Application, unavailable)
	for _, warning := range unservedFields(application, class.Resolve(application, after).Application, unavailable) {
		if !slices.Contains(had, warning) {
			i.unserved = append(i.unserved, nameOf(application))
			i.unserving.addText(nameOf(application), warning)
			return
		}
	}
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

// affected are the Applications that the same happens to.
type affected struct {
	names           []string
	one, many, what string
	reasons         reasons
}

// affected sorts them, what is worst first.
func (i impact) affected() []affected {
	const (
		one  = "Application gets a new NetworkPolicy, after which its pods may connect"
		many = "Applications get a new NetworkPolicy, after which their pods may connect"
	)
	all := []affected{
		{i.stalling, "Application is stalled", "Applications are stalled", "and not updated any more", i.stalls},
		{i.enclosed, one, many, onlyToDNS, nil},
		{i.restricted, one, many, onlyToListed, nil},
		{i.opened, "Application loses its NetworkPolicy,", "Applications lose their NetworkPolicy,", restricts, nil},
		{i.recovering, "Application is", "Applications are", recovers, nil},
		{i.replaced, "Application gets", "Applications get", "other defaults, which may replace pods", nil},
		{i.changing, "Application gets", "Applications get", "other defaults, which replace no pod", nil},
		{i.rerouted, "Application gets", "Applications get", otherRoutes, nil},
		{i.unserved, "Application has", "Applications have", "a route that the cluster does not serve", i.unserving},
		{i.dropping, "Application does not", "Applications do not", "take every default", i.dropped},
		{i.allStaying(), "Application stays", "Applications stay", "stalled", i.stays},
	}
	return slices.DeleteFunc(all, func(a affected) bool { return len(a.names) == 0 })
}

// allStaying are the Applications that stay stalled, the ones that the change concerns first. A change that concerns none of them is not
// the time to name them.
func (i impact) allStaying() []string {
	if len(i.staying) == 0 {
		return nil
	}
	return slices.Concat(i.staying, i.unchanged)
}

func (i impact) warnings(all bool) []string {
	var warnings []string
	lists := i.affected()
	for _, of := range lists {
		text := fmt.Sprintf("with this change %s %s: ", counted(len(of.names), of.one, of.many), of.what)
		warnings = append(warnings, listed(text, of.names, all, maxWarnings/len(lists))...)
		warnings = append(warnings, of.reasons...)
	}
	if i.unexamined > 0 {
		warnings = append(warnings, counted(i.unexamined, "further Application was", "further Applications were")+" not examined in time")
	}
	return warnings
}

// reasons say of Applications why, each with its name.
type reasons []string

// add adds the errors of an Application, if there is room and those of no other say the same.
func (r *reasons) add(name string, errs field.ErrorList) { r.addText(name, firstOf(errs)) }

func (r *reasons) addText(name, reason string) {
	reason = ": " + reason
	if len(*r) < firstNames && !slices.ContainsFunc(*r, func(other string) bool { return strings.HasSuffix(other, reason) }) {
		*r = append(*r, name+reason)
	}
}

// firstOf is the first of the errors, with the number of the others; "" if there are none.
func firstOf(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	text := errs[0].Error()
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %s)", counted(more, "more error", "more errors"))
	}
	return text
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// listed appends names to the text: the first few, or all of them in warnings of about most characters together.
func listed(text string, names []string, all bool, most int) []string {
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
		if size+len(text) > most {
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
