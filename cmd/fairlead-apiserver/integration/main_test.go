// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the aggregated API server behind a real kube-apiserver, beside the real controller.
//
// All tests share one control plane, one controller and one API server. Each has a namespace of its own.
package integration

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"

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
	// streamsPerUser is the limit of the API server here.
	streamsPerUser = 3
)

// cluster is what all tests share.
var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) {
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
	klog.LogToStderr(false) // Of the servers in this process only errors are worth reading.
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
	stopController, err := startController(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { stopController() }()
	server, err := startServer(ctx, directory, service)
	if err != nil {
		return 1, err
	}
	defer func() { server.stop() }()
	if err := register(ctx, server, apiServiceName, group, version); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// startController runs the controller for all namespaces, and returns what stops it.
func startController(ctx context.Context) (stop func(), err error) {
	options := controllerapp.NewOptions()
	options.Kubeconfig = cluster.Kubeconfig()
	config, err := options.Config()
	if err != nil {
		return nil, err
	}
	completed, err := config.Complete(ctx)
	if err != nil {
		return nil, err
	}
	return inBackground(ctx, func(ctx context.Context) error { return controllerapp.Run(ctx, completed) }), nil
}

// server is an API server of this package.
type server struct {
	service  string
	port     int
	caBundle []byte
	stop     func()
}

// startServer runs an API server with a certificate for the Service, on a port of the loopback address.
func startServer(ctx context.Context, directory, service string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(service+"."+serviceNamespace+".svc", nil, nil)
	if err != nil {
		return nil, err
	}
	certFile, keyFile := filepath.Join(directory, service+".crt"), filepath.Join(directory, service+".key")
	for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
	}
	options := apiserverapp.NewOptions()
	options.Kubeconfig = cluster.Kubeconfig()
	options.Limits.StreamsPerUser = streamsPerUser
	options.SecureServing.Listener = listener
	options.SecureServing.ServerCert.CertKey.CertFile, options.SecureServing.ServerCert.CertKey.KeyFile = certFile, keyFile
	scheme, codecs := apiserver.NewScheme()
	config, err := options.Config(scheme, codecs)
	if err != nil {
		return nil, err
	}
	completed, err := config.Complete(scheme, codecs)
	if err != nil {
		return nil, err
	}
	made, err := completed.New()
	if err != nil {
		return nil, err
	}
	port, _ := listener.Addr().(*net.TCPAddr)
	return &server{service: service, port: port.Port, caBundle: certificate, stop: inBackground(ctx, made.Run)}, nil
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
