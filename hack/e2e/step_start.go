// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/hack/e2e/internal/images"
	"fairlead.dev/fairlead/hack/e2e/internal/node"
	"fairlead.dev/fairlead/hack/internal/cluster"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// buildImages builds everything that will run in a container and saves it into archives.
func (s *story) buildImages(ctx context.Context) error {
	if err := s.fetchKustomize(ctx); err != nil {
		return err
	}
	builder := &images.Builder{Root: s.options.root, Dir: s.options.images(), Log: filepath.Join(s.options.logs(), "images.log")}
	standIns, err := builder.Prepare(ctx)
	if err != nil {
		return err
	}
	s.out.Good("stand-in for %s, with this machine's Go", strings.Join(standIns, ", "))
	for _, image := range []struct {
		name  string
		build func() error
	}{
		{operatorImage, func() error { return builder.Operator(ctx, operatorImage, "") }},
		{operatorNextImage, func() error { return builder.Operator(ctx, operatorNextImage, operatorNext) }},
		{workloadImage, func() error { return builder.Workload(ctx, workloadImage, "1") }},
		{workloadNextImage, func() error { return builder.Workload(ctx, workloadNextImage, "2") }},
		{pauseImage, func() error { return builder.Pause(ctx, pauseImage, workloadImage) }},
	} {
		if image.name == operatorNextImage && len(s.options.beside) > 0 {
			continue // Only the steps that are left out need it.
		}
		began := time.Now()
		stop := s.while("building "+image.name, filepath.Join(s.options.logs(), "images.log"))
		err := image.build()
		if err == nil {
			err = builder.Save(ctx, image.name, s.archive(image.name))
		}
		stop()
		if err != nil {
			return err
		}
		size, err := os.Stat(s.archive(image.name))
		if err != nil {
			return err
		}
		s.out.Good("%s, %.1f MB (%s)", image.name, float64(size.Size())/1e6, steps.Since(began))
	}
	return nil
}

// fetchKustomize renders an overlay, as make deploy does, while there is a network to fetch the modules of kustomize from.
func (s *story) fetchKustomize(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=hack/tools/kustomize/go.mod", "kustomize", "build", aggregatedOverlay)
	cmd.Dir = s.options.root
	return process.Run(cmd, filepath.Join(s.options.logs(), "kustomize.log"))
}

// archive is the file of an image.
func (s *story) archive(image string) string {
	return filepath.Join(s.options.images(), strings.NewReplacer("/", "_", ":", "_").Replace(image)+".tar")
}

// while shows the last line of a log until stop is called.
func (s *story) while(what, log string) (stop func()) {
	return s.out.While(what, func() string {
		lines := strings.Split(strings.TrimSpace(process.Tail(log)), "\n")
		return strings.TrimSpace(lines[len(lines)-1])
	})
}

// startCluster starts the control plane and the node, which share the sandbox.
func (s *story) startCluster(ctx context.Context) error {
	began := time.Now()
	if err := node.SetUpNetwork(ctx); err != nil {
		return err
	}
	s.node = node.New(node.Config{
		Name:       nodeName,
		Dir:        s.options.node(),
		Logs:       s.options.logs(),
		Binary:     s.options.bin("fairlead-node"),
		CNIPlugins: findCNIPlugins(),
		Cgroup:     cgroupName,
		PauseImage: pauseImage,
		Kubeconfig: s.options.kubeconfig(),
		CAFile:     filepath.Join(s.options.cluster(), "pki", "ca.crt"),
	}, s.died)
	plane, err := s.startControlPlane()
	if err != nil {
		return err
	}
	if err := s.node.StartRuntime(ctx); err != nil {
		return err
	}
	for _, image := range []string{pauseImage, operatorImage, operatorNextImage, workloadImage, workloadNextImage} {
		if image == operatorNextImage && len(s.options.beside) > 0 {
			continue
		}
		if err := s.node.Import(ctx, s.archive(image)); err != nil {
			return err
		}
	}
	s.out.Good("containerd, with the images (%s)", steps.Since(began))

	if s.config, err = plane.Config(ctx, fieldManager); err != nil {
		return err
	}
	if s.kube, err = kubernetes.NewForConfig(s.config); err != nil {
		return err
	}
	if s.fairlead, err = versioned.NewForConfig(s.config); err != nil {
		return err
	}
	version, err := s.kube.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	s.out.Good("Kubernetes %s (%s)", version.GitVersion, steps.Since(began))
	if err := s.node.Join(ctx, s.kube); err != nil {
		return err
	}
	joined, err := s.kube.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	info := joined.Status.NodeInfo
	s.out.Good("%s is Ready: kubelet %s, %s, %s, kernel %s (%s)", nodeName, info.KubeletVersion, info.ContainerRuntimeVersion,
		info.OSImage, info.KernelVersion, steps.Since(began))
	return nil
}

// startControlPlane starts etcd and Kubernetes' control plane. It must listen at the node's address, since pods reach it
// there, and not at its own loopback.
func (s *story) startControlPlane() (*cluster.Cluster, error) {
	return cluster.Start(s.options.bin("fairlead-cluster"), s.options.cluster(), s.options.kubeconfig(), s.options.logs(), s.died, append(autoscalerFlags(),
		"--components=etcd,kube-apiserver,kube-controller-manager,kube-scheduler",
		"--audit-log="+s.options.auditLog(),
		"--component-flag=kube-apiserver=--bind-address=0.0.0.0",
		"--component-flag=kube-apiserver=--advertise-address="+node.IP,
		"--component-flag=kube-apiserver=--endpoint-reconciler-type=lease",
		"--component-flag=kube-apiserver=--enable-admission-plugins=NodeRestriction",
		// For kubectl logs and exec.
		"--component-flag=kube-apiserver=--kubelet-client-certificate="+filepath.Join(s.options.cluster(), "pki", "admin.crt"),
		"--component-flag=kube-apiserver=--kubelet-client-key="+filepath.Join(s.options.cluster(), "pki", "admin.key"),
		"--component-flag=kube-apiserver=--kubelet-preferred-address-types=InternalIP")...)
}

// pods returns the pods that a label selects.
func (s *story) pods(ctx context.Context, namespace, label string) ([]corev1.Pod, error) {
	list, err := s.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: label})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func podIsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// make runs a target of the repository's Makefile, as a user would. Its output goes to a log.
func (s *story) make(ctx context.Context, arguments ...string) error {
	log := filepath.Join(s.options.logs(), "make-"+arguments[0]+".log")
	stop := s.while("make "+strings.Join(arguments, " "), log)
	defer stop()
	cmd := exec.CommandContext(ctx, "make", arguments...)
	cmd.Dir = s.options.root
	cmd.Env = withoutMake(os.Environ())
	return process.Run(cmd, log)
}

// withoutMake takes away what the make that runs this test hands to its children: the ARGS of make e2e are not those of make
// deploy.
func withoutMake(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}, name)
	})
}
