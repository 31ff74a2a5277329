// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl is kubectl, compiled from its module: the test of the documents runs their
// commands with it, whatever the machine has.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		// Prints the error as kubectl does, and exits.
		util.CheckErr(err)
	}
	os.Exit(0)
}
