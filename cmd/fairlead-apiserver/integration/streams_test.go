// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apiserver"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// streamsBound is what docs/subresources.md says that streams take at most. Here it includes the clients', in the same process.
const streamsBound = 300 << 20

const openedAtOnce = 8

// TestFiveHundredStreams opens as many streams as the server allows at once, behind kube-apiserver and with a kubelet. Each delivers
// the pod's lines, the next one gets 429, and the memory stays below the documented bound. It is not parallel, like TestOutage.
func TestFiveHundredStreams(t *testing.T) {
	f := startAlone(t)
	total := apiserver.DefaultLimits().Streams
	f.apply("popular", 1)
	f.view("popular", running(1))
	f.podOf("popular")
	users := make([]string, (total+streamsPerUser)/streamsPerUser)
	for i := range users {
		users[i] = fmt.Sprintf("%s:reader-%d", f.namespace, i)
	}
	f.allow("readers", users, rule(group, "applications/log", "get"), rule(v1.GroupName, "applications", "get"), rule("", "pods", "list"), rule("", "pods/log", "get"))

	before := heapInUse()
	streams := f.openStreams(total, users, "popular")
	grown := heapInUse() - before
	t.Logf("%d streams, each with a line, take %d KiB with their clients", total, grown>>10)
	if grown > streamsBound {
		t.Errorf("%d streams take %d MiB, want at most %d MiB", total, grown>>20, streamsBound>>20)
	}
	if stream, err := f.openStream(users[len(users)-1], "popular"); code(err) != http.StatusTooManyRequests {
		if err == nil {
			_ = stream.Close()
		}
		t.Errorf("one stream more: %v, want 429", err)
	}
	for _, stream := range streams {
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
	f.eventually("a stream in the place of a closed one", func() error {
		stream, err := f.openStream(users[0], "popular")
		if err == nil {
			err = stream.Close()
		}
		return err
	})
}

// openStreams opens so many streams, a few at a time: each user's first one costs kube-apiserver a review of every permission.
func (f *fixture) openStreams(total int, users []string, application string) []io.ReadCloser {
	f.Helper()
	streams := make([]io.ReadCloser, total)
	f.Cleanup(func() { // Otherwise a failure would wait for the kubelet, which waits for them.
		for _, stream := range streams {
			if stream != nil {
				_ = stream.Close()
			}
		}
	})
	var opening errgroup.Group
	opening.SetLimit(openedAtOnce)
	for i := range streams {
		opening.Go(func() (err error) {
			if streams[i], err = f.openStream(users[i/streamsPerUser], application); err != nil {
				err = fmt.Errorf("stream %d: %w", i, err)
			}
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		f.Fatal(err)
	}
	return streams
}

// allow gives the users a role of these rules in the namespace.
func (f *fixture) allow(name string, users []string, rules ...rbacv1.PolicyRule) {
	f.Helper()
	f.client(name, rules...)
	var subjects []rbacv1.Subject
	for _, user := range users {
		subjects = append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	if _, err := f.kube.RbacV1().RoleBindings(f.namespace).Create(f.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-users"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
	f.eventually("the role of the users", func() error { return f.review(users[len(users)-1], rules[0]) })
}

// openStream follows the log of an Application as a user, and returns after its first line.
func (f *fixture) openStream(user, application string) (io.ReadCloser, error) {
	config := cluster.ConfigFor(user)
	config.QPS = -1
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	stream, err := client.SubresourcesV1alpha1().RESTClient().Get().Namespace(f.namespace).Resource("applications").Name(application).SubResource("log").
		Param("follow", "true").MaxRetries(0).Stream(context.WithoutCancel(f.Context()))
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(stream, 256).ReadString('\n')
	if err == nil && !strings.HasSuffix(line, "] "+kubeletLine+"\n") {
		err = fmt.Errorf("the first line is %q", line)
	}
	if err != nil {
		_ = stream.Close()
		return nil, err
	}
	return stream, nil
}

// heapInUse is what is in use after a garbage collection.
func heapInUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
