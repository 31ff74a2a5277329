// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts the programs of a node. It does not stop them: the sandbox that they run in does.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// How much of a log an error quotes.
const (
	tail  = 12  // lines
	width = 240 // bytes of each
)

// Starter starts processes whose output goes to log files.
type Starter struct {
	// Logs is the directory of the log files.
	Logs string
	// Died is called when a process ends, since none should.
	Died func(error)
}

// Start starts a program. name names it in errors and is the name of its log.
func (s *Starter) Start(name string, cmd *exec.Cmd) error {
	file := filepath.Join(s.Logs, name+".log")
	output, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	defer output.Close() // The child has its own descriptor.
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // How it ended is in ProcessState.
		s.Died(fmt.Errorf("%s ended (%s); the last lines of %s:\n%s", name, cmd.ProcessState, file, Tail(file)))
	}()
	return nil
}

// Tail returns the last lines of a file, indented. A file that cannot be read has none: the caller is about to report
// something worse.
func Tail(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	for i, line := range lines {
		if len(line) > width {
			lines[i] = strings.ToValidUTF8(line[:width], "") + " …"
		}
	}
	return "    " + strings.Join(lines[max(0, len(lines)-tail):], "\n    ")
}
