// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed config
var configs embed.FS

// Config says where everything of a node is.
type Config struct {
	// Name is the name of the Node.
	Name string
	// Dir holds what the node writes; Logs its logs and those of the pods.
	Dir, Logs string
	// Binary is the executable with the kubelet and kube-proxy in it.
	Binary string
	// CNIPlugins is the directory of the CNI plugins.
	CNIPlugins string
	// Cgroup is the control group of the pods.
	Cgroup string
	// PauseImage is the image of the process that holds a pod's namespaces.
	PauseImage string
	// Kubeconfig is the administrator's: the kubelet requests its certificate with it, and kube-proxy uses it.
	Kubeconfig string
	// CAFile has the authority that signs the clients of the API server, and so those of the kubelet.
	CAFile string
}

// The network of the sandbox. It is seen in there only, so it collides with nothing.
const (
	// IP is the address of the node, at which pods reach the API server.
	IP = "10.255.0.1"
	// PodNetwork is where pods get their addresses from.
	PodNetwork = "10.244.0.0/24"
	// ServiceNetwork is where hack/cluster gives Services their addresses from.
	ServiceNetwork = "10.96.0.0/16"
	// Socket is where containerd listens.
	Socket = "/run/fairlead-containerd/containerd.sock"
)

// values are what the templates can name.
type values struct {
	Config
	IP, PodNetwork, Socket string
}

// writeConfigs fills in the templates. The names of the files are theirs.
func (c *Config) writeConfigs() error {
	targets := map[string]string{
		"containerd.toml": "containerd.toml",
		"cni.conflist":    "cni/pods.conflist",
		"kubelet.yaml":    "kubelet.yaml",
		"kube-proxy.yaml": "kube-proxy.yaml",
	}
	for name, target := range targets {
		content, err := c.render(name)
		if err != nil {
			return fmt.Errorf("write the configuration %s: %w", name, err)
		}
		file := filepath.Join(c.Dir, target)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	// No name server: there is no cluster DNS, and the machine's is out of reach.
	return os.WriteFile(filepath.Join(c.Dir, "resolv.conf"), nil, 0o600)
}

func (c *Config) render(name string) ([]byte, error) {
	parsed, err := template.New(name).Option("missingkey=error").ParseFS(configs, "config/"+name)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	err = parsed.Execute(&content, values{Config: *c, IP: IP, PodNetwork: PodNetwork, Socket: Socket})
	return content.Bytes(), err
}
