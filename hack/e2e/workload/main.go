// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command workload is what the Applications of the end-to-end test run: a small HTTP server that behaves as its
// environment asks. It imports the standard library alone, so that its image is small.
//
//	VERSION      what it answers; the image sets it
//	MODE         crash: ends with exit code 3 at once
//	             unready: serves, but its readiness probe fails
//	             slow: begins to serve after START_DELAY, e.g. 5s
//	             hungry: takes memory until it is ended
//
// GET /work takes a processor two milliseconds. Its log says when it begins to serve and when it ends.
//
// Called as `workload pause` it waits for SIGTERM: the process that holds the namespaces of a pod. Called as
// `workload hostname` it prints the name of the pod, for the test of exec.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	address   = ":8080"
	crashCode = 3
	// drain is how long requests under way may take after SIGTERM.
	drain = 10 * time.Second
	// task is how long GET /work keeps a processor busy.
	task = 2 * time.Millisecond
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := call(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(crashCode)
	}
}

func call(ctx context.Context, args []string) error {
	switch strings.Join(args, " ") {
	case "pause":
		<-ctx.Done()
		return nil
	case "hostname":
		name, err := os.Hostname()
		fmt.Println(name)
		return err
	default:
		return run(ctx, os.Getenv)
	}
}

func run(ctx context.Context, getenv func(string) string) error {
	mode := getenv("MODE")
	switch mode {
	case "", "unready":
	case "crash":
		return errors.New("MODE=crash asked for it")
	case "hungry":
		return hunger(ctx)
	case "slow":
		delay, err := time.ParseDuration(getenv("START_DELAY"))
		if err != nil {
			return fmt.Errorf("START_DELAY: %w", err)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil
		}
	default:
		return fmt.Errorf("MODE is %q, but must be crash, unready, slow, hungry or empty", mode)
	}
	version := getenv("VERSION")
	return serve(ctx, version, handler(version, mode != "unready"))
}

// hunger takes a mebibyte a millisecond, and touches each page, so that the kernel has to find it. It stops where a
// machine without a limit would suffer.
func hunger(ctx context.Context) error {
	const most = 256
	var taken [][]byte
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for len(taken) < most {
		select {
		case <-ticker.C:
			taken = append(taken, bytes.Repeat([]byte{1}, 1<<20))
		case <-ctx.Done():
			return nil
		}
	}
	return fmt.Errorf("took %d MiB, and was not killed", len(taken))
}

// handler answers with the version, and the probes.
func handler(version string, ready bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, version)
	})
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, _ *http.Request) {
		work(task)
		fmt.Fprint(w, version)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready {
			http.Error(w, "MODE=unready asked for it", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "ok")
	})
	return mux
}

// work keeps a processor busy.
func work(lasting time.Duration) {
	sum := [sha256.Size]byte{}
	for began := time.Now(); time.Since(began) < lasting; {
		sum = sha256.Sum256(sum[:])
	}
}

// serve answers until ctx ends, and then until the last request under way has its answer.
func serve(ctx context.Context, version string, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("serving version", version)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	err = <-stopped
	fmt.Println("ending")
	return err
}
