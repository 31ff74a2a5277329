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
	// keyName is where the key is in its Secret.
	keyName = "key"
	// keyLength is that of the hash: a longer key adds nothing.
	keyLength = 32
)

// keeper gets the key from its Secret, and makes it where there is none. All replicas, and whoever
// runs after them, must use the same key: with another one all hashes of Secrets would be others.
type keeper struct {
	client Client
	secret cache.ObjectName

	mu  sync.Mutex
	key []byte
}

// get returns the key. The Secret is read once in the life of the process.
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
		return nil, fmt.Errorf("the key for hashes of Secrets, %q in Secret %s, has %d bytes, but at least %d are needed; delete that Secret, and a new key is made", keyName, k.secret, len(key), keyLength)
	}
	k.key = key
	return key, nil
}

// create makes the Secret. Of two replicas that try at once, one is told that it exists, and takes
// the key of the other.
func (k *keeper) create(ctx context.Context) (*corev1.Secret, error) {
	key := make([]byte, keyLength)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.secret.Namespace,
			Name:      k.secret.Name,
			Labels:    map[string]string{"app.kubernetes.io/part-of": "fairlead"},
			Annotations: map[string]string{
				"kubernetes.io/description": "The key of the hashes by which Fairlead sees that a Secret changed. After it was lost, a Secret that changes, be it only in a label, rolls its pods.",
			},
		},
		Type:      corev1.SecretTypeOpaque,
		Immutable: new(true),
		Data:      map[string][]byte{keyName: key},
	}
	secrets := k.client.Secrets(k.secret.Namespace)
	created, err := secrets.Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		// Out of a cluster the namespace may not be there.
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
