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
	"k8s.io/client-go/tools/clientcmd"
)

// errDeclined is the answer to consent that is not yes.
var errDeclined = errors.New("not confirmed, so nothing was changed")

// currentOf finds the cluster that kubectl would use.
func currentOf(screen *screen) (*cluster, error) {
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
	screen.printf("The demo will use the cluster %s (context %q).", config.Host, raw.CurrentContext)
	screen.printf("It installs the CustomResourceDefinitions of Fairlead, or replaces them; they stay. All else goes into the")
	screen.printf("namespace %s and a class, which the demo deletes at the end.", namespace)
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return &cluster{config: config}, nil
	}
	if err := consent(screen, os.Stdin); err != nil {
		return nil, err
	}
	return &cluster{config: config}, nil
}

// consent asks a person. Only a clear yes counts.
func consent(screen *screen, input io.Reader) error {
	screen.printf("Go on? Type yes:")
	answer, err := bufio.NewReader(input).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return errDeclined
	}
	return nil
}
