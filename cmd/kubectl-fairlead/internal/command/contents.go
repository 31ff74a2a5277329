// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/reference"
)

// followContents adds to the difference what becomes of pods whose ConfigMaps or Secrets have changed while the controller did not follow
// them, if it does so again from this edit on. It returns what the user may not read, as a sentence.
func (t *tool) followContents(ctx context.Context, clients *cluster.Clients, application, edited *v1.Application, d *preview.Difference) (string, error) {
	begins := enforced(edited) && reference.RollsOut(&edited.Spec) && (!enforced(application) || !reference.RollsOut(&application.Spec))
	references := slices.Concat(preview.Followed(edited, reference.ConfigMap), preview.Followed(edited, reference.Secret))
	if !begins || len(references) == 0 || d.Pods.Replaced && d.Pods.Kept == 0 {
		return "", nil
	}
	deployment, err := clients.Kube.AppsV1().Deployments(edited.Namespace).Get(ctx, edited.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return mayReplace(d.Pods, references), nil
	case err == nil && !child.OwnedBy(deployment, application), apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	watched := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionConfigWatched)
	if d.Pods.Replaced || d.Pods.Pinned > 0 || application.IsRolledBack() || watched != nil {
		return mayReplace(d.Pods, references), nil // The pods may use others, or the controller may be unable to read these.
	}
	contents, err := clients.LoadContents(ctx, edited, deployment)
	if err != nil {
		return "", err
	}
	if len(contents.Missing) > 0 {
		it := "it"
		if len(contents.Missing) > 1 {
			it = "them"
		}
		return " " + strings.Join(contents.Missing, "; ") + "; running pods stay as they are, and new ones that need " + it + " wait.", nil
	}
	if contents.ConfigMaps != "" {
		changesContent(d, deployment, v1.AnnotationConfigMapsHash, contents.ConfigMaps, preview.Followed(edited, reference.ConfigMap))
	}
	if secrets := preview.Followed(edited, reference.Secret); reportsSecrets(application, edited) {
		changesContent(d, deployment, v1.AnnotationSecretsHash, preview.ComputedHash, secrets)
	}
	if len(d.Pods.Contents) > 0 {
		strategy, err := strategyAfter(d, &deployment.Spec.Strategy)
		if err != nil {
			return "", err
		}
		return "", d.Pods.SetOutage(strategy)
	}
	return mayReplace(d.Pods, contents.Unknown), nil
}

// strategyAfter is the live strategy of the Deployment with the changes that the edit makes to it, also by way of a class.
func strategyAfter(d *preview.Difference, live *appsv1.DeploymentStrategy) (*appsv1.DeploymentStrategy, error) {
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&appsv1.DeploymentSpec{Strategy: *live})
	if err != nil {
		return nil, fmt.Errorf("encode the strategy: %w", err)
	}
	for _, c := range d.Children {
		if c.Kind != child.Deployment.Kind {
			continue
		}
		for _, change := range c.Changes {
			path := strings.Split(strings.TrimPrefix(change.Path, ".spec."), ".")
			if path[0] != "strategy" {
				continue
			}
			unstructured.RemoveNestedField(spec, path...)
			if change.After == nil {
				continue
			}
			if err := unstructured.SetNestedField(spec, change.After, path...); err != nil {
				return nil, fmt.Errorf("change %s: %w", change.Path, err)
			}
		}
	}
	after := &appsv1.DeploymentSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, after); err != nil {
		return nil, fmt.Errorf("decode the strategy: %w", err)
	}
	if after.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		after.Strategy.RollingUpdate = nil
	}
	return &after.Strategy, nil
}

// changesContent adds that the hash of the contents changes, and so the pods.
func changesContent(d *preview.Difference, deployment *appsv1.Deployment, annotation, hash string, references []reference.Reference) {
	change := preview.Change{Path: ".spec.template.metadata.annotations[" + annotation + "]", Before: deployment.Spec.Template.Annotations[annotation], After: hash}
	at := slices.IndexFunc(d.Children, func(c preview.Child) bool { return c.Kind == child.Deployment.Kind })
	if at < 0 {
		at = len(d.Children)
		d.Children = append(d.Children, preview.Child{Kind: child.Deployment.Kind, Name: deployment.Name, Action: preview.Update})
	}
	d.Children[at].Changes = append(d.Children[at].Changes, change)
	d.Pods.Replaced, d.Pods.Because = true, append(d.Pods.Because, change)
	for _, r := range references {
		d.Pods.Contents = append(d.Pods.Contents, r.String())
	}
}

// reportsSecrets reports whether the controller, which observes the Application, says that the Secrets of the pods have changed.
func reportsSecrets(application, edited *v1.Application) bool {
	if application.Spec.ReconcilePolicy != v1.ReconcileObserve || application.Status.ObservedGeneration != application.Generation ||
		!equality.Semantic.DeepEqual(reference.FromSpec(&application.Spec), reference.FromSpec(&edited.Spec)) {
		return false
	}
	return slices.ContainsFunc(application.Status.Resources, func(r v1.ResourceStatus) bool {
		return r.Kind == child.Deployment.Kind && r.State == v1.ResourceDrifted && strings.Contains(r.Message, ".spec.template.metadata.annotations."+v1.AnnotationSecretsHash)
	})
}

// mayReplace is the sentence about contents that are not known; "" if no pod is replaced.
func mayReplace(pods preview.Pods, references []reference.Reference) string {
	asksForNone := pods.After != nil && *pods.After == 0 || pods.After == nil && pods.Asked != nil && *pods.Asked == 0
	if len(references) == 0 || pods.Paused || asksForNone {
		return ""
	}
	names := make([]string, 0, len(references))
	for _, r := range references {
		names = append(names, r.String())
	}
	return fmt.Sprintf(" If %s has changed since the pods started, all pods are replaced.", strings.Join(names, " or "))
}
