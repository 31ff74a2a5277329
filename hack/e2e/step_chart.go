// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/helm"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// chartRelease is the name of the chart's release.
const chartRelease = "fairlead"

// prepareChart compiles Helm and makes the chart to upgrade from, while there is a network for modules.
func (s *story) prepareChart(ctx context.Context) error {
	began, log := time.Now(), filepath.Join(s.options.logs(), "helm-build.log")
	stop := s.while("compiling Helm", log)
	defer stop()
	if err := process.Run(helm.Build(ctx, s.options.root, s.helm().Binary), log); err != nil {
		return err
	}
	if err := helm.WritePrevious(ctx, s.options.root, s.previousChart()); err != nil {
		return err
	}
	s.out.Good("Helm, and a previous version of the chart (%s)", steps.Since(began))
	return nil
}

func (s *story) helm() helm.Helm {
	return helm.Helm{Binary: filepath.Join(s.options.images(), "bin", "helm"), Home: filepath.Join(s.options.images(), "helm"), Kubeconfig: s.options.kubeconfig()}
}

func (s *story) previousChart() string { return filepath.Join(s.options.images(), "chart") }

// chartOperation is a call of Helm beside a running Application.
type chartOperation struct {
	arguments []string
	// wanted is what the operator's pods have after it. None: the operator is gone.
	wanted trait
}

// useChart lets Helm install, upgrade, roll back and uninstall the operator.
func (s *story) useChart(ctx context.Context) error {
	if err := s.createOperatorNamespace(ctx); err != nil {
		return err
	}
	image := func(name string) string {
		repository, tag, _ := strings.Cut(name, ":")
		return "--set=image.repository=" + repository + ",image.tag=" + tag
	}
	for _, operation := range []chartOperation{
		// The CRDs are there, of make deploy and of another version.
		{[]string{"install", chartRelease, s.previousChart(), image(operatorImage), "--take-ownership", "--force-conflicts"}, ofImage(operatorImage)},
		{[]string{"upgrade", chartRelease, helm.Chart(s.options.root), image(operatorNextImage)}, ofImage(operatorNextImage)},
		{[]string{"rollback", chartRelease, "1"}, ofImage(operatorImage)},
		{[]string{"uninstall", chartRelease}, trait{}},
	} {
		if err := s.operate(ctx, operation); err != nil {
			return fmt.Errorf("helm %s: %w", operation.arguments[0], err)
		}
	}
	return nil
}

// createOperatorNamespace makes the namespace as the chart's README recommends it.
func (s *story) createOperatorNamespace(ctx context.Context) error {
	_, err := s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: operatorNamespace, Labels: map[string]string{restricted: "restricted"},
	}}, metav1.CreateOptions{})
	return err
}

// operate calls Helm while clients ask the Application and a user edits it, and has the new operator sync an edit.
func (s *story) operate(ctx context.Context, operation chartOperation) error {
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	before, err := s.kept(ctx)
	if err != nil {
		return err
	}
	got, stop := keepAsking(ctx, url)
	defer stop()
	edits := s.keepEditing(ctx)
	defer edits.stop()

	action, began := operation.arguments[0], time.Now()
	if err := s.runHelm(ctx, append(slices.Clone(operation.arguments), "--wait", "--timeout=3m")...); err != nil {
		return err
	}
	took := time.Since(began)
	edits.stop()
	if operation.wanted.of == nil {
		err = s.awaitNoOperator(ctx)
	} else if err = s.awaitSyncing(ctx, operation.wanted); err == nil {
		err = s.runHelm(ctx, "test", chartRelease)
	}
	if err != nil {
		return err
	}
	stop()
	if err := got.check(); err != nil {
		return err
	}
	after, err := s.kept(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(before, after) {
		return fmt.Errorf("the Application's objects were %v, and are %v", before, after)
	}
	s.out.Good("helm %s (%s): the same %d objects of the Application, and no request failed: %s", action, steps.Duration(took), len(after), got)
	s.out.Measured("%s", edits)
	return nil
}

// awaitSyncing waits until the operator works: its webhooks refuse, and a replica syncs an edit.
func (s *story) awaitSyncing(ctx context.Context, wanted trait) error {
	if _, err := s.awaitOperator(ctx, wanted); err != nil {
		return err
	}
	if err := s.refuse(ctx); err != nil {
		return err
	}
	if err := s.patch(ctx, fmt.Sprintf(`{"spec":{"service":{"annotations":{"example.com/edit":"%d"}}}}`, time.Now().UnixNano())); err != nil {
		return fmt.Errorf("edit the Application: %w", err)
	}
	return s.awaitReady(ctx, webName)
}

// awaitNoOperator waits until the operator's pods are gone. Its CRDs are not, and without webhooks an edit is accepted.
func (s *story) awaitNoOperator(ctx context.Context) error {
	err := s.await(ctx, "the operator to be gone", func(ctx context.Context) (bool, string, error) {
		pods, err := s.pods(ctx, operatorNamespace, operatorLabel)
		return len(pods) == 0, fmt.Sprintf("%d pods", len(pods)), err
	})
	if err != nil {
		return err
	}
	return s.patch(ctx, `{"spec":{"service":{"annotations":{"example.com/edit":"without an operator"}}}}`)
}

func (s *story) runHelm(ctx context.Context, arguments ...string) error {
	return process.Run(s.helm().Command(ctx, append(arguments, "--namespace="+operatorNamespace)...), filepath.Join(s.options.logs(), "helm-"+arguments[0]+".log"))
}

// kept is the UIDs of what must outlive every change of the operator: the Application, its children and its pods.
func (s *story) kept(ctx context.Context) (map[string]string, error) {
	uids, err := s.children(ctx)
	if err != nil {
		return nil, err
	}
	application, err := s.fairlead.AppsV1().Applications(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	uids["Application"] = string(application.UID)
	pods, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		uids["Pod "+pods[i].Name] = string(pods[i].UID)
	}
	return uids, nil
}
