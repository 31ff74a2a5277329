// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What the kernel says about a process, on Linux. The figures are the child's own, not what it says about itself.

// tick is the kernel's unit of processor time in /proc; it is the same on every architecture that Go supports.
const tick = 10 * time.Millisecond

// cpu is the processor time that the child has used.
func (s *subject) cpu() (time.Duration, error) {
	content, err := s.proc("stat")
	if err != nil {
		return 0, err
	}
	return parseCPU(content)
}

// parseCPU adds user and system time up in /proc/PID/stat. The name of the program, in brackets, may contain anything.
func parseCPU(stat string) (time.Duration, error) {
	const user, system = 11, 12 // after the name
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("parse /proc/PID/stat: %q has too few fields", stat)
	}
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parse /proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// rss is the memory that the child has now, in bytes, as the kernel counts it page by page.
func (s *subject) rss() (int64, error) {
	content, err := s.proc("smaps_rollup")
	if err != nil {
		return 0, err
	}
	return parseKiB(content, "Rss:")
}

// peak is the most that rss has been.
func (s *subject) peak() (int64, error) {
	content, err := s.proc("status")
	if err != nil {
		return 0, err
	}
	return parseKiB(content, "VmHWM:")
}

// parseKiB finds a line such as "Rss:   1024 kB", and returns bytes.
func parseKiB(content, label string) (int64, error) {
	const bytesPerKiB = 1024
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != label {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parse %q: %w", line, err)
		}
		return n * bytesPerKiB, nil
	}
	return 0, fmt.Errorf("the kernel does not tell %s of the process", label)
}

// connections is how many TCP connections the child has to a port.
func (s *subject) connections(port int) (int, error) {
	descriptors, err := filepath.Glob(s.procPath("fd/*"))
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	for _, descriptor := range descriptors {
		target, err := os.Readlink(descriptor)
		if err != nil {
			continue // Closed since it was listed.
		}
		if inode, found := strings.CutPrefix(target, "socket:["); found {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	n := 0
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		content, err := s.proc(table)
		if err != nil {
			return 0, err
		}
		n += parseConnections(content, port, inodes)
	}
	return n, nil
}

// parseConnections counts the established connections to a port in /proc/PID/net/tcp, which has those of everybody.
func parseConnections(table string, port int, inodes map[string]bool) int {
	const remote, state, inode, established = 2, 3, 9, "01"
	n := 0
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > inode && fields[state] == established && inodes[fields[inode]] &&
			strings.HasSuffix(fields[remote], fmt.Sprintf(":%04X", port)) {
			n++
		}
	}
	return n
}

func (s *subject) procPath(file string) string {
	return fmt.Sprintf("/proc/%d/%s", s.Cmd.Process.Pid, file)
}

func (s *subject) proc(file string) (string, error) {
	content, err := os.ReadFile(s.procPath(file))
	if err != nil {
		return "", fmt.Errorf("ask the kernel about a process (that needs Linux): %w", err)
	}
	return string(content), nil
}
