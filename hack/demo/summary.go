// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// summary is what was seen.
type summary struct {
	applications int
	children     int
	readyAfter   time.Duration
	repairs      []repair
	// stalled are the Applications that cannot work, each with its reason.
	stalled []string
	// leftOut says what could not be shown, and why.
	leftOut string
}

// repair is one child that was damaged, and how long it stayed so.
type repair struct {
	child string
	took  time.Duration
}

func (s *summary) sawReady(applications []*v1.Application, took time.Duration) {
	s.applications, s.readyAfter = len(applications), took
	for _, application := range applications {
		s.children += len(application.Status.Resources)
	}
}

// report is the summary, for people.
func (s *summary) report(style style) []line {
	lines := []line{nil, {toned(strong, "Seen")}}
	add := func(mark tone, format string, args ...any) {
		lines = append(lines, line{text("  "), style.mark(mark), text(" "+format, args...)})
	}
	add(good, "%d Applications with %d children, all Ready %s after they were applied", s.applications, s.children, duration(s.readyAfter))
	var repairs []string
	for _, repair := range s.repairs {
		repairs = append(repairs, fmt.Sprintf("%s %s", repair.child, duration(repair.took)))
	}
	add(good, "%d damaged children repaired: %s", len(s.repairs), strings.Join(repairs, ", "))
	add(good, "%d Applications that cannot work say why: %s", len(s.stalled), strings.Join(s.stalled, ", "))
	if s.leftOut != "" {
		add(busy, "left out: %s", s.leftOut)
	}
	return lines
}

// howToConnect says how to look around.
func (d *demo) howToConnect() []line {
	var lines []line
	add := func(format string, args ...any) { lines = append(lines, line{text(format, args...)}) }
	lines = append(lines, nil, line{toned(strong, "Look around, in another terminal")})
	if d.cluster.kubeconfig != "" {
		add("  export KUBECONFIG=%s", d.cluster.kubeconfig)
	}
	add("  kubectl get -n %s applications.apps.fairlead.dev", namespace)
	add("  kubectl describe -n %s applications.apps.fairlead.dev wrong-port", namespace)
	add("  kubectl delete -n %s networkpolicy database     # it comes back", namespace)
	add("  kubectl scale -n %s applications.apps.fairlead.dev/catalog --replicas=5", namespace)
	add("  tail -f %s", d.controller.Log)
	lines = append(lines, nil, line{text("Ctrl-C stops everything.")})
	return lines
}
