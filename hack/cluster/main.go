// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fairlead-cluster runs a complete Kubernetes control plane on one machine, without downloading a binary.
//
// It is a multi-call binary: `fairlead-cluster up` supervises child processes that are the same executable called as
// `fairlead-cluster etcd`, `fairlead-cluster kube-apiserver` and so on. Separate processes, because tests kill, stop and
// restart single components; one executable, because linking Kubernetes once instead of four times saves most of the
// build time and of the disk space.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // CronJobs may name a time zone, and the machine may have no zone files.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // The components accept --logging-format=json.
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // Client and workqueue metrics on their /metrics.
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info.
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"fairlead.dev/fairlead/hack/cluster/internal/cluster"
)

const usage = `fairlead-cluster runs a Kubernetes control plane and simulated nodes on this machine, for tests and demos.

Usage:
  fairlead-cluster up [flags]                      start a cluster; Ctrl-C stops it ("up --help" lists the flags)
  fairlead-cluster etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flags]
                                                   run one component, with the flags of that component
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	os.Exit(run(os.Args[1], os.Args[2:]))
}

func run(command string, args []string) int {
	switch command {
	case "up":
		return cluster.Main(args, os.Stdin, os.Stdout, os.Stderr)
	case cluster.Etcd:
		etcdmain.Main(append([]string{cluster.Etcd}, args...)) // Exits the process itself when it fails.
		return 0
	case cluster.KubeAPIServer:
		return runKubernetes(apiserver.NewAPIServerCommand(), args)
	case cluster.KubeControllerManager:
		return runKubernetes(controllermanager.NewControllerManagerCommand(), args)
	case cluster.KubeScheduler:
		return runKubernetes(scheduler.NewSchedulerCommand(), args)
	case "help", "-h", "--help":
		fmt.Print(usage)
		return 0
	default:
		fmt.Fprintf(os.Stderr, "fairlead-cluster: unknown command %q\n\n%s", command, usage)
		return 2
	}
}

func runKubernetes(command *cobra.Command, args []string) int {
	command.SetArgs(args)
	return cli.Run(command)
}
