// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/internal/steps"
)

// errDeclined is the answer to consent that is not yes.
var errDeclined = errors.New("not confirmed, so nothing was changed")

// currentOf finds the cluster that kubectl would use.
func currentOf(out *steps.Printer) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster of %s=%s: %w; unset it to have a cluster started", clusterEnv, currentCluster, err)
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	out.Printf("The demo will use the cluster %s (context %q).", config.Host, raw.CurrentContext)
	out.Printf("It installs the CustomResourceDefinitions of Fairlead, or replaces them; they stay. All else goes into the")
	out.Printf("namespace %s and a class, which the demo deletes at the end.", namespace)
	config.QPS, config.UserAgent = -1, fieldManager // The API server knows its load.
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return config, nil
	}
	return config, consent(out, os.Stdin)
}

// consent asks a person. Only a clear yes counts.
func consent(out *steps.Printer, input io.Reader) error {
	out.Printf("Go on? Type yes:")
	answer, err := bufio.NewReader(input).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return errDeclined
	}
	return nil
}
