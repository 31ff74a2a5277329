// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"errors"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// WithSelector adds to the error of a draft that the selector of the Deployment excludes every adoption, if it does.
func WithSelector(deployment *appsv1.Deployment, err error) error {
	if path, why := plan.RefuseSelector(deployment); path != "" {
		return allRefused(refused("."+path, why), err)
	}
	return err
}

// Refusal returns all for which the controller would refuse to adopt the objects, nil if it would not. A user learns it before
// anything is written. service may be nil.
func Refusal(differ plan.Differ, application *v1.Application, children []child.Desired, deployment *appsv1.Deployment, service *corev1.Service) error {
	const uid = "any"
	application = application.DeepCopy()
	application.UID = uid
	in := plan.Input{Snapshot: child.Snapshot{Application: application}, Desired: children}
	var reasons []string
	for _, desired := range children {
		var live child.Object
		switch {
		case desired.Kind == child.Deployment:
			live = deployment.DeepCopy()
		case desired.Kind == child.Service && service != nil:
			live = service.DeepCopy()
		default:
			continue
		}
		// Clients leave the kind out, and Helm gives the object up before.
		live.GetObjectKind().SetGroupVersionKind(desired.Kind.GroupVersionResource().GroupVersion().WithKind(desired.Kind.Kind))
		helm.Unmark(live)
		annotations := live.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1.AnnotationAdoptableBy] = uid
		live.SetAnnotations(annotations)
		step, err := differ.Foreign(in, desired, live)
		if err != nil {
			return err
		}
		if step.Adoption == plan.AdoptionRefused {
			reasons = append(reasons, step.Reason)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(strings.Join(reasons, ". "))
}
