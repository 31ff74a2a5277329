// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the aggregated API server behind a real kube-apiserver, beside the real controller.
//
// All tests share one control plane, one controller and one API server. Each has a namespace of its own.
package integration

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	apiserverapp "fairlead.dev/fairlead/cmd/fairlead-apiserver/app"
	controllerapp "fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/apiserver"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

const (
	crds = "../../../artifacts/crds"
	// service is the Service that leads to the API server of all tests.
	service = "fairlead-apiserver"
	// soon is the longest that anything here takes, on a busy machine.
	soon   = time.Minute
	period = 100 * time.Millisecond
	// downtime is after how long without the server its APIService is deleted.
	downtime = 3 * time.Second
	// streamsPerUser is the limit of the API server here.
	streamsPerUser = 3
)

// cluster and shared are the control plane and the API server of all tests.
var (
	cluster *controlplane.ControlPlane
	shared  *server
)

func TestMain(m *testing.M) {
	if encoded := os.Getenv(serverVariable); encoded != "" {
		if err := runServer(encoded); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// The tests mostly wait, so more of them than there are processors may run at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs the tests in a cluster with a controller and an API server.
func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if cluster, err = controlplane.Start(ctx); err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := cluster.Stop(); err == nil {
			err = stopErr
		}
	}()
	if err := cluster.ApplyCRDs(ctx, crds); err != nil {
		return 1, err
	}
	directory, err := os.MkdirTemp("", "fairlead-apiserver-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(directory)
	stopController, leader, err := startController(ctx, directory)
	if err != nil {
		return 1, err
	}
	defer stopController()
	if err := applyRoles(ctx, kubernetes.NewForConfigOrDie(cluster.Config()).RbacV1()); err != nil {
		return 1, err
	}
	if shared, err = newServer(directory); err != nil {
		return 1, err
	}
	shared.leader = leader
	if err := shared.start(ctx); err != nil {
		return 1, err
	}
	defer func() { shared.stop() }()
	stopKeeper, err := register(ctx, shared)
	if err != nil {
		return 1, err
	}
	defer stopKeeper()
	return m.Run(), nil
}

// startController runs the controller for all namespaces, and returns what stops it.
func startController(ctx context.Context, directory string) (stop func(), leader apiserver.Leader, err error) {
	options := controllerapp.NewOptions()
	options.Kubeconfig = cluster.Kubeconfig()
	if leader, err = leading(ctx, directory, options); err != nil {
		return nil, leader, err
	}
	config, err := options.Config()
	if err != nil {
		return nil, leader, err
	}
	completed, err := config.Complete(ctx)
	if err != nil {
		return nil, leader, err
	}
	return inBackground(ctx, func(ctx context.Context) error { return controllerapp.Run(ctx, completed) }), leader, nil
}

// server is an API server that can be stopped and started again.
type server struct {
	port              int // on the loopback address; 0 before the first start
	caBundle          atomic.Pointer[[]byte]
	certFile, keyFile string
	kubeconfig        string // of the server's ServiceAccount
	leader            apiserver.Leader
	idleTime          time.Duration // of streams; 0: as the command
	stop              func()
}

// newServer makes a certificate for the Service, and a kubeconfig.
func newServer(directory string) (*server, error) {
	s := &server{
		certFile: filepath.Join(directory, "tls.crt"), keyFile: filepath.Join(directory, "tls.key"),
		kubeconfig: filepath.Join(directory, "kubeconfig"),
	}
	if err := kubeconfigFor(serverAccount, s.kubeconfig); err != nil {
		return nil, err
	}
	certificate, key, err := newCertificate()
	if err != nil {
		return nil, err
	}
	s.caBundle.Store(&certificate)
	return s, s.serve(certificate, key)
}

// newCertificate makes a certificate for the Service, which is its own CA.
func newCertificate() (certificate, key []byte, err error) {
	return cert.GenerateSelfSignedCertKey(service+"."+serviceNamespace+".svc", nil, nil)
}

// serve writes the files that the server reads, and reads again when they change.
func (s *server) serve(certificate, key []byte) error {
	return errors.Join(os.WriteFile(s.certFile, certificate, 0o600), os.WriteFile(s.keyFile, key, 0o600))
}

// start runs the server as the command does, always on the same port.
func (s *server) start(ctx context.Context) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return err
	}
	options := apiserverapp.NewOptions()
	options.Kubeconfig, options.ServingName = s.kubeconfig, service+"."+serviceNamespace+".svc"
	options.Limits.StreamsPerUser, options.Leader = streamsPerUser, s.leader
	options.Limits.IdleTime = cmp.Or(s.idleTime, options.Limits.IdleTime)
	options.Limits.RendersPerUser = options.Limits.Renders // The tests that run at once are one user.
	options.SecureServing.Listener = listener
	options.SecureServing.ServerCert.CertKey.CertFile, options.SecureServing.ServerCert.CertKey.KeyFile = s.certFile, s.keyFile
	scheme, codecs := apiserver.NewScheme()
	config, err := options.Config(scheme, codecs)
	if err != nil {
		return err
	}
	completed, err := config.Complete(scheme, codecs)
	if err != nil {
		return err
	}
	made, err := completed.New()
	if err != nil {
		return err
	}
	s.port, s.stop = options.SecureServing.BindPort, inBackground(ctx, made.Run)
	return nil
}

// inBackground runs f until the returned function is called, which waits for its end.
func inBackground(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "ended with an error:", err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
