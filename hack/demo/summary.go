// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"time"

	"fairlead.dev/fairlead/hack/internal/steps"
)

// summary is what was seen.
type summary struct {
	applications, children int
	readyAfter             time.Duration
	// repairs are the children that were damaged, each with how long it stayed so.
	repairs []string
	// stalled are the Applications that cannot work, each with its reason.
	stalled []string
	// leftOut says what could not be shown, and why.
	leftOut string
}

func (d *demo) printSummary() {
	if d.options.tour {
		d.out.Printf("")
		d.out.Good("Every step of the tour was seen")
		return
	}
	seen := d.seen
	d.out.Title("Seen")
	d.out.Good("%d Applications with %d children, all Ready %s after they were applied", seen.applications, seen.children, steps.Duration(seen.readyAfter))
	d.out.Good("%d damaged children repaired: %s", len(seen.repairs), strings.Join(seen.repairs, ", "))
	d.out.Good("%d Applications that cannot work say why: %s", len(seen.stalled), strings.Join(seen.stalled, ", "))
	if seen.leftOut != "" {
		d.out.Busy("left out: %s", seen.leftOut)
	}
}

// printHowToConnect says how to look around.
func (d *demo) printHowToConnect() {
	if d.cluster != nil {
		d.out.Printf("  export KUBECONFIG=%s", d.cluster.Kubeconfig)
	}
	d.out.Printf("  kubectl get -n %s applications.apps.fairlead.dev", namespace)
	if d.apiServer != nil {
		d.out.Printf("  kubectl get -n %s applicationruntimes --watch", namespace)
	}
	d.out.Printf("  kubectl describe -n %s applications.apps.fairlead.dev catalog", namespace)
	d.out.Printf("  kubectl delete -n %s networkpolicy database     # it comes back", namespace)
	d.out.Printf("  kubectl scale -n %s applications.apps.fairlead.dev/catalog --replicas=5", namespace)
	d.out.Printf("  tail -f %s", d.controller.Log)
	d.out.Printf("Ctrl-C stops everything.")
}
