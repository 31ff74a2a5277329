// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	controllerapp "fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/apiserver"
)

const (
	operatorNamespace = "fairlead-system"
	leaseName         = "fairlead-controller"
	metricsName       = "fairlead-metrics." + operatorNamespace + ".svc"
)

// leading makes this process a leader as the API server finds one: the holder of the Lease is a pod with an address, which serves the
// live view at its port for metrics, with a certificate of its own and for the server's token.
func leading(ctx context.Context, directory string, options *controllerapp.Options) (apiserver.Leader, error) {
	port, err := freePort()
	if err != nil {
		return apiserver.Leader{}, err
	}
	leader := apiserver.Leader{
		Lease: operatorNamespace + "/" + leaseName, Port: port, ServerName: metricsName,
		CAFile: filepath.Join(directory, "ca.crt"), TokenFile: filepath.Join(directory, "token"),
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(metricsName, nil, nil)
	if err != nil {
		return leader, err
	}
	certs := filepath.Join(directory, "controller")
	if err := errors.Join(
		os.Mkdir(certs, 0o700), os.WriteFile(leader.CAFile, certificate, 0o600),
		os.WriteFile(filepath.Join(certs, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(certs, "tls.key"), key, 0o600),
	); err != nil {
		return leader, err
	}
	options.OperatorNamespace = operatorNamespace
	options.LeaderElection.Enabled = true
	// A leader that loses the Lease ends, and nothing here starts another one. On a busy machine a renewal may take long.
	options.LeaderElection.LeaseDuration, options.LeaderElection.RenewDeadline = time.Hour, 30*time.Minute
	options.Serving.MetricsBindAddress = fmt.Sprintf(":%d", port)
	options.Serving.DebugPipeline, options.Serving.CertDir = true, certs
	return leader, installLeader(ctx, kubernetes.NewForConfigOrDie(cluster.Config()), leader.TokenFile)
}

// installLeader creates what an installation has: the namespace, the Lease, the pod of the controller, and the server's account.
func installLeader(ctx context.Context, kube kubernetes.Interface, tokenFile string) error {
	create := metav1.CreateOptions{}
	if _, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}, create); err != nil {
		return err
	}
	if _, err := kube.CoordinationV1().Leases(operatorNamespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: leaseName}}, create); err != nil {
		return err
	}
	_, account, _ := strings.Cut(serverAccount, operatorNamespace+":")
	if _, err := kube.CoreV1().ServiceAccounts(operatorNamespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, create); err != nil {
		return err
	}
	token, err := kube.CoreV1().ServiceAccounts(operatorNamespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, create)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	pod, err := kube.CoreV1().Pods(operatorNamespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: host},
		Spec: corev1.PodSpec{
			ServiceAccountName: account, SchedulerName: "none", // It stays as this process says.
			Containers: []corev1.Container{{Name: "controller", Image: "example.com/fairlead-controller:1"}},
		},
	}, create)
	if err != nil {
		return err
	}
	pod.Status.PodIP, pod.Status.PodIPs = "127.0.0.1", []corev1.PodIP{{IP: "127.0.0.1"}}
	_, err = kube.CoreV1().Pods(operatorNamespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return errors.Join(err, os.WriteFile(tokenFile, []byte(token.Status.Token), 0o600))
}

func freePort() (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
