// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// terminatingUntil begins the message of a child that the finalizer of another controller holds.
const terminatingUntil = "Terminating until"

// terminatingMessage says what a child waits for that is being deleted. Kubernetes removes its own finalizers in a while; another one may stay, and
// hold up the child for good.
func terminatingMessage(result plan.Result) string {
	finalizers := foreignFinalizers(result.Live)
	message, again := "Terminating", "; will be recreated."
	switch len(finalizers) {
	case 0:
	case 1:
		message, again = fmt.Sprintf("%s its controller removes the finalizer %s", terminatingUntil, finalizers[0]), "; will then be recreated."
	default:
		message, again = fmt.Sprintf("%s their controllers remove the finalizers %s", terminatingUntil, strings.Join(finalizers, ", ")), "; will then be recreated."
	}
	if result.Desired == nil {
		again = "."
	}
	return message + again
}

// foreignFinalizers are those that Kubernetes' own controllers do not remove.
func foreignFinalizers(live child.Object) []string {
	if live == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(live.GetFinalizers()), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	})
}
