// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// secretVolume is the volume of a Deployment that mounts a Secret, as the kubelet has it on a node: the files are links into a
// directory, and one rename replaces all of them.
type secretVolume struct {
	*lab
	dir       string // where it is on this machine
	mountPath string // and in the pods
	namespace string
	source    *corev1.SecretVolumeSource
	version   string // of the Secret, when it was last written
}

// newSecretVolume finds the one volume with a Secret.
func (l *lab) newSecretVolume(deployment *unstructured.Unstructured) *secretVolume {
	l.Helper()
	pod := l.podSpec(deployment)
	for _, volume := range pod.Volumes {
		if volume.Secret == nil {
			continue
		}
		for _, mount := range pod.Containers[0].VolumeMounts {
			if mount.Name == volume.Name {
				return &secretVolume{lab: l, dir: l.TempDir(), mountPath: mount.MountPath, namespace: deployment.GetNamespace(), source: volume.Secret}
			}
		}
	}
	l.Fatalf("%s mounts no Secret", deployment.GetName())
	return nil
}

// arguments are those of the first container, with the files where they are on this machine.
func (v *secretVolume) arguments(deployment *unstructured.Unstructured) []string {
	v.Helper()
	arguments := v.podSpec(deployment).Containers[0].Args
	named := false
	for i, argument := range arguments {
		arguments[i] = strings.ReplaceAll(argument, v.mountPath, v.dir)
		named = named || arguments[i] != argument
	}
	if !named {
		v.Fatalf("no argument of %s names %s: %q", deployment.GetName(), v.mountPath, arguments)
	}
	return arguments
}

// sync writes the files if the Secret has changed. Without the Secret the files stay, as they do on a node.
func (v *secretVolume) sync(ctx context.Context) {
	v.Helper()
	secret, err := v.kube.CoreV1().Secrets(v.namespace).Get(ctx, v.source.SecretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		v.Fatal(err)
	}
	if secret.ResourceVersion == v.version {
		return
	}
	const current, next = "..data", "..data_tmp"
	contents := "..version_" + secret.ResourceVersion
	for _, item := range v.source.Items {
		content, found := secret.Data[item.Key]
		if !found {
			v.Fatalf("Secret %s has no %s: the kubelet would not start the pod", secret.Name, item.Key)
		}
		v.writeFile(content, v.dir, contents, item.Path)
	}
	err = errors.Join(os.Symlink(contents, filepath.Join(v.dir, next)), os.Rename(filepath.Join(v.dir, next), filepath.Join(v.dir, current)))
	for _, item := range v.source.Items {
		if _, missing := os.Lstat(filepath.Join(v.dir, item.Path)); missing != nil {
			err = errors.Join(err, os.Symlink(filepath.Join(current, item.Path), filepath.Join(v.dir, item.Path)))
		}
	}
	if v.version != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Join(v.dir, "..version_"+v.version)))
	}
	if err != nil {
		v.Fatal(err)
	}
	v.version = secret.ResourceVersion
}

func (l *lab) podSpec(object *unstructured.Unstructured) corev1.PodSpec {
	l.Helper()
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
		l.Fatal(err)
	}
	return deployment.Spec.Template.Spec
}

func (l *lab) number(port string) int64 {
	l.Helper()
	number, err := strconv.ParseInt(port, 10, 64)
	if err != nil {
		l.Fatal(err)
	}
	return number
}
