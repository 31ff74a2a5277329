// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

// manifests are the PrometheusRules, each with the file of testdata that tries it.
var manifests = map[string]string{
	"../../../artifacts/components/monitoring/rules.yaml":          "alerts.yaml",
	"../../../artifacts/components/application-metrics/rules.yaml": "applications.yaml",
}

// evaluationInterval is Prometheus' usual one.
const evaluationInterval = time.Minute

// scenario is some series, and the alerts that they must raise, or must not.
type scenario struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []expectation `yaml:"alert_rule_test"`
}

type expectation struct {
	At   model.Duration `yaml:"eval_time"`
	Name string         `yaml:"alertname"`
	Want []firing       `yaml:"exp_alerts"`
}

// firing is an alert that fires.
type firing struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

func TestAlerts(t *testing.T) {
	for manifest, scenarios := range manifests {
		t.Run(strings.TrimSuffix(scenarios, ".yaml"), func(t *testing.T) { testAlerts(t, manifest, scenarios) })
	}
}

func testAlerts(t *testing.T, manifest, scenarios string) {
	t.Helper()
	file := ruleFile(t, manifest)
	var tests struct {
		Scenarios []scenario `yaml:"tests"`
	}
	decode(t, filepath.Join("testdata", scenarios), &tests)
	raised := map[string]bool{}
	for _, scenario := range tests.Scenarios {
		t.Run(scenario.Name, func(t *testing.T) {
			for _, alert := range scenario.run(t, file) {
				raised[alert] = true
			}
		})
	}
	manager := rules.NewManager(&rules.ManagerOptions{Context: t.Context(), Logger: promslog.NewNopLogger(), Parser: parser.NewParser(parser.Options{})})
	for _, rule := range load(t, manager, file) {
		if !raised[rule.Name()] {
			t.Errorf("no scenario raises %s", rule.Name())
		}
	}
}

// run evaluates the rules minute by minute and compares what fires. It returns which alerts were
// seen to.
func (s *scenario) run(t *testing.T, file string) (raised []string) {
	t.Helper()
	suite, err := promqltest.NewLazyLoader(s.input(), promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.Close(); err != nil {
			t.Error(err)
		}
	}()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()),
		Appendable: suite.Storage(),
		Context:    t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     promslog.NewNopLogger(),
		Parser:     parser.NewParser(parser.Options{}),
	})
	all := load(t, manager, file)
	for now := time.Duration(0); ; now += evaluationInterval {
		at := time.Unix(0, 0).UTC().Add(now)
		suite.WithSamplesTill(at, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range all {
				if _, err := rule.Eval(t.Context(), 0, at, rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()), nil, 0); err != nil {
					t.Fatalf("%s: %v", rule.Name(), err)
				}
			}
		})
		remaining := false
		for _, want := range s.Alerts {
			remaining = remaining || time.Duration(want.At) > now
			if time.Duration(want.At) != now {
				continue
			}
			got := firingNow(all, want.Name)
			if diff := cmp.Diff(want.Want, got); diff != "" {
				t.Errorf("%s after %s (-want +got):\n%s", want.Name, now, diff)
			}
			if len(got) > 0 {
				raised = append(raised, want.Name)
			}
		}
		if !remaining {
			return raised
		}
	}
}

// input is what promqltest loads.
func (s *scenario) input() string {
	var input strings.Builder
	input.WriteString("load " + s.Interval.String() + "\n")
	for _, series := range s.Series {
		input.WriteString("  " + series.Series + " " + series.Values + "\n")
	}
	return input.String()
}

// firingNow returns the alerts of a name as the scenarios write them down: without the name.
func firingNow(all []*rules.AlertingRule, alertName string) []firing {
	var found []firing
	for _, rule := range all {
		if rule.Name() != alertName {
			continue
		}
		for _, alert := range rule.ActiveAlerts() {
			if alert.State != rules.StateFiring {
				continue
			}
			withoutName := labels.NewBuilder(alert.Labels).Del(labels.AlertName).Labels()
			found = append(found, firing{Labels: withoutName.Map(), Annotations: alert.Annotations.Map()})
		}
	}
	subject := func(f firing) string { return f.Labels["pod"] + f.Labels["application"] }
	slices.SortFunc(found, func(a, b firing) int { return strings.Compare(subject(a), subject(b)) })
	return found
}

// load parses the rules as Prometheus does at its start, templates included.
func load(t *testing.T, manager *rules.Manager, file string) []*rules.AlertingRule {
	t.Helper()
	groups, errs := manager.LoadGroups(evaluationInterval, labels.EmptyLabels(), "", nil, false, file)
	for _, err := range errs {
		t.Error(err)
	}
	var all []*rules.AlertingRule
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			// As after the first evaluation since a restart: nothing is taken over from before.
			rule.SetRestored(true)
			all = append(all, rule)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

// ruleFile writes the spec of the PrometheusRule as what Prometheus reads.
func ruleFile(t *testing.T, manifest string) string {
	t.Helper()
	var rule struct {
		Spec map[string]any `yaml:"spec"`
	}
	decode(t, manifest, &rule)
	content, err := yaml.Marshal(rule.Spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("parse %s: %v", file, err)
	}
}
