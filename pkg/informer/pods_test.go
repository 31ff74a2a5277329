// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"time"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

func (r *recorder) PodChanged(before, after *child.Pod, initialList bool) {
	switch {
	case before == nil:
		r.note("added pod %s, listed %t", after.Name, initialList)
	case after == nil:
		r.note("deleted pod %s", before.Name)
	default:
		r.note("updated pod %s, in trouble before %t, after %t", after.Name, before.Problems != nil, after.Problems != nil)
	}
}

func (r *recorder) ReplicaSetChanged(before, after *child.ReplicaSet, initialList bool) {
	switch {
	case before == nil:
		r.note("added ReplicaSet %s, listed %t", after.Name, initialList)
	case after == nil:
		r.note("deleted ReplicaSet %s", before.Name)
	default:
		r.note("updated ReplicaSet %s from revision %s to %s", after.Name, before.Revision, after.Revision)
	}
}

// podMeta has the label by which the Deployment finds its pods, and no other.
func podMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1.LabelApplication: "web"}}
}

func TestPods(t *testing.T) {
	run(t, Options{}, func(s *applytest.Server) {
		applytest.Put(s, applytest.Pods, &corev1.Pod{ObjectMeta: podMeta("shop", "web-1-a")})
		applytest.Put(s, applytest.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: podMeta("shop", "web-1")})
		applytest.Put(s, applytest.Pods, &corev1.Pod{ObjectMeta: podMeta("other", "web-1-b")})
		applytest.Put(s, applytest.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "not-ours"}})
	}, func(f *fixture) {
		f.expect("added pod web-1-a, listed true", "added pod web-1-b, listed true", "added ReplicaSet web-1, listed true")
		replicaSets, pods, err := f.informers.Pods(name("shop"))
		if err != nil || len(replicaSets) != 1 || len(pods) != 1 || pods[0].Name != "web-1-a" || replicaSets[0].Name != "web-1" {
			f.Errorf("%+v, %+v, %v", replicaSets, pods, err)
		}
		applytest.EditStatus(f.server, applytest.Pods, "shop", "web-1-a", func(pod *corev1.Pod) {
			pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
		})
		f.expect("updated pod web-1-a, in trouble before false, after true")
		applytest.Edit(f.server, applytest.ReplicaSets, "shop", "web-1", func(r *appsv1.ReplicaSet) {
			r.Annotations = map[string]string{child.RevisionAnnotation: "3"}
		})
		f.expect("updated ReplicaSet web-1 from revision  to 3")
		// A list after a gap in the watch: the handler gets a deleted pod with its last known state.
		f.server.HoldWatch(applytest.Pods)
		f.server.Delete(applytest.Pods, "shop", "web-1-a")
		f.server.ExpireWatch(applytest.Pods)
		<-time.After(time.Minute) // The reflector waits a little before it lists again.
		f.expect("deleted pod web-1-a", "updated pod web-1-b, in trouble before false, after false")
		// Without the label the pod no longer belongs to the Deployment.
		applytest.Edit(f.server, applytest.Pods, "other", "web-1-b", func(pod *corev1.Pod) { pod.Labels = nil })
		f.expect("deleted pod web-1-b")
		f.server.Delete(applytest.ReplicaSets, "shop", "web-1")
		f.expect("deleted ReplicaSet web-1")
		if replicaSets, pods, err := f.informers.Pods(name("nowhere")); len(replicaSets)+len(pods) > 0 || err != nil {
			f.Errorf("%v, %v, %v", replicaSets, pods, err)
		}
	})
}

// A namespace that is not watched has no pods.
func TestPodsOfOneNamespace(t *testing.T) {
	run(t, Options{Namespaces: []string{"shop"}}, func(s *applytest.Server) {
		applytest.Put(s, applytest.Pods, &corev1.Pod{ObjectMeta: podMeta("other", "web-1-b")})
	}, func(f *fixture) {
		f.expect()
		if replicaSets, pods, err := f.informers.Pods(name("other")); len(replicaSets)+len(pods) > 0 || err != nil {
			f.Errorf("%v, %v, %v", replicaSets, pods, err)
		}
	})
}

// The cache keeps little of each object: ten thousand Applications have many pods, and more ReplicaSets.
func TestPodsAreSmall(t *testing.T) {
	const most = 320
	if got := unsafe.Sizeof(child.Pod{}); got > most {
		t.Errorf("a pod takes %d bytes, beside its names", got)
	}
	if got := unsafe.Sizeof(child.ReplicaSet{}); got > most {
		t.Errorf("a ReplicaSet takes %d bytes, beside its names", got)
	}
}
