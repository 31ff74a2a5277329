// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name        string
		args        []string
		environment map[string]string
		want        options
		wantErr     string
	}{
		{name: "defaults", want: options{root: root}},
		{name: "environment", environment: map[string]string{"FAIRLEAD_CLUSTER": "current", "ONCE": "1"}, want: options{root: root, current: true, once: true}},
		{name: "KUBECONFIG alone", environment: map[string]string{"KUBECONFIG": "kc"}, want: options{root: root}},
		{name: "no such choice", environment: map[string]string{"FAIRLEAD_CLUSTER": "prod"}, wantErr: `FAIRLEAD_CLUSTER="prod": the only value is "current"`},
		{name: "ONCE=0", environment: map[string]string{"ONCE": "0"}, want: options{root: root}},
		{name: "tour", args: []string{"-tour"}, want: options{root: root, tour: true}},
		{name: "tour elsewhere", args: []string{"-tour"}, environment: map[string]string{"FAIRLEAD_CLUSTER": "current"}, wantErr: "unset FAIRLEAD_CLUSTER"},
		{name: "argument", args: []string{"now"}, wantErr: `unexpected argument "now"`},
		{name: "help", args: []string{"-help"}, wantErr: flag.ErrHelp.Error()},
	}
	for _, test := range tests {
		var output strings.Builder
		got, err := parseOptions(test.args, func(name string) string { return test.environment[name] }, &output)
		switch {
		case test.wantErr != "":
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: error %v, want %q", test.name, err, test.wantErr)
			}
		case err != nil || got != test.want:
			t.Errorf("%s: got %+v, %v, want %+v", test.name, got, err, test.want)
		}
		if errors.Is(err, flag.ErrHelp) && !strings.Contains(output.String(), "FAIRLEAD_CLUSTER") {
			t.Errorf("the usage says nothing of FAIRLEAD_CLUSTER: %s", output.String())
		}
	}
}

func TestWorkspaceKeepsOnlyLogs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, keep := range []bool{true, false} {
		w, err := newWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		etcdLog := filepath.Join(w.cluster(), "logs", "etcd.log")
		if err := os.MkdirAll(filepath.Dir(etcdLog), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{w.log("demo"), w.kubeconfig(), filepath.Join(w.cluster(), "secret.key"), etcdLog} {
			if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.close(keep); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, pattern := range []string{"*", "logs/*", "logs/cluster/*"} {
			found, _ := filepath.Glob(filepath.Join(w.dir, pattern))
			for _, file := range found {
				left = append(left, strings.TrimPrefix(file, w.dir+"/"))
			}
		}
		want := ""
		if keep {
			want = "logs logs/cluster logs/demo.log logs/cluster/etcd.log"
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("close(%t) left %q, want %q", keep, got, want)
		}
	}
}
