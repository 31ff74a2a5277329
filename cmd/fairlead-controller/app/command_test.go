// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"strings"
	"testing"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

// execute runs the command as main does and returns what it prints.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Cleanup(func() {
		// Logging can be set up only once per process, unless it is reset.
		if err := logsapi.ResetForTest(nil); err != nil {
			t.Error(err)
		}
		klog.StopFlushDaemon()
	})
	var output bytes.Buffer
	command := NewCommand()
	command.SetContext(t.Context())
	command.SetOut(&output)
	command.SetErr(&output)
	command.SetArgs(args)
	command.SilenceErrors = true // cli.Run prints them.
	err := command.Execute()
	return output.String(), err
}

func TestVersion(t *testing.T) {
	// The command prints it without looking for a cluster, whatever the other flags are.
	got, err := execute(t, "--version", "--workers=0", "--kubeconfig=/missing")
	if err != nil {
		t.Fatal(err)
	}
	if want := "fairlead-controller " + version.Get().GitVersion + "\n"; got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
}

func TestHelp(t *testing.T) {
	got, err := execute(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	if start := "fairlead-controller watches Applications (applications.apps.fairlead.dev), writes the Deployment,\n"; !strings.HasPrefix(got, start) {
		t.Errorf("it does not begin with %q", start)
	}
	rest := got
	for _, section := range []string{"Usage:\n  fairlead-controller [flags]\n", "Cluster flags:\n", "Controller flags:\n", "Platform flags:\n", "Logs flags:\n", "Global flags:\n"} {
		_, after, found := strings.Cut(rest, "\n"+section)
		if !found {
			t.Errorf("%q is missing, or not in its place", section)
			continue
		}
		rest = after
	}
	for _, flag := range []string{
		"--namespace stringArray   Namespace to watch; repeat the flag for more than one. Default: all.",
		"Number of Applications synced in parallel. (default 16)",
		`Pod Security level that Applications must meet, one of ["restricted" "baseline" "privileged"]. (default "restricted")`,
		"(default [ingress-nginx,traefik])",
		"--version   Print the version and quit.",
	} {
		if !strings.Contains(got, flag) {
			t.Errorf("%q is missing", flag)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// The command reports a mistake in one line, without the usage.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown flag", []string{"--nonsense"}, "unknown flag: --nonsense"},
		{"no number", []string{"--workers=many"}, `invalid argument "many" for "--workers" flag: strconv.ParseInt: parsing "many": invalid syntax`},
		{"extra arguments", []string{"shop", "team-a"}, `fairlead-controller takes no arguments, but got ["shop" "team-a"]; see --help`},
		{"extra argument after a flag", []string{"--namespace", "shop", "team-a"}, `fairlead-controller takes no arguments, but got ["team-a"]; see --help`},
		{"a value that is not allowed", []string{"--workers=0"}, "--workers is 0, but must be between 1 and 1000"},
		{"missing kubeconfig", []string{"--kubeconfig=/missing/config"}, "read kubeconfig: stat /missing/config: no such file or directory"},
		{"unknown logging format", []string{"--logging-format=xml"}, `format: Invalid value: "xml": Unsupported log format`},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := execute(t, test.args...)
			if got := message(err); got != test.want {
				t.Errorf("error\n%s\nwant\n%s", got, test.want)
			}
			if output != "" {
				t.Errorf("it prints %q", output)
			}
		})
	}
}
