// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// HostAddress returns an address of this machine that an endpoint may have. The API server refuses loopback
// addresses. Without another one the test is skipped.
func HostAddress(tb testing.TB) netip.Addr {
	tb.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		tb.Fatal(err)
	}
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		if err == nil && prefix.Addr().Is4() && prefix.Addr().IsGlobalUnicast() {
			return prefix.Addr()
		}
	}
	tb.Skip("this machine has only loopback IPv4 addresses, which endpoints may not have")
	return netip.Addr{}
}

// ServiceProxy creates a Service for an address of this machine that serves TLS, and returns the path under which the
// API server proxies requests to it. The API server does that only for addresses of pods, so there is a pod that no
// node runs and whose status has the address.
func (cp *ControlPlane) ServiceProxy(tb testing.TB, namespace string, address netip.AddrPort) (path string) {
	tb.Helper()
	const name, port = "proxied", "https"
	client, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		tb.Fatal(err)
	}
	core, meta := client.CoreV1(), metav1.ObjectMeta{Name: name}
	must := func(_ any, err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("create a Service for %s: %v", address, err)
		}
	}
	must(core.Services(namespace).Create(tb.Context(), &corev1.Service{
		ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: port, Port: 443}}},
	}, metav1.CreateOptions{}))
	must(core.ServiceAccounts(namespace).Create(tb.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}))
	pod, err := core.Pods(namespace).Create(tb.Context(), &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		SchedulerName: "nobody", ServiceAccountName: name, Containers: []corev1.Container{{Name: name, Image: "example.com/proxied:1"}},
	}}, metav1.CreateOptions{})
	must(pod, err)
	ip := address.Addr().String()
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	must(core.Pods(namespace).UpdateStatus(tb.Context(), pod, metav1.UpdateOptions{}))
	// An older API server looks for Endpoints.
	must(core.Endpoints(namespace).Create(tb.Context(), &corev1.Endpoints{ //nolint:staticcheck // Deprecated, for the same reason.
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelSkipMirror: "true"}},
		Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // As above.
			Addresses: []corev1.EndpointAddress{{IP: ip, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name}}},
			Ports:     []corev1.EndpointPort{{Name: port, Port: int32(address.Port())}},
		}},
	}, metav1.CreateOptions{}))
	must(client.DiscoveryV1().EndpointSlices(namespace).Create(tb.Context(), &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{ip}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name},
		}},
		Ports: []discoveryv1.EndpointPort{{Name: new(port), Port: new(int32(address.Port()))}},
	}, metav1.CreateOptions{}))
	path = fmt.Sprintf("/api/v1/namespaces/%s/services/https:%s:%s/proxy", namespace, name, port)
	// The API server looks in its caches.
	err = wait.PollUntilContextTimeout(tb.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		answer := core.RESTClient().Get().AbsPath(path).Do(ctx)
		return !apierrors.IsServiceUnavailable(answer.Error()), nil
	})
	if err != nil {
		tb.Fatalf("wait until the API server proxies to %s: %v", address, err)
	}
	return path
}
