// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/load"
)

// G6: how long the controller takes to repair a child that a user changed.

// editRate is how many edits there are in a second: few, since most of the time of a cluster is calm.
const editRate = 10.0

// edit is what a user does to a child.
type edit struct {
	resource string
	do       func(ctx context.Context, c *clients, namespace, name string) error
}

var editOptions = metav1.PatchOptions{FieldManager: "kubectl-edit"}

// edits are the ways in which children drift: a field of a Deployment, data, and a child that is gone.
func edits() []edit {
	return []edit{
		{"deployments", func(ctx context.Context, c *clients, namespace, name string) error {
			patch := []byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/other:1"}]`)
			_, err := c.kube.AppsV1().Deployments(namespace).Patch(ctx, name, types.JSONPatchType, patch, editOptions)
			return err
		}},
		{"networkpolicies", func(ctx context.Context, c *clients, namespace, name string) error {
			patch := []byte(`{"spec":{"policyTypes":["Ingress"]}}`)
			_, err := c.kube.NetworkingV1().NetworkPolicies(namespace).Patch(ctx, name, types.MergePatchType, patch, editOptions)
			return err
		}},
		{"services", func(ctx context.Context, c *clients, namespace, name string) error {
			return c.kube.CoreV1().Services(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		}},
	}
}

func (b *bench) measureDrift(ctx context.Context, l *lab) error {
	ways := edits()
	n := min(b.options.edits, l.applications*len(ways))
	b.progress.step("G6: %d changes of children, %.0f a second, with %d Applications at rest", n, editRate, l.applications)
	var events []event
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		asked, err := l.follow(ctx, func(e *event) bool { return measured(e) && e.IsWrite() })
		if err != nil {
			return err
		}
		pace := load.NewPace(editRate)
		for i := range n {
			if err := pace.Wait(ctx); err != nil {
				return err
			}
			number, how := chosen(i, l.applications)
			application, way := newApplication(number), ways[how]
			if err := way.do(ctx, l.clients, application.Namespace, application.Name); err != nil {
				return fmt.Errorf("change %s %s/%s: %w", way.resource, application.Namespace, application.Name, err)
			}
		}
		err = asked.untilCalm(ctx, c.subject, func(events []event) bool { return len(repairs(events)) == n })
		events = asked.events
		return err
	})
	if err != nil {
		return fmt.Errorf("repair drift: %w", err)
	}
	milliseconds := repairs(events)
	b.progress.result("median %.1f ms, p99 %.1f ms", milliseconds.Median(), milliseconds.Quantile(0.99))
	b.add(
		report.Row{
			Goal: "G6", What: "p99 of the repair of a child", Unit: "ms", Must: report.AtMost(1000), Aim: report.AtMost(250),
			Measured: report.Sample{milliseconds.Quantile(0.99)},
			Note:     fmt.Sprintf("%d changes; from the answer to the change to that of the last write that repairs it: %s", n, histogram(milliseconds)),
		},
		report.Row{Goal: "G6", What: "median of the repair of a child", Unit: "ms", Measured: report.Sample{milliseconds.Median()}},
	)
	return nil
}

// chosen is the Application of the i-th edit and what is done to it. Each child is edited once: what is changed again and
// again is repaired less and less often, on purpose.
func chosen(i, applications int) (application, way int) {
	application = i % applications
	return application, (i/applications + application) % len(edits())
}

// repairs are the milliseconds from each change to the last write of the controller to the same child.
func repairs(events []event) report.Sample {
	key := func(e *event) string { return e.Resource + " " + e.Namespace + "/" + e.Name }
	last := map[string]*event{}
	for i := range events {
		if e := &events[i]; fromController(e) && e.Code < 300 {
			last[key(e)] = e
		}
	}
	var milliseconds report.Sample
	for i := range events {
		if e := &events[i]; !fromController(e) && last[key(e)] != nil {
			milliseconds = append(milliseconds, max(0, last[key(e)].Completed.Sub(e.Completed).Seconds())*1000)
		}
	}
	return milliseconds
}

// histogram says how many are at most as large as some round numbers.
func histogram(milliseconds report.Sample) string {
	var text strings.Builder
	for _, bound := range []float64{10, 25, 50, 100, 250, 500, 1000} {
		n := 0
		for _, value := range milliseconds {
			if value <= bound {
				n++
			}
		}
		fmt.Fprintf(&text, "%d ≤ %.0f ms, ", n, bound)
	}
	fmt.Fprintf(&text, "longest %.0f ms", milliseconds.Quantile(1))
	return text.String()
}
