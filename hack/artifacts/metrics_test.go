// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	rulesFile           = "artifacts/components/monitoring/rules.yaml"
	dashboardFile       = "artifacts/components/monitoring/dashboard.json"
	teamRulesFile       = "artifacts/components/application-metrics/rules.yaml"
	teamDashboardFile   = "artifacts/components/application-metrics/applications.json"
	stateMetricsFile    = "artifacts/components/application-metrics/kube-state-metrics.yaml"
	stateMetricsChapter = "docs/neighbours.md"
)

// alert is the part of a PrometheusRule's rule that is used here.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T, file string) []alert {
	t.Helper()
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []alert `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(readFile(t, file)), &rule); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range rule.Spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no rule", file)
	}
	return all
}

// dashboardQueries returns the expressions of a dashboard's panels, by the title of the panel.
func dashboardQueries(t *testing.T, file string) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(readFile(t, file)), &dashboard); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all[panel.Title] = append(all[panel.Title], target.Expr)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no query", file)
	}
	return all
}

// libraryMetrics are those that alerts and dashboard use of the libraries that the controller links:
// component-base for client-go, and the Prometheus client for the process.
var libraryMetrics = []string{
	"leader_election_master_status",
	"workqueue_depth", "workqueue_longest_running_processor_seconds", "workqueue_queue_duration_seconds",
	"rest_client_requests_total",
	"process_cpu_seconds_total", "process_resident_memory_bytes", "go_memstats_heap_inuse_bytes", "go_goroutines",
}

// TestMetricsExist: an alert or a panel over a metric that does not exist never says anything.
func TestMetricsExist(t *testing.T) {
	known := slices.Concat(ownMetrics(t), libraryMetrics, []string{"up"}) // Prometheus makes up itself.
	used := usedMetrics(t, rulesFile, dashboardFile)
	for metric, user := range used {
		if !slices.Contains(known, metric) {
			t.Errorf("%s uses %s, which does not exist", user, metric)
		}
	}
	for _, metric := range libraryMetrics {
		if _, found := used[metric]; !found {
			t.Errorf("%s is used by no alert and no panel", metric)
		}
	}
}

// usedMetrics returns the metrics of the alerts and the dashboard, each with one that uses it.
func usedMetrics(t *testing.T, rules, dashboard string) map[string]string {
	t.Helper()
	used := map[string]string{}
	for _, rule := range alerts(t, rules) {
		for _, metric := range metricsOf(rule.Expr) {
			used[metric] = "alert " + rule.Alert
		}
	}
	for title, queries := range dashboardQueries(t, dashboard) {
		for _, query := range queries {
			for _, metric := range metricsOf(query) {
				used[metric] = "panel " + title
			}
		}
	}
	return used
}

var (
	notMetrics = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)|"[^"]*"`)
	identifier = regexp.MustCompile(`[a-z_][a-z0-9_]*\b\s*\(?`)
)

// metricsOf returns the names of an expression that are no functions, labels or operators. A
// histogram counts under its own name.
func metricsOf(expression string) []string {
	var metrics []string
	for _, word := range identifier.FindAllString(notMetrics.ReplaceAllString(expression, " "), -1) {
		word = strings.TrimSpace(word)
		if strings.HasSuffix(word, "(") || slices.Contains([]string{"or", "and", "unless", "bool", "offset"}, word) {
			continue
		}
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			word = strings.TrimSuffix(word, suffix)
		}
		metrics = append(metrics, word)
	}
	return metrics
}

// ownMetrics returns the metrics that the sources of Fairlead define: string literals that are a
// whole name, and options whose name is made of parts.
func ownMetrics(t *testing.T) []string {
	t.Helper()
	var metrics []string
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "generated") {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		metrics = append(metrics, metricsIn(syntax)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(metrics)
	metrics = slices.Compact(metrics)
	if len(metrics) < 10 {
		t.Fatalf("only %d metrics were found: %q", len(metrics), metrics)
	}
	return metrics
}

var wholeName = regexp.MustCompile(`^fairlead_[a-z0-9_]+$`)

func metricsIn(syntax *ast.File) []string {
	var metrics []string
	constants := map[string]string{}
	ast.Inspect(syntax, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					constants[name.Name] = text(n.Values[i], nil)
				}
			}
		case *ast.BasicLit:
			if value := text(n, nil); wholeName.MatchString(value) {
				metrics = append(metrics, value)
			}
		case *ast.CompositeLit:
			parts := map[string]string{}
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						parts[key.Name] = text(pair.Value, constants)
					}
				}
			}
			if parts["Namespace"] != "" && parts["Name"] != "" {
				whole := []string{parts["Namespace"], parts["Subsystem"], parts["Name"]}
				metrics = append(metrics, strings.Join(slices.DeleteFunc(whole, func(part string) bool { return part == "" }), "_"))
			}
		}
		return true
	})
	return slices.DeleteFunc(metrics, func(metric string) bool { return !wholeName.MatchString(metric) })
}

// text returns the value of a string literal or of a constant of the file.
func text(expression ast.Expr, constants map[string]string) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if value, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return value
		}
	case *ast.Ident:
		return constants[e.Name]
	}
	return ""
}
