// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fourways is the fourth way to extend the API: your own server behind the API server.
package fourways

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

const (
	group   = "tides.labs.fairlead.dev"
	version = "v1"
)

// Lab registers an API without etcd: the server computes the tides on request.
func Lab(ctx context.Context, l *lab.Lab) (err error) {
	s := &server{}
	listener := lab.Serve(http.HandlerFunc(s.serve))
	defer listener.Close()
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	remove, err := register(ctx, l, client, listener.Listener.Addr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	tides := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: "tides"}).Namespace(l.Namespace)

	l.Step("the API server forwards what it does not serve itself")
	err = lab.Eventually(ctx, "the API to be available", func(ctx context.Context) (bool, error) {
		_, err := tides.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	list, err := tides.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		l.Say("%s %s: %v", list.Items[i].GetKind(), list.Items[i].GetName(), list.Items[i].Object["height"])
	}
	l.Say("the API server names the requester: %t", s.user.Load() != nil && *s.user.Load() != "")

	l.Step("what a CRD's resource has, and this one lacks")
	_, err = tides.Watch(ctx, metav1.ListOptions{})
	l.Say("watch: %s", reason(err))
	_, err = tides.Get(ctx, "high", metav1.GetOptions{})
	l.Say("get: %s", reason(err))
	err = tides.Delete(ctx, "high", metav1.DeleteOptions{})
	l.Say("delete: %s", reason(err))

	l.Step("the server stops: its API is unavailable, the others work")
	listener.Close()
	_, err = tides.List(ctx, metav1.ListOptions{})
	l.Say("list: %s", reason(err))
	_, err = client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(l.Namespace).List(ctx, metav1.ListOptions{})
	l.Say("list ConfigMaps: %s", reason(err))
	return nil
}

// reason is an error in a word.
func reason(err error) string {
	if err == nil {
		return "fine"
	}
	return string(apierrors.ReasonForError(err))
}

// register makes a Service that leads to this process, and an APIService that names it.
func register(ctx context.Context, l *lab.Lab, client dynamic.Interface, address net.Addr) (remove func() error, err error) {
	host, portText, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil {
		return nil, err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "tides"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	}
	if _, err := l.Client.CoreV1().Services(l.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	apiServices := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	name := version + "." + group
	_, err = apiServices.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			// In production: a caBundle, and a check of the client certificate by which the API server is known.
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"namespace": l.Namespace, "name": "tides", "port": port},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return func() error {
		return apiServices.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{})
	}, nil
}

// server is a minimal API server.
type server struct{ user atomic.Pointer[string] }

// serve answers discovery and lists. It has nothing else that clients expect of an API.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	base := "/apis/" + group + "/" + version
	_, isList := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, base+"/namespaces/"), "/tides")
	switch {
	case r.URL.Path == base:
		answer(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
			GroupVersion: group + "/" + version,
			APIResources: []metav1.APIResource{{Name: "tides", SingularName: "tide", Namespaced: true, Kind: "Tide", Verbs: metav1.Verbs{"list"}}},
		})
	case isList && r.Method == http.MethodGet && r.URL.Query().Get("watch") == "":
		user := r.Header.Get("X-Remote-User")
		s.user.Store(&user)
		answer(w, http.StatusOK, map[string]any{
			"apiVersion": group + "/" + version,
			"kind":       "TideList",
			"metadata":   map[string]any{},
			"items":      []any{tide("high", "4 m"), tide("low", "1 m")},
		})
	default:
		answer(w, http.StatusMethodNotAllowed, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		})
	}
}

func tide(name, height string) map[string]any {
	return map[string]any{"apiVersion": group + "/" + version, "kind": "Tide", "metadata": map[string]any{"name": name}, "height": height}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// A client that has gone away needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}
