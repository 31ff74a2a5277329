// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// tailWindow bounds how much of a log file is read to find its last lines.
const tailWindow = 64 << 10

// Tail returns the last lines of a file, at most n, for an error message. A file that cannot be read gives no lines: the
// caller is already reporting something more important.
func Tail(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailWindow {
		if _, err := file.Seek(-tailWindow, io.SeekEnd); err != nil {
			return nil
		}
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	content = bytes.TrimRight(content, "\n")
	if len(content) == 0 {
		return nil
	}
	lines := strings.Split(string(content), "\n")
	return lines[max(0, len(lines)-n):]
}
