// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command deploy puts Fairlead into a cluster and takes it out again, without kubectl:
//
//	deploy [flags] install          the CRDs and an overlay of artifacts/overlays, and waits until the controller works
//	deploy [flags] uninstall        the overlay; the CRDs and what uses them only with --delete-crds
//	deploy [flags] install-crds     the CRDs alone, for a controller outside of the cluster
//	deploy [flags] uninstall-crds   the CRDs, and with them every object of their kinds; asks first
//
// `make deploy`, `undeploy`, `install` and `uninstall` run it.
//
// It applies on the server's side: kubectl's default keeps the whole object in an annotation, and
// the CRD of Application is larger than annotations may be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/internal/objects"
)

type options struct {
	kubeconfig, context  string
	crds, overlay, image string
	deleteCRDs           bool
	timeout              time.Duration
	// webhookTimeout is how long to wait for the webhooks, once the controller is available.
	webhookTimeout time.Duration
	// confirm asks the user before anything of theirs is deleted; nil deletes without a question.
	confirm func(ctx context.Context, out io.Writer) error
}

func main() {
	o, yes := options{}, false
	flags := newFlags(&o, &yes, targetOf(os.Args[1:]))
	_ = flags.Parse(os.Args[1:]) // An error ends the process.
	if !yes {
		o.confirm = question(os.Stdin, term.IsTerminal(int(os.Stdin.Fd())), o.deleteCRDs)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flags.Args(), o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", targetOf(flags.Args()), err)
		os.Exit(1)
	}
}

// newFlags returns the flags of a target of make. Their usage names what the user typed: the program itself is a file that go run
// has compiled.
func newFlags(o *options, yes *bool, target string) *flag.FlagSet {
	flags := flag.NewFlagSet(target, flag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Path of a kubeconfig file. Default: $KUBECONFIG, or ~/.kube/config.")
	flags.StringVar(&o.context, "context", "", "Context of the kubeconfig. Default: its current context.")
	flags.StringVar(&o.crds, "crds", filepath.Join("artifacts", "crds"), "Directory with the CRDs.")
	flags.StringVar(&o.overlay, "overlay", filepath.Join("artifacts", "overlays", "default"), "Directory with the kustomization to deploy.")
	flags.StringVar(&o.image, "image", "", "Image of the controller. Default: the one that the overlay names.")
	flags.BoolVar(&o.deleteCRDs, "delete-crds", false, "With make undeploy: delete the CRDs too, and with them every Application and its children.")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "How long to wait for the cluster.")
	flags.DurationVar(&o.webhookTimeout, "webhook-timeout", 20*time.Second, "How long of that to wait for the API server to reach the webhooks: nodes need a moment to lead a Service to pods that are ready.")
	flags.BoolVar(yes, "yes", false, "Delete without asking. Needed where there is no terminal to ask at.")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: make %s ARGS=\"flags\"\n", target)
		flags.PrintDefaults()
	}
	return flags
}

// targetOf is the target of make that the user ran. The action is the last argument, after the flags.
func targetOf(arguments []string) string {
	targets := map[string]string{"uninstall": "undeploy", "install-crds": "install", "uninstall-crds": "uninstall"}
	if len(arguments) > 0 && targets[arguments[len(arguments)-1]] != "" {
		return targets[arguments[len(arguments)-1]]
	}
	return "deploy"
}

func run(ctx context.Context, arguments []string, o options, out io.Writer) error {
	actions := map[string]func(context.Context, *cluster, options) error{
		"install":        install,
		"uninstall":      uninstall,
		"install-crds":   installCRDsAlone,
		"uninstall-crds": uninstallCRDsAlone,
	}
	if len(arguments) != 1 || actions[arguments[0]] == nil {
		return fmt.Errorf("the arguments are %q, but must be one of install, uninstall, install-crds and uninstall-crds", arguments)
	}
	config, err := clientConfig(o)
	if err != nil {
		return err
	}
	c, err := newCluster(config, out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "cluster:", config.Host)
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("it took longer than --timeout=%s", o.timeout))
	defer cancel()
	return actions[arguments[0]](ctx, c, o)
}

func clientConfig(o options) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster: there is neither --kubeconfig, nor $KUBECONFIG, nor ~/.kube/config")
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return config, nil
}

// install applies everything, in an order in which nothing waits for what comes later.
func install(ctx context.Context, c *cluster, o options) error {
	all, err := render(ctx, o.overlay)
	if err != nil {
		return err
	}
	if o.image != "" {
		if err := setImage(all, o.image); err != nil {
			return err
		}
	}
	// Before the first write: half an installation is of no use.
	if err := c.requireServed(all); err != nil {
		return err
	}
	if err := installCRDs(ctx, c, o); err != nil {
		return err
	}
	for _, object := range all {
		if err := c.objects.Apply(ctx, object); err != nil {
			return err
		}
		fmt.Fprintln(c.out, "applied:", objects.Name(object))
	}
	for _, object := range all {
		if object.GetKind() != deploymentKind {
			continue
		}
		if err := waitAvailable(ctx, c, object); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(all, isWebhookConfiguration) {
		return waitAnswering(ctx, c, o.webhookTimeout)
	}
	return nil
}

// uninstall leaves Applications and their children as they are, unless the CRDs go too.
func uninstall(ctx context.Context, c *cluster, o options) error {
	all, err := render(ctx, o.overlay)
	if err != nil {
		return err
	}
	// While the controller still runs: Applications with deletionPolicy Orphan need it to go.
	if o.deleteCRDs {
		err := uninstallCRDs(ctx, c, o)
		if err != nil && !errors.Is(err, errDeclined) {
			fmt.Fprintf(c.out, "stays: the controller and the rest of %s, until you run the command again\n", o.overlay)
		}
		if err != nil {
			return err
		}
	}
	if err := c.removeAll(ctx, all); err != nil {
		return err
	}
	if !o.deleteCRDs {
		if err := printWhatStays(ctx, c, o); err != nil {
			return err
		}
	}
	return c.printLeftWebhooks(ctx)
}
