// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// LoadScalers reads the names of the HorizontalPodAutoscalers that scale the Application's Deployment, and are not the Application's.
func (c *Clients) LoadScalers(ctx context.Context, loaded *Loaded) error {
	application := loaded.Application
	list, err := c.Kube.AutoscalingV2().HorizontalPodAutoscalers(application.Namespace).List(ctx, metav1.ListOptions{})
	return loaded.add(child.HorizontalPodAutoscaler.Resource, err, func() {
		for i := range list.Items {
			if scaler := &list.Items[i]; scales(scaler, application) && !child.OwnedBy(scaler, application) {
				loaded.Scalers = append(loaded.Scalers, scaler.Name)
			}
		}
	})
}

// scales reports whether the target is the Application's Deployment.
func scales(scaler *autoscalingv2.HorizontalPodAutoscaler, application *v1.Application) bool {
	target := scaler.Spec.ScaleTargetRef
	return strings.HasPrefix(target.APIVersion, appsv1.GroupName+"/") && target.Kind == child.Deployment.Kind && target.Name == application.Name
}
