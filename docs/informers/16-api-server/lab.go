// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver is an API server with one resource, sessions, in its memory.
//
// All of the server is in server.go; read that from top to bottom. lab.go and costs.go use it.
package apiserver

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// client uses the sessions through kube-apiserver.
type client struct {
	*lab.Lab
	dynamic.ResourceInterface
	resources dynamic.Interface
}

// Lab ends sessions, gracefully and not.
func Lab(ctx context.Context, l *lab.Lab) error {
	return withServer(ctx, l, func(c client) error {
		watching, err := c.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		defer watching.Stop()
		for _, part := range []func(context.Context, watch.Interface) error{c.verbs, c.graceful, c.impatient, c.resume} {
			if err := part(ctx, watching); err != nil {
				return err
			}
		}
		return nil
	})
}

// verbs shows what the resource of chapter 14 lacks.
func (c client) verbs(ctx context.Context, watching watch.Interface) error {
	c.Step("create, get, list and watch, by clients that know nothing of this server")
	if err := c.create(ctx, "ida"); err != nil {
		return err
	}
	got, err := c.Get(ctx, "ida", metav1.GetOptions{})
	if err != nil {
		return err
	}
	c.Say("get: %s %s, of user %s, resourceVersion %s", got.GetKind(), got.GetName(), got.GetLabels()["user"], got.GetResourceVersion())
	list, err := c.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	c.Say("list: %d, resourceVersion %s", len(list.Items), list.GetResourceVersion())
	none, err := c.List(ctx, metav1.ListOptions{LabelSelector: "user=eva"})
	if err != nil {
		return err
	}
	c.Say("list of user eva: %d", len(none.Items))
	if err := c.event(ctx, watching); err != nil {
		return err
	}
	c.Say("no user: %s", reason(c.createLabeled(ctx, "none", nil)))
	c.Say("the same name: %s", reason(c.create(ctx, "ida")))
	return nil
}

// graceful deletes a session whose client listens.
func (c client) graceful(ctx context.Context, watching watch.Interface) error {
	c.Step("a client listens, and the session is deleted")
	stream, err := c.listen(ctx, "ida")
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	c.line(lines)
	c.Say("delete what has changed: %s", reason(c.Delete(ctx, "ida", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("0")}})))
	c.Say("delete for a trial: %s", reason(c.Delete(ctx, "ida", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})))
	if err := c.Delete(ctx, "ida", metav1.DeleteOptions{}); err != nil {
		return err
	}
	c.line(lines)
	if err := c.event(ctx, watching); err != nil {
		return err
	}
	_, err = c.listen(ctx, "ida")
	c.Say("another client: %s", reason(err))
	_, err = c.Get(ctx, "ida", metav1.GetOptions{})
	c.Say("get: %s", reason(err))

	c.Step("the client hangs up")
	if err := stream.Close(); err != nil {
		return err
	}
	if err := c.event(ctx, watching); err != nil {
		return err
	}
	_, err = c.Get(ctx, "ida", metav1.GetOptions{})
	c.Say("get: %s", reason(err))
	return nil
}

// impatient deletes a session whose client does not care.
func (c client) impatient(ctx context.Context, watching watch.Interface) error {
	c.Step("a client does not hang up within the grace period")
	if err := c.create(ctx, "eva"); err != nil {
		return err
	}
	if err := c.event(ctx, watching); err != nil {
		return err
	}
	stream, err := c.listen(ctx, "eva")
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	c.line(lines)
	if err := c.Delete(ctx, "eva", metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}); err != nil {
		return err
	}
	if err := c.event(ctx, watching); err != nil {
		return err
	}
	c.line(lines)
	c.line(lines)
	c.Say("the stream goes on: %t", lines.Scan())
	return c.event(ctx, watching)
}

// resume shows what a resourceVersion is good for.
func (c client) resume(ctx context.Context, _ watch.Interface) error {
	c.Step("a watch goes on where another one has ended")
	resumed, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: "4", FieldSelector: "metadata.name=eva"})
	if err != nil {
		return err
	}
	defer resumed.Stop()
	for range 2 {
		if err := c.event(ctx, resumed); err != nil {
			return err
		}
	}
	_, err = c.Watch(ctx, metav1.ListOptions{ResourceVersion: "1000"})
	c.Say("watch from a version of another server: %s", reason(err))

	if err := c.create(ctx, "noa"); err != nil {
		return err
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(c.resources, sessions(), c.Namespace, 0, cache.Indexers{}, nil).Informer()
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(running)
	}()
	defer func() {
		stop()
		<-ended
	}()
	err = lab.Eventually(ctx, "the informer", func(context.Context) (bool, error) { return informer.HasSynced(), nil })
	c.Say("an informer has %v", informer.GetStore().ListKeys())
	return err
}

func (c client) create(ctx context.Context, name string) error {
	return c.createLabeled(ctx, name, map[string]string{"user": name})
}

func (c client) createLabeled(ctx context.Context, name string, labels map[string]string) error {
	_, err := c.Create(ctx, object(groupVersion, "Session", name, labels), metav1.CreateOptions{})
	return err
}

func sessions() schema.GroupVersionResource { return resource.WithVersion(groupVersion.Version) }

func object(gv schema.GroupVersion, kind, name string, labels map[string]string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(gv.WithKind(kind))
	made.SetName(name)
	made.SetLabels(labels)
	return made
}

// event prints the next event of the watch.
func (c client) event(ctx context.Context, watching watch.Interface) error {
	event, err := lab.Receive(ctx, "the next event", watching.ResultChan())
	if err != nil {
		return err
	}
	session, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the watch sends %s: %w", event.Type, apierrors.FromObject(event.Object))
	}
	c.Say("watch: %s %s, resourceVersion %s, ending: %t", event.Type, session.GetName(), session.GetResourceVersion(), session.GetDeletionTimestamp() != nil)
	return nil
}

func (c client) listen(ctx context.Context, name string) (io.ReadCloser, error) {
	return c.Client.CoreV1().RESTClient().Get().AbsPath("/apis", groupVersion.Group, groupVersion.Version, "namespaces", c.Namespace, "sessions", name, "log").Stream(ctx)
}

func (c client) line(lines *bufio.Scanner) {
	if lines.Scan() {
		c.Say("stream: %s", lines.Text())
	}
}

// reason is an error in a word.
func reason(err error) string {
	if err == nil {
		return "fine"
	}
	return string(apierrors.ReasonForError(err))
}

// withServer runs the server, registers it with kube-apiserver, and ends both after use.
func withServer(ctx context.Context, l *lab.Lab, use func(client) error) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server, ca, err := newServer(listener, "sessions."+l.Namespace+".svc", l.Kubeconfig)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.PrepareRun().RunWithContext(serving) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	resources, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	remove, err := register(ctx, l, resources, listener.Addr(), ca)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c := client{Lab: l, ResourceInterface: resources.Resource(sessions()).Namespace(l.Namespace), resources: resources}
	err = lab.Eventually(ctx, "the sessions to be served", func(ctx context.Context) (bool, error) {
		_, err := c.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	return use(c)
}

// register makes a Service that leads to this process, and an APIService that names it.
func register(ctx context.Context, l *lab.Lab, client dynamic.Interface, address net.Addr, ca []byte) (remove func() error, err error) {
	_, portText, err := net.SplitHostPort(address.String())
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil {
		return nil, err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "sessions"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if _, err := l.Client.CoreV1().Services(l.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	apiServices := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	name := groupVersion.Version + "." + groupVersion.Group
	_, err = apiServices.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"group": groupVersion.Group, "version": groupVersion.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(10),
			"caBundle": base64.StdEncoding.EncodeToString(ca),
			"service":  map[string]any{"namespace": l.Namespace, "name": service.Name, "port": port},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return apiServices.Delete(ctx, name, metav1.DeleteOptions{})
	}, nil
}
