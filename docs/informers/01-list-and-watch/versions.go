// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package listandwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// Versions sends every kind of reading request with every kind of resourceVersion, after ida (v1) and moby (v2) were built.
// They are Leases, of which a namespace has none to begin with.
func Versions(ctx context.Context, l *lab.Lab) error {
	c, err := newClient(l, schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, "h2")
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	first, last, err := c.history(ctx)
	if err != nil {
		return err
	}

	l.Step("v1 built ida, v2 built moby, v3 is in the future; what does each request answer?")
	asked := queries(first, strconv.FormatInt(last+1_000_000, 10))
	answers := make([]string, len(asked))
	var group sync.WaitGroup
	for i, query := range asked {
		group.Go(func() { answers[i] = c.ask(ctx, query) })
	}
	group.Wait()
	var verb string
	for i, query := range asked {
		if query.verb != verb {
			verb = query.verb
			l.Say("%s", verb)
		}
		l.Say("  %-6s %s", query.version, answers[i])
	}
	return nil
}

// history builds two boats and returns the versions after which each of them was there.
func (c *client) history(ctx context.Context) (first string, last int64, err error) {
	if err := c.send(ctx, http.MethodPost, "", lease("ida")); err != nil {
		return "", 0, err
	}
	list, err := c.list(ctx)
	if err != nil {
		return "", 0, err
	}
	if err := c.send(ctx, http.MethodPost, "", lease("moby")); err != nil {
		return "", 0, err
	}
	first = list.Metadata.ResourceVersion
	if list, err = c.list(ctx); err != nil {
		return "", 0, err
	}
	last, err = strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
	return first, last, err
}

func lease(name string) string {
	return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q}}`, name)
}

// query is a request of the table.
type query struct {
	verb, path, version string
	url.Values
}

// queries are all verbs with all versions.
func queries(first, future string) []query {
	var all []query
	for _, verb := range []struct {
		name, path string
		url.Values
	}{
		{"get ida", "/ida", url.Values{}},
		{"list", "", url.Values{}},
		{"list, limit=500", "", url.Values{"limit": {"500"}}},
		{"list, resourceVersionMatch=NotOlderThan", "", url.Values{"resourceVersionMatch": {"NotOlderThan"}}},
		{"list, resourceVersionMatch=Exact", "", url.Values{"resourceVersionMatch": {"Exact"}}},
		{"watch", "", url.Values{"watch": {"true"}, "timeoutSeconds": {"1"}}},
		{"watch, sendInitialEvents=true, resourceVersionMatch=NotOlderThan", "", url.Values{
			"watch": {"true"}, "timeoutSeconds": {"1"}, "sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}, "allowWatchBookmarks": {"true"},
		}},
	} {
		for _, version := range []struct{ name, value string }{{"unset", ""}, {`"0"`, "0"}, {"v1", first}, {"v3", future}} {
			values := maps.Clone(verb.Values)
			if version.value != "" {
				values.Set("resourceVersion", version.value)
			}
			all = append(all, query{verb: verb.name, path: verb.path, version: version.name, Values: values})
		}
	}
	return all
}

// ask sends one request and describes the answer.
func (c *client) ask(ctx context.Context, q query) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+q.path+"?"+q.Encode(), nil)
	if err != nil {
		return err.Error()
	}
	response, err := c.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	var lines []string
	for decoder := json.NewDecoder(response.Body); ; {
		var answer struct {
			event
			object
		}
		if err := decoder.Decode(&answer); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err.Error()
		}
		switch {
		case answer.Type == "ERROR":
			lines = append(lines, fmt.Sprintf("ERROR %d %s", answer.Object.Code, answer.Object.Reason))
		case answer.Object.Metadata.Annotations["k8s.io/initial-events-end"] == "true":
			lines = append(lines, "BOOKMARK: end of the list")
		case answer.Type == "BOOKMARK": // The last one before the server ends a watch, which may or may not come.
		case answer.Type != "":
			lines = append(lines, strings.TrimSpace(answer.Type+" "+answer.Object.Metadata.Name))
		case answer.object.Kind == "Status":
			return fmt.Sprintf("%d %s", answer.Code, answer.Reason)
		case answer.object.Kind == "Lease":
			lines = append(lines, answer.Metadata.Name)
		default:
			for _, item := range answer.Items {
				lines = append(lines, item.Metadata.Name)
			}
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return fmt.Sprintf("%d, and nothing", response.StatusCode)
	}
	return strings.Join(lines, ", ")
}
