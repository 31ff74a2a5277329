// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// stateMetrics is the part of the configuration of kube-state-metrics that is used here.
type stateMetrics struct {
	Kind string `json:"kind"`
	Spec struct {
		Resources []struct {
			GroupVersionKind struct {
				Group, Version, Kind string
			} `json:"groupVersionKind"`
			Prefix         string              `json:"metricNamePrefix"`
			LabelsFromPath map[string][]string `json:"labelsFromPath"`
			Metrics        []stateMetric       `json:"metrics"`
		} `json:"resources"`
	} `json:"spec"`
}

type stateMetric struct {
	Name string `json:"name"`
	Help string `json:"help"`
	Each struct {
		Type  string     `json:"type"`
		Gauge stateValue `json:"gauge"`
		Info  stateValue `json:"info"`
	} `json:"each"`
}

// stateValue is where a value comes from. The paths of labels and of the value begin where Path ends.
type stateValue struct {
	Path           []string            `json:"path"`
	ValueFrom      []string            `json:"valueFrom"`
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
}

func readStateMetrics(t *testing.T) stateMetrics {
	t.Helper()
	var config stateMetrics
	if err := yaml.Unmarshal([]byte(readFile(t, stateMetricsFile)), &config); err != nil {
		t.Fatal(err)
	}
	if config.Kind != "CustomResourceStateMetrics" || len(config.Spec.Resources) != 1 || len(config.Spec.Resources[0].Metrics) == 0 {
		t.Fatalf("%s is not understood: %+v", stateMetricsFile, config)
	}
	return config
}

// TestApplicationMetricsExist compares the alerts and the dashboard for teams with the metrics that kube-state-metrics makes,
// and those with what docs/neighbours.md explains.
func TestApplicationMetricsExist(t *testing.T) {
	resource := readStateMetrics(t).Spec.Resources[0]
	known, chapter := map[string]bool{}, readFile(t, stateMetricsChapter)
	for _, metric := range resource.Metrics {
		name := resource.Prefix + "_" + metric.Name
		known[name] = true
		if !strings.Contains(chapter, "`"+name+"`") {
			t.Errorf("%s says nothing about the metric %s", stateMetricsChapter, name)
		}
		if metric.Help == "" {
			t.Errorf("%s has no help", name)
		}
	}
	for metric, user := range usedMetrics(t, teamRulesFile, teamDashboardFile) {
		if !known[metric] {
			t.Errorf("%s uses %s, which does not exist", user, metric)
		}
	}
}

// TestApplicationMetricsReadTheStatus looks for every path in the schema of the CRD: kube-state-metrics leaves out what it
// does not find.
func TestApplicationMetricsReadTheStatus(t *testing.T) {
	resource := readStateMetrics(t).Spec.Resources[0]
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(readFile(t, "artifacts/crds/apps.fairlead.dev_applications.yaml")), &crd); err != nil {
		t.Fatal(err)
	}
	version := crd.Spec.Versions[0]
	if got, want := resource.GroupVersionKind, fmt.Sprintf("{%s %s %s}", crd.Spec.Group, version.Name, crd.Spec.Names.Kind); fmt.Sprint(got) != want {
		t.Errorf("it reads %v, want %s", got, want)
	}
	check := func(what string, path ...string) {
		if !hasPath(version.Schema.OpenAPIV3Schema, path) {
			t.Errorf("%s reads %s, which an Application does not have", what, strings.Join(path, "."))
		}
	}
	for label, path := range resource.LabelsFromPath {
		check("the label "+label, path...)
	}
	for _, metric := range resource.Metrics {
		for _, value := range []stateValue{metric.Each.Gauge, metric.Each.Info} {
			check(metric.Name, slices.Concat(value.Path, value.ValueFrom)...)
			for label, path := range value.LabelsFromPath {
				check(metric.Name+"'s label "+label, slices.Concat(value.Path, path)...)
			}
		}
	}
}

// hasPath reports whether the schema has the field. Every object has metadata, which the schema does not list.
func hasPath(schema *apiextensionsv1.JSONSchemaProps, path []string) bool {
	if len(path) > 0 && path[0] == "metadata" {
		return true
	}
	for _, name := range path {
		if schema.Items != nil {
			schema = schema.Items.Schema
		}
		next, found := schema.Properties[name]
		if !found {
			return false
		}
		schema = &next
	}
	return true
}

// TestTeamAlertsHaveARunbook: each alert for teams names its chapter.
func TestTeamAlertsHaveARunbook(t *testing.T) {
	for _, rule := range alerts(t, teamRulesFile) {
		rule.check(t)
		file, heading, _ := strings.Cut(rule.Annotations["runbook"], "#")
		anchor := strings.ToLower(rule.Alert)
		if heading != anchor || !strings.Contains(readFile(t, file), "\n### "+rule.Alert+"\n") {
			t.Errorf("%s has the runbook %q, which does not lead to its chapter", rule.Alert, rule.Annotations["runbook"])
		}
	}
}

// TestApplicationMetricsComponent renders the component alone, as a platform team may apply it beside the chart.
func TestApplicationMetricsComponent(t *testing.T) {
	var got []string
	for _, object := range parse(t, build(t, "hack/artifacts/testdata/application-metrics")) {
		got = append(got, name(object))
	}
	slices.Sort(got)
	want := []string{
		"ClusterRole fairlead-application-metrics-reader", "ConfigMap fairlead-system fairlead-application-metrics",
		"ConfigMap fairlead-system fairlead-applications-dashboard", "PrometheusRule fairlead-system fairlead-applications",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
