// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/lru"

	"golang.org/x/sync/singleflight"

	"fairlead.dev/fairlead/pkg/reference"
)

// remembered is the number of objects whose hashes the Reader remembers. Only syncs during a change ask for a hash,
// so this is more than enough. The Reader reads a forgotten object again.
const remembered = 4096

// Client is what the Reader needs to read ConfigMaps and Secrets, and to keep its key.
type Client interface {
	corev1client.ConfigMapsGetter
	corev1client.SecretsGetter
	corev1client.NamespacesGetter
}

// Reader reads contents and remembers their hashes. It is safe for concurrent use.
type Reader struct {
	client Client
	key    *keeper
	known  *lru.Cache // types.UID to Read: the version of each object that was read last
	reads  singleflight.Group
}

// Read is what the Reader knows of one version of an object.
type Read struct {
	reference.Version
	reference.Content
}

// NewReader returns a Reader. The Secret keySecret has the key for the hashes of Secrets. The Reader creates it when
// it first needs the key.
func NewReader(client Client, keySecret cache.ObjectName) *Reader {
	return &Reader{client: client, key: &keeper{client: client, secret: keySecret}, known: lru.New(remembered)}
}

// Content returns the hash of the version of an object that a cache has seen, or of a newer one; the Read says which.
// The zero Read means that the object does not exist. Content reads the object only if it does not know this version,
// and an immutable object only once.
func (r *Reader) Content(ctx context.Context, kind reference.Kind, object cache.ObjectName, seen reference.Version) (Read, error) {
	if known, found := r.known.Get(seen.UID); found {
		if read, ok := known.(Read); ok && (read.Immutable || !older(read.ResourceVersion, seen.ResourceVersion)) {
			return read, nil
		}
	}
	// Many Applications may refer to one object, and all of them ask when it changes.
	result, err, _ := r.reads.Do(string(seen.UID)+"/"+seen.ResourceVersion, func() (any, error) {
		read, err := r.read(ctx, kind, object)
		if err == nil && read.Exists() {
			r.known.Add(read.UID, read)
		}
		return read, err
	})
	if err != nil {
		return Read{}, err
	}
	read, _ := result.(Read)
	return read, nil
}

// Latest returns the hash of the current version of an object, for callers that do not know the version. The zero
// Read means that the object does not exist.
func (r *Reader) Latest(ctx context.Context, kind reference.Kind, object cache.ObjectName) (Read, error) {
	result, err, _ := r.reads.Do(string(kind)+" "+object.String(), func() (any, error) { return r.read(ctx, kind, object) })
	if err != nil {
		return Read{}, err
	}
	read, _ := result.(Read)
	return read, nil
}

// older reports whether a version is older than another. If they cannot be compared, it is.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return version != than && (err != nil || order < 0)
}

func (r *Reader) read(ctx context.Context, kind reference.Kind, object cache.ObjectName) (Read, error) {
	read := r.configMap
	if kind == reference.Secret {
		read = r.secret
	}
	got, err := read(silent(ctx), object)
	if apierrors.IsNotFound(err) {
		return Read{}, nil
	}
	if err != nil {
		return Read{}, fmt.Errorf("read %s %s for its hash: %w", kind, object, err)
	}
	return got, nil
}

func (r *Reader) configMap(ctx context.Context, object cache.ObjectName) (Read, error) {
	configMap, err := r.client.ConfigMaps(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	if err != nil {
		return Read{}, err
	}
	return Read{Version: versionOf(configMap), Content: reference.OfConfigMap(configMap)}, nil
}

func (r *Reader) secret(ctx context.Context, object cache.ObjectName) (Read, error) {
	key, err := r.key.get(ctx)
	if err != nil {
		return Read{}, err
	}
	secret, err := r.client.Secrets(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	if err != nil {
		return Read{}, err
	}
	defer forget(secret)
	return Read{Version: versionOf(secret), Content: reference.OfSecret(secret, key)}, nil
}

// forget overwrites the values, so that they do not stay in memory until the garbage collector runs.
func forget(secret *corev1.Secret) {
	for _, value := range secret.Data {
		clear(value)
	}
}

func versionOf(object metav1.Object) reference.Version {
	return reference.Version{UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}
}

// silent removes the logger: from level 8 on, client-go logs the bodies of requests and responses.
func silent(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }
