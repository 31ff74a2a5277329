// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command site makes a static site of the documents, in dist/site/VERSION: it stages README.md, docs and what they link to as
// pages, lets VitePress build them, and checks the result, by its files and in a browser.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

type options struct {
	root, version, base, screenshots string
	serve, browser                   bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "The `directory` of the repository.")
	flag.StringVar(&o.version, "version", "", "The `version` that the site is about. Default: what Git says.")
	flag.StringVar(&o.base, "base", "/", "The `path` under which dist/site will be served.")
	flag.StringVar(&o.screenshots, "screenshots", "", "A `directory` for pictures of some pages.")
	flag.BoolVar(&o.browser, "browser", true, "Open every document in chromium and fail if one asks another server for something.")
	flag.BoolVar(&o.serve, "serve", false, "Serve the site on this machine until Ctrl-C.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, log io.Writer) error {
	if o.version == "" {
		var err error
		if o.version, err = gitVersion(ctx, o.root); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(o.base, "/") || !strings.HasSuffix(o.base, "/") {
		return fmt.Errorf("-base: %q does not begin and end with a slash", o.base)
	}
	// A version's path has no build metadata: each build of a branch replaces the one before.
	directory, _, _ := strings.Cut(o.version, "+")
	// The pages find the packages in node_modules beside them.
	pages, out := filepath.Join(o.root, "hack", "site", ".pages"), filepath.Join(o.root, "dist", "site")
	staged, err := stage(o.root, pages)
	if err != nil {
		return err
	}
	if err := generate(ctx, o, pages, filepath.Join(out, directory), o.base+directory+"/"); err != nil {
		return err
	}
	if err := writeIndex(out); err != nil {
		return err
	}
	if err := checkLinks(filepath.Join(out, directory), o.base+directory+"/"); err != nil {
		return err
	}
	fmt.Fprintf(log, "%d documents, and %d files that they link to: %s\n", len(staged.documents), len(staged.sources), filepath.Join(out, directory))
	return show(ctx, o, log, out, o.base+directory+"/", staged.documents)
}

// show serves the site, for the check in a browser and for people.
func show(ctx context.Context, o options, log io.Writer, out, base string, documents []string) error {
	if !o.browser && !o.serve {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.StripPrefix(o.base, http.FileServer(http.Dir(out))), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // It ends with Close; an error of it is one of the browser.
	defer server.Close()
	origin := "http://" + listener.Addr().String()
	if o.browser {
		if err := checkInBrowser(ctx, log, origin+base, documents, o.screenshots); err != nil {
			return err
		}
	}
	if o.serve {
		fmt.Fprintf(log, "%s until Ctrl-C\n", origin+o.base)
		<-ctx.Done()
	}
	return nil
}

// generate runs VitePress.
func generate(ctx context.Context, o options, pages, out, base string) error {
	site := filepath.Join(o.root, "hack", "site")
	if err := installPackages(ctx, site); err != nil {
		return err
	}
	var err error
	if pages, err = filepath.Abs(pages); err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	build := command(ctx, site, filepath.Join("node_modules", ".bin", "vitepress"), "build")
	build.Env = append(os.Environ(), "SITE_PAGES="+pages, "SITE_OUT="+out, "SITE_BASE="+base, "SITE_VERSION="+o.version)
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	return nil
}

// installPackages installs exactly what package-lock.json names, unless it is there.
func installPackages(ctx context.Context, site string) error {
	lock, err := os.ReadFile(filepath.Join(site, "package-lock.json"))
	if err != nil {
		return err
	}
	stamp := filepath.Join(site, "node_modules", ".fairlead")
	sum := fmt.Sprintf("%x", sha256.Sum256(lock))
	if installed, err := os.ReadFile(stamp); err == nil && string(installed) == sum {
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is missing; install it: apt-get install npm")
	}
	// No package runs code while it is installed.
	if err := command(ctx, site, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").Run(); err != nil {
		return fmt.Errorf("install the packages of hack/site: %w", err)
	}
	return os.WriteFile(stamp, []byte(sum), 0o644)
}

var stampedVersion = regexp.MustCompile(`\.gitVersion=(\S+)`)

// gitVersion is the version that a binary would have.
func gitVersion(ctx context.Context, root string) (string, error) {
	ldflags := exec.CommandContext(ctx, "hack/build.sh", "--ldflags")
	ldflags.Dir = root
	output, err := ldflags.Output()
	if err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	found := stampedVersion.FindSubmatch(output)
	if found == nil {
		return "", fmt.Errorf("no version in %q", output)
	}
	return string(found[1]), nil
}

func command(ctx context.Context, directory, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = directory, os.Stdout, os.Stderr
	return c
}
