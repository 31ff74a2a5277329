// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// bench measures goal after goal and reports.
type bench struct {
	options  *options
	progress *progress
	out      io.Writer
	report   report.Report
	// sample is what the raw client makes status of.
	sample *sample
	// lab has the Applications at rest.
	lab *lab
}

// run measures what was asked for. When something fails, the table has what was measured until then.
func (b *bench) run(ctx context.Context) error {
	b.report.Environment = environment(b.options)
	err := (&steps.Runner{Printer: b.progress.Printer}).Run(ctx, b.steps())
	if b.lab != nil {
		err = errors.Join(err, b.lab.close())
	}
	slices.SortStableFunc(b.report.Rows, func(a, b report.Row) int {
		return slices.Index(goalNames, a.Goal) - slices.Index(goalNames, b.Goal)
	})
	if len(b.report.Rows) > 0 {
		err = errors.Join(err, b.print())
	}
	if err != nil {
		return err
	}
	return b.complete()
}

// complete returns an error if a goal that was asked for has no figure, or if a figure has no ratio to its floor. Only a rate may be
// 0: on a busy machine, none may be held.
func (b *bench) complete() error {
	judged := report.Judge(b.report.Rows)
	for _, goal := range b.options.goals {
		if !slices.ContainsFunc(judged, func(row report.Judged) bool { return row.Goal == goal }) {
			return fmt.Errorf("%s was not measured", goal)
		}
	}
	for i := range judged {
		row := &judged[i]
		if len(row.Floor) > 0 && row.Unit != "/s" && (len(row.Ratio) == 0 || row.Ratio[0] <= 0) {
			return fmt.Errorf("%s, %s: the ratio to the floor %v is %v", row.Goal, row.What, row.Floor, row.Ratio)
		}
	}
	return nil
}

// steps are what the benchmark does for the goals that were asked for, in order.
func (b *bench) steps() []steps.Step {
	var all []steps.Step
	if b.options.wants("G1", "G2") {
		all = append(all, steps.Step{Title: "G1, G2: new Applications", Run: b.measureConvergence})
	}
	if b.options.wants("G13") {
		all = append(all, steps.Step{Title: "G13: lists through the aggregated API server", Run: b.measureSubresources})
	}
	// What takes Applications at rest happens in one control plane: making them takes the longest.
	switch {
	case b.options.wants("G5"):
		all = append(all, steps.Step{Title: "G5: memory of Applications", Run: b.inNewLab(b.measureSlope)})
	case b.options.wants("G3", "G4", "G6", "G7", "G9", "G10", "G11", "G12"):
		all = append(all, steps.Step{Title: "Applications at rest, for the other goals", Run: b.inNewLab(func(ctx context.Context, l *lab) error {
			return b.populate(ctx, l, b.options.applications)
		})})
	}
	for _, goal := range []struct {
		name, title string
		measure     func(context.Context, *lab) error
	}{
		{"G4", "restarts", b.measureRestart},
		{"G3", "resyncs", b.measureResync},
		{"G6", "repair of drift", b.measureDrift},
		{"G10", "webhooks", b.measureWebhooks},
		{"G7", "changes", b.measureChurn},
		{"G9", "an outage of the API server", b.measureOutage},
		{"G12", "a noisy tenant", b.measureNeighbours},
		{"G11", "endurance", b.measureSoak},
		{"G5", "memory of other objects", b.measureForeign}, // The last: these objects would be in the way of the others.
	} {
		if b.options.wants(goal.name) {
			all = append(all, steps.Step{Title: goal.name + ": " + goal.title, Run: func(ctx context.Context) error { return goal.measure(ctx, b.lab) }})
		}
	}
	return all
}

// inNewLab starts the lab of the steps that follow.
func (b *bench) inNewLab(run func(context.Context, *lab) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		if b.lab, err = newLab(ctx, b.options); err != nil {
			return err
		}
		return run(ctx, b.lab)
	}
}

func (b *bench) measureConvergence(ctx context.Context) error {
	c, err := b.converge(ctx)
	if err != nil {
		return err
	}
	n := b.options.applications
	if b.options.wants("G1") {
		b.add(
			report.Row{
				Goal: "G1", What: "converge, against raw server-side apply", Unit: "s",
				Must: report.AtMostTimes(1.3), Floor: c.seconds[byApply], Measured: c.seconds[byController],
			},
			report.Row{
				Goal: "G1", What: "converge, against raw POST", Unit: "s",
				Aim: report.AtMostTimes(1.15), Floor: c.seconds[byPost], Measured: c.seconds[byController],
			},
			report.Row{Goal: "G1", What: "processor time of an Application", Unit: "ms", Measured: c.cpu},
		)
	}
	b.report.Requests = count(c.events, n)
	if b.options.wants("G2") {
		each := func(n int) report.Sample { return report.Sample{float64(n) / float64(b.options.applications)} }
		statuses := countIf(c.events, isStatusWrite)
		events := countIf(c.events, func(e *event) bool { return isEventWrite(e) && fromController(e) })
		b.add(
			report.Row{
				Goal: "G2", What: "writes of a new Application", Must: report.AtMost(children + 2), Aim: report.AtMost(children + 1),
				Measured: each(countIf(c.events, isChangeRequest)), Note: fmt.Sprintf("%d children and %s of status; refused ones count", children, perApplication(statuses, n)),
			},
			report.Row{Goal: "G2", What: "Events of a new Application", Must: report.AtMost(1), Measured: each(events)},
			report.Row{Goal: "G2", What: "reads outside of the informers", Must: report.AtMost(0), Measured: report.Sample{float64(countIf(c.events, isRead))}},
		)
	}
	return nil
}

func perApplication(n, applications int) string {
	return strconv.FormatFloat(float64(n)/float64(applications), 'f', 2, 64)
}

func (b *bench) add(rows ...report.Row) { b.report.Rows = append(b.report.Rows, rows...) }

// print writes the table, and the JSON beside it.
func (b *bench) print() error {
	fmt.Fprintf(b.out, "\n%d Applications with %d children each, their revision counted, %s\n\n", b.options.applications, children, b.report.Environment["machine"])
	if err := report.WriteTable(b.out, b.report.Rows); err != nil {
		return err
	}
	if len(b.report.Requests) > 0 {
		fmt.Fprintf(b.out, "\nRequests of %d new Applications, from the audit log:\n\n", b.options.applications)
		if err := report.WriteCounts(b.out, b.report.Requests); err != nil {
			return err
		}
	}
	if b.options.json == "" {
		return nil
	}
	encoded, err := json.MarshalIndent(struct {
		report.Report
		Rows []report.Judged `json:"rows"`
	}{b.report, report.Judge(b.report.Rows)}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.options.json, append(encoded, '\n'), 0o600)
}

func environment(o *options) map[string]string {
	return map[string]string{
		"machine":      fmt.Sprintf("%d processors, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		"applications": strconv.Itoa(o.applications),
		"children":     strconv.Itoa(children),
		"repeats":      strconv.Itoa(o.repeats),
		"workers":      strconv.Itoa(o.workers),
		"began":        time.Now().UTC().Format(time.RFC3339),
	}
}
