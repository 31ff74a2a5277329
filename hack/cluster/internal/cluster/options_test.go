// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string // part of the error; empty: no error
	}{
		{args: nil},
		{args: []string{"--components=etcd,kube-apiserver"}},
		{args: []string{"--nodes=0"}},
		{args: []string{"--component-flag=kube-apiserver=--event-ttl=5m"}},
		{args: []string{"--components=etcd"}, want: "always needed"},
		{args: []string{"--components=etcd,kube-apiserver,kubelet"}, want: `"kubelet" is unknown`},
		{args: []string{"--components=etcd,kube-apiserver", "--nodes=1"}, want: "add kwok"},
		{args: []string{"--nodes=-1"}, want: "--nodes"},
		{args: []string{"--component-flag=--event-ttl=5m"}, want: "COMPONENT=--FLAG=VALUE"},
		{args: []string{"--component-flag=kube-apiserver"}, want: "COMPONENT=--FLAG=VALUE"},
		{args: []string{"now"}, want: `"now"`},
	} {
		_, err := parseOptions(test.args, io.Discard)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: got error %v, want %q", test.args, err, test.want)
		}
	}
}

func TestNodesFollowKwok(t *testing.T) {
	with, err := parseOptions(nil, io.Discard)
	if err != nil || with.Nodes != 3 {
		t.Errorf("with kwok: got %d nodes, error %v, want 3", with.Nodes, err)
	}
	without, err := parseOptions([]string{"--components=etcd,kube-apiserver"}, io.Discard)
	if err != nil || without.Nodes != 0 {
		t.Errorf("without kwok: got %d nodes, error %v, want 0", without.Nodes, err)
	}
}

func TestComponentFlagsComeLast(t *testing.T) {
	options, err := parseOptions([]string{"--components=etcd,kube-apiserver", "--component-flag=etcd=--name=other"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := options.complete(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	credentials, err := newCredentials(options.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := (&planner{options: &options, credentials: credentials, executable: "fairlead-cluster"}).plan()
	if err != nil {
		t.Fatal(err)
	}
	defer release(specs)
	if etcd := specs[0]; etcd.name != Etcd || etcd.args[len(etcd.args)-1] != "--name=other" {
		t.Errorf("command line of etcd: %v, want --name=other at the end, where it wins", etcd.args)
	}
	if apiServer := specs[1]; !slices.Contains(apiServer.args, "--etcd-servers="+specs[0].url) {
		t.Errorf("command line of the API server: %v, want it to use etcd at %s", apiServer.args, specs[0].url)
	}
}

func TestLongDataDirIsRefused(t *testing.T) {
	var options Options
	err := options.complete(filepath.Join(t.TempDir(), strings.Repeat("x", maxSocketPath)))
	if err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("got error %v, want one that asks for a shorter path", err)
	}
}
