// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/tree"
)

// Print writes the answer as text.
func (a Answer) Print(to *screen.Screen, now time.Time) {
	health := tree.Degraded
	if a.Ready {
		health = tree.Healthy
	}
	to.Hanging("", to.Health(health, to.Paint(screen.Bold, a.Headline)))
	for i, finding := range a.Findings {
		to.Blank()
		lead := ""
		if len(a.Findings) > 1 {
			lead = fmt.Sprintf("%d. ", i+1)
		}
		to.Hanging(lead, finding.What)
		for _, evidence := range finding.Evidence {
			line := evidence.Object + " " + to.Paint(screen.Dim, evidence.Field)
			switch {
			case evidence.Time == nil:
			case evidence.status != "":
				line += fmt.Sprintf(", %s for %s", evidence.status, duration.HumanDuration(now.Sub(*evidence.Time)))
			default:
				line += fmt.Sprintf(", %s ago", duration.HumanDuration(now.Sub(*evidence.Time)))
			}
			if evidence.Message != "" {
				line += ": " + evidence.Message
			}
			to.Hanging("   - ", line)
		}
		for _, next := range finding.Next {
			to.Hanging("   → ", next)
		}
	}
	if len(a.Unreadable) > 0 {
		to.Blank()
		to.Hanging("", "Not shown: you may not list "+strings.Join(a.Unreadable, ", "))
	}
}
