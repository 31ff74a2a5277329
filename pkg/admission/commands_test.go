// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestUnsplitCommands: the list that a warning shows is what the user meant, and gets no warning itself.
func TestUnsplitCommands(t *testing.T) {
	const warning = "spec.command: %q is taken as the name of one program, spaces included, because no shell splits it: make each word an item, as in %s"
	for command, want := range map[string]string{
		`npm start`:                 `[npm, start]`,
		`nginx -g "daemon off;"`:    `[nginx, -g, "daemon off;"]`,
		`nginx -g 'daemon off;'`:    `[nginx, -g, "daemon off;"]`,
		`web --port 8080 --tls off`: `[web, --port, "8080", --tls, "off"]`,
		`cd /app && npm start`:      `[sh, -c, "cd /app && npm start"]`,
		`echo "$(date)" | tee /a`:   `[sh, -c, 'echo "$(date)" | tee /a']`,
		"migrate\nserve":            `[sh, -c, "migrate\nserve"]`,
		`exec java -jar app.jar`:    `[sh, -c, "exec java -jar app.jar"]`,
		`. /etc/env`:                `[sh, -c, ". /etc/env"]`,
		`java exec`:                 `[java, exec]`,
		`PORT=80 web -v`:            `[sh, -c, "PORT=80 web -v"]`,
	} {
		got := Ineffective(&v1.ApplicationSpec{Command: []string{command}})
		if diff := cmp.Diff([]string{fmt.Sprintf(warning, command, want)}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestOpenQuote: no list is right for a string with an open quote, and no shell runs it.
func TestOpenQuote(t *testing.T) {
	want := []string{
		`spec.command: "say \"no end" is taken as the name of one program, spaces included, because no shell splits it: close the open quote, and make each word an item`,
		`spec.args: "--name 'a b" is one argument, spaces included, because no shell splits it: close the open quote, and make each word an item`,
	}
	got := Ineffective(&v1.ApplicationSpec{Command: []string{`say "no end`}, Args: []string{"--name 'a b"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestUnsplitArguments: a flag and its value are two arguments, unless the flag is a value itself.
func TestUnsplitArguments(t *testing.T) {
	const warning = "spec.args: %q is one argument, spaces included, unless the entrypoint of the image is a shell: make each word an item, as in %s"
	for name, test := range map[string]struct {
		command, args []string
		want          []string
	}{
		"words":                {args: []string{"--port", "8080", "--name=a b", "a b"}},
		"a flag and its value": {args: []string{"--port 8080", "--verbose"}, want: []string{fmt.Sprintf(warning, "--port 8080", `[--port, "8080"]`)}},
		"two": {args: []string{"--port 80", "-log debug"}, want: []string{
			fmt.Sprintf(warning, "--port 80", `[--port, "80"]`), fmt.Sprintf(warning, "-log debug", "[-log, debug]")}},
		"quotes":                   {args: []string{`--name "a b"`}, want: []string{fmt.Sprintf(warning, `--name "a b"`, `[--name, "a b"]`)}},
		"a variable":               {args: []string{"--port $(PORT)"}, want: []string{fmt.Sprintf(warning, "--port $(PORT)", `[--port, "$(PORT)"]`)}},
		"a letter and its value":   {args: []string{"-g daemon off;"}},
		"the value of a flag":      {args: []string{"--java-opts", "-Xmx1g -Xms1g"}},
		"a subcommand":             {args: []string{"serve --port 8080"}, want: []string{fmt.Sprintf(warning, "serve --port 8080", `[serve, --port, "8080"]`)}},
		"a subcommand's variable":  {args: []string{"serve --port $(PORT)"}, want: []string{fmt.Sprintf(warning, "serve --port $(PORT)", `[serve, --port, "$(PORT)"]`)}},
		"a text among several":     {command: []string{"echo"}, args: []string{"hello --world", "again"}},
		"a subcommand of a script": {args: []string{"serve --port 8080 && true", "serve --port 8080"}},
		"a word and a letter":      {args: []string{"echo -n"}},
		"a shell's script":         {command: []string{"bash", "-ec"}, args: []string{"serve --port 8080"}},
		"an argument of a script":  {command: []string{"sh", "-c", `exec "$@"`, "--"}, args: []string{"serve --port 8080"}},
		"a script":                 {command: []string{"sh", "-c"}, args: []string{"--version || exit 1"}},
		"behind a command's flag":  {command: []string{"web", "--jvm"}, args: []string{"-Xmx1g -Xms1g"}},
	} {
		if diff := cmp.Diff(test.want, Ineffective(&v1.ApplicationSpec{Command: test.command, Args: test.args})); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}

// TestUnsplitCommandsElsewhere: other containers, probes and hooks have commands too.
func TestUnsplitCommandsElsewhere(t *testing.T) {
	exec := func(command ...string) *corev1.ExecAction { return &corev1.ExecAction{Command: command} }
	const ofProgram, ofArgument = " is taken as the name of one program, spaces included, because no shell splits it: make each word an item, as in ",
		" is one argument, spaces included, because no shell splits it: make each word an item, as in "
	got := Ineffective(&v1.ApplicationSpec{
		Command:       []string{"npm run", "start"},
		LivenessProbe: &v1.Probe{Exec: exec("test -f /a")},
		Lifecycle:     &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: exec("sh -c", "sleep 5")}},
		InitContainers: []corev1.Container{
			{Name: "migrate", Command: []string{"migrate up"}},
			{Name: "script", Command: []string{"sh", "-c", "migrate --up 1"}},
			{Name: "space", Command: []string{"/opt/My Program/run", "--up"}},
		},
		Sidecars: []corev1.Container{{
			Name: "proxy", Command: []string{"/bin/sh -c", "run"}, Args: []string{"--port 80"},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: exec("cat /a")}},
			Lifecycle:      &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: exec("touch /a")}},
		}},
	})
	if diff := cmp.Diff([]string{
		`spec.command: "npm run"` + ofProgram + `[npm, run, start]`,
		`spec.livenessProbe.exec.command: "test -f /a"` + ofProgram + `[test, -f, /a]`,
		`spec.lifecycle.preStop.exec.command: "sh -c"` + ofProgram + `[sh, -c, "sleep 5"]`,
		`spec.initContainers[migrate].command: "migrate up"` + ofProgram + `[migrate, up]`,
		`spec.sidecars[proxy].command: "/bin/sh -c"` + ofProgram + `[/bin/sh, -c, run]`,
		`spec.sidecars[proxy].args: "--port 80"` + ofArgument + `[--port, "80"]`,
		`spec.sidecars[proxy].readinessProbe.exec.command: "cat /a"` + ofProgram + `[cat, /a]`,
		`spec.sidecars[proxy].lifecycle.postStart.exec.command: "touch /a"` + ofProgram + `[touch, /a]`,
	}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestUnsplitFirstItems: a list is shown only if it does the same as the line was meant to.
func TestUnsplitFirstItems(t *testing.T) {
	const (
		warning = "spec.command: %q is taken as the name of one program, spaces included, because no shell splits it: make each word an item, "
		byShell = warning + "or let a shell run the whole line, as in [sh, -c, LINE], with no other items and no args"
	)
	for name, test := range map[string]struct {
		command, args []string
		want          string
	}{
		"a script of an interpreter": {command: []string{"node /app/server.js", "--x"}, want: fmt.Sprintf(warning, "node /app/server.js") + "as in [node, /app/server.js, --x]"},
		"a path with a space":        {command: []string{"/opt/my app/run", "--x"}},
		"a variable of a shell":      {command: []string{"$JAVA_HOME/bin/java -Xmx1g", "-jar", "app.jar"}, want: fmt.Sprintf(byShell, "$JAVA_HOME/bin/java -Xmx1g")},
		"a shell's own command":      {command: []string{"exec java", "-jar", "app.jar"}, want: fmt.Sprintf(byShell, "exec java")},
		"no word at all":             {command: []string{"\\\n \\\n", "x"}, want: fmt.Sprintf(byShell, "\\\n \\\n")},
		"with arguments":             {command: []string{"a && b"}, args: []string{"c"}, want: fmt.Sprintf(byShell, "a && b")},
	} {
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if diff := cmp.Diff(want, Ineffective(&v1.ApplicationSpec{Command: test.command, Args: test.args})); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}
