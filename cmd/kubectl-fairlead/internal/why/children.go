// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/text"
)

// children explains each child that was not written.
func children(f facts) []Finding {
	if !f.observed() || f.app.DeletionTimestamp != nil {
		return nil
	}
	var found []Finding
	for _, resource := range f.app.Status.Resources {
		switch resource.State {
		case v1.ResourceConflict:
			found = append(found, f.conflict(resource))
		case v1.ResourceFailed:
			found = append(found, f.failedWrite(resource))
		case v1.ResourcePending:
			if f.isHeld(resource) {
				found = append(found, f.held(resource)...)
			} else if f.isTaken(resource) {
				found = append(found, f.conflict(resource)) // The controller learns of it once nothing else is in the way.
			} else if finding, is := f.terminating(resource); is {
				found = append(found, finding)
			} else if f.ready != nil && f.ready.Reason == v1.ReasonApplying {
				found = append(found, Finding{Reason: string(resource.State), What: fmt.Sprintf("%s %s waits.", resource.Kind, resource.Name), Evidence: []Evidence{resourceEvidence(f.app, resource)}})
			}
		case v1.ResourceDrifted:
			if f.wouldConflict(resource) {
				found = append(found, f.conflict(resource))
			}
		case v1.ResourceSynced:
		}
	}
	return f.groupLeftBehind(found)
}

// isTaken reports whether an object that is not the Application's has the name of a child that the controller has not tried to create.
func (f facts) isTaken(resource v1.ResourceStatus) bool {
	ref, known := child.RefOf(f.app, resource)
	live := f.live(resource)
	return known && live != nil && !child.OwnedBy(live, f.app) && !child.IsOrphaned(f.app, ref, live)
}

// wouldConflict reports whether the name of a child that the controller takes for missing is that of an object which it does not see. To carry
// the spec out would end in a conflict, and the adoption of a Deployment, with its Service, has advice of its own.
func (f facts) wouldConflict(resource v1.ResourceStatus) bool {
	if !f.isTaken(resource) || f.missingLabel(f.live(resource)) == "" {
		return false
	}
	return !f.adoptedWithDeployment(resource)
}

// adoptedWithDeployment reports whether the object is a Deployment, or the Service of one, that the Application can adopt.
func (f facts) adoptedWithDeployment(resource v1.ResourceStatus) bool {
	ref, _ := child.RefOf(f.app, resource)
	return plan.Adoptable(ref.Kind, f.live(resource)) && f.adoptable(child.Deployment)
}

// driftEvidence is what status says about a child that differs, unless that is only that the controller does not see it.
func (f facts) driftEvidence(resource v1.ResourceStatus) Evidence {
	evidence := resourceEvidence(f.app, resource)
	_, known := child.RefOf(f.app, resource)
	live := f.live(resource)
	if missing := f.missingLabel(live); known && live != nil && missing != "" && !child.OwnedBy(live, f.app) {
		evidence.Message = "It exists without the label " + missing + ", so the controller does not see it."
	}
	return evidence
}

func resourceEvidence(app *v1.Application, resource v1.ResourceStatus) Evidence {
	return Evidence{
		Object: v1.ApplicationKind + "/" + app.Name, Field: fmt.Sprintf("status.resources[%s/%s]", resource.Kind, resource.Name),
		Message: resource.Message,
	}
}

// conflict names the owner of the object that is in the way.
func (f facts) conflict(resource v1.ResourceStatus) Finding {
	if f.isGone(resource) {
		evidence := resourceEvidence(f.app, resource)
		evidence.Message = "Conflict, from the last check" // The message itself says what to do about the object.
		return Finding{
			Reason: v1.ReasonConflict, What: f.describeGone(resource),
			Evidence: []Evidence{evidence},
		}
	}
	if finding, found := f.shared(resource); found {
		return finding
	}
	finding := Finding{
		Reason:   v1.ReasonConflict,
		What:     fmt.Sprintf("%s %s exists and does not belong to this Application, so Fairlead does not touch it.", resource.Kind, resource.Name) + waits(" What refers to it waits.", resource.Kind),
		Evidence: []Evidence{resourceEvidence(f.app, resource)},
		Next:     f.makeWay(resource),
	}
	live := f.live(resource)
	if live == nil {
		return finding
	}
	if resource.State == v1.ResourceDrifted {
		finding.What = fmt.Sprintf("%s %s exists and does not belong to this Application, so Fairlead would not touch it.", resource.Kind, resource.Name) +
			waits(" What refers to it would wait.", resource.Kind)
		finding.Evidence = []Evidence{f.driftEvidence(resource)}
		if resource.Kind == child.Service.Kind && f.hasAdopted() && plan.Adoptable(child.Service, live) { // The advice is to do what the message says.
			ref, _ := child.RefOf(f.app, resource)
			finding.Evidence[0].Message = text.Sentence(plan.Step{Ref: ref}.Foreign(f.app, live).Reason)
		}
	}
	var first []string
	path, why := plan.RefuseSelector(live)
	switch {
	case path != "" && metav1.GetControllerOfNoCopy(live) == nil:
		finding.Evidence = append(finding.Evidence, Evidence{Object: resource.Kind + "/" + resource.Name, Field: path, Message: why + ", so the Deployment cannot be adopted"})
		first = []string{"Replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md"}
	case resource.Kind == child.Service.Kind && plan.Adoptable(child.Service, live) && f.adoptable(child.Deployment):
		first = []string{"The adoption of the Deployment takes the Service over too."}
	case resource.Kind == child.Service.Kind && plan.Adoptable(child.Service, live) && !f.hasAdopted() && resource.State == v1.ResourceConflict:
		first = []string{"To keep the Service and its address, let the Application adopt it: the message of the Service says how."}
		if f.app.Spec.AdoptionPolicy != v1.AdoptionConsented {
			first = []string{"To keep the Service and its address, let the Application adopt it: set spec.adoptionPolicy to Consented, and do what the message of the Service then says."}
		}
	case resource.Kind == child.Deployment.Kind && plan.Adoptable(child.Deployment, live):
		first = f.adoption()
		if adopted := f.condition(v1.ConditionAdopted); adopted != nil && adopted.Reason == v1.ReasonRefused && isRefusedAsMissing(adopted.Message) {
			finding.Next = nil // A Deployment of the Application's own would need the same.
		}
	}
	if path, why := plan.RefuseService(live); path != "" && !f.isRemovable(resource) {
		finding.Evidence = append(finding.Evidence, Evidence{Object: resource.Kind + "/" + resource.Name, Field: path, Message: "The Service cannot be adopted: " + why})
	}
	if plan.IsLeftover(live) {
		first = []string{takeBack} // The adoption of a Deployment refuses what the earlier Application made beside it.
	}
	if len(first) > 0 && len(finding.Next) > 0 && strings.HasPrefix(finding.Next[0], "Delete ") {
		finding.Next[0] = orElse(finding.Next[0])
	}
	finding.Next = append(first, finding.Next...)
	object := resource.Kind + "/" + resource.Name
	created := live.GetCreationTimestamp().Time
	if plan.IsFormer(f.app, live) {
		finding.Evidence = append(finding.Evidence, Evidence{Object: object, Field: "metadata.ownerReferences", Message: "controlled by an Application of this name that is gone", Time: &created})
		finding.Next = []string{"Wait: Kubernetes deletes it, and Fairlead then creates its own within 30 s."}
		return finding
	}
	if owner := metav1.GetControllerOfNoCopy(live); owner != nil {
		finding.Evidence = append(finding.Evidence, Evidence{Object: object, Field: "metadata.ownerReferences", Message: fmt.Sprintf("controlled by %s %s", owner.Kind, owner.Name), Time: &created})
		finding.Next = []string{fmt.Sprintf("Change %s %s, which would create it again; or give the Application another name.", owner.Kind, owner.Name)}
		return finding
	}
	message := "created by " + creator(live)
	if plan.IsLeftover(live) {
		message = "left behind by an Application that is gone"
		finding.left, finding.removable = resource.Kind+" "+resource.Name, f.isRemovable(resource)
		finding.otherwise = f.orDelete(resource)
	}
	finding.Evidence = append(finding.Evidence, Evidence{Object: object, Field: "metadata.creationTimestamp", Message: message, Time: &created})
	return finding
}

// waits is what is said of an object of a kind to which other children refer by name; "" of another kind.
func waits(said, kind string) string {
	switch kind {
	case child.ServiceAccount.Kind, child.ConfigMap.Kind, child.Deployment.Kind, child.Service.Kind:
		return said
	}
	return ""
}

// adoption are the steps towards the adoption of the Deployment. The Application that the plugin writes fits without corrections.
func (f facts) adoption() []string {
	if first := f.besideUnadoptable(); first != nil {
		return first
	}
	consented := f.app.Spec.AdoptionPolicy == v1.AdoptionConsented
	adopt := "kubectl fairlead adopt " + f.app.Name
	const writes = "delete this Application, and let the plugin write one that fits the Deployment: "
	switch adopted := f.condition(v1.ConditionAdopted); {
	case consented && adopted != nil && adopted.Reason == v1.ReasonRefused:
		return f.refusedAdoption(adopted.Message, "Or "+writes+adopt+" --harden")
	case consented && f.app.Spec.Paused != nil && *f.app.Spec.Paused:
		return []string{"Consent to the adoption, which replaces no pod until you say so; the command names what needs your --accept: " + adopt + " --existing"}
	default:
		return []string{
			"Let an Application adopt the Deployment, which replaces no pod until you say so; the command names what needs your --accept. The short way: " + writes + adopt + " --harden",
			"Or let this one adopt it: set adoptionPolicy: Consented and paused: true in its spec, then " + adopt + " --existing",
		}
	}
}

// hasConsent reports whether a user consented on the object to its adoption by the Application, with the labels without which the
// controller does not see it, and nothing in the spec is in the way.
func (f facts) hasConsent(live child.Object) bool {
	adopted := f.condition(v1.ConditionAdopted)
	return f.app.Spec.AdoptionPolicy == v1.AdoptionConsented && f.app.Spec.Paused != nil && *f.app.Spec.Paused &&
		(adopted == nil || adopted.Reason != v1.ReasonRefused) &&
		f.app.UID != "" && live.GetAnnotations()[v1.AnnotationAdoptableBy] == string(f.app.UID) &&
		live.GetLabels()[v1.LabelManagedBy] == v1.ManagedBy && live.GetLabels()[v1.LabelApplication] == f.app.Name
}

// enforce is the step after the consent. It leaves rollouts paused, which resume would not.
func (f facts) enforce() string {
	return "Let the Application adopt it, which replaces no pod while rollouts are paused: " + f.enforceCommand()
}

// adoptable reports whether an object of the kind that is not the Application's has the name of a child, and can be adopted.
func (f facts) adoptable(kind child.Kind) bool {
	return slices.ContainsFunc(f.app.Status.Resources, func(resource v1.ResourceStatus) bool {
		if resource.Kind != kind.Kind || resource.Group != kind.Group || resource.State != v1.ResourceConflict && !f.isTaken(resource) || f.isGone(resource) {
			return false
		}
		live := f.live(resource)
		return live == nil || plan.Adoptable(kind, live)
	})
}

// isIn reports whether the child of the kind and of the Application's name is in the state.
func (f facts) isIn(state v1.ResourceState, kind child.Kind) bool {
	return slices.ContainsFunc(f.app.Status.Resources, func(resource v1.ResourceStatus) bool {
		return resource.Kind == kind.Kind && resource.Group == kind.Group && resource.Name == f.app.Name && resource.State == state
	})
}

func (f facts) live(resource v1.ResourceStatus) child.Object {
	for _, live := range f.Children {
		gvk := live.GetObjectKind().GroupVersionKind()
		if gvk.Group == resource.Group && gvk.Kind == resource.Kind && live.GetName() == resource.Name {
			return live
		}
	}
	return nil
}

// creator is the field manager of the oldest entry: the client that created the object, as far as anyone knows.
func creator(live child.Object) string {
	// Who writes status did not create it.
	ofStatus := func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource != "" }
	entries := slices.SortedStableFunc(slices.Values(slices.DeleteFunc(slices.Clone(live.GetManagedFields()), ofStatus)), func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(timeOf(a).Compare(timeOf(b).Time), cmp.Compare(editsOnly(a), editsOnly(b)))
	})
	if len(entries) == 0 || editsOnly(entries[0]) > 0 {
		return "an unknown client"
	}
	return entries[0].Manager
}

// editsOnly is 1 for an entry of a client that only changes what exists, and else 0. If it is the oldest entry, the entry of the creator is gone.
func editsOnly(entry metav1.ManagedFieldsEntry) int {
	switch entry.Manager {
	case "kubectl-annotate", "kubectl-edit", "kubectl-label", "kubectl-patch", "kubectl-rollout", "kubectl-set":
		return 1
	default:
		return 0
	}
}

func timeOf(entry metav1.ManagedFieldsEntry) metav1.Time {
	if entry.Time == nil {
		return metav1.Time{}
	}
	return *entry.Time
}

// failedWrite explains a write that was refused, or that other writers revert.
func (f facts) failedWrite(resource v1.ResourceStatus) Finding {
	object := fmt.Sprintf("%s %s", resource.Kind, resource.Name)
	finding := Finding{Reason: v1.ReasonApplyFailed, What: object + " could not be written; the controller retries.", Evidence: []Evidence{resourceEvidence(f.app, resource)}}
	if f.ready != nil && strings.Contains(f.ready.Message, resource.Message) {
		finding.Reason = f.ready.Reason
	} else if isContended(resource.Message) {
		finding.Reason = v1.ReasonContended
	} else if reason := apierror.ReasonForMessage(resource.Message); reason != "" {
		finding.Reason = reason // Ready has only the message of the first child.
	}
	switch finding.Reason {
	case v1.ReasonContended:
		finding.What = object + " keeps being changed by another writer, so Fairlead repairs it less and less often."
		finding.Evidence = append(finding.Evidence, f.otherWriters(resource)...)
		finding.Next = []string{
			"Stop the other writer from setting these fields, or set in the Application what it wants.",
			"If the other writer shall win for now: kubectl fairlead observe " + f.app.Name,
		}
		if isDeletedAgain(resource.Message) {
			finding.What = object + " keeps being deleted by another writer, so Fairlead creates it less and less often."
			finding.Next[0] = "Stop the other writer from deleting it. An audit log of the API server names it."
		}
		f.nameScalers(&finding, resource)
	case v1.ReasonPolicyDenied:
		finding.What = object + " is refused by an admission policy or webhook of this cluster."
		finding.Next = []string{"Change the Application so that the policy is met, or ask the owner of the policy that the message names."}
	case v1.ReasonQuotaExceeded:
		finding.What = object + " is refused by a ResourceQuota of this namespace."
		finding.Next = []string{"Free some of the quota, or ask for more: kubectl describe resourcequotas"}
	case v1.ReasonPermissionDenied:
		finding.What = object + " could not be written, because the controller lacks a permission."
		finding.Next = []string{"Ask the platform team to grant the controller what the message names."}
	case v1.ReasonApplyFailed:
		if webhook := apierror.UnansweredWebhook(resource.Message); webhook != "" {
			finding.What = fmt.Sprintf("%s could not be written, because admission webhook %s gives the API server no answer; the controller retries.", object, webhook)
			finding.Next = []string{repairWebhook}
		}
	case v1.ReasonChildRefused:
		finding.What = object + " is refused by the API server as invalid."
		finding.Next = []string{"Correct the field of the Application that leads to it."}
	}
	if isRefused := finding.Reason == v1.ReasonPolicyDenied || finding.Reason == v1.ReasonChildRefused; isRefused && resource.Kind == child.Deployment.Kind {
		finding.Next = append(finding.Next, f.wayBackFromRefusal()...)
	}
	return finding
}

// missingLabel is the first of the labels by which the controller selects that a live object lacks; "" if it has them.
func (f facts) missingLabel(live child.Object) string {
	for _, label := range [][2]string{{v1.LabelApplication, f.app.Name}, {v1.LabelManagedBy, v1.ManagedBy}} {
		if live != nil && live.GetLabels()[label[0]] != label[1] {
			return label[0] + "=" + label[1]
		}
	}
	return ""
}

// drift explains differences that reconcilePolicy Observe leaves.
func drift(f facts) []Finding {
	condition := f.condition(v1.ConditionDrifted)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return nil
	}
	finding := Finding{
		Reason: v1.ReasonDrifted, What: "Children differ from the spec, and stay so: reconcilePolicy is Observe.",
		Evidence: []Evidence{f.conditionEvidence(condition)},
		Next:     []string{"See what that would do to the pods: kubectl fairlead resume " + f.app.Name + " --dry-run=client", "Carry it out: kubectl fairlead resume " + f.app.Name},
	}
	if LacksDeployment(f.Loaded) {
		finding.What += " " + LostDeployment(f.Loaded)
	}
	if f.asksForPause() {
		finding.Next = []string{f.enforcePaused()} // To resume would end the pause too.
	}
	if f.ready != nil && slices.Contains(v1.RefusalReasons, f.ready.Reason) {
		finding.Next = nil // Fairlead carries nothing of a refused spec out; the finding about that says what to do.
	}
	if f.holdsPods() {
		finding.Next = nil // The finding about the pods says what to do. To resume would skip what their release checks.
	}
	if f.adoptable(child.Deployment) {
		// A conflict says how. To carry the spec out before would end the pause that the adoption needs.
		finding.Next = []string{"First follow the advice about the Deployment above. The Application is not ready before it owns the Deployment."}
	}
	consented := true
	var first []string
	for _, resource := range f.app.Status.Resources {
		if resource.State != v1.ResourceDrifted {
			continue
		}
		finding.Evidence = append(finding.Evidence, f.driftEvidence(resource))
		ref, known := child.RefOf(f.app, resource)
		live := f.live(resource)
		switch {
		case f.wouldConflict(resource):
			first = append(first, resource.Kind+" "+resource.Name)
		case known && live != nil && !child.OwnedBy(live, f.app) && plan.Adoptable(ref.Kind, live):
			// To carry the spec out without consent would end in a conflict, or replace the pods.
			if consented = consented && f.hasConsent(live); consented {
				finding.Next = []string{f.enforce()}
			} else if f.adoptable(child.Deployment) {
				finding.Next = f.adoption()
			}
		}
	}
	if len(first) > 0 && finding.Next != nil {
		follow := "First follow the advice about " + text.Enumerate(first) + " above. To carry the spec out before would end in a conflict."
		if f.adoptable(child.Deployment) {
			finding.Next = append([]string{follow}, finding.Next...)
		} else {
			finding.Next = []string{follow}
		}
	}
	return []Finding{finding}
}
