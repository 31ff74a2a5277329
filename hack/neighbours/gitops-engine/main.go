// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// gitops-engine compares an object in Git with the one in the cluster, as Argo CD does to say whether an application is in sync. It
// runs the package of Argo CD that compares.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// input is read from standard input.
type input struct {
	Git, Live *unstructured.Unstructured
	// Predicted is the answer of the API server when Git is applied as a dry run.
	Predicted *unstructured.Unstructured
}

// output is written to standard output: the two objects that differ, or nothing.
type output struct {
	// ThreeWay is how Argo CD compares by default, and ServerSide with ServerSideDiff=true,IncludeMutationWebhook=true, which leaves out
	// nothing.
	ThreeWay, ServerSide []json.RawMessage
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gitops-engine:", err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	predicted, err := json.Marshal(in.Predicted)
	if err != nil {
		return err
	}
	var out output
	if out.ThreeWay, err = compare(in, diff.WithServerSideDiff(false)); err != nil {
		return err
	}
	if out.ServerSide, err = compare(in, diff.WithServerSideDiff(true), diff.WithIgnoreMutationWebhook(false), diff.WithServerSideDryRunner(dryRunner(predicted))); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func compare(in input, option ...diff.Option) ([]json.RawMessage, error) {
	result, err := diff.Diff(in.Git.DeepCopy(), in.Live.DeepCopy(), append(option, diff.WithManager("argocd-controller"))...)
	if err != nil || !result.Modified {
		return nil, err
	}
	return []json.RawMessage{result.PredictedLive, result.NormalizedLive}, nil
}

// dryRunner has the answer already.
type dryRunner string

func (d dryRunner) Run(context.Context, *unstructured.Unstructured, string) (string, error) {
	return string(d), nil
}
