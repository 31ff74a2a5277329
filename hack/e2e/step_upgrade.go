// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// settle is how long the audit log is watched for writes after an upgrade. The new leader has synced every Application
// long before.
const settle = 10 * time.Second

// upgrade deploys another version of the operator beside running Applications.
func (s *story) upgrade(ctx context.Context) error {
	// What the step before has changed is not to be taken for the upgrade's.
	if err := s.awaitReady(ctx, webName); err != nil {
		return err
	}
	before, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
	if err != nil {
		return err
	}
	log := auditlog.Log{File: s.options.auditLog()}
	offset, err := log.End()
	if err != nil {
		return err
	}
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	got, stop := keepAsking(ctx, url)
	defer stop()

	began := time.Now()
	if err := s.make(ctx, "deploy", "IMAGE="+operatorNextImage, "OVERLAY="+aggregatedOverlay); err != nil {
		return err
	}
	pods, err := s.awaitOperator(ctx, ofImage(operatorNextImage))
	if err != nil {
		return err
	}
	leader, err := s.awaitLeader(ctx, func(leader string) bool {
		return leader == pods[0].Name || leader == pods[1].Name
	})
	if err != nil {
		return err
	}
	s.out.Good("make deploy IMAGE=%s: two new pods, %s leads (%s)", operatorNextImage, leader, steps.Since(began))

	settled := time.Now().Add(settle)
	err = s.await(ctx, "the new leader to write something", func(context.Context) (bool, string, error) {
		return time.Now().After(settled), "nothing yet", nil
	})
	if err != nil {
		return err
	}
	writes, _, err := log.Since(offset, func(e *auditlog.Event) bool {
		return isChildWrite(e) || e.IsWrite() && e.Namespace == namespace && e.APIGroup == v1.GroupName
	})
	if err != nil {
		return err
	}
	if len(writes) > 0 {
		return fmt.Errorf("%d writes to the Application and its children, e.g. %s", len(writes), writes[0])
	}
	s.out.Good("audit log: no write to the Application or a child, until %s after that", settle)
	stop()
	if err := got.check(); err != nil {
		return err
	}
	after, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
	if err != nil {
		return err
	}
	if len(after) != len(before) {
		return fmt.Errorf("there were %d pods, and now there are %d", len(before), len(after))
	}
	for i := range after { // In the order of their names.
		if after[i].UID != before[i].UID {
			return fmt.Errorf("pod %s was replaced by %s", before[i].Name, after[i].Name)
		}
	}
	s.out.Good("the Application's pods are the same %d, and no request failed: %s", len(after), got)
	return nil
}

// undeploy takes the operator away from under its Applications.
func (s *story) undeploy(ctx context.Context) error {
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	children, err := s.children(ctx)
	if err != nil {
		return err
	}
	got, stop := keepAsking(ctx, url)
	defer stop()
	began := time.Now()
	if err := s.make(ctx, "undeploy", "OVERLAY="+aggregatedOverlay); err != nil {
		return err
	}
	err = s.await(ctx, "the operator to be gone", func(ctx context.Context) (bool, string, error) {
		_, err := s.kube.CoreV1().Namespaces().Get(ctx, operatorNamespace, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return false, "namespace " + operatorNamespace + " exists", err
		}
		groups, err := s.kube.Discovery().ServerGroups()
		if err != nil {
			return false, "", err
		}
		served := slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool { return group.Name == v1alpha1.GroupName })
		return !served, "group " + v1alpha1.GroupName + " is served", nil
	})
	if err != nil {
		return err
	}
	s.out.Good("make undeploy: namespace %s and group %s are gone (%s)", operatorNamespace, v1alpha1.GroupName, steps.Since(began))

	// Without webhooks in the way.
	if err := s.patch(ctx, `{"spec":{"service":{"annotations":{"example.com/edit":"after"}}}}`); err != nil {
		return fmt.Errorf("edit the Application: %w", err)
	}
	left, err := s.children(ctx)
	if err != nil {
		return err
	}
	for kind, uid := range children {
		if left[kind] != uid {
			return fmt.Errorf("%s %s is not the one that it was", kind, webName)
		}
	}
	stop()
	if err := got.check(); err != nil {
		return err
	}
	s.out.Good("the Application can be edited, its children are the same, and no request failed: %s", got)
	return nil
}

// children returns the UIDs of the Application's children, by kind.
func (s *story) children(ctx context.Context) (map[string]string, error) {
	deployment, err := s.kube.AppsV1().Deployments(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	service, err := s.kube.CoreV1().Services(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	account, err := s.kube.CoreV1().ServiceAccounts(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	budget, err := s.kube.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, webName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"Deployment": string(deployment.UID), "Service": string(service.UID),
		"ServiceAccount": string(account.UID), "PodDisruptionBudget": string(budget.UID),
	}, nil
}
