// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/preview"
)

// printChanges says how the pods will differ, field by field.
func printChanges(to *screen.Screen, id string, pods int32, changed, lost []preview.Change) {
	who, them, what := fmt.Sprintf("%d pods", pods), "them", fmt.Sprintf("%d fields of the pod template change", len(changed)+len(lost))
	if pods == 1 {
		who, them = "1 pod", "it"
	}
	if len(changed)+len(lost) == 1 {
		what = "1 field of the pod template changes"
	}
	if pods == 0 {
		to.Printf("%s: there are no pods to replace. %s once you release the rollout:", id, strings.ToUpper(what[:1])+what[1:])
	} else {
		to.Printf("%s: %s will be replaced once you release %s, because %s:", id, who, them, what)
	}
	for _, change := range changed {
		to.Hanging("  ~ ", difference.Describe(change))
	}
	for _, change := range lost {
		to.Hanging("  - ", difference.Describe(change))
	}
}

// printRelease says what becomes of the Helm release. The pods may need what it still has.
func printRelease(to *screen.Screen, release fmt.Stringer, others []helm.Object) {
	keeps := "It has nothing else; uninstall it when you like."
	if len(others) > 0 {
		keeps = "It keeps " + list(others) + ", which helm uninstall would delete."
	}
	to.Hanging("  ", "The "+release.String()+" gives the adopted objects up. "+keeps)
}

// printHeld says that the Deployment is adopted, and which commands come next.
func printHeld(to *screen.Screen, message, rollOut, abort string) {
	to.Hanging("  ", message)
	to.Printf("  Replace the pods: %s", rollOut)
	to.Printf("  Take it back:     %s", abort)
}

// printRollout says what the release of the pods does.
func printRollout(to *screen.Screen, id string, pods int32) {
	switch pods {
	case 0:
		to.Printf("%s: there are no pods to replace.", id)
	case 1:
		to.Printf("%s: the one pod is replaced.", id)
	default:
		to.Printf("%s: all %d pods are replaced.", id, pods)
	}
}
