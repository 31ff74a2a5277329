// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// LoadScalers reads the names of the HorizontalPodAutoscalers that scale the Application's Deployment, and are not the Application's; and
// of those that scale the Application.
func (c *Clients) LoadScalers(ctx context.Context, loaded *Loaded) error {
	application := loaded.Application
	list, err := c.Kube.AutoscalingV2().HorizontalPodAutoscalers(application.Namespace).List(ctx, metav1.ListOptions{})
	return loaded.add(child.HorizontalPodAutoscaler.Resource, err, func() {
		for i := range list.Items {
			scaler := &list.Items[i]
			switch target := scaler.Spec.ScaleTargetRef; {
			case target.Name != application.Name, child.OwnedBy(scaler, application):
			case target.Kind == child.Deployment.Kind && strings.HasPrefix(target.APIVersion, appsv1.GroupName+"/"):
				loaded.Scalers = append(loaded.Scalers, scaler.Name)
			case target.Kind == v1.ApplicationKind && strings.HasPrefix(target.APIVersion, v1.GroupName+"/"):
				loaded.SpecScalers = append(loaded.SpecScalers, scaler.Name)
			}
		}
	})
}
