// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package listandwatch lists and watches without any client library but net/http.
package listandwatch

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

//go:embed boats.yaml
var definition []byte

// object is what the lab reads of any object, list or status.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name            string            `json:"name"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Items  []object `json:"items"`
	Code   int      `json:"code"`
	Reason string   `json:"reason"`
}

// event is one line of a watch.
type event struct {
	Type   string `json:"type"`
	Object object `json:"object"`
}

// client is an HTTP client with the URL of its collection.
type client struct {
	*http.Client
	url string
}

// Lab asks the API server over plain HTTP.
func Lab(ctx context.Context, l *lab.Lab) (err error) {
	boats := schema.GroupVersionResource{Group: "labs.fairlead.dev", Version: "v1", Resource: "boats"}
	remove, err := l.WithCRD(ctx, definition, boats)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c, err := newClient(l, boats, "h2")
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()

	l.Step("list")
	list, err := c.list(ctx)
	if err != nil {
		return err
	}
	l.Say("%s with %d items, resourceVersion %s", list.Kind, len(list.Items), l.Version(list.Metadata.ResourceVersion))
	for _, change := range []func() error{
		func() error { return c.send(ctx, http.MethodPost, "", boat("ida", "1.5")) },
		func() error { return c.send(ctx, http.MethodPatch, "/ida", `{"spec":{"length":"2.5"}}`) },
		func() error { return c.send(ctx, http.MethodDelete, "/ida", "") },
		func() error { return c.send(ctx, http.MethodPost, "", boat("moby", "9")) },
	} {
		if err := change(); err != nil {
			return err
		}
	}

	l.Step("watch from %s: the changes since the list, made before the watch", l.Version(list.Metadata.ResourceVersion))
	versions, err := c.watch(ctx, l, 4, url.Values{"resourceVersion": {list.Metadata.ResourceVersion}})
	if err != nil {
		return err
	}

	l.Step("watch ida alone, while another boat is built: a bookmark moves the version on, until the server ends the watch")
	quiet, err := c.open(ctx, url.Values{
		"resourceVersion":     {versions[3]},
		"fieldSelector":       {"metadata.name=ida"},
		"allowWatchBookmarks": {"true"},
		"timeoutSeconds":      {"4"},
	})
	if err != nil {
		return err
	}
	defer quiet.Body.Close()
	if err := c.send(ctx, http.MethodPost, "", boat("nemo", "70")); err != nil {
		return err
	}
	if _, err := show(l, quiet, -1); err != nil {
		return err
	}

	l.Step("a streaming list: the existing boats, then a bookmark that ends the list")
	if _, err := c.watch(ctx, l, 3, url.Values{
		"sendInitialEvents":    {"true"},
		"resourceVersionMatch": {"NotOlderThan"},
		"allowWatchBookmarks":  {"true"},
	}); err != nil {
		return err
	}

	l.Step("watch from a version that has left the server's history")
	if _, err := c.watch(ctx, l, 1, url.Values{"resourceVersion": {"1"}}); err != nil {
		return err
	}

	l.Step("the same streaming list over HTTP/1.1")
	old, err := newClient(l, boats, "http/1.1")
	if err != nil {
		return err
	}
	defer old.CloseIdleConnections()
	_, err = old.watch(ctx, l, 3, url.Values{
		"sendInitialEvents":    {"true"},
		"resourceVersionMatch": {"NotOlderThan"},
		"allowWatchBookmarks":  {"true"},
	})
	return err
}

// newClient returns a client that speaks one protocol. It takes only the certificates from client-go.
func newClient(l *lab.Lab, resource schema.GroupVersionResource, protocol string) (*client, error) {
	config := rest.CopyConfig(l.Config)
	config.NextProtos = []string{protocol}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	collection := fmt.Sprintf("%s/apis/%s/%s/namespaces/%s/%s", config.Host, resource.Group, resource.Version, l.Namespace, resource.Resource)
	return &client{Client: httpClient, url: collection}, nil
}

func boat(name, length string) string {
	return fmt.Sprintf(`{"apiVersion":"labs.fairlead.dev/v1","kind":"Boat","metadata":{"name":%q},"spec":{"length":%q}}`, name, length)
}

func (c *client) list(ctx context.Context) (object, error) {
	response, err := c.do(ctx, http.MethodGet, c.url, "")
	if err != nil {
		return object{}, err
	}
	defer response.Body.Close()
	var list object
	return list, json.NewDecoder(response.Body).Decode(&list)
}

func (c *client) send(ctx context.Context, method, path, body string) error {
	response, err := c.do(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (c *client) do(ctx context.Context, method, address, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("%s %s: %s: %s", method, address, response.Status, text)
	}
	return response, nil
}

// open starts a watch. Closing the body of the answer is how a client ends it.
func (c *client) open(ctx context.Context, query url.Values) (*http.Response, error) {
	query.Set("watch", "true")
	return c.do(ctx, http.MethodGet, c.url+"?"+query.Encode(), "")
}

func (c *client) watch(ctx context.Context, l *lab.Lab, count int, query url.Values) (versions []string, err error) {
	response, err := c.open(ctx, query)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return show(l, response, count)
}

// show prints count events, or all until the server ends the watch if count is -1, and returns their resourceVersions.
func show(l *lab.Lab, response *http.Response, count int) (versions []string, err error) {
	l.Say("%s %s, transfer encoding %q, length %d", response.Proto, response.Status, response.TransferEncoding, response.ContentLength)
	for lines := json.NewDecoder(response.Body); count != 0; count-- {
		var e event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			l.Say("end of the watch")
			return versions, nil
		} else if err != nil {
			return nil, err
		}
		version := e.Object.Metadata.ResourceVersion
		versions = append(versions, version)
		switch {
		case e.Type == "ERROR":
			l.Say("%-8s  %d %s", e.Type, e.Object.Code, e.Object.Reason)
		case e.Object.Metadata.Annotations["k8s.io/initial-events-end"] == "true":
			l.Say("%-8s  k8s.io/initial-events-end", e.Type)
		case e.Type == "BOOKMARK":
			l.Say("%-8s", e.Type)
		default:
			l.Say("%-8s  %-4s  %s", e.Type, e.Object.Metadata.Name, l.Version(version))
		}
	}
	return versions, nil
}
