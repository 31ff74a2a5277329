// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

const (
	// aggregatedOverlay is the default installation with the aggregated API.
	aggregatedOverlay = "hack/e2e/overlay"
	// developer is a user who has Kubernetes' own role edit in the namespace of the Applications, and nothing else.
	developer = "developer"
	// podsToRead is how many pods the log is merged from.
	podsToRead = 3
)

// useSubresources deploys the aggregated API and uses what needs a kubelet: log, exec and portforward. Each request goes to
// kube-apiserver, as a user whom the shipped roles allow it.
func (s *story) useSubresources(ctx context.Context) error {
	began := time.Now()
	if err := s.make(ctx, "deploy", "IMAGE="+operatorImage, "OVERLAY="+aggregatedOverlay); err != nil {
		return err
	}
	s.out.Good("make deploy OVERLAY=%s (%s)", aggregatedOverlay, steps.Since(began))
	config, err := s.actAsDeveloper(ctx)
	if err != nil {
		return err
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := s.patch(ctx, fmt.Sprintf(`{"spec":{"replicas":%d}}`, podsToRead)); err != nil {
		return err
	}
	began = time.Now()
	err = s.await(ctx, fmt.Sprintf("a view of %d ready pods", podsToRead), func(ctx context.Context) (bool, string, error) {
		view, err := client.SubresourcesV1alpha1().ApplicationRuntimes(namespace).Get(ctx, webName, metav1.GetOptions{})
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // The leader is about to register the server; the limit of the step ends the wait.
		}
		return view.Pods.Ready == podsToRead, fmt.Sprintf("%d pods ready", view.Pods.Ready), nil
	})
	if err != nil {
		return err
	}
	s.out.Good("kube-apiserver serves a view of %s with %d ready pods (%s)", webName, podsToRead, steps.Since(began))
	request := func(subresource string) *rest.Request {
		return client.SubresourcesV1alpha1().RESTClient().Get().Namespace(namespace).Resource("applications").Name(webName).SubResource(subresource)
	}
	if err := s.followLog(ctx, request("log").Param("follow", "true")); err != nil {
		return fmt.Errorf("follow the merged log: %w", err)
	}
	if err := s.execute(ctx, config, request("exec").Param("command", "/workload").Param("command", "hostname").Param("stdout", "true")); err != nil {
		return fmt.Errorf("execute a command: %w", err)
	}
	url, err := s.forward(ctx, config, request("portforward").URL(), 8080)
	if err != nil {
		return fmt.Errorf("forward a port: %w", err)
	}
	answer, err := ask(ctx, newClient(), url)
	if err != nil {
		return err
	}
	if answer != "2" {
		return fmt.Errorf("the forwarded port answers %q, want version 2", answer)
	}
	s.out.Good("portforward: %s answers version %s", url, answer)
	return nil
}

// actAsDeveloper binds the role edit to the developer, and returns how to be that user.
func (s *story) actAsDeveloper(ctx context.Context) (*rest.Config, error) {
	_, err := s.kube.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: developer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: developer}},
	}, metav1.CreateOptions{})
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = developer
	return config, err
}

// followLog follows the log of all pods, replaces one of them, and waits until the same stream has what the old pod wrote
// last and what the new one wrote first.
func (s *story) followLog(ctx context.Context, request *rest.Request) error {
	stream, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	began := time.Now()
	var started []string
	deleted, ended := "", false
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		from, text, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "["), "] ")
		pod, _, _ := strings.Cut(from, "/")
		switch {
		case strings.HasPrefix(text, "serving") && !slices.Contains(started, pod):
			started = append(started, pod)
		case text == "ending" && pod == deleted:
			ended = true
		}
		if len(started) == podsToRead && deleted == "" {
			s.out.Good("one log of %s", strings.Join(started, ", "))
			began, deleted = time.Now(), started[0]
			if err := s.kube.CoreV1().Pods(namespace).Delete(ctx, deleted, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		if ended && len(started) > podsToRead {
			s.out.Good("the same stream goes on after pod %s was deleted: its last line, and the first one of %s (%s)", deleted, started[podsToRead], steps.Since(began))
			return s.await(ctx, "the deleted pod to be gone", func(ctx context.Context) (bool, string, error) {
				pods, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
				return len(pods) == podsToRead && !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !podIsReady(&pod) }), fmt.Sprintf("%d pods", len(pods)), err
			})
		}
	}
	return fmt.Errorf("the stream ended; it had pods %v, and the end of %q: %t: %w", started, deleted, ended, errors.Join(ctx.Err(), io.ErrUnexpectedEOF))
}

// execute runs a command that prints the name of its pod, over a websocket.
func (s *story) execute(ctx context.Context, config *rest.Config, request *rest.Request) error {
	executor, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, request.URL().String())
	if err != nil {
		return err
	}
	var output bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &output}); err != nil {
		return err
	}
	pods, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(output.String())
	for i := range pods {
		if pods[i].Name == name && podIsReady(&pods[i]) {
			s.out.Good("exec: the server picked %s, which is Ready; its hostname came over a websocket", name)
			return nil
		}
	}
	return fmt.Errorf("the command printed %q, which is no ready pod of %s", name, webName)
}
