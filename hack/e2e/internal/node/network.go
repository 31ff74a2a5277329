// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// SetUpNetwork gives the sandbox, which begins with nothing but a loopback device that is down, the network of a node.
//
// Pods hang on point-to-point links, and the node routes between them. A bridge would need br_netfilter, which is the
// machine's to load, before kube-proxy's rules saw what passes from one pod to another.
func SetUpNetwork(ctx context.Context) error {
	for _, command := range []string{
		"ip link set lo up",
		// A device for the node's address. A bridge without ports is the one that every kernel with containers has.
		"ip link add node0 type bridge",
		"ip address add " + IP + "/32 dev node0",
		"ip link set node0 up",
		// There is nowhere to go, but a packet to a Service must be routable before kube-proxy's rules rewrite it.
		"ip route add default dev node0 src " + IP,
		// Before there is such a rule, the connection is refused, and forgotten. Otherwise the kernel would remember that
		// this port of the client leads nowhere, and a later connection from the same port would fail.
		"iptables --append OUTPUT --destination " + ServiceNetwork + " --jump REJECT",
	} {
		words := strings.Fields(command)
		if output, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(output)))
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o644)
}
