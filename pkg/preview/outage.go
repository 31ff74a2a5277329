// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/pkg/child"
)

// FindOutage sets Outage by the strategy of the rendered Deployment.
func (p *Pods) FindOutage(rendered []child.Desired) error {
	at := slices.IndexFunc(rendered, func(c child.Desired) bool { return c.Kind == child.Deployment })
	if !p.Replaced || at < 0 {
		return nil
	}
	encoded, err := json.Marshal(rendered[at].Configuration)
	if err != nil {
		return fmt.Errorf("encode %s: %w", rendered[at].Ref, err)
	}
	deployment := &appsv1.Deployment{}
	if err := json.Unmarshal(encoded, deployment); err != nil {
		return fmt.Errorf("decode %s: %w", rendered[at].Ref, err)
	}
	return p.SetOutage(&deployment.Spec.Strategy)
}

// SetOutage sets Outage by the strategy of a Deployment.
func (p *Pods) SetOutage(strategy *appsv1.DeploymentStrategy) (err error) {
	wanted := cmp.Or(p.After, p.Asked, &p.Live)
	p.Outage, err = stopsAll(strategy.RollingUpdate, int(*wanted))
	return err
}

// stopsAll reports whether a rolling update of so many pods may stop all of them before a new one is ready. The Deployment controller rounds
// maxSurge up and maxUnavailable down, and takes 1 for the latter if both are then 0.
func stopsAll(update *appsv1.RollingUpdateDeployment, pods int) (bool, error) {
	if update == nil || pods == 0 {
		return false, nil
	}
	surge, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(update.MaxSurge, intstr.FromInt32(0)), pods, true)
	if err != nil {
		return false, fmt.Errorf("read maxSurge: %w", err)
	}
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(update.MaxUnavailable, intstr.FromInt32(0)), pods, false)
	if err != nil {
		return false, fmt.Errorf("read maxUnavailable: %w", err)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return unavailable >= pods, nil
}
