// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/template"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

// peer is another operator, to be measured by the same yardstick: how fast and with how many requests it brings new
// objects of its own kind to where they should be, and what a restart over them costs.
type peer struct {
	// template is a file with an object in YAML, in which {{.Name}} and {{.Namespace}} stand for its own.
	template string
	resource string
	children int
	command  string
	crds     string
}

func (p *peer) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&p.template, "peer-template", "", "measure another operator too: a file with one of its objects in YAML, with {{.Name}} and {{.Namespace}} for its name and namespace")
	flags.StringVar(&p.resource, "peer-resource", "", "the resource of these objects, as group/version/plural")
	flags.IntVar(&p.children, "peer-children", 0, "how many objects the operator creates for each")
	flags.StringVar(&p.command, "peer-command", "", "what starts the operator, in the shell, with KUBECONFIG set")
	flags.StringVar(&p.crds, "peer-crds", "", "a directory with the operator's CustomResourceDefinitions")
}

func (p *peer) validate() error {
	if p.template == "" {
		if p.resource+p.command+p.crds != "" || p.children != 0 {
			return errors.New("the flags -peer-* need -peer-template")
		}
		return nil
	}
	var errs []error
	if _, err := p.gvr(); err != nil {
		errs = append(errs, err)
	}
	if p.children < 1 {
		errs = append(errs, fmt.Errorf("-peer-children is %d, but must be at least 1", p.children))
	}
	if p.command == "" {
		errs = append(errs, errors.New("-peer-template needs -peer-command"))
	}
	if p.crds == "" {
		errs = append(errs, errors.New("-peer-template needs -peer-crds"))
	}
	return errors.Join(errs...)
}

func (p *peer) gvr() (schema.GroupVersionResource, error) {
	parts := strings.Split(p.resource, "/")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return schema.GroupVersionResource{}, fmt.Errorf("-peer-resource is %q, but must be group/version/plural", p.resource)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, nil
}

// object is the one of a name. An unknown placeholder is an error.
func (p *peer) object(text *template.Template, namespace, name string) (*unstructured.Unstructured, error) {
	var filled bytes.Buffer
	if err := text.Execute(&filled, map[string]string{"Name": name, "Namespace": namespace}); err != nil {
		return nil, fmt.Errorf("fill %s: %w", p.template, err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(filled.Bytes(), &object.Object); err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.template, err)
	}
	return object, nil
}

// ofPeer selects what the operator asks for about the objects that are measured.
func ofPeer(e *event) bool { return byPeer(e) && measured(e) }

func (b *bench) measurePeer(ctx context.Context) error {
	n := b.options.applications
	b.progress.step("Peer: %d new objects of %s", n, b.options.resource)
	return inLab(ctx, b.options, func(l *lab) error {
		if err := l.plane.ApplyCRDs(ctx, b.options.peer.crds); err != nil {
			return err
		}
		used, events, err := l.convergePeer(ctx, &b.options.peer, n)
		if err != nil {
			return fmt.Errorf("converge: %w", err)
		}
		each := func(n int) report.Sample { return report.Sample{float64(n) / float64(b.options.applications)} }
		restarted, err := l.restartPeer(ctx, &b.options.peer)
		if err != nil {
			return fmt.Errorf("restart: %w", err)
		}
		b.add(
			report.Row{Goal: "Peer", What: "converge", Unit: "s", Measured: report.Sample{took(only(events, isConvergence)).Seconds()}},
			report.Row{Goal: "Peer", What: "requests of a new object", Measured: each(len(events))},
			report.Row{Goal: "Peer", What: "writes of a new object", Measured: each(countIf(events, isAnyWrite))},
			report.Row{Goal: "Peer", What: "processor time of a new object", Unit: "ms", Measured: report.Sample{float64(used.Milliseconds()) / float64(n)}},
			report.Row{Goal: "Peer", What: "writes of a restart", Measured: report.Sample{float64(countIf(restarted, isAnyWrite))}},
			report.Row{Goal: "Peer", What: "reads of a restart outside of informers", Measured: report.Sample{float64(countIf(restarted, isRead))}},
		)
		b.report.PeerRequests = count(events, n)
		return nil
	})
}

// convergePeer makes the objects while the operator runs, and returns the processor time and the requests that it took.
func (l *lab) convergePeer(ctx context.Context, p *peer, n int) (used time.Duration, events []event, err error) {
	resource, err := p.gvr()
	if err != nil {
		return 0, nil, err
	}
	text, err := template.ParseFiles(p.template)
	if err != nil {
		return 0, nil, fmt.Errorf("read -peer-template: %w", err)
	}
	text.Option("missingkey=error")
	config := l.plane.Config()
	config.UserAgent = agent
	client, err := dynamic.NewForConfigAndClient(config, l.clients.http)
	if err != nil {
		return 0, nil, err
	}
	namespace := namespacePrefix + "peer"
	if err := l.createNamespace(ctx, namespace); err != nil {
		return 0, nil, err
	}
	err = l.withPeer(ctx, p, func(running *subject) error {
		before, err := running.cpu()
		if err != nil {
			return err
		}
		asked, err := l.follow(ctx, ofPeer)
		if err != nil {
			return err
		}
		err = inParallel(ctx, l.options.workers, n, func(ctx context.Context, i int) error {
			object, err := p.object(text, namespace, fmt.Sprintf("peer-%05d", i))
			if err != nil {
				return err
			}
			_, err = client.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("create an object of %s: %w", p.resource, err)
		}
		err = asked.untilCalm(ctx, running, func(events []event) bool { return childrenOf(events) >= p.children*n })
		if err != nil {
			return fmt.Errorf("%d objects were created, -peer-children asks for %d: %w", childrenOf(asked.events), p.children*n, err)
		}
		after, err := running.cpu()
		used, events = after-before, asked.events
		return err
	})
	return used, events, err
}

// childrenOf counts the objects that an operator has created, by POST or by an apply that made them.
func childrenOf(events []event) int {
	return countIf(events, func(e *event) bool {
		made := e.Verb == "create" && e.Code < 300 || e.Verb == "patch" && e.Code == 201
		return made && e.IsWrite() && e.Resource != "events"
	})
}

// restartPeer returns what the operator asks for when it is started over its objects.
func (l *lab) restartPeer(ctx context.Context, p *peer) ([]event, error) {
	asked, err := l.follow(ctx, ofPeer)
	if err != nil {
		return nil, err
	}
	err = l.withPeer(ctx, p, func(*subject) error { return nil })
	return asked.events, errors.Join(err, asked.read())
}

// withPeer starts the operator, waits until it has done what it does at its start, and runs something.
func (l *lab) withPeer(ctx context.Context, p *peer, run func(*subject) error) error {
	starting, err := l.follow(ctx, ofStart)
	if err != nil {
		return err
	}
	// The shell is replaced, so that the process is the operator's.
	command := exec.Command("sh", "-c", "exec "+p.command)
	command.Env = append(os.Environ(), "KUBECONFIG="+l.plane.Kubeconfig())
	running, err := l.start(command, "peer")
	if err != nil {
		return err
	}
	watches := func(events []event) bool {
		return countIf(events, func(e *event) bool { return e.Verb == "watch" }) > 0
	}
	err = starting.untilCalm(ctx, running, watches)
	if err == nil {
		err = run(running)
	}
	return errors.Join(err, running.stop(ctx))
}

// ofStart selects what an operator does at its start, until it only waits. One that elects a leader never stops to ask
// for its Lease.
func ofStart(e *event) bool { return byPeer(e) && e.Resource != "leases" && e.Resource != "" }

// byPeer selects what neither this process nor the API server itself asks for.
func byPeer(e *event) bool {
	return !strings.HasPrefix(e.UserAgent, agent) && !strings.HasPrefix(e.UserAgent, "fairlead-cluster/")
}
