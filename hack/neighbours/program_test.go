// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/hack/internal/process"
)

// stopTimeout is how long a program may take to end before it is killed.
const stopTimeout = 30 * time.Second

// program is a process of a program, with its log in a file.
type program struct{ *process.Process }

// neighbour is a command that make neighbours has compiled.
func (l *lab) neighbour(name string, arguments ...string) *exec.Cmd {
	l.Helper()
	return l.command(filepath.Join("neighbours", name), arguments...)
}

func (l *lab) command(name string, arguments ...string) *exec.Cmd {
	l.Helper()
	binary, err := filepath.Abs(filepath.Join(root, "bin", name))
	if err == nil {
		_, err = os.Stat(binary)
	}
	if err != nil {
		l.Fatalf("%v: run make neighbours, which compiles it", err)
	}
	return exec.Command(binary, arguments...)
}

// start starts a program, which is stopped when the test ends. If the test has failed then, it prints the end of the log.
func (l *lab) start(command *exec.Cmd) *program {
	l.Helper()
	name := filepath.Base(command.Path)
	dir := l.TempDir()
	// Only what the test gives it: no kubeconfig of the user, and no proxy.
	command.Env = append(command.Env, "HOME="+dir, "TMPDIR="+dir)
	started, err := process.Start(command, filepath.Join(dir, name+".log"), nil)
	if err != nil {
		l.Fatal(err)
	}
	p := &program{started}
	l.programs = append(l.programs, p)
	l.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.Context()), stopTimeout)
		defer cancel()
		if err := p.Stop(ctx); err != nil && ctx.Err() != nil {
			l.Errorf("stop %s: %v", name, err)
		}
		if l.Failed() {
			l.Logf("the end of the log of %s:\n%s", name, p.tail(l))
		}
	})
	return p
}

// log is everything that the program has said.
func (p *program) log(l *lab) string {
	l.Helper()
	return l.readFile(p.Log)
}

func (p *program) tail(l *lab) string {
	const most = 12_000
	log := p.log(l)
	return log[max(0, len(log)-most):]
}

// waitFor waits until the log has the text.
func (p *program) waitFor(l *lab, text string) {
	l.Helper()
	l.eventually("the log has "+text, func(context.Context) (bool, string) {
		return strings.Contains(p.log(l), text), p.tail(l)
	})
}

// controller starts Fairlead, as an administrator.
func (l *lab) controller(flags ...string) *program {
	l.Helper()
	p := l.start(l.command("fairlead-controller", append([]string{"--kubeconfig=" + l.cluster.Kubeconfig(), "-v=2"}, flags...)...))
	p.waitFor(l, "Caches synced")
	return p
}

// kubeconfigOf writes a kubeconfig with a token of a ServiceAccount, and returns its path.
func (l *lab) kubeconfigOf(namespace, account string) string {
	l.Helper()
	config := l.cluster.Config()
	if err := rest.LoadTLSFiles(config); err != nil {
		l.Fatal(err)
	}
	const name = "cluster"
	content := clientcmdapi.NewConfig()
	content.CurrentContext = name
	content.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	content.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	content.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: l.token(namespace, account)}
	file := filepath.Join(l.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*content, file); err != nil {
		l.Fatal(err)
	}
	return file
}

// token is a token of a ServiceAccount, as its pods have it.
func (l *lab) token(namespace, account string) string {
	l.Helper()
	request, err := l.kube.CoreV1().ServiceAccounts(namespace).CreateToken(l.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return request.Status.Token
}

// freePort may be taken by another process a moment later; then the program says so.
func (l *lab) freePort(host string) string {
	l.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(l.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		l.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		l.Fatal(err)
	}
	if err != nil {
		l.Fatal(err)
	}
	return port
}
