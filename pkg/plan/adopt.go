// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// An Application takes over an object that runs already if its spec says so, and if a user consented to that on the
// object: by an annotation with the UID of the Application. A user who may write that annotation may also write an
// ownerReference, so the consent gives away no right that its author does not have. The UID binds it to one
// Application: another one of the same name, later, has no consent.
//
// A Deployment is taken over without replacing a pod: its selector stays, and the new template arrives paused. What
// selects pods by Fairlead's label waits until every pod carries it; see hold.go.

// Adoption is where the adoption of an object stands.
type Adoption string

// The states of an adoption.
const (
	// AdoptionAwaitsConsent: the object has no consent with the UID of the Application.
	AdoptionAwaitsConsent Adoption = "AwaitsConsent"
	// AdoptionRefused: the object cannot be adopted as it is, or it has the consent, but cannot be adopted as the spec is. The
	// reason names the field.
	AdoptionRefused Adoption = "Refused"
	// AdoptionHeld: the object has the consent, and waits: a Deployment until its rollout is complete, a Service until every
	// pod carries Fairlead's label, any object until those to which it refers are the Application's.
	AdoptionHeld Adoption = "Held"
	// AdoptionShared: the object has the consent, but selects a pod that is not the Application's.
	AdoptionShared Adoption = "Shared"
)

// adopts reports whether objects of the kind can be adopted.
func adopts(kind child.Kind) bool { return kind == child.Deployment || kind == child.Service }

// decideForeign makes the step for a live object that is not the Application's. steps are those of the children before it.
func decideForeign(differ Differ, in Input, steps []Step, step Step) (Step, error) {
	application, live := in.Snapshot.Application, step.Live
	step = step.Foreign(application, live)
	if step.Adoption == "" || step.Adoption == AdoptionRefused || !consents(live, application) {
		return step, nil
	}
	refusals, err := refuse(in, step)
	if err != nil {
		return Step{}, err
	}
	if len(refusals) > 0 {
		step.Adoption, step.Reason = AdoptionRefused, cannotBeAdopted(step.Ref, refusals...)
		return step, nil
	}
	if isRollingOut(live) {
		step.Adoption, step.Reason, step.RecheckAfter = AdoptionHeld, RolloutInProgress, rolloutRecheck
		return step, nil
	}
	step.Adoption = ""
	if service, ok := live.(*corev1.Service); ok {
		if !mayServe(steps) {
			step.Adoption, step.Reason = AdoptionHeld, fmt.Sprintf("%s %s is adopted once every pod carries the label %s", step.Ref.Kind, step.Ref.Name, v1.LabelApplication)
			return step, nil
		}
		step.Selects = service.Spec.Selector
	}
	return adopt(differ, in, step)
}

// Foreign decides about a live object that is not the Application's, before anything is written: a Service then waits for
// the pods of the Deployment.
func (d Differ) Foreign(in Input, desired child.Desired, live child.Object) (Step, error) {
	return decideForeign(d, in, nil, Step{Ref: desired.Ref, Desired: &desired, Live: live})
}

// adopt makes the step that takes the live object over.
func adopt(differ Differ, in Input, step Step) (Step, error) {
	desired := *step.Desired
	if err := keepSelector(in.Snapshot.Application, &desired, step.Live); err != nil {
		return Step{}, err
	}
	difference, err := differ.Compare(desired, step.Live)
	if err != nil {
		return Step{}, err
	}
	if step.Adopted, err = differ.adoptedFields(desired, step.Live); err != nil {
		return Step{}, err
	}
	step.Desired, step.Fields = &desired, difference.Fields
	step.Action, step.Reason = Adopt, "a user consented to its adoption"
	return step, nil
}

// consents reports whether a user consented on the object to its adoption by this Application.
func consents(live metav1.Object, application *v1.Application) bool {
	return application.UID != "" && live.GetAnnotations()[v1.AnnotationAdoptableBy] == string(application.UID)
}

// Foreign returns the step for an object that is not the Application's: it is refused. If the Application may adopt it,
// the reason says how a user consents to that. Without the labels the informers do not have the object.
func (s Step) Foreign(application *v1.Application, live metav1.Object) Step {
	s.Action, s.Reason = NotOwned, NotOwnedMessage(application, s.Ref, live)
	s.Adoptable, s.LeftBehind, s.Former = Adoptable(s.Ref.Kind, live), IsLeftover(live), IsFormer(application, live)
	if application.Spec.AdoptionPolicy != v1.AdoptionConsented || !adopts(s.Ref.Kind) || metav1.GetControllerOfNoCopy(live) != nil {
		return s
	}
	if path, why := RefuseSelector(live); path != "" {
		s.Adoption, s.Reason = AdoptionRefused, cannotBeAdopted(s.Ref, refusal{path, why})+"; "+deletion(s.Ref.Kind, live)+", or give the Application another name"
		return s
	}
	s.Adoption = AdoptionAwaitsConsent
	if application.UID == "" {
		s.Reason = fmt.Sprintf("%s %s exists and has no consent to its adoption, with the UID of the Application", s.Ref.Kind, s.Ref.Name)
		return s
	}
	s.Reason = fmt.Sprintf("%s %s exists and has no consent to its adoption; annotate it with %s=%s, and label it with %s=%s and %s=%s",
		s.Ref.Kind, s.Ref.Name, v1.AnnotationAdoptableBy, application.UID, v1.LabelManagedBy, v1.ManagedBy, v1.LabelApplication, application.Name)
	return s
}

// refusal is the path of a field that excludes the adoption of an object, and why.
type refusal struct{ path, why string }

// refuse returns all that excludes the adoption of an object with consent, so that a user corrects it at once.
func refuse(in Input, step Step) ([]refusal, error) {
	if path, why := RefuseMetadata(step.Live); path != "" {
		return []refusal{{path, why}}, nil
	}
	pods := &appsv1.Deployment{}
	for _, desired := range in.Desired {
		if desired.Kind == child.Deployment {
			if err := readAs(desired, pods); err != nil {
				return nil, err
			}
		}
	}
	switch live := step.Live.(type) {
	case *appsv1.Deployment:
		return refuseDeployment(in, pods, live), nil
	case *corev1.Service:
		service := &corev1.Service{}
		if err := readAs(*step.Desired, service); err != nil {
			return nil, err
		}
		return refuseService(&pods.Spec.Template, service, live), nil
	default:
		return nil, nil
	}
}

// readAs reads a rendered child into its Go type.
func readAs(desired child.Desired, into any) error {
	object, err := desired.Object()
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("read rendered %s: %w", desired.Ref, err)
	}
	return nil
}

// toolMarks are the beginnings of labels and annotations by which a deployment tool recognises its objects. It would
// change an adopted one back, or delete it.
var toolMarks = []string{
	"meta.helm.sh/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/",
}

// RefuseMetadata is about whatever has a say in the object already. It returns the path of the field that excludes the
// adoption, and why; "" if none does.
func RefuseMetadata(live metav1.Object) (path, why string) {
	if live.GetDeletionTimestamp() != nil {
		return "metadata.deletionTimestamp", "it is being deleted"
	}
	if len(live.GetOwnerReferences()) > 0 {
		return "metadata.ownerReferences", "it has an owner, whose deletion would delete it"
	}
	for _, marked := range []struct {
		path string
		of   map[string]string
	}{{"metadata.annotations", live.GetAnnotations()}, {"metadata.labels", live.GetLabels()}} {
		for _, key := range sortedKeys(marked.of) {
			if slices.ContainsFunc(toolMarks, func(mark string) bool { return strings.HasPrefix(key, mark) }) {
				return marked.path + "[" + key + "]", "a deployment tool manages it; take it out of that tool, then remove the mark"
			}
		}
	}
	return "", ""
}

// cannotBeAdopted names all refusals; there is at least one.
func cannotBeAdopted(ref child.Ref, refusals ...refusal) string {
	causes := make([]string, 0, len(refusals))
	for _, r := range refusals {
		causes = append(causes, fmt.Sprintf("because of %s: %s", r.path, r.why))
	}
	return fmt.Sprintf("%s %s cannot be adopted %s", ref.Kind, ref.Name, strings.Join(causes, "; and "))
}
