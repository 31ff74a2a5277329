// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"

	"fairlead.dev/fairlead/hack/internal/steps"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/debug/page"
)

// viewPort is where the live view is served, on the loopback of the pod.
const viewPort = 6060

// showView opens the live view of the leader as docs/operations.md says: by an argument of the Deployment, and a
// forwarded port. The next make deploy takes the argument away again.
func (s *story) showView(ctx context.Context) error {
	flag := fmt.Sprintf("--debug-bind-address=127.0.0.1:%d", viewPort)
	patch := fmt.Sprintf(`[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":%q}]`, flag)
	_, err := s.kube.AppsV1().Deployments(operatorNamespace).Patch(ctx, operatorName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	pods, err := s.awaitOperator(ctx, withArgument(flag))
	if err != nil {
		return err
	}
	leader, err := s.awaitLeader(ctx, func(leader string) bool { return leader == pods[0].Name || leader == pods[1].Name })
	if err != nil {
		return err
	}
	target := s.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(operatorNamespace).Name(leader).SubResource("portforward").URL()
	url, err := s.forward(ctx, s.config, target, viewPort)
	if err != nil {
		return fmt.Errorf("forward port %d of %s: %w", viewPort, leader, err)
	}
	url += "/debug/pipeline/"
	files, err := samePage(ctx, url)
	if err != nil {
		return err
	}
	s.out.Good("%s, a forwarded port of %s: the page and its %d files", url, leader, files-1)
	return s.followKey(ctx, url)
}

// forward forwards a port until ctx ends, as kubectl port-forward does and by the same code. It returns the URL of this end.
func (s *story) forward(ctx context.Context, config *rest.Config, target *url.URL, port int) (address string, err error) {
	dialer, err := portforward.NewSPDYOverWebsocketDialer(target, config)
	if err != nil {
		return "", err
	}
	ready, failed := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddressesWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return "", errors.Join(err, ctx.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local), nil
}

// samePage gets every file of the page, and returns how many there are.
func samePage(ctx context.Context, url string) (files int, err error) {
	err = fs.WalkDir(page.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := fs.ReadFile(page.Files(), name)
		if err != nil {
			return err
		}
		path := url + strings.TrimSuffix(name, "index.html")
		response, err := get(ctx, http.DefaultClient, path, nil)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		got, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("GET %s: %d bytes that differ from the %d of the file", path, len(got), len(want))
		}
		files++
		return nil
	})
	return files, err
}

// followKey edits the Application, and waits until the stream shows the write to its child.
func (s *story) followKey(ctx context.Context, url string) error {
	response, err := get(ctx, http.DefaultClient, url+"v1/stream?namespace="+namespace+"&name="+webName, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	began := time.Now()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	event := ""
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); {
		case name == "event":
			event = value
			if event == "snapshot" {
				began = time.Now()
				if err := s.patch(ctx, `{"spec":{"service":{"annotations":{"example.com/edit":"followed"}}}}`); err != nil {
					return err
				}
			}
		case name == "data" && event == "delta":
			var delta debug.Delta
			if err := json.Unmarshal([]byte(value), &delta); err != nil {
				return fmt.Errorf("decode an event of the stream: %w", err)
			}
			for i := range delta.Events {
				if wrote := &delta.Events[i]; wrote.Type == debug.TypeWrote && wrote.Resource == "services" {
					s.out.Good("its stream follows %s/%s to a write: %s of %s, %d (%s)", namespace, webName, wrote.Verb, wrote.Resource, wrote.Code, steps.Since(began))
					return nil
				}
			}
		}
	}
	return fmt.Errorf("the stream ended before it showed a write: %w", errors.Join(lines.Err(), ctx.Err(), io.ErrUnexpectedEOF))
}
