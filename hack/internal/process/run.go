// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Run runs a command to its end, and appends it and its output to a log, whose last lines are in the error.
func Run(cmd *exec.Cmd, log string) error {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	fmt.Fprintf(output, "\n$ %s\n", strings.Join(cmd.Args, " "))
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; the last lines of %s:\n%s", strings.Join(cmd.Args[:min(2, len(cmd.Args))], " "), err, log, Tail(log))
	}
	return nil
}
