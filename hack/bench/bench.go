// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

// bench measures goal after goal and reports.
type bench struct {
	options  *options
	progress *progress
	out      io.Writer
	report   report.Report
	// sample is what the raw client makes status of.
	sample *sample
}

// run measures what was asked for. When something fails, the table has what was measured until then.
func (b *bench) run(ctx context.Context) error {
	b.report.Environment = environment(b.options)
	err := b.measure(ctx)
	order := append(slices.Clone(goalNames), "Peer")
	slices.SortStableFunc(b.report.Rows, func(a, b report.Row) int {
		return slices.Index(order, a.Goal) - slices.Index(order, b.Goal)
	})
	if len(b.report.Rows) > 0 {
		if err := b.print(); err != nil {
			return err
		}
	}
	return err
}

func (b *bench) measure(ctx context.Context) error {
	if b.options.wants("G1", "G2") {
		if err := b.measureConvergence(ctx); err != nil {
			return err
		}
	}
	if b.options.template != "" {
		if err := b.measurePeer(ctx); err != nil {
			return fmt.Errorf("peer: %w", err)
		}
	}
	if b.options.wants("G3", "G4", "G5", "G6", "G7", "G9", "G10", "G12") {
		return b.measureSettled(ctx)
	}
	return nil
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
		told := countIf(c.events, func(e *event) bool { return isEventWrite(e) && fromController(e) })
		b.add(
			report.Row{
				Goal: "G2", What: "writes of a new Application", Must: report.AtMost(children + 2), Aim: report.AtMost(children + 1),
				Measured: each(countIf(c.events, isChangeRequest)), Note: fmt.Sprintf("%d children and %s of status; refused ones count", children, perApplication(statuses, n)),
			},
			report.Row{Goal: "G2", What: "Events of a new Application", Must: report.AtMost(1), Measured: each(told)},
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
	for _, requests := range []struct {
		of     string
		counts []report.Count
	}{{"new Applications", b.report.Requests}, {"new objects of " + b.options.resource, b.report.PeerRequests}} {
		if len(requests.counts) == 0 {
			continue
		}
		fmt.Fprintf(b.out, "\nRequests of %d %s, from the audit log:\n\n", b.options.applications, requests.of)
		if err := report.WriteCounts(b.out, requests.counts); err != nil {
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
