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

// remembered is how many objects the Reader knows the hashes of. A hash is asked for while a change
// is under way, so these are more than enough; one that was forgotten is read once more.
const remembered = 4096

// Client is what the Reader asks: it gets ConfigMaps and Secrets, and keeps its key.
type Client interface {
	corev1client.ConfigMapsGetter
	corev1client.SecretsGetter
	corev1client.NamespacesGetter
}

// Reader reads contents and remembers their hashes. It is safe for concurrent use.
type Reader struct {
	client Client
	key    *keeper
	known  *lru.Cache // types.UID to Read: of each object the version that was read last
	reads  singleflight.Group
}

// Read is what is known of one version of one object.
type Read struct {
	reference.Version
	reference.Content
}

// NewReader makes a Reader. The key for the hashes of Secrets is kept in the Secret of that name; it
// is created when it is needed first.
func NewReader(client Client, keySecret cache.ObjectName) *Reader {
	return &Reader{client: client, key: &keeper{client: client, secret: keySecret}, known: lru.New(remembered)}
}

// Content returns the hash of an object of which the version was seen, or of a newer one; the Read
// says which. Its zero value means that the object is gone. The content is read only if this version
// is not known, and of an immutable object only once.
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

// Latest returns the hash of an object as it is now, for who cannot know which version that is. Its zero value means that there
// is no such object.
func (r *Reader) Latest(ctx context.Context, kind reference.Kind, object cache.ObjectName) (Read, error) {
	result, err, _ := r.reads.Do(string(kind)+" "+object.String(), func() (any, error) { return r.read(ctx, kind, object) })
	if err != nil {
		return Read{}, err
	}
	read, _ := result.(Read)
	return read, nil
}

// older reports whether a version is not as new as another. Where they cannot be compared, it is.
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

// forget overwrites the values, so that they do not wait in memory for the garbage collector.
func forget(secret *corev1.Secret) {
	for _, value := range secret.Data {
		clear(value)
	}
}

func versionOf(object metav1.Object) reference.Version {
	return reference.Version{UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}
}

// silent takes the logger away: from level 8 on, client-go logs the bodies of requests and answers.
func silent(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }
