// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package edit has the edits of an Application that commands make. It is pure: an Application in, the edited one and a
// message out.
package edit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

// Edit changes an Application, which is a copy, and says what it changes. The error says why it makes no sense.
type Edit func(*v1.Application) (what string, err error)

// Apply returns the edited Application and what was changed.
func Apply(application *v1.Application, edit Edit) (edited *v1.Application, what string, err error) {
	edited = application.DeepCopy()
	what, err = edit(edited)
	return edited, what, err
}

// Patch is the JSON merge patch between the two, or nil if there is no difference. It holds only for the very version
// that was read: the API server refuses it if the Application has changed since.
func Patch(before, after *v1.Application) ([]byte, error) {
	from, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	difference, err := jsonpatch.CreateMergePatch(from, to)
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(difference, &patch); err != nil || len(patch) == 0 {
		return nil, err
	}
	// The precondition.
	patch["metadata"] = map[string]any{"uid": before.UID, "resourceVersion": before.ResourceVersion}
	return json.Marshal(patch)
}

// Pause stops rollouts. A spec that is not carried out does not reach the Deployment: unfinished is the number of pods that its rollout has not
// replaced yet, or -1 if that is not known.
func Pause(unfinished int32) Edit {
	return func(application *v1.Application) (string, error) {
		isPaused := application.Spec.Paused != nil && *application.Spec.Paused
		application.Spec.Paused = new(true)
		refusal := NotCarriedOut(application)
		switch {
		case isPaused || refusal == "":
			return "rollouts are paused", nil
		case unfinished == 0:
			return "spec.paused is set, for rollouts that begin once Fairlead carries out the spec (" + refusal + ")", nil
		default:
			return "spec.paused is set, but a rollout that has begun goes on until Fairlead carries out the spec (" + refusal + "). To stop it now: kubectl rollout pause deployment/" +
				application.Name, nil
		}
	}
}

// NotCarriedOut is why Fairlead does not carry out the spec: the reconcilePolicy, or the reason of its refusal; "" if it does, or has not said.
func NotCarriedOut(application *v1.Application) string {
	if policy := application.Spec.ReconcilePolicy; policy.Withholds() {
		return "reconcilePolicy: " + string(policy)
	}
	return refusalOf(application)
}

// refusalOf is the reason for which Fairlead refuses the spec; "" if it does not.
func refusalOf(application *v1.Application) string {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	if ready == nil || !slices.Contains(v1.RefusalReasons, ready.Reason) {
		return ""
	}
	return ready.Reason
}

// HoldsPods reports whether the Deployment is adopted, and its pods run as before until rollouts go on.
func HoldsPods(application *v1.Application) bool {
	adopted, paused := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted), application.Spec.Paused
	return application.Spec.AdoptionPolicy == v1.AdoptionConsented && paused != nil && *paused &&
		adopted != nil && adopted.Status != metav1.ConditionTrue && adopted.Reason == v1.ReasonPodsHeld
}

// Resume lets rollouts go on, and Fairlead enforce the children again.
func Resume(application *v1.Application) (string, error) {
	var what []string
	if paused := application.Spec.Paused; paused != nil && *paused {
		goesOn := "rollouts go on"
		if HoldsPods(application) {
			goesOn += ", without what kubectl fairlead adopt " + application.Name + " --rollout checks before it replaces the pods"
		}
		application.Spec.Paused = nil
		what = append(what, goesOn)
	}
	if policy := application.Spec.ReconcilePolicy; policy.Withholds() {
		application.Spec.ReconcilePolicy = v1.ReconcileEnforce
		what = append(what, fmt.Sprintf("Fairlead enforces the children again (reconcilePolicy %s → Enforce)", policy))
	}
	return strings.Join(what, "; "), nil
}

// Suspend stops Fairlead.
func Suspend(application *v1.Application) (string, error) {
	application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	return "Fairlead does nothing until you resume it, and status shows the state before that (reconcilePolicy: Suspend)", nil
}

// Observe makes Fairlead report differences and repair none.
func Observe(application *v1.Application) (string, error) {
	application.Spec.ReconcilePolicy = v1.ReconcileObserve
	if refusal := refusalOf(application); refusal != "" { // What children would a refused spec have?
		return "Fairlead changes no child until you resume it (reconcilePolicy: Observe), and reports differences only once it accepts the spec (now " + refusal + ")", nil
	}
	return "Fairlead reports differences and changes no child until you resume it (reconcilePolicy: Observe)", nil
}

// Restart replaces all pods. After a rollback that would roll out what failed, because the spec still says it; deployed says that there is a
// Deployment, which kubectl can restart. The time of a restart has whole seconds, so a second one within the same second would change nothing:
// it is refused, as kubectl rollout restart does.
func Restart(now time.Time, deployed bool) Edit {
	return func(application *v1.Application) (string, error) {
		if err := checkRolledBack(application, deployed); err != nil {
			return "", err
		}
		if application.Spec.PodMetadata == nil {
			application.Spec.PodMetadata = &v1.PodMetadata{}
		}
		if application.Spec.PodMetadata.Annotations == nil {
			application.Spec.PodMetadata.Annotations = map[string]string{}
		}
		at := now.UTC().Format(time.RFC3339)
		if application.Spec.PodMetadata.Annotations[v1.AnnotationRestartedAt] == at {
			return "", errors.New("it was restarted in this very second already, so nothing was written: to restart it once more, run the command again")
		}
		application.Spec.PodMetadata.Annotations[v1.AnnotationRestartedAt] = at
		what := "a restart of the pods"
		if caution := application.RestartCaution(); caution != "" {
			what += "; " + caution
		}
		return what, nil
	}
}

// checkRolledBack returns an error if the spec is rolled back. The error says how to restart what runs; kubectl restarts no Deployment that
// is paused.
func checkRolledBack(application *v1.Application, deployed bool) error {
	status := application.Status.Revision
	if status == nil || !application.IsRolledBack() || application.Status.ObservedGeneration != application.Generation {
		return nil
	}
	message := fmt.Sprintf("revision %d failed and was rolled back, and a restart would try it again. To try it again, change the pods in the spec, such as by an annotation in spec.podMetadata", status.RolledBackFrom)
	if paused := application.Spec.Paused; deployed && (paused == nil || !*paused) {
		message += fmt.Sprintf("; to restart what runs, which is revision %d: kubectl rollout restart deployment/%s", status.Current, application.Name)
	}
	return errors.New(message)
}

// Scale sets the number of pods. current, if it is not negative, is the number that the user expects.
func Scale(replicas, current int32) Edit {
	return func(application *v1.Application) (string, error) {
		if application.Spec.Autoscaling != nil {
			return "", refuseAutoscaled(application, replicas)
		}
		was, known := application.Status.DesiredReplicas, knowsReplicas(application)
		if application.Spec.Replicas != nil {
			was = *application.Spec.Replicas
		}
		if current >= 0 && !known {
			return "", errors.New("neither the spec nor the status says how many pods are desired, so nothing was written: leave out --current-replicas")
		}
		if current >= 0 && was != current {
			return "", fmt.Errorf("the desired number of pods is %d, not %d as --current-replicas expects", was, current)
		}
		application.Spec.Replicas = &replicas
		if !known {
			return fmt.Sprintf("replicas set to %d", replicas), nil
		}
		return fmt.Sprintf("replicas %d → %d", was, replicas), nil
	}
}

// refuseAutoscaled says how to get the number of pods where spec.autoscaling has a say; nil if it asks for that number already.
func refuseAutoscaled(application *v1.Application, replicas int32) error {
	const none = "to have no pods on purpose, remove spec.autoscaling and set spec.replicas to 0"
	autoscaling, fixed, stopped := application.Spec.Autoscaling, render.FixedReplicas(application), isStoppedByHand(application)
	switch {
	case fixed != nil && *fixed == replicas:
		return nil
	case fixed != nil && replicas == 0:
		return fmt.Errorf("spec.autoscaling sets the number of pods to %d: %s", *fixed, none)
	case fixed != nil:
		return fmt.Errorf("spec.autoscaling sets the number of pods to %d: change its minReplicas and maxReplicas instead", *fixed)
	case stopped && replicas == 0:
		return errors.New("the Deployment was scaled to 0 already, where its autoscaler does nothing: " + none)
	case stopped:
		return fmt.Errorf("the Deployment was scaled to 0, where its autoscaler does nothing: start it again with kubectl scale deployment %s --replicas=%d", application.Name, max(1, min(replicas, autoscaling.MaxReplicas)))
	case replicas == 0:
		return errors.New("an autoscaler decides the number of pods: " + none)
	default:
		return fmt.Errorf("an autoscaler decides the number of pods, up to %d: change spec.autoscaling.minReplicas and maxReplicas instead", autoscaling.MaxReplicas)
	}
}

// knowsReplicas reports whether the Application says how many pods are desired. Without spec.replicas, its status says 0 while the
// Deployment is not its own, whose pods run nevertheless.
func knowsReplicas(application *v1.Application) bool {
	if application.Spec.Replicas != nil || application.Status.DesiredReplicas > 0 {
		return true
	}
	return slices.ContainsFunc(application.Status.Resources, func(resource v1.ResourceStatus) bool {
		return resource.Group == child.Deployment.Group && resource.Kind == child.Deployment.Kind && resource.State == v1.ResourceSynced
	})
}

// isStoppedByHand reports whether another client scaled the Deployment to 0, where its autoscaler does nothing.
func isStoppedByHand(application *v1.Application) bool {
	stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1.ReasonPodsUnavailable && application.Status.DesiredReplicas == 0
}

// Image is an image for a container; without a container, for the application's own.
type Image struct{ Container, Image string }

// SetImages sets the images of containers.
func SetImages(images ...Image) Edit {
	return func(application *v1.Application) (string, error) {
		names, fields := []string{application.Name}, map[string]*string{application.Name: &application.Spec.Image}
		for _, containers := range [][]corev1.Container{application.Spec.Sidecars, application.Spec.InitContainers} {
			for i := range containers {
				names = append(names, containers[i].Name)
				fields[containers[i].Name] = &containers[i].Image
			}
		}
		var what []string
		set := map[string]string{}
		for _, image := range images {
			container := cmp.Or(image.Container, application.Name)
			field, found := fields[container]
			if !found {
				return "", fmt.Errorf("there is no container %q: it has %s", container, strings.Join(names, ", "))
			}
			if other, twice := set[container]; twice {
				return "", fmt.Errorf("%s and %s are both for container %s: pass one of them", other, image.Image, container)
			}
			what = append(what, fmt.Sprintf("image of container %s: %s → %s", container, *field, image.Image))
			*field, set[container] = image.Image, image.Image
		}
		return strings.Join(what, "; "), nil
	}
}
