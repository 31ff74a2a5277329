// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// cleanupTimeout bounds the requests after a lab, even an interrupted one.
const cleanupTimeout = 10 * time.Second

// Func is a lab.
type Func func(ctx context.Context, l *Lab) error

// Setting is where labs run.
type Setting struct {
	Config     *rest.Config
	Kubeconfig string
	Child      func(ctx context.Context, part string) *exec.Cmd
}

// Run runs a lab in a new namespace and deletes that afterwards, without waiting until it is gone.
func Run(ctx context.Context, setting Setting, name string, lab Func, output io.Writer) (err error) {
	client, err := kubernetes.NewForConfig(setting.Config)
	if err != nil {
		return err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-" + name + "-"},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create the namespace of the lab: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		if failed := client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{}); failed != nil {
			err = errors.Join(err, fmt.Errorf("delete the namespace of the lab: %w", failed))
		}
	}()
	return lab(ctx, &Lab{
		Config:     rest.CopyConfig(setting.Config),
		Client:     client,
		Kubeconfig: setting.Kubeconfig,
		Namespace:  namespace.Name,
		Child:      setting.Child,
		output:     output,
	})
}
