// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"fairlead.dev/fairlead/hack/cluster/internal/atomicfile"
	"fairlead.dev/fairlead/hack/cluster/internal/pki"
	"fairlead.dev/fairlead/hack/cluster/internal/ports"
	"fairlead.dev/fairlead/hack/cluster/internal/stages"
)

const loopback = "127.0.0.1"

// spec says how one component is run and asked whether it is ready.
type spec struct {
	name     string
	path     string
	args     []string
	url      string // base URL of its server
	readyz   string // path that answers 200 when it is ready
	reserved []*ports.Reservation

	stopGrace time.Duration // how long it may take to stop before it is killed
}

const (
	defaultStopGrace = 5 * time.Second
	// etcdStopGrace is short, because etcd waits for its clients to leave. The API server leaves first when everything stops; when a test restarts etcd
	// alone, no client does.
	etcdStopGrace = time.Second
)

// planner turns options and credentials into specs. A component may need the address of one planned before it.
type planner struct {
	options     *Options
	credentials *credentials
	executable  string
	etcdURL     string
	serverURL   string
}

// plan returns the specs of the chosen components in starting order, each with ports reserved for it.
func (p *planner) plan() (specs []*spec, err error) {
	builders := map[string]func(*spec) error{
		Etcd:                  p.etcd,
		KubeAPIServer:         p.apiServer,
		KubeControllerManager: p.controllerManager,
		KubeScheduler:         p.scheduler,
		Kwok:                  p.kwok,
	}
	for _, name := range allComponents() {
		if !p.options.runs(name) {
			continue
		}
		s := &spec{name: name, path: p.executable, stopGrace: defaultStopGrace}
		specs = append(specs, s)
		if err := builders[name](s); err != nil {
			release(specs)
			return nil, fmt.Errorf("prepare %s: %w", name, err)
		}
		s.args = append(s.args, p.options.flagsFor(name)...) // Last, so that they win.
	}
	return specs, nil
}

func release(specs []*spec) {
	for _, s := range specs {
		s.release()
	}
}

func (s *spec) release() {
	for _, reservation := range s.reserved {
		reservation.Release()
	}
}

// portTaken reports whether another process holds one of the component's ports, which explains why it did not start.
func (s *spec) portTaken() bool {
	for _, reservation := range s.reserved {
		if reservation.Taken() {
			return true
		}
	}
	return false
}

func (s *spec) reserve() (*ports.Reservation, error) {
	reservation, err := ports.Reserve()
	if err != nil {
		return nil, err
	}
	s.reserved = append(s.reserved, reservation)
	return reservation, nil
}

func (p *planner) etcd(s *spec) error {
	client, err := s.reserve()
	if err != nil {
		return err
	}
	peer, err := s.reserve()
	if err != nil {
		return err
	}
	peerURL := "http://" + peer.Address()
	s.url, s.readyz, s.stopGrace = "http://"+client.Address(), "/readyz", etcdStopGrace
	p.etcdURL = s.url
	s.args = []string{
		Etcd,
		"--name=default",
		"--data-dir=" + filepath.Join(p.options.DataDir, "etcd"),
		"--listen-client-urls=" + s.url,
		"--advertise-client-urls=" + s.url,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
		"--log-outputs=stderr",
		"--unsafe-no-fsync", // A machine crash may lose the data, kill -9 does not.
		"--quota-backend-bytes=8589934592",
	}
	return nil
}

func (p *planner) apiServer(s *spec) error {
	port, err := s.reserve()
	if err != nil {
		return err
	}
	c := p.credentials
	s.url, s.readyz = "https://"+port.Address(), "/readyz"
	p.serverURL = s.url
	s.args = []string{
		KubeAPIServer,
		"--etcd-servers=" + p.etcdURL,
		"--bind-address=" + loopback,
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port.Port()),
		"--endpoint-reconciler-type=none", // The default refuses to publish a loopback address.
		"--service-cluster-ip-range=" + serviceNetwork,
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--shutdown-watch-termination-grace-period=1s", // Without it, a SIGTERM waits a minute for watches to end.
		"--tls-cert-file=" + c.apiServer.CertFile,
		"--tls-private-key-file=" + c.apiServer.KeyFile,
		"--client-ca-file=" + c.ca.CertFile(),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.serviceAccountKey,
		"--service-account-signing-key-file=" + c.serviceAccountKey,
		"--requestheader-client-ca-file=" + c.frontProxyCA.CertFile(),
		"--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.frontProxy.CertFile,
		"--proxy-client-key-file=" + c.frontProxy.KeyFile,
	}
	if p.options.AuditLog == "" {
		return nil
	}
	policy := filepath.Join(p.options.DataDir, "audit-policy.yaml")
	if err := atomicfile.Write(policy, []byte(auditPolicy)); err != nil {
		return err
	}
	s.args = append(s.args,
		"--audit-policy-file="+policy,
		"--audit-log-path="+p.options.AuditLog,
		"--audit-log-mode=blocking", // The line is written before the client has the end of the answer.
		"--audit-log-maxsize=1000000",
	)
	return nil
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func (p *planner) controllerManager(s *spec) error {
	kubeconfig, err := p.kubernetesClient(s, pki.Subject{CommonName: "system:kube-controller-manager"})
	if err != nil {
		return err
	}
	c := p.credentials
	s.args = append(s.args,
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--leader-elect=false", // There is only one, and it should start and restart at once.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.serviceAccountKey,
		"--root-ca-file="+c.ca.CertFile(),
		"--cluster-signing-cert-file="+c.ca.CertFile(),
		"--cluster-signing-key-file="+c.ca.KeyFile(),
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--horizontal-pod-autoscaler-sync-period=2s",
	)
	return nil
}

func (p *planner) scheduler(s *spec) error {
	kubeconfig, err := p.kubernetesClient(s, pki.Subject{CommonName: "system:kube-scheduler"})
	if err != nil {
		return err
	}
	s.readyz = "/readyz" // It says when the caches are filled; the controller manager has no such endpoint.
	s.args = append(s.args,
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	)
	return nil
}

// kubernetesClient begins the spec of a Kubernetes component that serves HTTPS itself and talks to the API server.
func (p *planner) kubernetesClient(s *spec, subject pki.Subject) (kubeconfig string, err error) {
	port, err := s.reserve()
	if err != nil {
		return "", err
	}
	serving, err := p.credentials.serving(s.name)
	if err != nil {
		return "", err
	}
	s.url, s.readyz = "https://"+port.Address(), "/healthz"
	s.args = []string{
		s.name,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port.Port()),
		"--tls-cert-file=" + serving.CertFile,
		"--tls-private-key-file=" + serving.KeyFile,
	}
	return p.credentials.clientKubeconfig(s.name, p.serverURL, subject)
}

func (p *planner) kwok(s *spec) error {
	s.path = p.options.KwokBinary
	if s.path == "" {
		s.path = filepath.Join(filepath.Dir(p.executable), Kwok)
	}
	if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not exist: run hack/build-cluster.sh, or name the executable with --kwok, or leave kwok out of --components", s.path)
	}
	port, err := s.reserve()
	if err != nil {
		return err
	}
	kubeconfig, err := p.credentials.clientKubeconfig(s.name, p.serverURL, pki.Subject{CommonName: Kwok, Organizations: []string{groupMasters}})
	if err != nil {
		return err
	}
	config, err := stages.Config()
	if err != nil {
		return err
	}
	configFile := filepath.Join(p.options.DataDir, "kwok.yaml")
	if err := atomicfile.Write(configFile, config); err != nil {
		return err
	}
	s.url, s.readyz = "http://"+port.Address(), "/healthz"
	s.args = []string{
		"--kubeconfig=" + kubeconfig,
		"--config=" + configFile,
		"--manage-all-nodes",
		"--cidr=" + podNetwork,
		"--node-ip=" + nodeIP,
		"--node-lease-duration-seconds=40",
		"--server-address=" + port.Address(),
	}
	return nil
}
