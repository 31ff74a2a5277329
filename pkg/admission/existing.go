// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
)

// maxChildren is how many children foreignChildren looks for. An Application without many routes has fewer.
const maxChildren = 10

// foreignChildren warns of objects that have the names of children which the request adds, and belong to a user or another controller. It
// is a warning, because the user may be about to delete them. With adoptionPolicy Consented it may adopt a Deployment and a Service, but no
// others. ownServiceAccount is about the ServiceAccount.
func (h *Handler) foreignChildren(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.new.Name == "" {
		return nil
	}
	consented := in.new.Spec.AdoptionPolicy == v1.AdoptionConsented
	adopted := meta.FindStatusCondition(in.new.Status.Conditions, v1.ConditionAdopted)
	children := h.newChildren(ctx, in.new)
	if in.old != nil {
		had := h.newChildren(ctx, in.old)
		children = slices.DeleteFunc(children, func(child Reference) bool { return slices.Contains(had, child) })
	}
	results := h.lookUp(ctx, children)
	adopts := consented && adopted != nil && adopted.Status != metav1.ConditionTrue
	for i, result := range results {
		if children[i].Kind != KindDeployment || result.object == nil || belongsTo(result.object, in.new) {
			continue
		}
		if adopts = consented && !plan.IsLeftover(result.object); !adopts { // What was left behind is taken back, not adopted.
			adopts = h.foreignDeployment(ctx, children[i], result.object, found)
		}
	}
	for i, result := range results {
		existing, effect := result.object, ""
		if existing == nil || belongsTo(existing, in.new) || children[i].Kind == KindDeployment {
			continue
		}
		kind, _ := child.KindNamed(children[i].Kind)
		mayAdopt := (consented || adopts) && kind == child.Service && !plan.IsLeftover(existing)
		if mayAdopt && plan.Adoptable(kind, existing) {
			continue // The adoption of the Deployment takes it over too.
		}
		if kind == child.ConfigMap {
			effect = " and starts no pods"
		}
		ref := child.Ref{Kind: kind, Namespace: in.new.Namespace, Name: children[i].Name}
		advice := plan.NotOwnedAdvice(in.new, ref, existing)
		if path, why := plan.RefuseMetadata(existing); mayAdopt && existing.DeletionTimestamp == nil {
			advice = fmt.Sprintf("keep it, since what runs now may need it; it cannot be adopted because of %s: %s", path, why)
		}
		if without := plan.WithoutChild(in.new, ref); adopts && without != "" && !plan.IsLeftover(existing) {
			// Its deletion may be an outage.
			advice = "keep it, since what runs now may need it, and " + without + " until the condition Adopted is True; " + onceAdopted(kind)
		}
		found.warnings = append(found.warnings, fmt.Sprintf("%s %q in namespace %q is not this Application's, so Fairlead leaves it alone%s: %s",
			children[i].Kind, children[i].Name, children[i].Namespace, effect, advice))
	}
	return nil
}

// onceAdopted says what to do about an object of others after the adoption. Its name is still taken, and the new pods keep the labels by which
// it finds the old ones: two budgets refuse every eviction.
func onceAdopted(kind child.Kind) string {
	if kind == child.Ingress {
		return "then leave it so, or hand the Ingress over as docs/guides/migrate.md says"
	}
	return "then leave it so, or delete the " + kind.Kind + " and set the field again"
}

// newChildren are the first children of an Application whose names other objects may have, in the order of writes.
func (h *Handler) newChildren(ctx context.Context, application *v1.Application) []Reference {
	var unavailable map[child.Kind]child.Unavailable
	if h.config.Unavailable != nil {
		unavailable = h.config.Unavailable()
	}
	httpRoutes, missing := unavailable[child.HTTPRoute]
	rendered, err := render.Children(h.resolved(ctx, application), render.Facts{WithoutHTTPRoutes: missing && !httpRoutes.ListFailed})
	if err != nil {
		return nil // The sync reports it.
	}
	var children []Reference
	for _, desired := range rendered {
		kind := desired.Ref.Kind
		_, missing := unavailable[kind]
		if kind == child.ServiceAccount || kind == child.ControllerRevision || missing || len(children) == maxChildren {
			continue
		}
		children = append(children, Reference{Kind: kind.Kind, Namespace: application.Namespace, Name: desired.Ref.Name})
	}
	return children
}

// lacksOwn reports whether the Application is known to have no child of the kind under its own name: there is none, or it belongs to others.
// An update that asks for none then deletes nothing.
func (h *Handler) lacksOwn(ctx context.Context, application *v1.Application, kind child.Kind) bool {
	result := h.lookUp(ctx, []Reference{{Kind: kind.Kind, Namespace: application.Namespace, Name: application.Name}})[0]
	return result.known && (result.object == nil || !belongsTo(result.object, application))
}

// foreignDeployment warns of a Deployment that is not the Application's, and reports whether it offers its adoption.
func (h *Handler) foreignDeployment(ctx context.Context, deployment Reference, existing *metav1.PartialObjectMetadata, found *verdict) (adopts bool) {
	var ways []string
	live := metav1.Object(existing)
	if h.config.WithSelection != nil {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		live = h.config.WithSelection(ctx, existing)
	}
	_, known := live.(*appsv1.Deployment)
	switch {
	case plan.IsLeftover(existing):
		ways, known = append(ways, "take back what an earlier Application left behind (docs/guides/take-back.md)"), false
	case plan.Adoptable(child.Deployment, live):
		adopts = true
		ways = append(ways, fmt.Sprintf("instead of this Application (delete it if it exists already), let kubectl fairlead adopt %[1]s --harden write one that fits, which names what needs your --accept, and replaces no pod until you say so; "+
			"or let this one adopt it (set spec.adoptionPolicy to Consented and spec.paused to true, then run kubectl fairlead adopt %[1]s --existing)", deployment.Name))
	}
	ways = append(ways, "rename the Application")
	if known { // Otherwise the Application's own Deployment may take the old pods over.
		effect := "which keeps the old pods until you delete their ReplicaSet"
		if plan.TakesPodsOver(live) {
			effect = "after which the Application's own takes the old pods over and replaces them"
		}
		ways = append(ways, fmt.Sprintf("run kubectl delete deployment %s --cascade=orphan, %s", deployment.Name, effect))
	}
	advice, last := strings.Join(ways[:len(ways)-1], ", "), ways[len(ways)-1]
	if advice != "" {
		last = ", or " + last
	}
	found.warnings = append(found.warnings, fmt.Sprintf("Deployment %q in namespace %q is not this Application's, so Fairlead leaves it alone and starts no pods: %s%s",
		deployment.Name, deployment.Namespace, advice, last))
	return adopts
}

// missingClass warns of a class that does not exist. The class may follow: a user who applies a directory should not
// have to mind the order of its files. It names only classes that the namespace may use; so it does beside the refusal of a class
// that the namespace may not use.
func (h *Handler) missingClass(ctx context.Context, in input, found *verdict) error {
	name := in.new.Spec.ClassName
	notSelected := class.OnlyNotSelected(found.errs)
	if len(found.errs) > 0 && !notSelected || h.config.Classes == nil || name == "" {
		return nil
	}
	rules, err := h.config.classRules(ctx, in.new.Namespace)
	if err != nil {
		return err
	}
	var names []string
	exists := false
	for _, existing := range rules.Classes {
		exists = exists || existing.Name == name
		if class.Selects(existing, rules.Namespace) == class.Selected {
			names = append(names, existing.Name)
		}
	}
	switch {
	case notSelected && rules.Namespace.Unreadable == "" && len(names) > 0:
		found.warnings = append(found.warnings, choiceOf(names, in.new))
	case !notSelected && !exists:
		found.warnings = append(found.warnings, fmt.Sprintf("ApplicationClass %q does not exist; the Application waits for it. %s", name, choiceOf(names, in.new)))
	}
	return nil
}

// choiceOf lists the classes, or the first of many.
func choiceOf(names []string, application *v1.Application) string {
	const most = 8
	slices.Sort(names)
	switch n := len(names); {
	case n == 0:
		return fmt.Sprintf("No class selects namespace %q", application.Namespace)
	case n > most:
		return fmt.Sprintf("Classes for namespace %q: %s and %d more", application.Namespace, strings.Join(names[:most], ", "), n-most)
	default:
		return fmt.Sprintf("Classes for namespace %q: %s", application.Namespace, strings.Join(names, ", "))
	}
}
