// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/plan"
)

// terminatingMessage says what a child waits for that is being deleted. Kubernetes removes its own finalizers in a while; another one may stay, and
// hold up the child for good.
func terminatingMessage(result plan.Result) string {
	var finalizers []string
	if result.Live != nil {
		finalizers = slices.DeleteFunc(slices.Clone(result.Live.GetFinalizers()), func(finalizer string) bool {
			return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
		})
	}
	message, again := "Terminating", "; will be recreated."
	switch len(finalizers) {
	case 0:
	case 1:
		message, again = fmt.Sprintf("Terminating until its controller removes the finalizer %s", finalizers[0]), "; will then be recreated."
	default:
		message, again = fmt.Sprintf("Terminating until their controllers remove the finalizers %s", strings.Join(finalizers, ", ")), "; will then be recreated."
	}
	if result.Desired == nil {
		again = "."
	}
	return message + again
}
