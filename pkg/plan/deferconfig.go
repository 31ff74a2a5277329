// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Pods read the present content of a ConfigMap, not its content when they started. After an edit that changes the
// ServiceAccount, the former pods may still run as the former account, which the user who edits config then may not be
// allowed to use. So the ConfigMap stays as it is until those pods are gone. The rollout that replaces them continues with
// the live content and its hash. The new content then rolls out as a change of its own.
//
// Pods that run as the Application's own account are no reason to wait: every user who may edit the Application may use it.

// deferConfig makes an update of the ConfigMap wait while pods read it as an account other than the rendered one.
func deferConfig(in Input, step Step) (Step, error) {
	if step.Ref.Kind != child.ConfigMap || step.Action != Apply || step.Drift {
		return step, nil // A repair restores what the pods read before.
	}
	account, err := renderedAccount(in.Desired)
	if err != nil || account == (child.Ref{}) {
		return step, err
	}
	if reader := readAsAnother(in.Snapshot, step.Ref, account); reader != "" {
		step = step.wait(fmt.Sprintf("%s reads it as another ServiceAccount than %s; it changes once no pod does", reader, account.Name))
	}
	return step, nil
}

// renderedAccount is the ServiceAccount of the rendered pods.
func renderedAccount(all []child.Desired) (child.Ref, error) {
	index := slices.IndexFunc(all, func(d child.Desired) bool { return d.Kind == child.Deployment })
	if index < 0 {
		return child.Ref{}, nil
	}
	object, err := all[index].Object()
	if err != nil {
		return child.Ref{}, err
	}
	name, _, err := unstructured.NestedString(object.Object, "spec", "template", "spec", "serviceAccountName")
	return child.Ref{Kind: child.ServiceAccount, Namespace: all[index].Namespace, Name: name}, err
}

// readAsAnother names the ReplicaSet or Deployment whose pods may refer to the ConfigMap and run as an account that is neither
// the given one nor the Application's own; "" if there is none. See useBy for which ReplicaSets may have pods.
func readAsAnother(snapshot child.Snapshot, configMap, account child.Ref) string {
	app := snapshot.Application
	own := child.Ref{Kind: child.ServiceAccount, Namespace: app.Namespace, Name: app.Name}
	live, hasOwn := snapshot.Children[own]
	hasOwn = hasOwn && child.OwnedBy(live, app)
	reads := func(pods child.PodReferences) bool {
		return pods.Has(configMap) && !pods.Has(account) && (!hasOwn || !pods.Has(own))
	}
	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, app.Name)
	if deployment != nil && reads(child.ReferencesOf(&deployment.Spec.Template.Spec)) {
		return "the Deployment"
	}
	lags := deployment != nil && deployment.Status.ObservedGeneration < deployment.Generation
	for _, replicaSet := range snapshot.ReplicaSets {
		if (replicaSet.HasPods || lags || isCurrent(replicaSet, deployment)) && reads(replicaSet.References) {
			return "ReplicaSet " + replicaSet.Name
		}
	}
	return ""
}

// withLiveConfig returns the rendered Deployment with the hash of the ConfigMap's live content, while the ConfigMap waits.
func withLiveConfig(in Input, steps []Step, desired child.Desired) (child.Desired, error) {
	waits := slices.ContainsFunc(steps, func(s Step) bool {
		return s.Ref.Kind == child.ConfigMap && s.Desired != nil && s.Action == WaitDependency
	})
	if desired.Kind != child.Deployment || !waits {
		return desired, nil
	}
	object, err := desired.Object()
	if err != nil {
		return child.Desired{}, err
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", v1.AnnotationRenderedHash)
	annotation := []string{"spec", "template", "metadata", "annotations", v1.AnnotationConfigHash}
	unstructured.RemoveNestedField(object.Object, annotation...)
	live, ok := in.Snapshot.Children[desired.Ref].(*appsv1.Deployment)
	if ok && live.Spec.Template.Annotations[v1.AnnotationConfigHash] != "" {
		if err := unstructured.SetNestedField(object.Object, live.Spec.Template.Annotations[v1.AnnotationConfigHash], annotation...); err != nil {
			return child.Desired{}, fmt.Errorf("keep the hash of the live ConfigMap: %w", err)
		}
	}
	return child.NewDesired(child.Deployment, object)
}
