// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

const handbook = "docs/operations.md"

// TestEveryReasonIsExplained: the handbook explains every condition, reason and Event.
func TestEveryReasonIsExplained(t *testing.T) {
	text := readFile(t, handbook)
	files, err := filepath.Glob(filepath.Join(root, "pkg", "apis", "apps", "v1", "conditions*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, file := range files {
		values = append(values, stringConstants(t, file, "Condition", "Reason", "Event")...)
	}
	if len(values) < 30 {
		t.Fatalf("only %d conditions and reasons were found: %q", len(values), values)
	}
	for _, value := range values {
		if !strings.Contains(text, "`"+value+"`") {
			t.Errorf("%s says nothing about %s", handbook, value)
		}
	}
}

// stringConstants returns the values of a file's constants whose names begin with one of the prefixes.
func stringConstants(t *testing.T, file string, prefixes ...string) []string {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		named := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(spec.Names[0].Name, prefix) })
		if ok && named && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				values = append(values, value)
			}
		}
		return true
	})
	return values
}

// TestEveryPermissionIsExplained compares the tables of the handbook with the roles, both ways.
func TestEveryPermissionIsExplained(t *testing.T) {
	permitted := map[string]bool{}
	for _, variant := range []string{"artifacts/overlays/default", aggregated + "-cert-manager", aggregated + "-connect", aggregated + "-timeline"} {
		for _, p := range permissions(t, parse(t, build(t, variant))) {
			ours := strings.Contains(p.role, "fairlead-controller") || strings.Contains(p.role, "fairlead-apiserver")
			if ours && len(p.rule.Resources) > 0 {
				permitted[permissionRow(p.rule)] = true
			}
		}
	}
	documented := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| (?:core|`[a-z.0-9]+`) \\| `[^|]+ \\| [a-z, ]+ \\|")
	for _, found := range row.FindAllString(readFile(t, handbook), -1) {
		documented[found] = true
	}
	for row := range permitted {
		if !documented[row] {
			t.Errorf("%s has no row %s", handbook, row)
		}
	}
	for row := range documented {
		if !permitted[row] {
			t.Errorf("%s has the row %s, which no role grants", handbook, row)
		}
	}
}

// permissionRow is the beginning of the table row of a rule.
func permissionRow(rule rbacv1.PolicyRule) string {
	group := "core"
	if rule.APIGroups[0] != "" {
		group = "`" + rule.APIGroups[0] + "`"
	}
	return "| " + group + " | `" + strings.Join(rule.Resources, "`, `") + "` | " + strings.Join(rule.Verbs, ", ") + " |"
}

// check holds what each alert has.
func (a alert) check(t *testing.T) {
	t.Helper()
	for _, annotation := range []string{"summary", "description"} {
		if a.Annotations[annotation] == "" {
			t.Errorf("%s has no %s", a.Alert, annotation)
		}
	}
	if !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) {
		t.Errorf("%s has severity %q", a.Alert, a.Labels["severity"])
	}
}

// TestEveryAlertAndMetricIsExplained covers the alerts, and each metric of Fairlead's own.
func TestEveryAlertAndMetricIsExplained(t *testing.T) {
	text := readFile(t, handbook)
	for _, rule := range alerts(t, rulesFile) {
		if !strings.Contains(text, "| `"+rule.Alert+"` |") {
			t.Errorf("%s does not say what to do at %s", handbook, rule.Alert)
		}
		rule.check(t)
	}
	for _, metric := range ownMetrics(t) {
		if !strings.Contains(text, "`"+metric+"`") {
			t.Errorf("%s says nothing about the metric %s", handbook, metric)
		}
	}
}
