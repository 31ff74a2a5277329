// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/pkg/payload"
	"fairlead.dev/fairlead/pkg/reference"
)

var (
	keySecret = cache.ObjectName{Namespace: "fairlead-system", Name: "key"}
	db        = cache.ObjectName{Namespace: "shop", Name: "db"}
)

func secret(version, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "uid", ResourceVersion: version},
		Data:       map[string][]byte{"password": []byte(password)},
	}
}

// reads counts the reads of the Secret.
func reads(client *kubefake.Clientset) int {
	count := 0
	for _, action := range client.Actions() {
		if action.Matches("get", "secrets") && action.GetNamespace() == "shop" {
			count++
		}
	}
	return count
}

func content(t *testing.T, reader *payload.Reader, version string) payload.Read {
	t.Helper()
	read, err := reader.Content(t.Context(), reference.Secret, db, reference.Version{UID: "uid", ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// The Reader reads each version once. A version that is newer than the caches answers for theirs too.
func TestContentIsReadOnce(t *testing.T) {
	client := kubefake.NewClientset(secret("5", "one"))
	reader := payload.NewReader(client.CoreV1(), keySecret)
	first := content(t, reader, "5")
	for _, version := range []string{"5", "4"} {
		if got := content(t, reader, version); got.Hash != first.Hash || got.ResourceVersion != "5" {
			t.Errorf("version %s is %+v, want %+v", version, got, first)
		}
	}
	if got := reads(client); got != 1 {
		t.Errorf("%d reads, want 1", got)
	}
	if _, err := client.CoreV1().Secrets("shop").Update(t.Context(), secret("6", "two"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, reader, "6"); got.Hash == first.Hash {
		t.Error("another content has the same hash")
	}
	if err := client.CoreV1().Secrets("shop").Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, reader, "7"); got.Exists() {
		t.Errorf("what is gone is %+v", got)
	}
}

// Two replicas that start at once, and all later ones, use one key. A process reads it once.
func TestOneKey(t *testing.T) {
	client := kubefake.NewClientset(secret("5", "one"))
	// Neither finds a key; then one of the two is slower.
	var barrier sync.WaitGroup
	barrier.Add(2)
	var hashes [2]string
	var replicas sync.WaitGroup
	for i := range hashes {
		reader := payload.NewReader(client.CoreV1(), keySecret)
		replicas.Go(func() {
			barrier.Done()
			barrier.Wait()
			read, err := reader.Content(t.Context(), reference.Secret, db, reference.Version{UID: "uid", ResourceVersion: "5"})
			if err != nil {
				t.Error(err)
			}
			hashes[i] = read.Hash
		})
	}
	replicas.Wait()
	third := content(t, payload.NewReader(client.CoreV1(), keySecret), "5")
	if hashes[0] != hashes[1] || hashes[0] != third.Hash {
		t.Errorf("the hashes are %v and %s", hashes, third.Hash)
	}
}

// If another replica creates the key first, the Reader uses that one. It creates a missing namespace.
func TestKeyIsCreatedOnce(t *testing.T) {
	client := kubefake.NewClientset(secret("5", "one"))
	namespaceExists, raced := false, false
	client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		switch {
		case !namespaceExists:
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, keySecret.Namespace)
		case !raced:
			raced = true
			other := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: keySecret.Namespace, Name: keySecret.Name},
				Data:       map[string][]byte{"key": bytes.Repeat([]byte("k"), 32)},
			}
			if err := client.Tracker().Add(other); err != nil {
				t.Error(err)
			}
			return true, nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, keySecret.Name)
		default:
			t.Error("a second key was created")
			return false, nil, nil
		}
	})
	client.PrependReactor("create", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		namespaceExists = true
		return true, &corev1.Namespace{}, nil
	})
	read := content(t, payload.NewReader(client.CoreV1(), keySecret), "5")
	if want := reference.OfSecret(secret("5", "one"), bytes.Repeat([]byte("k"), 32)).Hash; read.Hash != want {
		t.Errorf("the hash is %s, want %s: that under the key of the other replica", read.Hash, want)
	}
}

// The Reader reports a damaged key, and hashes nothing with it.
func TestShortKey(t *testing.T) {
	client := kubefake.NewClientset(secret("5", "one"), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: keySecret.Namespace, Name: keySecret.Name}, Data: map[string][]byte{"key": []byte("short")},
	})
	_, err := payload.NewReader(client.CoreV1(), keySecret).Content(t.Context(), reference.Secret, db, reference.Version{UID: "uid", ResourceVersion: "5"})
	if err == nil || !strings.Contains(err.Error(), `"key" in Secret fairlead-system/key, has 5 bytes`) {
		t.Errorf("the error is %v", err)
	}
}

// No log, even with -v=10, and no error contains any content.
func TestContentIsNotLogged(t *testing.T) {
	const canary = "correct-horse-battery-staple"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		value := "a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5"
		if strings.Contains(r.URL.Path, "/db") {
			value = "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ=="
		}
		_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","uid":"uid","resourceVersion":"5"},"data":{"key":%q}}`, value)
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log), textlogger.Verbosity(10))))
	if _, err := client.CoreV1().Secrets("shop").Get(ctx, "db", metav1.GetOptions{}); err != nil || !strings.Contains(log.String(), "Y29ycmVjdC1ob3JzZ") {
		t.Fatalf("client-go does not log answers any more, or fails (%v): this test shows nothing", err)
	}
	log.Reset()
	read, err := payload.NewReader(client.CoreV1(), keySecret).Content(ctx, reference.Secret, db, reference.Version{UID: "uid", ResourceVersion: "5"})
	if err != nil || read.Hash == "" {
		t.Fatalf("read %+v: %v", read, err)
	}
	for _, part := range []string{canary, "Y29ycmVjdC1ob3JzZ", "a2V5a2V5"} {
		if strings.Contains(log.String(), part) {
			t.Errorf("the log has %s:\n%s", part, log.String())
		}
	}
}

// The Reader does not remember a failure.
func TestFailureIsTriedAgain(t *testing.T) {
	client := kubefake.NewClientset(secret("5", "one"))
	failing := true
	client.PrependReactor("get", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if failing && action.GetNamespace() == "shop" {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "db", fmt.Errorf("no"))
		}
		return false, nil, nil
	})
	reader := payload.NewReader(client.CoreV1(), keySecret)
	_, err := reader.Content(context.WithoutCancel(t.Context()), reference.Secret, db, reference.Version{UID: "uid", ResourceVersion: "5"})
	if !apierrors.IsForbidden(err) {
		t.Errorf("the error is %v", err)
	}
	failing = false
	if got := content(t, reader, "5"); got.Hash == "" {
		t.Error("there is no hash")
	}
}
