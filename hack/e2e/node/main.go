// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fairlead-node is the kubelet and kube-proxy in one executable, so that Kubernetes is linked once. It is built
// from source, as the control plane in hack/cluster is, and in a module of its own, so that other builds do not compile
// it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // Both accept --logging-format=json.
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // Client metrics on their /metrics.
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info.
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

const usage = `Usage: fairlead-node kubelet|kube-proxy [flags]
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
	case "kubelet":
		return runKubernetes(kubelet.NewKubeletCommand(context.Background()), args)
	case "kube-proxy":
		return runKubernetes(kubeproxy.NewProxyCommand(), args)
	case "help", "-h", "--help":
		fmt.Print(usage)
		return 0
	default:
		fmt.Fprintf(os.Stderr, "fairlead-node: unknown command %q\n\n%s", command, usage)
		return 2
	}
}

func runKubernetes(command *cobra.Command, args []string) int {
	command.SetArgs(args)
	return cli.Run(command)
}
