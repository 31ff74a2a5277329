// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// addFailedProbe says which probe ends a container that keeps exiting. Its state has the exit code alone, as if the program had ended. A
// container that runs out of memory fails its probe too, and that is not why.
func (f facts) addFailedProbe(finding *Finding, problem v1.Problem, pod string) {
	if problem.Reason != v1.ReasonCrashLooping || pod == "" || strings.Contains(problem.Message, "OOMKilled") {
		return
	}
	for i := range f.EventsOfObjects {
		event := &f.EventsOfObjects[i]
		if about := event.InvolvedObject; event.Reason != "Unhealthy" || about.Name != pod || !strings.HasSuffix(about.FieldPath, "{"+problem.Container+"}") {
			continue
		}
		var probe string
		switch {
		case strings.HasPrefix(event.Message, "Liveness probe"):
			probe = "livenessProbe"
		case strings.HasPrefix(event.Message, "Startup probe"):
			probe = "startupProbe"
		default:
			continue
		}
		finding.Evidence = append(finding.Evidence, eventEvidence(event))
		step := fmt.Sprintf("Check that %s fits the container, which the kubelet restarts where the probe fails: path, port and time to start.", f.fieldsOf(problem.Container, probe))
		finding.Next = append([]string{step}, finding.Next...)
		return
	}
}
