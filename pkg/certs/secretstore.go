// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// SecretClient is the part of clientset.CoreV1().Secrets(namespace) that a [SecretStore] uses.
type SecretClient interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.Secret, error)
	List(ctx context.Context, options metav1.ListOptions) (*corev1.SecretList, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Create(ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions) (*corev1.Secret, error)
	Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error)
}

// SecretStore keeps the bundle in a Secret of type kubernetes.io/tls. Every replica runs one to serve from it; the
// leader passes its own to its [Rotator].
type SecretStore struct {
	serving
	client SecretClient
	secret string
}

var _ Store = &SecretStore{}

// NewSecretStore returns a store for the Secret, which need not exist yet. The client is that of its namespace.
func NewSecretStore(client SecretClient, namespace, secret string) *SecretStore {
	return &SecretStore{
		serving: serving{name: fmt.Sprintf("Secret %s/%s", namespace, secret)},
		client:  client,
		secret:  secret,
	}
}

// Run watches the Secret until ctx ends. It needs no permission to write.
func (s *SecretStore) Run(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("secret", s.name)
	watchOne(ctx, s.secret, &corev1.Secret{}, s.client, func(object runtime.Object) {
		secret, ok := object.(*corev1.Secret)
		if !ok {
			logger.Info("Secret of the serving certificate deleted; serving the last good certificate")
		} else if bundle, err := decode(secret.Data); err != nil && bundle.Leaf.Key == nil {
			logger.Info("Secret of the serving certificate damaged; serving the last good certificate", "reason", err)
		} else if err := s.serve(bundle, time.Now()); err != nil {
			logger.Info("Ignoring the certificate in the Secret", "reason", err)
		}
		s.notify() // After damage too: the Rotator listens, and repairs it.
	})
}

func (s *SecretStore) load(ctx context.Context) (stored, error) {
	secret, err := s.client.Get(ctx, s.secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, fmt.Errorf("get %s: %w", s.name, err)
	}
	return stored{data: secret.Data, version: secret}, nil
}

func (s *SecretStore) save(ctx context.Context, loaded stored, data map[string][]byte) error {
	var err error
	if existing, ok := loaded.version.(*corev1.Secret); ok {
		secret := existing.DeepCopy() // With its resourceVersion: the API server refuses the update if another rotator was faster.
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		for _, key := range keys() {
			if value, ok := data[key]; ok {
				secret.Data[key] = value
			} else {
				delete(secret.Data, key)
			}
		}
		_, err = s.client.Update(ctx, secret, metav1.UpdateOptions{})
	} else {
		_, err = s.client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: s.secret},
			Type:       corev1.SecretTypeTLS,
			Data:       data,
		}, metav1.CreateOptions{})
	}
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %w", errConflict, err)
	default:
		return fmt.Errorf("write %s: %w", s.name, err)
	}
}
