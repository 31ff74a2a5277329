// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// scrape returns the page of the registry, and its series without their values.
func scrape(t *testing.T, registry metrics.KubeRegistry) (page string, series []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, family := range families {
		if family.GetHelp() == "" {
			t.Errorf("%s has no help", family.GetName())
		}
		if _, err := testutil.MetricFamilyToText(&b, family); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			series = append(series, line[:strings.LastIndex(line, " ")])
		}
	}
	slices.Sort(series)
	return b.String(), series
}

// However many Applications there are, and whatever happens to them, the series stay the same.
func TestMetricsDoNotGrow(t *testing.T) {
	pages := map[int]string{}
	seriesOf := map[int][]string{}
	for _, count := range []int{2, 100} {
		inWorld(t, setup{workers: 4}, func(w *world) {
			for i := range count {
				applytest.Put(w.server, applytest.Applications, application(fmt.Sprintf("web-%d", i)))
			}
			pass(time.Minute)
			for i := range count {
				w.edit(fmt.Sprintf("web-%d", i), func(a *v1.Application) { a.Spec.Image = "registry.example.com/next:2" })
			}
			pass(time.Minute)
			pages[count], seriesOf[count] = scrape(t, w.controller.Metrics.registry)
		})
	}
	if diff := cmp.Diff(seriesOf[2], seriesOf[100]); diff != "" {
		t.Errorf("series with 2 and with 100 Applications (-2 +100):\n%s", diff)
	}
	if strings.Contains(pages[100], "web-1") {
		t.Error("an Application is named")
	}
	for _, want := range []string{
		"fairlead_applications 100",
		`fairlead_application_conditions{status="True",type="Reconciling"} 100`,
		`fairlead_child_writes_total{kind="Deployment",result="Success",verb="create"} 100`,
		`fairlead_child_writes_total{kind="Deployment",result="Success",verb="apply"} 100`,
		`fairlead_status_updates_total{result="Written"}`,
		`fairlead_child_steps_total{action="Keep",kind="Service"}`,
		`fairlead_sync_duration_seconds_count{verdict="Succeeded"}`,
	} {
		if !strings.Contains(pages[100], want) {
			t.Errorf("%s is missing in\n%s", want, pages[100])
		}
	}
	problems, err := testutil.NewPromLinter(strings.NewReader(pages[100])).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}
