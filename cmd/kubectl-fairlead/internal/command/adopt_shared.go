// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// strangers returns the pods that the Service selects and that no rollout of the Deployment replaces: a canary's, say. The controller adopts
// no such Service, because its new selector would cut them off. A pod that is being deleted gets no new requests.
func (a *adopting) strangers(ctx context.Context, service *corev1.Service, deployment *appsv1.Deployment) (names []string, err error) {
	if len(service.Spec.Selector) == 0 {
		return nil, nil
	}
	list, err := a.clients.Kube.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
	if err != nil {
		return nil, fmt.Errorf("find out which pods the Service selects: %w", err)
	}
	sets, err := replicaSets(ctx, a.clients, deployment)
	if err != nil {
		return nil, fmt.Errorf("find out which pods are the Deployment's: %w", err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		replaced := slices.ContainsFunc(sets, func(set appsv1.ReplicaSet) bool { return metav1.IsControlledBy(pod, &set) })
		if pod.DeletionTimestamp == nil && !replaced && pod.Labels[v1.LabelApplication] != a.name {
			names = append(names, pod.Name)
		}
	}
	return names, nil
}

// shared says that the Service cannot be adopted because of these pods, and what helps. A controller creates a pod again, with the same labels.
func shared(service string, pods []string) (message, advice string) {
	const most = 3
	what, whose, its, them := "pod", "which is not this Application's", "its", "it"
	if len(pods) > 1 {
		what, whose, its, them = "pods", "which are not this Application's", "their", "them"
	}
	advice = fmt.Sprintf("Change the labels in the pod template of %s controller. If the controller selects by them, its selector cannot change: replace it by "+
		"another controller, which selects by other labels. Without a controller, delete the %s or give %s other labels. "+
		"Or narrow the selector of the Service to labels that only the pods of the Deployment have.", its, what, them)
	named := strings.Join(pods[:min(len(pods), most)], ", ")
	if more := len(pods) - most; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("Service %s selects %s %s too, %s, so it cannot be adopted", service, what, named, whose), advice
}

// announceShared says before the adoption that the rollout will be refused. A user without permission to list pods learns it from the controller.
func (a *adopting) announceShared(ctx context.Context, o *others) error {
	if o.live == nil {
		return nil
	}
	pods, err := a.strangers(ctx, o.live, a.deployment)
	if apierrors.IsForbidden(err) || err == nil && len(pods) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	message, advice := shared(o.live.Name, pods)
	a.tool.screen().Hanging("  ! ", "The "+message+", and --rollout is refused until it can be. "+advice)
	return nil
}

// refuseShared refuses to replace the pods while the Service cannot be adopted: after that, the adoption could neither end nor be taken back.
func (a *adopting) refuseShared(ctx context.Context, application *v1.Application, deployment *appsv1.Deployment) error {
	service, err := a.clients.Kube.CoreV1().Services(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (child.OwnedBy(service, application) || !consented(service, application)) {
		return nil
	}
	var pods []string
	if err == nil {
		pods, err = a.strangers(ctx, service, deployment)
	}
	if err != nil {
		fmt.Fprintln(a.tool.ErrOut, "Whether the Service can be adopted is not known: "+explain(err))
		return nil
	}
	if len(pods) == 0 {
		return nil
	}
	message, advice := shared(service.Name, pods)
	return fmt.Errorf("%w: the %s. %s Until the pods are replaced, you can also take the adoption back: run %s", errDraft, message, advice, a.command("--abort"))
}
