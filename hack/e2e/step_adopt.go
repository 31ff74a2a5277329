// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// preparePlugin compiles kubectl fairlead.
func (s *story) preparePlugin(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", s.plugin(), ".")
	build.Dir, build.Env = filepath.Join(s.options.root, "cmd", "kubectl-fairlead"), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if err := process.Run(build, filepath.Join(s.options.logs(), "plugin.log")); err != nil {
		return err
	}
	s.out.Good("kubectl fairlead")
	return nil
}

func (s *story) plugin() string { return filepath.Join(s.options.images(), "bin", "kubectl-fairlead") }

// adoptAll takes over Deployments of every shape that run already, takes that back, takes them over again, replaces their pods,
// and gives them up, while clients ask them.
func (s *story) adoptAll(ctx context.Context) error {
	shapes, began := adoptedShapes(), time.Now()
	for _, shape := range shapes {
		if err := s.createShape(ctx, shape); err != nil {
			return fmt.Errorf("%s: %w", shape.name, err)
		}
	}
	asked, err := s.askShapes(ctx, shapes)
	if err != nil {
		return err
	}
	defer asked.stop()
	const atOnce = 3
	group, adopting := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, shape := range shapes {
		group.Go(func() error {
			if err := s.takeOver(adopting, shape); err != nil {
				return fmt.Errorf("%s: %w", shape.name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	asked.stop()
	answers, err := asked.check()
	if err != nil {
		return err
	}
	s.out.Good("%d Deployments adopted, given back, adopted, rolled out and ejected (%s): none of %d requests failed", len(shapes), steps.Since(began), answers)
	s.figures = append(s.figures, figure{fmt.Sprintf("adoption of %d Deployments: failed requests", len(shapes)), fmt.Sprintf("0 of %d", answers), "0"})
	return s.deleteShapes(ctx, shapes)
}

// askedShapes are the answers of all shapes.
type askedShapes struct {
	answers map[string]*answers
	stop    func()
}

// askShapes waits for each shape to answer, and keeps asking all of them.
func (s *story) askShapes(ctx context.Context, shapes []*adoptedShape) (askedShapes, error) {
	const period = 50 * time.Millisecond
	asked := askedShapes{answers: map[string]*answers{}}
	var stops []func()
	asked.stop = sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
	client := newClient()
	for _, shape := range shapes {
		service, err := s.kube.CoreV1().Services(namespace).Get(ctx, shape.service.Name, metav1.GetOptions{})
		if err != nil {
			asked.stop()
			return asked, err
		}
		url := fmt.Sprintf("http://%s:%d/", service.Spec.ClusterIP, service.Spec.Ports[0].Port)
		err = s.await(ctx, "the first answer of "+shape.name, func(ctx context.Context) (bool, string, error) {
			_, err := ask(ctx, client, url)
			return err == nil, "", err
		})
		if err != nil {
			asked.stop()
			return asked, err
		}
		got, stop := keepAskingEvery(ctx, client, url, 1, period)
		asked.answers[shape.name], stops = got, append(stops, stop)
	}
	return asked, nil
}

// check returns the number of answers, or the first failure.
func (a askedShapes) check() (number int, err error) {
	for name, got := range a.answers {
		if err := got.check(); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		of := got.total()
		if of == 0 {
			return 0, fmt.Errorf("%s was not asked", name)
		}
		number += of
	}
	return number, nil
}

// takeOver goes all the way with one shape.
func (s *story) takeOver(ctx context.Context, shape *adoptedShape) error {
	adopt := append([]string{"adopt", shape.name, "--harden"}, shape.flags...)
	before, err := s.podsOf(ctx, shape)
	if err != nil {
		return err
	}
	for _, arguments := range [][]string{adopt, {"adopt", shape.name, "--abort"}, adopt} {
		if err := s.runPlugin(ctx, arguments...); err != nil {
			return err
		}
		after, err := s.podsOf(ctx, shape)
		if err != nil {
			return err
		}
		if !maps.Equal(before, after) {
			return fmt.Errorf("kubectl fairlead %v replaced pods: %v, then %v", arguments, before, after)
		}
	}
	if err := s.runPlugin(ctx, "adopt", shape.name, "--rollout"); err != nil {
		return err
	}
	err = s.await(ctx, shape.name+" to be Adopted, by its new pods alone", func(ctx context.Context) (bool, string, error) {
		application, err := s.fairlead.AppsV1().Applications(namespace).Get(ctx, shape.name, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		pods, err := s.pods(ctx, namespace, "example.com/shape="+shape.name)
		if err != nil {
			return false, "", err
		}
		adopted := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
		if adopted == nil {
			return false, "no condition Adopted yet", nil
		}
		return adopted.Status == metav1.ConditionTrue && len(pods) == int(*shape.deployment.Spec.Replicas), fmt.Sprintf("%s: %s; %d pods", adopted.Reason, adopted.Message, len(pods)), nil
	})
	if err != nil {
		return err
	}
	return s.runPlugin(ctx, "eject", shape.name)
}

// podsOf returns the pods of a shape by their UIDs.
func (s *story) podsOf(ctx context.Context, shape *adoptedShape) (map[types.UID]string, error) {
	pods, err := s.pods(ctx, namespace, "example.com/shape="+shape.name)
	names := map[types.UID]string{}
	for _, pod := range pods {
		names[pod.UID] = pod.Name
	}
	return names, err
}

func (s *story) runPlugin(ctx context.Context, arguments ...string) error {
	output, err := exec.CommandContext(ctx, s.plugin(), append([]string{"--namespace=" + namespace}, arguments...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl fairlead %v: %w: %s", arguments, err, output)
	}
	return nil
}

func (s *story) createShape(ctx context.Context, shape *adoptedShape) error {
	for _, create := range shape.before {
		if err := create(ctx, s); err != nil {
			return err
		}
	}
	if _, err := s.kube.AppsV1().Deployments(namespace).Create(ctx, shape.deployment, metav1.CreateOptions{FieldManager: fieldManager}); err != nil {
		return err
	}
	_, err := s.kube.CoreV1().Services(namespace).Create(ctx, shape.service, metav1.CreateOptions{FieldManager: fieldManager})
	return err
}

// deleteShapes makes room: the node is small.
func (s *story) deleteShapes(ctx context.Context, shapes []*adoptedShape) error {
	for _, shape := range shapes {
		if err := s.kube.AppsV1().Deployments(namespace).Delete(ctx, shape.name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := s.kube.CoreV1().Services(namespace).Delete(ctx, shape.service.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return s.await(ctx, "the pods of the shapes to end", func(ctx context.Context) (bool, string, error) {
		pods, err := s.pods(ctx, namespace, "example.com/shape")
		return len(pods) == 0, fmt.Sprintf("%d pods", len(pods)), err
	})
}

// adoptedShape is a Deployment with its Service, as charts have them.
type adoptedShape struct {
	name       string
	deployment *appsv1.Deployment
	service    *corev1.Service
	flags      []string
	before     []func(ctx context.Context, s *story) error
}
