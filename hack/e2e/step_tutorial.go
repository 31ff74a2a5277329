// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fairlead.dev/fairlead/hack/checks/documents"
	"fairlead.dev/fairlead/hack/e2e/internal/images"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// tutorialImages are the images that the reader of the tutorial builds, and what they answer.
var tutorialImages = []struct{ name, answer string }{
	{"registry.example.com/hello:1", "hello, version 1"},
	{"registry.example.com/hello:2", "hello, version 2"},
}

// otherwise is why the test does not type some commands of the tutorial, by how they begin.
var otherwise = map[string]string{
	"make ":   "the operator is there already, and is taken out at the end",
	"docker ": "buildah has built the images, and no registry is needed",
	"echo ":   "it writes a page for an image that is built in another way",
	atEntry:   "there is no Ingress controller",
}

// atEntry is how the command begins that asks the address of the Ingress controller.
const atEntry = "curl --header "

// prepareTutorial builds the tutorial's images from the workload, and compiles kubectl.
func (s *story) prepareTutorial(ctx context.Context) error {
	builder := &images.Builder{Root: s.options.root, Dir: s.options.images(), Log: filepath.Join(s.options.logs(), "images.log")}
	for _, image := range tutorialImages {
		if err := builder.Workload(ctx, image.name, image.answer); err != nil {
			return err
		}
		if err := builder.Save(ctx, image.name, s.archive(image.name)); err != nil {
			return err
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", s.kubectl(), ".")
	build.Dir, build.Env = filepath.Join(s.options.root, "hack", "tools", "kubectl"), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if err := process.Run(build, builder.Log); err != nil {
		return err
	}
	s.out.Good("%d images, and kubectl", len(tutorialImages))
	return nil
}

func (s *story) kubectl() string { return filepath.Join(s.options.images(), "bin", "kubectl") }

// reader follows the tutorial, in a directory with a kubeconfig of its own.
type reader struct {
	*story
	directory, log string
}

// followTutorial types what docs/tutorial.md says, and sees what it shows.
func (s *story) followTutorial(ctx context.Context) error {
	for _, image := range tutorialImages {
		if err := s.node.Import(ctx, s.archive(image.name)); err != nil {
			return err
		}
	}
	document, err := documents.Find(s.options.root, "docs/tutorial.md")
	if err != nil {
		return err
	}
	r := &reader{story: s, directory: filepath.Join(s.options.node(), "tutorial"), log: filepath.Join(s.options.logs(), "tutorial.log")}
	if err := os.MkdirAll(r.directory, 0o700); err != nil {
		return err
	}
	config, err := os.ReadFile(s.options.kubeconfig())
	if err != nil {
		return err
	}
	if err := r.write("kubeconfig", string(config)); err != nil {
		return err
	}
	// At a terminal curl prints no progress beside the answer.
	if err := r.write(".curlrc", "silent\nshow-error\n"); err != nil {
		return err
	}
	// No name can be resolved in here, which takes a resolver its time. At this address nothing listens, which is known at once.
	if err := r.write("hosts", "127.0.0.1 localhost registry.example.com\n"); err != nil {
		return err
	}
	if err := process.Run(exec.CommandContext(ctx, "mount", "--bind", filepath.Join(r.directory, "hosts"), "/etc/hosts"), r.log); err != nil {
		return err
	}
	// What the reader puts into the background ends with the step.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	typed, seen, left, started, began := 0, 0, 0, time.Now(), time.Now()
	for _, step := range document.Steps() {
		switch {
		case step.File != "":
			err = r.write(step.File, step.Content)
		case r.skips(step.Command):
			left++
		default:
			typed++
			if strings.HasPrefix(step.Command, "kubectl apply ") {
				began = time.Now()
			}
			if step.Shows != "" {
				seen++
			}
			err = r.do(ctx, step)
		}
		if err != nil {
			return fmt.Errorf("docs/tutorial.md:%d: %s: %w", step.Line, step.Command, err)
		}
		if strings.HasPrefix(step.Command, "curl http") {
			s.tellFirstAnswer(time.Since(started), time.Since(began))
		}
	}
	if seen < 8 {
		return fmt.Errorf("only %d outputs were compared; is the format of the tutorial understood?", seen)
	}
	s.out.Good("%d commands typed, %d outputs as the tutorial shows them, %d commands left out", typed, seen, left)
	return nil
}

// tellFirstAnswer says how long the reader has waited for the first answer. The operator was there already, because other steps
// came between its installation and the tutorial, so the two are added.
func (s *story) tellFirstAnswer(sinceFirstCommand, sinceApply time.Duration) {
	whole := s.installation + sinceFirstCommand
	s.out.Measured("the first answer %s after kubectl apply, and %s after make deploy, without the steps between", steps.Duration(sinceApply), steps.Duration(whole))
	s.figures = append(s.figures,
		figure{"the tutorial: from kubectl apply to the first answer", steps.Duration(sinceApply), "measured"},
		figure{"the tutorial: from make deploy to the first answer", steps.Duration(whole), "measured"})
}

func (r *reader) skips(command string) bool {
	for prefix, reason := range otherwise {
		if prefix == atEntry && r.entry != "" {
			continue
		}
		if strings.HasPrefix(command, prefix) {
			r.out.Note("not typed: %s: %s", command, reason)
			return true
		}
	}
	return false
}

// do types a command until it prints what the tutorial shows, or once if that is nothing.
func (r *reader) do(ctx context.Context, step documents.Step) error {
	if background, lasts := strings.CutSuffix(step.Command, " &"); lasts {
		cmd := r.process(ctx, background)
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() { _ = cmd.Wait() }() // It ends when it is killed.
		return nil
	}
	if step.Shows == "" {
		return process.Run(r.process(ctx, step.Command), r.log)
	}
	return r.await(ctx, "what the tutorial shows of "+step.Command, func(ctx context.Context) (bool, string, error) {
		output, err := r.process(ctx, step.Command).CombinedOutput()
		if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
			return false, "", err
		}
		return err == nil && documents.Matches(step.Shows, string(output)), string(output), nil
	})
}

func (r *reader) process(ctx context.Context, command string) *exec.Cmd {
	// The reader puts in what the column ADDRESS shows.
	command = strings.Replace(command, "http://ADDRESS/", "http://"+r.entry+"/", 1)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = r.directory
	cmd.Env = slices.Concat(os.Environ(), []string{
		"KUBECONFIG=" + filepath.Join(r.directory, "kubeconfig"),
		"CURL_HOME=" + r.directory,
		"PATH=" + filepath.Dir(r.kubectl()) + string(os.PathListSeparator) + os.Getenv("PATH"),
	})
	// A group of its own, so that it ends with what it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func (r *reader) write(name, content string) error {
	return os.WriteFile(filepath.Join(r.directory, name), []byte(content), 0o600)
}
