// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// kubeletLine is the log of every container.
const kubeletLine = "ready to serve"

// floodingApplication has pods that write for as long as their log is read.
const floodingApplication = "flooding"

// kubelet is as much of a kubelet as logs, exec and port-forward need. The simulated nodes have none.
type kubelet struct {
	t testing.TB
}

// startKubelet serves for a node, until the test ends.
func (f *fixture) startKubelet(node string) {
	f.Helper()
	server := httptest.NewTLSServer(&kubelet{f.T})
	f.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		f.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		f.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"addresses":       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}},
		"daemonEndpoints": corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(number)}},
	}})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := f.kube.CoreV1().Nodes().Patch(f.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		f.Fatal(err)
	}
}

// ServeHTTP serves /containerLogs and /exec/NAMESPACE/POD/CONTAINER, and /portForward/NAMESPACE/POD.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(path) == 4 && path[0] == "exec":
		k.exec(w, r, path[2]+" "+path[3])
	case len(path) == 4 && path[0] == "containerLogs":
		line := time.Now().UTC().Format(time.RFC3339Nano) + " " + kubeletLine + "\n"
		_, err := io.WriteString(w, line)
		for strings.HasPrefix(path[2], floodingApplication) && err == nil {
			_, err = io.WriteString(w, strings.TrimSuffix(line, "\n")+strings.Repeat(".", 8<<10)+"\n")
		}
		if r.URL.Query().Get("follow") == "true" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	case len(path) == 3 && path[0] == "portForward":
		k.portForward(w, r)
	default:
		http.NotFound(w, r)
	}
}

// upgrade returns the streams that the client opens.
func upgrade(w http.ResponseWriter, r *http.Request, protocols ...string) (httpstream.Connection, <-chan httpstream.Stream) {
	if _, err := httpstream.Handshake(r, w, protocols); err != nil {
		return nil, nil
	}
	streams := make(chan httpstream.Stream, 8)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	return connection, streams
}

// exec prints where the command runs, the command, and its input. The command "wait" runs until its input ends.
func (k *kubelet) exec(w http.ResponseWriter, r *http.Request, where string) {
	connection, opened := upgrade(w, r, "v4.channel.k8s.io")
	if connection == nil {
		return
	}
	defer connection.Close()
	query := r.URL.Query()
	wanted := 1
	for _, name := range []string{"input", "output", "error"} {
		if query.Get(name) == "1" {
			wanted++
		}
	}
	streams := map[string]httpstream.Stream{}
	for len(streams) < wanted {
		select {
		case stream := <-opened:
			streams[stream.Headers().Get(corev1.StreamType)] = stream
		case <-connection.CloseChan():
			return
		case <-time.After(soon):
			k.t.Errorf("exec with %v has only the streams %v", query, streams)
			return
		}
	}
	fmt.Fprintf(streams[corev1.StreamTypeStdout], "%s: %s\n", where, strings.Join(query["command"], " "))
	if stdin := streams[corev1.StreamTypeStdin]; stdin != nil {
		_, _ = io.Copy(streams[corev1.StreamTypeStdout], stdin)
	}
	status, err := json.Marshal(metav1.Status{Status: metav1.StatusSuccess})
	if err != nil {
		k.t.Error(err)
	}
	_, _ = streams[corev1.StreamTypeError].Write(status)
	for _, stream := range streams {
		_ = stream.Close()
	}
	<-connection.CloseChan()
}

// portForward echoes what comes to any port, after the port.
func (k *kubelet) portForward(w http.ResponseWriter, r *http.Request) {
	connection, opened := upgrade(w, r, "portforward.k8s.io")
	if connection == nil {
		return
	}
	defer connection.Close()
	for {
		select {
		case stream := <-opened:
			if stream.Headers().Get(corev1.StreamType) != corev1.StreamTypeData {
				_ = stream.Close() // No error.
				continue
			}
			go func() {
				defer stream.Close()
				fmt.Fprintf(stream, "port %s: ", stream.Headers().Get(corev1.PortHeader))
				_, _ = io.Copy(stream, stream)
			}()
		case <-connection.CloseChan():
			return
		}
	}
}
