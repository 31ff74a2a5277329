// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// podTemplate renders the pod template. Any change of it replaces every pod.
func podTemplate(app *v1.Application) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	spec, err := podSpec(app)
	if err != nil {
		return nil, err
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(PodLabels(app)).
		WithAnnotations(podAnnotations(app)).
		WithSpec(spec), nil
}

func podAnnotations(app *v1.Application) map[string]string {
	annotations := map[string]string{}
	if metadata := app.Spec.PodMetadata; metadata != nil {
		annotations = allowedAnnotations(metadata.Annotations)
	}
	if config := app.Spec.Config; config != nil {
		annotations[v1.AnnotationConfigHash] = configHash(config)
	}
	return annotations
}

func podSpec(app *v1.Application) (*corev1ac.PodSpecApplyConfiguration, error) {
	security, err := podSecurityContext(app.Spec.PodSecurityContext)
	if err != nil {
		return nil, err
	}
	volumes, err := volumes(app)
	if err != nil {
		return nil, err
	}
	application, err := applicationContainer(app)
	if err != nil {
		return nil, err
	}
	initContainers, err := furtherContainers(app.Spec.InitContainers)
	if err != nil {
		return nil, err
	}
	sidecars, err := furtherContainers(app.Spec.Sidecars)
	if err != nil {
		return nil, err
	}
	spec := corev1ac.PodSpec().
		WithServiceAccountName(ServiceAccountName(app)).
		WithAutomountServiceAccountToken(automountToken(app)).
		// Environment variables for each Service of the namespace would make the pods depend on
		// the order in which Services were created.
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(terminationGracePeriodSeconds(app)).
		WithSecurityContext(security).
		WithVolumes(volumes...).
		WithInitContainers(initContainers...).
		WithContainers(application).
		WithContainers(sidecars...)
	for _, secret := range app.Spec.ImagePullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret.Name))
	}
	return spec, scheduling(app, spec)
}

// scheduling sets where the pods may and should run.
func scheduling(app *v1.Application, spec *corev1ac.PodSpecApplyConfiguration) error {
	if app.Spec.PriorityClassName != "" {
		spec.WithPriorityClassName(app.Spec.PriorityClassName)
	}
	spec.WithNodeSelector(app.Spec.NodeSelector)
	tolerations, err := convertAll[corev1ac.TolerationApplyConfiguration](app.Spec.Tolerations)
	if err != nil {
		return err
	}
	spec.WithTolerations(tolerations...)
	if affinity := app.Spec.Affinity; affinity != nil && !reflect.ValueOf(*affinity).IsZero() {
		converted, err := convert[corev1ac.AffinityApplyConfiguration](affinity)
		if err != nil {
			return err
		}
		spec.WithAffinity(converted)
	}
	constraints, err := topologySpread(app)
	if err != nil {
		return err
	}
	spec.WithTopologySpreadConstraints(constraints...)
	return nil
}

// topologySpread renders how the pods spread. By default they spread over nodes and zones, but only as a preference:
// a cluster with one node or zone still runs them all.
func topologySpread(app *v1.Application) ([]*corev1ac.TopologySpreadConstraintApplyConfiguration, error) {
	if len(app.Spec.TopologySpreadConstraints) == 0 {
		var constraints []*corev1ac.TopologySpreadConstraintApplyConfiguration
		for _, topologyKey := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
			constraints = append(constraints, corev1ac.TopologySpreadConstraint().
				WithMaxSkew(1).
				WithTopologyKey(topologyKey).
				WithWhenUnsatisfiable(corev1.ScheduleAnyway).
				WithLabelSelector(labelSelector(app)))
		}
		return constraints, nil
	}
	constraints, err := convertAll[corev1ac.TopologySpreadConstraintApplyConfiguration](app.Spec.TopologySpreadConstraints)
	if err != nil {
		return nil, err
	}
	for i, constraint := range app.Spec.TopologySpreadConstraints {
		selector := constraint.LabelSelector
		if selector == nil || len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
			constraints[i].WithLabelSelector(labelSelector(app))
		}
	}
	return constraints, nil
}
