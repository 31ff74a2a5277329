// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

const (
	// orRename is the other way out of a conflict. An Application that has adopted a Deployment has it no more.
	orRename = ", or give the Application another name."
	giveName = "Or give the Application another name."
)

// howToHandOver ends the advice to give an Ingress to the Application. To delete it would leave its host names unserved for a while.
const howToHandOver = "docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'."

// checksAgain is what ends a conflict whose object is gone. No event reports that to the controller.
const checksAgain = "the controller checks again within 30 s"

// isGone reports whether the object that was in the way is gone. One that the user may not read may be there.
func (f facts) isGone(resource v1.ResourceStatus) bool {
	ref, known := child.RefOf(f.app, resource)
	_, unreadable := f.Unreadable[ref.Kind.Resource]
	return resource.State == v1.ResourceConflict && known && !unreadable && f.live(resource) == nil
}

// describeGone says that the object is gone. While something else holds the Application up, such as an invalid spec, the controller does
// not check again.
func (f facts) describeGone(resource v1.ResourceStatus) string {
	said := resource.Kind + " " + resource.Name + " is gone"
	if f.ready != nil && f.ready.Reason == v1.ReasonConflict && f.observed() {
		said += "; " + checksAgain
	}
	return said + "."
}

// onlyGone reports whether each object that was in the way is gone.
func (f facts) onlyGone() bool {
	stays := func(resource v1.ResourceStatus) bool {
		return resource.State == v1.ResourceConflict && !f.isGone(resource)
	}
	return f.ready.Reason == v1.ReasonConflict && slices.ContainsFunc(f.app.Status.Resources, f.isGone) && !slices.ContainsFunc(f.app.Status.Resources, stays)
}

// makeWay says what to do about an object that has the name of a child. While the pods from before an adoption run, they need what
// they have: its deletion would be an outage.
func (f facts) makeWay(resource v1.ResourceStatus) []string {
	if resource.Kind == child.Deployment.Kind {
		switch live := f.live(resource); {
		case live != nil && plan.IsLeftover(live):
			return []string{giveName} // To take it back comes first.
		case live != nil && plan.TakesPodsOver(live):
			return []string{"Delete the Deployment with --cascade=orphan, after which the Application's own takes its pods over and replaces them" + orRename}
		}
		return []string{"Delete the Deployment with --cascade=orphan, which keeps its pods" + orRename}
	}
	adopted := f.hasAdopted()
	live := f.live(resource)
	if f.isRemovable(resource) {
		keep := f.keepInstead(resource, live)
		if len(keep) == 0 {
			return []string{deleteOrRename("the " + resource.Kind)}
		}
		return append(keep, orElse(deleteOrRename("the "+resource.Kind+", if nothing needs it")))
	}
	if live != nil && plan.IsLeftover(live) {
		next := f.orDelete(resource) // To take it back comes first.
		if !adopted {
			next = append(next, giveName)
		}
		return next
	}
	if f.takesBack() {
		next := f.keepInstead(resource, live)
		if len(next) == 0 {
			next = []string{fmt.Sprintf("Keep the %s until the Application has taken the Deployment back, since what runs now needs it. Then delete it, or replace it by one of another name.", resource.Kind)}
		}
		return append(next, giveName)
	}
	next := []string{fmt.Sprintf("Keep the %s until the Application has adopted the Deployment and replaced its pods, since what runs now needs it. "+
		"Then delete it, or replace it by one of another name.", resource.Kind)}
	switch resource.Kind {
	case child.Service.Kind:
		if path, _ := plan.RefuseService(live); path != "" && !adopted {
			next = []string{"Keep the Service until its clients use another one, since no Application can adopt it. Then delete it."}
		}
		if live == nil || !plan.Adoptable(child.Service, live) {
			break
		}
		next = []string{"Keep the Service, since what runs now needs it."}
		if adopted {
			next = []string{"Do what the message says, so that the Application adopts the Service too. Keep it meanwhile, since what runs now needs it."}
		}
	case child.Ingress.Kind, child.HTTPRoute.Kind:
		isHandedOver := resource.Kind == child.Ingress.Kind && resource.Name == f.app.Name
		own := "To have the Application's own, set spec.routes once the condition Adopted is True, and delete yours."
		if isHandedOver {
			own = "To let the Application have it, hand it over once the condition Adopted is True: " + howToHandOver
		}
		switch {
		case !adopted:
			next = []string{
				"Remove spec.routes from the Application: the adoption needs that. The " + resource.Kind + " stays, and leads to the Service.",
				own,
			}
		case isHandedOver:
			next = []string{"Keep the Ingress until the Application has adopted the Deployment and replaced its pods, since what runs now needs it. Then hand it over: " + howToHandOver}
		}
	case child.HorizontalPodAutoscaler.Kind:
		next = []string{
			"Remove spec.autoscaling from the Application: the adoption needs that. The HorizontalPodAutoscaler stays, and keeps working.",
			"To have the Application's own, set spec.autoscaling once the condition Adopted is True, and delete yours.",
		}
	case child.PodDisruptionBudget.Kind:
		next = []string{
			"Set spec.disruptionBudget to mode Disabled: the adoption needs that. The PodDisruptionBudget stays, and keeps working.",
			"To have the Application's own, set another mode once the condition Adopted is True, and delete yours.",
		}
	case child.ServiceAccount.Kind:
		next = []string{"Name it in spec.serviceAccount.name, if the class allows that. Keep the ServiceAccount, since what runs now needs it."}
		if !f.runsAs(resource.Name) {
			next = []string{"Delete the ServiceAccount, if nothing needs it: the pods of the Deployment run as another one.", "Or name it in spec.serviceAccount.name, if the class allows that."}
		}
	case child.ConfigMap.Kind:
		next = []string{
			"Keep the ConfigMap, since what runs now may need it, and remove spec.config from the Application until the condition Adopted is True.",
			"Then delete the ConfigMap, or replace it by one of another name, before you set spec.config again.",
		}
	}
	if !adopted {
		next = append(next, giveName)
	}
	return next
}

// besideUnadoptable is what to do about a Deployment beside a Service of the name that no Application can adopt; nil if there is none. The
// plugin refuses to adopt the Deployment alone.
func (f facts) besideUnadoptable() []string {
	for _, resource := range f.app.Status.Resources {
		if resource.Kind != child.Service.Kind || resource.State != v1.ResourceConflict && !f.isTaken(resource) {
			continue
		}
		if path, _ := plan.RefuseService(f.live(resource)); path != "" {
			return []string{
				fmt.Sprintf("First move the clients of Service %s to the same Service under another name, and delete this one, since no Application can adopt it. "+
					"Then see how to adopt the Deployment: kubectl fairlead why %s", resource.Name, f.app.Name),
				"Or replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md",
			}
		}
	}
	return nil
}

// keepInstead are the ways to go on with an object that is in the way, although no pod of the Application needs it. Other pods probably run
// as the ServiceAccount, and clients use the Ingress.
func (f facts) keepInstead(resource v1.ResourceStatus, live child.Object) []string {
	if live != nil && (plan.IsLeftover(live) || metav1.GetControllerOfNoCopy(live) != nil) {
		return nil
	}
	var ways []string
	switch {
	case live == nil:
	case resource.Kind == child.ServiceAccount.Kind:
		return []string{"Name it in spec.serviceAccount.name, if the class and the controller allow that: then it stays, and the pods run as it."}
	case resource.Kind == child.Ingress.Kind && resource.Name == f.app.Name:
		ways = []string{"Hand it over to the Application: " + howToHandOver}
	}
	if without := f.without(resource); without != "" {
		stays := without + ": then the " + resource.Kind + " stays"
		if resource.Kind == child.HorizontalPodAutoscaler.Kind || resource.Kind == child.PodDisruptionBudget.Kind {
			stays += ", and keeps working"
		}
		if len(ways) > 0 {
			stays = orElse(stays)
		}
		ways = append(ways, stays+".")
	}
	return ways
}

// without says how the Application asks for no such child; "" if its own spec does not ask for it, as where a class does.
func (f facts) without(resource v1.ResourceStatus) string {
	ref, known := child.RefOf(f.app, resource)
	if !known {
		return ""
	}
	without, from := plan.WithoutChild(f.app, ref), " from the Application"
	switch ref.Kind {
	case child.PodDisruptionBudget:
		from = "" // This is to set.
	case child.Ingress, child.HTTPRoute:
		if len(f.app.Spec.Routes) > 1 {
			from = ""
		}
	case child.NetworkPolicy, child.ServiceMonitor:
		from += f.unlessClassAsks()
	}
	if without == "" {
		return ""
	}
	return strings.ToUpper(without[:1]) + without[1:] + from
}

// unlessClassAsks is said where a class may ask for the child once the spec does not. Status shows only the defaults that the spec leaves open.
func (f facts) unlessClassAsks() string {
	if _, class := f.class(); class != "" {
		return ", unless ApplicationClass " + class + " asks for one too"
	}
	return ""
}

// isRemovable reports whether no pod that runs needs the object: the Application has not adopted a Deployment, and there is none to adopt.
func (f facts) isRemovable(resource v1.ResourceStatus) bool {
	return resource.Kind != child.Deployment.Kind && !f.hasAdopted() && !f.adoptable(child.Deployment) && !f.isInUse(resource)
}

// isInUse reports whether an earlier Application left the object behind, and this one has taken back the Deployment whose pods need it, or
// whose clients do.
func (f facts) isInUse(resource v1.ResourceStatus) bool {
	deployment, live := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name), f.live(resource)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || live == nil || !plan.IsLeftover(live) {
		return false
	}
	switch resource.Kind {
	case child.ServiceAccount.Kind:
		return f.runsAs(resource.Name)
	case child.ConfigMap.Kind, child.Service.Kind:
		return true
	default:
		return false
	}
}

// takesBack reports whether an earlier Application left the Deployment behind, and this one adopts none.
func (f facts) takesBack() bool {
	return f.app.Spec.AdoptionPolicy != v1.AdoptionConsented && slices.ContainsFunc(f.app.Status.Resources, func(resource v1.ResourceStatus) bool {
		live := f.live(resource)
		return resource.Kind == child.Deployment.Kind && resource.State == v1.ResourceConflict && live != nil && plan.IsLeftover(live)
	})
}

// orDelete is another way out where an earlier Application left a ServiceAccount behind that the pods of the Deployment do not use.
func (f facts) orDelete(resource v1.ResourceStatus) []string {
	if resource.Kind != child.ServiceAccount.Kind || f.isRemovable(resource) || f.runsAs(resource.Name) {
		return nil
	}
	return []string{"Or delete the ServiceAccount, if nothing needs it: the pods of the Deployment run as another one."}
}

// runsAs reports whether the pods of the Deployment use the ServiceAccount. Pods that name none use the one called default.
func (f facts) runsAs(account string) bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	return deployment == nil || cmp.Or(deployment.Spec.Template.Spec.ServiceAccountName, "default") == account
}

func deleteOrRename(objects string) string { return "Delete " + objects + orRename }

// orElse makes advice an alternative. Without it, a reader who follows all the advice in order would delete what the first step has kept.
func orElse(advice string) string { return "Or " + strings.ToLower(advice[:1]) + advice[1:] }

// takeBack is the first step for an object that an earlier Application left behind.
const takeBack = "Take back what the earlier Application left behind: see docs/guides/take-back.md"

// groupLeftBehind makes one finding of the objects that an earlier Application left behind, since one step takes all of them back. It
// stands where the first of them stood.
func (f facts) groupLeftBehind(found []Finding) []Finding {
	var all, otherwise []string
	group, removable, waiting := Finding{Reason: v1.ReasonConflict}, true, ""
	for _, finding := range found {
		if finding.left == "" {
			continue
		}
		all = append(all, finding.left)
		group.Evidence = append(group.Evidence, finding.Evidence...)
		kind, _, _ := strings.Cut(finding.left, " ")
		waiting = cmp.Or(waiting, waits(" What refers to them waits.", kind))
		removable = removable && finding.removable
		otherwise = append(otherwise, finding.otherwise...)
	}
	if len(all) < 2 {
		return found
	}
	group.What = text.Enumerate(all) + " exist and do not belong to this Application, so Fairlead does not touch them." + waiting
	group.Next = append([]string{takeBack}, otherwise...)
	switch {
	case removable:
		group.Next = []string{takeBack, orElse(deleteOrRename("them"))} // Without a Deployment, no pod needs them.
	case !f.hasAdopted():
		group.Next = append(group.Next, giveName)
	}
	found[slices.IndexFunc(found, func(finding Finding) bool { return finding.left != "" })] = group
	return slices.DeleteFunc(found, func(finding Finding) bool { return finding.left != "" })
}

// hasAdopted reports whether the Deployment is adopted, and the adoption is not complete.
func (f facts) hasAdopted() bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || plan.KeptSelector(f.app, deployment) == nil {
		return false
	}
	adopted := f.condition(v1.ConditionAdopted)
	return adopted != nil && adopted.Status != metav1.ConditionTrue
}
