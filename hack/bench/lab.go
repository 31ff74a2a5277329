// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// lab is a control plane, and the clients to act on it. No pod appears in it for a Deployment, so an Application settles when its
// children and its status are written.
type lab struct {
	options *options
	plane   *controlplane.ControlPlane
	log     auditlog.Log
	dir     string // for logs; removed at the end
	clients *clients
	// users are the clients of those who change Applications, and controller is the user that the controller is: all are
	// the administrator, unless a goal gives them a place in the API server's queues, see flowcontrol.go.
	users      *clients
	controller string
	// applications is how many settled Applications there are, next the number of the next new one.
	applications, next int
	// connections is how many the controller has to the API server.
	connections int
	// changes is how many changes of images there were.
	changes atomic.Int64
}

// subject is a process that is measured: usage.go has what the kernel says about it.
type subject struct{ *process.Process }

// start starts a subject. What an earlier one of this name has logged is gone then.
func (l *lab) start(cmd *exec.Cmd, name string) (*subject, error) {
	p, err := process.Start(cmd, filepath.Join(l.dir, name+".log"), nil)
	return &subject{p}, err
}

// stopTimeout is more than the controller takes to drain its workers.
const stopTimeout = 30 * time.Second

// stop ends the subject although ctx may have ended.
func (s *subject) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTimeout, fmt.Errorf("not within %s after SIGTERM", stopTimeout))
	defer cancel()
	return s.Stop(ctx)
}

// clients are one user of the API server with connections of its own.
type clients struct {
	kube     kubernetes.Interface
	fairlead versioned.Interface
	children apply.Client
	http     *http.Client
}

// agent is how the user agents of the bench begin.
const agent = "fairlead-bench"

// newLab starts a control plane. close it.
func newLab(ctx context.Context, o *options) (_ *lab, err error) {
	plane, err := controlplane.Start(ctx, append(components(o), controlplane.WithAuditLog())...)
	if err != nil {
		return nil, err
	}
	l := &lab{options: o, plane: plane, log: plane.AuditLog()}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if l.dir, err = os.MkdirTemp("", "fairlead-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory for logs (set TMPDIR to choose where): %w", err)
	}
	if l.clients, err = l.newClients(agent, ""); err != nil {
		return nil, err
	}
	l.users = l.clients
	for i := range namespaces {
		if err := l.createNamespace(ctx, fmt.Sprintf("%s%d", namespacePrefix, i)); err != nil {
			return nil, err
		}
	}
	if err := plane.ApplyCRDs(ctx, o.crds()); err != nil {
		return nil, err
	}
	return l, nil
}

// components are those of the control plane: etcd and kube-apiserver. The soak deletes Applications, so it needs a garbage collector
// for their children.
func components(o *options) []controlplane.Option {
	if !o.wants("G11") {
		return []controlplane.Option{controlplane.APIOnly()}
	}
	return []controlplane.Option{
		controlplane.WithComponents(controlplane.Etcd, controlplane.KubeAPIServer, controlplane.KubeControllerManager),
		controlplane.WithFlag(controlplane.KubeControllerManager, "--controllers=garbage-collector-controller,serviceaccount-controller"),
	}
}

// collectGarbage lets the API server collect its garbage, so that whatever is measured next begins at the same point of
// its cycle. With 10,000 Applications, on two processors, it collects for 3 to 6 of every 5 to 13 seconds under load, and
// what is measured meanwhile waits.
func (l *lab) collectGarbage(ctx context.Context) error {
	_, err := l.clients.kube.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("let the API server collect its garbage: %w", err)
	}
	return nil
}

// inLab runs something in a control plane of its own.
func inLab(ctx context.Context, o *options, run func(*lab) error) error {
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(run(l), l.close())
}

func (l *lab) close() error {
	if l.clients != nil {
		l.clients.http.CloseIdleConnections()
	}
	return errors.Join(l.plane.Stop(), os.RemoveAll(l.dir))
}

// newClients makes clients that share nothing with others: a dialer of their own keeps client-go from giving two equal
// configurations the same connections. An empty user is the administrator.
func (l *lab) newClients(userAgent, user string) (*clients, error) {
	config := l.plane.Config()
	if user != "" {
		config = l.plane.ConfigFor(user, allowedGroup)
	}
	config.UserAgent = userAgent
	config.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	c := &clients{http: httpClient}
	if c.kube, err = kubernetes.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	if c.fairlead, err = versioned.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	c.children, err = apply.NewClient(config, httpClient)
	return c, err
}

// namespacePrefix begins the names of the namespaces that are measured.
const namespacePrefix = "bench-"

func measured(e *event) bool { return strings.HasPrefix(e.Namespace, namespacePrefix) }

func (l *lab) createNamespace(ctx context.Context, name string) error {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := l.clients.kube.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}
