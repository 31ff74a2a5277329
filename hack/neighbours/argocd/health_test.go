// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"context"
	"os"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// health is what a script returns.
type health struct{ status, message string }

// scripts are the health scripts as a user installs them, by kind.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	var patch struct{ Data map[string]string }
	read(t, "../../../artifacts/argocd/health.yaml", &patch)
	const prefix = "resource.customizations.health.apps.fairlead.dev_"
	found := map[string]string{}
	for _, kind := range []string{"Application", "ApplicationClass"} {
		if found[kind] = patch.Data[prefix+kind]; found[kind] == "" {
			t.Fatalf("there is no script for %s", kind)
		}
	}
	return found
}

// TestApplicationHealth runs the script over every status that the tests of pkg/status recorded. kstatus, which Flux and
// others ask, must agree.
func TestApplicationHealth(t *testing.T) {
	script := scripts(t)["Application"]
	var records []struct {
		Scenario    string
		KStatus     string
		Application map[string]any
	}
	read(t, "../../../pkg/status/testdata/kstatus.yaml", &records)
	if len(records) < 50 {
		t.Fatalf("%d statuses are recorded", len(records))
	}
	expected := map[string]string{"Current": "Healthy", "InProgress": "Progressing", "Failed": "Degraded", "Terminating": "Progressing"}
	// kstatus knows no word for what waits for the user.
	suspended := map[string]bool{
		"paused with a rollout to come": true, "paused with a new pod that crashes, and the old ones serve": true,
		"paused before the first pod": true, "paused by another client under Observe": true, "observed, and no Deployment": true, "scaled to zero against the spec, and only observed": true,
		"suspended after it failed": true,
	}
	seen := map[string]bool{}
	for _, record := range records {
		t.Run(record.Scenario, func(t *testing.T) {
			want := expected[record.KStatus]
			if suspended[record.Scenario] {
				want, seen[record.Scenario] = "Suspended", true
			}
			got := assess(t, script, record.Application)
			if got.status != want || got.message == "" {
				t.Errorf("it is %q with message %q, want %s", got.status, got.message, want)
			}
			spec, _ := record.Application["spec"].(map[string]any)
			spec["reconcilePolicy"] = "Suspend"
			if record.KStatus != "Terminating" {
				want = "Suspended"
			}
			if got := assess(t, script, record.Application); got.status != want {
				t.Errorf("with reconcilePolicy Suspend it is %q, want %s", got.status, want)
			}
		})
	}
	for scenario := range suspended {
		if !seen[scenario] {
			t.Errorf("there is no scenario %q", scenario)
		}
	}
}

func TestNewApplicationIsProgressing(t *testing.T) {
	application := map[string]any{"metadata": map[string]any{"generation": int64(1)}, "spec": map[string]any{"image": "web:1"}}
	if got := assess(t, scripts(t)["Application"], application); got.status != "Progressing" {
		t.Errorf("without a status it is %q", got.status)
	}
}

func TestClassHealth(t *testing.T) {
	class := func(observed int64, conditions ...any) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"generation": int64(2)},
			"status":   map[string]any{"observedGeneration": observed, "conditions": conditions},
		}
	}
	ready := func(status, reason string) map[string]any {
		return map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "because"}
	}
	other := map[string]any{"type": "Default", "status": "True", "reason": "Default", "message": "It is the default."}
	for _, test := range []struct {
		name  string
		class map[string]any
		want  string
	}{
		{"without a status", map[string]any{"metadata": map[string]any{"generation": int64(1)}}, "Progressing"},
		{"not observed", class(1, ready("True", "Applied")), "Progressing"},
		{"without Ready", class(2, other), "Progressing"},
		{"applied", class(2, other, ready("True", "Applied")), "Healthy"},
		{"rolling out", class(2, ready("False", "RollingOut")), "Progressing"},
		{"invalid", class(2, ready("False", "Invalid")), "Degraded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := assess(t, scripts(t)["ApplicationClass"], test.class); got.status != test.want {
				t.Errorf("it is %q (%s), want %s", got.status, got.message, test.want)
			}
		})
	}
}

// assess runs a script as Argo CD does: with these libraries, the object as the global obj, and a second of time.
func assess(t *testing.T, script string, object map[string]any) health {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		t.Fatal(err)
	}
	returned, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returned a %s", state.Get(-1).Type())
	}
	return health{lua.LVAsString(returned.RawGetString("status")), lua.LVAsString(returned.RawGetString("message"))}
}

// value makes a Lua value of decoded YAML.
func value(state *lua.LState, decoded any) lua.LValue {
	switch v := decoded.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(state, item))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(value(state, item))
		}
		return table
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	default:
		return lua.LNil
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}
