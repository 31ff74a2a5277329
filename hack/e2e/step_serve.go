// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func mustParse(quantity string) resource.Quantity { return resource.MustParse(quantity) }

// serve runs an Application and asks it through its Service.
func (s *story) serve(ctx context.Context) error {
	began := time.Now()
	web := newApplication(webName, workloadImage, nil)
	web.Spec.Replicas = new(int32(2))
	if err := s.create(ctx, web, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, webName); err != nil {
		return err
	}
	s.out.Good("Application %s is Ready with 2 pods, under Pod Security restricted (%s)", webName, steps.Since(began))
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	// The pods are ready; kube-proxy makes the Service lead to them a moment later.
	began = time.Now()
	client := newClient()
	err = s.await(ctx, "the first answer", func(ctx context.Context) (bool, string, error) {
		_, err := ask(ctx, client, url)
		return err == nil, "", err
	})
	if err != nil {
		return err
	}
	s.out.Measured("the Service answers %s after that", steps.Since(began))
	got, stop := keepAsking(ctx, url)
	err = s.await(ctx, "100 answers", func(context.Context) (bool, string, error) {
		return got.counts()["1"] >= 100, got.String(), nil
	})
	stop()
	if err := errors.Join(err, got.check()); err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	s.out.Good("%s answered: %s", url, got)
	return nil
}

// rollOut changes the image while clients ask.
func (s *story) rollOut(ctx context.Context) error {
	url, err := s.url(ctx)
	if err != nil {
		return err
	}
	got, stop := keepAsking(ctx, url)
	defer stop()
	began := time.Now()
	if err := s.patch(ctx, fmt.Sprintf(`{"spec":{"image":%q}}`, workloadNextImage)); err != nil {
		return err
	}
	if err := s.awaitReady(ctx, webName); err != nil {
		return err
	}
	took := time.Since(began)
	// Until the old pods are gone, which go on serving while the endpoints drain.
	err = s.await(ctx, "the old pods to end", func(ctx context.Context) (bool, string, error) {
		pods, err := s.pods(ctx, namespace, v1.LabelApplication+"="+webName)
		return len(pods) == 2, fmt.Sprintf("%d pods; %s", len(pods), got), err
	})
	if err != nil {
		return err
	}
	before := got.counts()
	err = s.await(ctx, "100 more answers", func(context.Context) (bool, string, error) {
		return got.counts()["2"] >= before["2"]+100, got.String(), nil
	})
	stop()
	if err := errors.Join(err, got.check()); err != nil {
		return fmt.Errorf("%w; answers: %s", err, got)
	}
	if late := got.counts()["1"] - before["1"]; late > 0 {
		return fmt.Errorf("%d answers of version 1 after its last pod was gone", late)
	}
	s.out.Good("%s is Ready again (%s)", workloadNextImage, steps.Duration(took))
	s.out.Good("no request failed: %s", got)
	return nil
}

// trouble is an Application that cannot work, and what its status must say about it.
type trouble struct {
	application *v1.Application
	reason      string
	// says is a part of the problem's message.
	says string
}

func troubles() []trouble {
	crash := newApplication("crash", workloadImage, map[string]string{"MODE": "crash"})
	absent := newApplication("absent", "localhost/absent:1", nil)
	unready := newApplication("unready", workloadImage, map[string]string{"MODE": "unready"})
	hungry := newApplication("hungry", workloadImage, map[string]string{"MODE": "hungry"})
	hungry.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: mustParse("48Mi")}}
	// An Application that follows ConfigMaps and Secrets starts no pod while one is missing; so these do not follow them.
	keyless := newApplication("keyless", workloadImage, nil)
	keyless.Spec.ConfigChangePolicy = v1.ConfigChangeIgnore
	keyless.Spec.Env = []corev1.EnvVar{{Name: "KEY", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}, Key: "key"},
	}}}
	unmounted := newApplication("unmounted", workloadImage, nil)
	unmounted.Spec.ConfigChangePolicy = v1.ConfigChangeIgnore
	unmounted.Spec.Mounts = []v1.Mount{{MountPath: "/etc/missing", Secret: &corev1.SecretVolumeSource{SecretName: "missing"}}}
	return []trouble{
		{crash, v1.ReasonCrashLooping, "Exited with code 3"},
		{absent, v1.ReasonImagePullFailed, "localhost/absent:1"},
		{unready, v1.ReasonReadinessFailing, "Readiness probe GET :8080/readyz has failed since "},
		{hungry, v1.ReasonCrashLooping, "OOMKilled"},
		{keyless, v1.ReasonConfigError, `secret "missing" not found`},
		{unmounted, v1.ReasonVolumeNotMounting, "volumes are not mounted"},
	}
}

// showTrouble runs Applications that cannot work, and one that only takes its time.
func (s *story) showTrouble(ctx context.Context) error {
	began := time.Now()
	slow := newApplication("slow", workloadImage, map[string]string{"MODE": "slow", "START_DELAY": "4s"})
	if err := s.create(ctx, slow, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, t := range troubles() {
		// A pod that is not ready is a problem from the deadline on; before, it may just be starting.
		t.application.Spec.ProgressDeadlineSeconds = new(int32(10))
		if err := s.create(ctx, t.application, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, t := range troubles() {
		if err := s.awaitTrouble(ctx, t, began); err != nil {
			return err
		}
	}
	if err := s.awaitReady(ctx, slow.Name); err != nil {
		return err
	}
	s.out.Good("slow: Ready, after the 4 s that it takes to start (%s)", steps.Since(began))
	all := []*v1.Application{slow}
	for _, t := range troubles() {
		all = append(all, t.application)
	}
	for _, application := range all {
		if err := s.fairlead.AppsV1().Applications(namespace).Delete(ctx, application.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// awaitTrouble waits until the status of an Application, created when it began, names the reason.
func (s *story) awaitTrouble(ctx context.Context, t trouble, began time.Time) error {
	name := t.application.Name
	var ready *metav1.Condition
	var found v1.Problem
	err := s.await(ctx, fmt.Sprintf("%s to report %s", name, t.reason), func(ctx context.Context) (bool, string, error) {
		application, err := s.fairlead.AppsV1().Applications(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, "", err
		}
		ready = meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
		if ready == nil {
			return false, "no condition Ready yet", nil
		}
		for _, problem := range application.Status.Problems {
			if problem.Reason == t.reason && strings.Contains(problem.Message, t.says) {
				found = problem
			}
		}
		return ready.Status == metav1.ConditionFalse && found.Reason == t.reason,
			fmt.Sprintf("Ready=%s/%s: %s; problems: %v", ready.Status, ready.Reason, ready.Message, application.Status.Problems), nil
	})
	if err != nil {
		return err
	}
	s.out.Good("%s: Ready=False/%s, problem %s on %d pod: %s (%s)", name, ready.Reason, found.Reason, found.Pods, found.Message, steps.Since(began))
	return nil
}
