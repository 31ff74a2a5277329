// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// The programs to try the operator beside. Each runs on the node as a DaemonSet with the host's network would.
const (
	traefikName       = "traefik"
	metricsServerName = "metrics-server"
)

//go:embed beside
var besideManifests embed.FS

// besideSteps replace the steps after the first ones.
func (s *story) besideSteps() []steps.Step {
	var all []steps.Step
	if slices.Contains(s.options.beside, traefikName) {
		all = append(all, s.traefikSteps()...)
	}
	if slices.Contains(s.options.beside, metricsServerName) {
		all = append(all, s.metricsServerSteps()...)
	}
	return all
}

// startBeside starts a program that make neighbours has compiled, with a token of its ServiceAccount.
func (s *story) startBeside(ctx context.Context, name, accountNamespace string, arguments ...string) error {
	config, err := s.kubeconfigOf(ctx, accountNamespace, name)
	if err != nil {
		return err
	}
	cmd := exec.Command(s.options.bin(filepath.Join("neighbours", name)), arguments...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+config)
	_, err = process.Start(cmd, filepath.Join(s.options.logs(), name+".log"), s.died)
	return err
}

// kubeconfigOf writes a kubeconfig with a token of a ServiceAccount, and returns its path.
func (s *story) kubeconfigOf(ctx context.Context, accountNamespace, account string) (string, error) {
	token, err := s.kube.CoreV1().ServiceAccounts(accountNamespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	config, err := clientcmd.LoadFromFile(s.options.kubeconfig())
	if err != nil {
		return "", err
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	file := s.besideKubeconfig(account)
	return file, clientcmd.WriteToFile(*config, file)
}

func (s *story) besideKubeconfig(account string) string {
	return filepath.Join(s.options.node(), account+".kubeconfig")
}

// applyManifest applies one of the manifests for a neighbour.
func (s *story) applyManifest(ctx context.Context, name string) error {
	content, err := besideManifests.ReadFile("beside/" + name)
	if err != nil {
		return err
	}
	all, err := objects.Decode(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return s.applyAll(ctx, all)
}

// applyAll applies objects. What a CRD defines is served a moment after it.
func (s *story) applyAll(ctx context.Context, all []*unstructured.Unstructured) error {
	client, err := objects.NewClient(s.config, fieldManager)
	if err != nil {
		return err
	}
	for _, object := range all {
		if object.GetKind() == "CustomResourceDefinition" {
			err = client.InstallCRD(ctx, object)
		} else {
			err = client.Apply(ctx, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// during asks an URL while something happens, and until enough more requests have been answered after it. It returns an
// error if one was not.
func (s *story) during(ctx context.Context, asked asked, what string, do func(context.Context, *answers) error) error {
	// Far longer than a controller of Ingresses takes to take over a change: 5 s at 200 requests a second.
	const more = 1000
	got, stop := keepAskingAs(ctx, asked.client, asked.url)
	defer stop()
	began := time.Now()
	if err := do(ctx, got); err != nil {
		return fmt.Errorf("%w; answers: %s", err, got)
	}
	took, before := time.Since(began), got.total()
	err := s.await(ctx, fmt.Sprintf("%d more answers", more), func(context.Context) (bool, string, error) {
		return got.total() >= before+more || got.check() != nil, got.String(), nil
	})
	stop()
	if failed := got.check(); failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%s: %w; answers: %s", what, err, got)
	}
	s.out.Good("%s (%s): no request failed: %s", what, steps.Duration(took), got)
	s.figures = append(s.figures, figure{what + ": failed requests", fmt.Sprintf("0 of %d", got.total()), "0"})
	return nil
}
