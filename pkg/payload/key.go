// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// keyName is the name of the key in the data of its Secret.
	keyName = "key"
	// keyLength is the length of the hash; a longer key adds nothing.
	keyLength = 32
)

// keeper reads the key from its Secret, and creates the Secret if it does not exist. All replicas, now and later,
// must use the same key: another key changes the hash of every Secret.
type keeper struct {
	client Client
	secret cache.ObjectName

	mu  sync.Mutex
	key []byte
}

// get returns the key. A process reads the Secret once.
func (k *keeper) get(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key, nil
	}
	secret, err := k.client.Secrets(k.secret.Namespace).Get(ctx, k.secret.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		secret, err = k.create(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("get the key for hashes of Secrets from Secret %s: %w", k.secret, err)
	}
	key := secret.Data[keyName]
	if len(key) < keyLength {
		return nil, fmt.Errorf("the key for hashes of Secrets, %q in Secret %s, has %d bytes, but needs at least %d; delete that Secret, and the controller creates a new key", keyName, k.secret, len(key), keyLength)
	}
	k.key = key
	return key, nil
}

// create creates the Secret. If two replicas try at once, the slower one gets AlreadyExists and uses the key of the
// other.
func (k *keeper) create(ctx context.Context) (*corev1.Secret, error) {
	key := make([]byte, keyLength)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.secret.Namespace,
			Name:      k.secret.Name,
			Labels:    map[string]string{"app.kubernetes.io/part-of": "fairlead"},
			Annotations: map[string]string{
				"kubernetes.io/description": "Key of the hashes by which Fairlead detects changed Secrets. If you delete it, the next change of a Secret rolls its pods, even a change of a label.",
			},
		},
		Type:      corev1.SecretTypeOpaque,
		Immutable: new(true),
		Data:      map[string][]byte{keyName: key},
	}
	secrets := k.client.Secrets(k.secret.Namespace)
	created, err := secrets.Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		// Outside the cluster, the namespace may not exist.
		if err := k.createNamespace(ctx); err != nil {
			return nil, err
		}
		created, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
	}
	if apierrors.IsAlreadyExists(err) {
		return secrets.Get(ctx, k.secret.Name, metav1.GetOptions{})
	}
	return created, err
}

func (k *keeper) createNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: k.secret.Namespace}}
	_, err := k.client.Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", k.secret.Namespace, err)
	}
	return nil
}
