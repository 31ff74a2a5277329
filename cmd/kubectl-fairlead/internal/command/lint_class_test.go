// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintWithoutTheClass: utilization is a share of a request, and that may come from a class that lint does not know.
func TestLintWithoutTheClass(t *testing.T) {
	const web = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n  className: gold\n" +
		"  autoscaling: {minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 50}\n"
	const needs = "spec.autoscaling.targetCPUUtilizationPercentage: Forbidden: utilization is a share of the request: set resources.requests[cpu]"
	gives, silent := filepath.Join(t.TempDir(), "gives.yaml"), filepath.Join(t.TempDir(), "silent.yaml")
	for file, spec := range map[string]string{gives: "{defaults: {resources: {requests: {cpu: 100m}}}}", silent: "{}"} {
		class := "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: " + spec + "\n"
		if err := os.WriteFile(file, []byte(class), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"unknown", nil, ExitYes, "-:7: warning: " + needs + ", unless its class does; pass the classes with --class-file (validation)\n"},
		{"a class that gives it", []string{"--class-file=" + gives}, ExitYes, "2 objects checked, nothing found"},
		{"a class that does not", []string{"--class-file=" + silent}, ExitNo, "-:7: " + needs + " (validation)\n"},
		{"no class, and none is the default", []string{"--class-file=" + gives}, ExitNo,
			"-:6: " + needs + ", or name a class that does in spec.className: no class of the files is the default (validation)\n"},
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		object := web
		if strings.HasPrefix(test.name, "no class") {
			object = strings.Replace(web, "  className: gold\n", "", 1)
		}
		in.WriteString(object)
		code := Run(t.Context(), streams, append([]string{"lint", "-f", "-"}, test.args...))
		if code != test.code || !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("%s: exit code %d, %s, want %d, %s", test.name, code, out, test.code, test.want)
		}
	}
}

// TestLintOfDroppedDefaults: the class is in the file, so lint knows what the Application will lack.
func TestLintOfDroppedDefaults(t *testing.T) {
	const both = "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: mid}\nspec:\n  defaults:\n    resources: {limits: {memory: 256Mi}}\n---\n" +
		"apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: a}\nspec:\n  className: mid\n  image: a/b:1\n  resources: {requests: {memory: 512Mi}}\n"
	const want = `-:14: warning: spec.resources.limits[memory]: the default 256Mi of ApplicationClass "mid" is not taken, because your request 512Mi is higher: set a limit, or Fairlead sets none (effect)` + "\n"
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString(both)
	if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitYes || !strings.HasPrefix(out.String(), want) {
		t.Errorf("exit code %d, %s, want %s", code, out, want)
	}
}

// TestLintOfClasses: a class file that has no class is not what the user meant, and a class that the files do not have is found.
func TestLintOfClasses(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(directory, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	web := write("web.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, className: gold}\n")
	plain := write("plain.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: plain}\nspec: {image: web}\n")
	gold := write("gold.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {}\n")
	standard := write("standard.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: standard, annotations: {"+
		"applicationclass.apps.fairlead.dev/is-default: \"true\"}}\nspec: {}\n")
	other := write("deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
	broken := write("broken.yaml", "a: [\n")
	wrong := write("wrong.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {limits: {maxReplicas: many}}\n")
	strict := write("strict.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: strict, annotations: {"+
		"applicationclass.apps.fairlead.dev/is-default: \"true\"}}\nspec: {limits: {allowedRegistries: [ghcr.io]}}\n")
	silver := write("silver.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: api}\nspec: {image: web, className: silver}\n")
	empty := t.TempDir()
	missing := web + `:4: spec.className: Not found: "gold": there is no ApplicationClass of this name: name one that exists, or create it (class)`
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{name: "the class", args: []string{web, "--class-file=" + gold}, code: ExitYes, want: "2 objects checked, nothing found"},
		{name: "no class file", args: []string{web}, code: ExitYes, want: "1 object checked, nothing found; its class gold was not: pass it with --class-file"},
		{name: "another class among the files", args: []string{web + "," + standard}, code: ExitYes, want: "2 objects checked, nothing found; class gold was not: pass it with --class-file"},
		{name: "two other classes", args: []string{web + "," + silver + "," + standard}, code: ExitYes, want: "3 objects checked, nothing found; classes gold, silver were not: pass them with --class-file"},
		{name: "a default class with limits among the files", args: []string{web + "," + strict}, code: ExitYes, want: "2 objects checked, nothing found; class gold was not: pass it with --class-file"},
		{name: "another class in the class file", args: []string{web, "--class-file=" + standard}, code: ExitNo, want: web +
			`:4: spec.className: Not found: "gold": none of the files has an ApplicationClass of this name: pass it with --class-file, or name another one (class)`},
		{name: "a class that breaks the schema", args: []string{web, "--class-file=" + wrong}, code: ExitNo, want: wrong +
			":4: spec.limits.maxReplicas: Invalid value: must be a whole number, not a string (schema)\n" +
			"An object that cannot be read, or breaks the schema or a CEL rule, is not checked further: correct it, and lint it again."},
		{name: "no class", args: []string{plain}, code: ExitYes, want: "1 object checked, nothing found" + noDefaultClass},
		{name: "no class and another one", args: []string{plain + "," + web}, code: ExitYes, want: "2 objects checked, nothing found; " +
			"the default class, if there is one, and gold were not: pass them with --class-file"},
		{name: "no default class", args: []string{plain, "--class-file=" + gold}, code: ExitYes, want: "2 objects checked, nothing found" +
			`; without a class where spec.className names none: no class of the files has the annotation applicationclass.apps.fairlead.dev/is-default: "true"`},
		{name: "a default class", args: []string{plain, "--class-file=" + standard}, code: ExitYes, want: "2 objects checked, nothing found"},
		{name: "a platform without classes", args: []string{web, "--class-file=" + empty}, code: ExitNo, want: missing},
		{name: "no class on a platform without classes", args: []string{plain, "--class-file=" + empty}, code: ExitYes, want: "1 object checked, nothing found"},
		{name: "another object", args: []string{web, "--class-file=" + other}, code: ExitError, want: "error: --class-file: there is no ApplicationClass of apps.fairlead.dev/v1 in " + other},
		{name: "one of two files", args: []string{web, "--class-file=" + gold + "," + other}, code: ExitError, want: "error: --class-file: there is no ApplicationClass of apps.fairlead.dev/v1 in " + other},
		{name: "a broken file", args: []string{plain, "--class-file=" + broken}, code: ExitError, want: "error: --class-file: " + broken + ": yaml: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			code := Run(t.Context(), streams, append([]string{"lint", "-f"}, test.args...))
			got := strings.TrimSpace(out.String() + errOut.String())
			if test.name == "a broken file" && strings.HasPrefix(got, test.want) {
				got = test.want // The rest is the parser's.
			}
			if code != test.code || got != test.want {
				t.Errorf("exit code %d, %q, want %d, %q", code, got, test.code, test.want)
			}
		})
	}
}

// TestLintOfSpread: the class may give the pods the labels that a constraint selects, so lint needs to know it.
func TestLintOfSpread(t *testing.T) {
	const object = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n  className: gold\n" +
		"  topologySpreadConstraints:\n  - topologyKey: zone\n    maxSkew: 1\n    whenUnsatisfiable: ScheduleAnyway\n    labelSelector: {matchLabels: {app: web}}\n"
	const warning = "-:11: warning: spec.topologySpreadConstraints[zone].labelSelector: it selects no pod of this Application, so the constraint does not spread them: " +
		"remove labelSelector to spread the Application's pods, or give them its labels in spec.podMetadata.labels (effect)\n"
	for spec, want := range map[string]string{
		"{}": warning,
		"{defaults: {podMetadata: {labels: {app: web}}}}": "",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString(object)
		file := filepath.Join(t.TempDir(), "gold.yaml")
		if err := os.WriteFile(file, []byte("apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: "+spec+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code := Run(t.Context(), streams, []string{"lint", "-f", "-", "--class-file=" + file})
		if got := strings.TrimSuffix(out.String(), "2 objects checked, nothing "+map[bool]string{true: "else ", false: ""}[want != ""]+"found\n"); code != ExitYes || got != want {
			t.Errorf("class %s: exit code %d, %q, want %q", spec, code, got, want)
		}
	}
}

// TestLintOfLateProbes: the class may give the deadline, so lint needs to know it, unless the Application sets one.
func TestLintOfLateProbes(t *testing.T) {
	const object = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n  className: %s\n  ports: [{name: http, containerPort: 80}]\n" +
		"  readinessProbe: {httpGet: {path: /}, initialDelaySeconds: 900}\n"
	const warning = "-:8: warning: spec.readinessProbe.initialDelaySeconds: no pod becomes ready before 900 s, so each rollout counts as failed after 600 s: lower it, or "
	file := filepath.Join(t.TempDir(), "classes.yaml")
	const classes = "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {}\n---\n" +
		"apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: patient}\nspec: {defaults: {progressDeadlineSeconds: 1800}}\n"
	if err := os.WriteFile(file, []byte(classes), 0o600); err != nil {
		t.Fatal(err)
	}
	const own = "gold\n  progressDeadlineSeconds: 600"
	for _, test := range []struct {
		class, want string
		args        []string
	}{
		{"gold", warning + "set a higher progressDeadlineSeconds (effect)\n", []string{"--class-file=" + file}},
		{"patient", "", []string{"--class-file=" + file}},
		{"gold", "", nil},
		{own, strings.Replace(warning, "8", "9", 1) + "raise progressDeadlineSeconds (effect)\n", nil},
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, object, test.class)
		code := Run(t.Context(), streams, append([]string{"lint", "-f", "-"}, test.args...))
		if got, _, _ := strings.Cut(out.String(), map[bool]string{true: "3 objects checked", false: "1 object checked"}[test.args != nil]); code != ExitYes || got != test.want {
			t.Errorf("class %s: exit code %d, %q, want %q", test.class, code, got, test.want)
		}
	}
}

// TestLintOfMissingDefaultLimits: the Applications that rely on the defaults of such a class are refused.
func TestLintOfMissingDefaultLimits(t *testing.T) {
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec:\n  limits: {requireResourceLimits: true}\n" +
		"  defaults:\n    resources:\n      limits: {memory: 256Mi}\n")
	const want = "-:8: warning: spec.defaults.resources.limits: there is none for cpu, and requireResourceLimits asks for one, so an Application that sets no cpu limit is refused: add cpu (effect)\n" +
		"1 object checked, nothing else found\n"
	if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitYes || out.String() != want {
		t.Errorf("exit code %d, %s, want %s", code, out, want)
	}
}

// TestLintOfClassMistakes: an impossible name is an error. What the webhook only warns of is a warning, at its line, and does not keep
// the plugin from using the class.
func TestLintOfClassMistakes(t *testing.T) {
	const web = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, className: gold}\n"
	const checked = "1 object checked, nothing else found\n"
	const unlikely = "warning: metadata.annotations[applicationclass.apps.fairlead.dev/is-default]: the annotation applicationclass.apps.fairlead.dev/is-default is "
	for class, want := range map[string]string{
		"metadata:\n  name: gold\n  annotations:\n    applicationclass.apps.fairlead.dev/is-default: \"yes\"\nspec: {}\n":  "-:6: " + unlikely + `"yes": only "true" makes the class a default (effect)` + "\n" + checked,
		"metadata:\n  name: gold\n  annotations:\n    applicationclass.apps.fairlead.dev/is-default: \"True\"\nspec: {}\n": "-:6: " + unlikely + `"True": only "true" makes the class a default (effect)` + "\n" + checked,
		"metadata:\n  name: gold\n  annotations: {ingressclass.kubernetes.io/is-default-class: \"true\"}\nspec: {}\n": "-:5: warning: metadata.annotations[ingressclass.kubernetes.io/is-default-class]: the annotation " +
			`ingressclass.kubernetes.io/is-default-class has no effect here: applicationclass.apps.fairlead.dev/is-default: "true" makes the class a default (effect)` + "\n" + checked,
		"metadata:\n  name: gold\n  labels:\n    applicationclass.apps.fairlead.dev/is-default: \"true\"\nspec: {}\n": "-:6: warning: metadata.labels[applicationclass.apps.fairlead.dev/is-default]: " +
			`the label applicationclass.apps.fairlead.dev/is-default has no effect: as an annotation, with the value "true", it makes the class a default (effect)` + "\n" + checked,
		"metadata: {name: gold}\nspec:\n  defaults: {resources: {limits: {memory: 256}}}\n": "-:5: warning: spec.defaults.resources.limits[memory]: 256 means 256 bytes; a mebibyte is Mi, as in 64Mi (effect)\n" + checked,
		"metadata: {name: Bad_Name}\nspec: {}\n": `-:3: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ` +
			`and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*') (schema)` + "\n",
		"metadata: {generateName: Bad_}\nspec: {}\n": `-:3: metadata.generateName: Invalid value: "Bad_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ` +
			`and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*') (schema)` + "\n",
	} {
		class = "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\n" + class
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString(class)
		wantCode := ExitNo
		if strings.HasSuffix(want, checked) {
			wantCode = ExitYes
		}
		if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != wantCode || out.String() != want {
			t.Errorf("exit code %d, %s, want %d, %s", code, out, wantCode, want)
		}
		if wantCode == ExitNo {
			continue
		}
		streams, in, out, errOut := genericiooptions.NewTestIOStreams()
		in.WriteString(web)
		file := filepath.Join(t.TempDir(), "gold.yaml")
		if err := os.WriteFile(file, []byte(class), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := Run(t.Context(), streams, []string{"render", "-f", "-", "--class-file=" + file, "--monitoring-namespaces=monitoring"}); code != ExitYes || !strings.Contains(out.String(), "kind: Deployment") {
			t.Errorf("render with a class that has a warning: exit code %d, %s", code, errOut)
		}
	}
}
