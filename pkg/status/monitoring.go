// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// monitoringReady is present while the spec has monitoring. An application serves without a ServiceMonitor, so a missing
// API does not affect Ready.
func monitoringReady(in Input, children []assessment) (metav1.Condition, bool) {
	if !in.planned() {
		return previous(in, v1.ConditionMonitoringReady)
	}
	for _, a := range children {
		if a.Ref.Kind != child.ServiceMonitor || a.Desired == nil {
			continue
		}
		switch {
		case a.Action == plan.APIUnavailable:
			return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed, Message: a.message}, true
		case a.state != v1.ResourceSynced:
			return metav1.Condition{Status: metav1.ConditionFalse, Reason: v1.ReasonMonitoringNotApplied, Message: about(a.Ref, a.message)}, true
		}
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonApplied, Message: "The ServiceMonitor is applied."}, true
	}
	return metav1.Condition{}, false
}

// whoMonitors names the class where it asks for a ServiceMonitor that cannot exist, and not the spec; "" otherwise.
func whoMonitors(in Input, ref child.Ref) string {
	if ref.Kind != child.ServiceMonitor || in.Snapshot.Application.Spec.Monitoring != nil || in.Class == nil {
		return ""
	}
	return fmt.Sprintf(" ApplicationClass %s sets it: remove it there.", in.Class.Name)
}
