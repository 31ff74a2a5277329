// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
)

// RefusalReasons are the reasons of the condition Ready if the spec is not carried out.
var RefusalReasons = []string{
	ReasonInvalid, ReasonRouteConflict, ReasonRevisionMissing,
	ReasonClassNotFound, ReasonClassNotAllowed, ReasonClassRequired, ReasonClassInvalid, ReasonClassLimitExceeded,
}

// IsRolledBack reports whether an earlier revision runs instead of the spec, because that failed. The numbers in status are those of what
// runs. The condition is about the spec, which may have changed since; but a spec that is suspended or refused leaves it as it was.
func (a *Application) IsRolledBack() bool {
	ready := meta.FindStatusCondition(a.Status.Conditions, ConditionReady)
	return meta.IsStatusConditionTrue(a.Status.Conditions, ConditionRolledBack) &&
		ready != nil && ready.Reason != ReasonSuspended && !slices.Contains(RefusalReasons, ready.Reason)
}

// RestartCaution is what to know before a restart of a suspended Application that was rolled back: whether its spec has changed since is not
// known. It is "" if there is nothing to know.
func (a *Application) RestartCaution() string {
	status := a.Status.Revision
	if a.Spec.ReconcilePolicy != ReconcileSuspend || status == nil || status.RolledBackFrom == 0 {
		return ""
	}
	return fmt.Sprintf("revision %d failed and was rolled back: if the spec still asks for it, the restart tries it again", status.RolledBackFrom)
}
