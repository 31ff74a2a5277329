// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

// Main is the command `up`. It returns the exit code: 0 after a stop that was asked for, 1 after a failure, 2 for a wrong
// command line.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	options, err := parseOptions(args, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "fairlead-cluster: %v\n", err)
		return 2
	}

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	// Without a receiver for it, a write to a pipe whose reader has died would end this process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// After the first signal, a second one ends this process at once, and the kernel its children with it.
	context.AfterFunc(ctx, cancel)
	if options.StopOnStdinEOF {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			cancel()
		}()
	}

	if err := up(ctx, &options, newProgress(stdout)); err != nil {
		_, _ = fmt.Fprintf(stderr, "\nfairlead-cluster: %v\n", err)
		return 1
	}
	return 0
}

// up runs a cluster until ctx ends or a component fails.
func up(ctx context.Context, options *Options, progress *progress) (err error) {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the own executable, which runs the components: %w", err)
	}
	dir, err := openDataDir(options.DataDir, options.RemoveDataDir)
	if err != nil {
		return err
	}
	defer func() {
		keepLogs := errors.As(err, new(*componentError))
		err = errors.Join(err, dir.close(keepLogs))
	}()
	if err := options.complete(dir.path); err != nil {
		return err
	}
	if err := removeKubeconfig(options.Kubeconfig); err != nil {
		return err
	}

	progress.say("Starting a Kubernetes control plane in %s", dir.path)
	c, err := newCluster(options, executable, progress)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.start(ctx); err != nil {
		if ctx.Err() != nil {
			progress.say("Stopped before it was ready.")
			return nil
		}
		return err
	}
	return c.serve(ctx)
}

// serve announces the cluster and waits for its end.
func (c *cluster) serve(ctx context.Context) (err error) {
	control, err := startControl(ctx, c, c.options.controlSocket())
	if err != nil {
		return err
	}
	defer control.close()
	if err := c.publish(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeKubeconfig(c.options.Kubeconfig)) }()

	c.progress.say("Ready after %s. In another terminal:\n\n  export KUBECONFIG=%s\n\nCtrl-C stops it.", c.progress.elapsed(), c.options.Kubeconfig)
	select {
	case <-ctx.Done():
		c.progress.say("\nStopping")
		return nil
	case err := <-c.failed:
		return err
	}
}
