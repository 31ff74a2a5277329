// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// drainSeconds is how long the process keeps running before SIGTERM, so that every node and load balancer learns that
// the pod is terminating.
const drainSeconds = 5

// lifecycle sets the hooks after start and before stop. An empty lifecycle in the spec disables the default hook.
func lifecycle(app *v1.Application, container *corev1ac.ContainerApplyConfiguration) error {
	if given := app.Spec.Lifecycle; given != nil {
		if reflect.ValueOf(*given).IsZero() {
			return nil
		}
		converted, err := convert[corev1ac.LifecycleApplyConfiguration](given)
		if err != nil {
			return err
		}
		container.WithLifecycle(converted)
		return nil
	}
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	// The sleep is part of the grace period, and the API server refuses a longer one. At least
	// half of the period is left to the process.
	seconds := min(drainSeconds, terminationGracePeriodSeconds(app)/2)
	if seconds <= 0 {
		return nil
	}
	container.WithLifecycle(corev1ac.Lifecycle().
		WithPreStop(corev1ac.LifecycleHandler().
			WithSleep(corev1ac.SleepAction().WithSeconds(seconds))))
	return nil
}
