// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// What the kernel says about a process, on Linux. The figures are the child's own, not what it says about itself.

// tick is the kernel's unit of processor time in /proc; it is the same on every architecture that Go supports.
const tick = 10 * time.Millisecond

// cpu is the processor time that the child has used.
func (s *subject) cpu() (used time.Duration, err error) {
	err = s.proc(func(p procfs.Proc) error {
		stat, err := p.Stat()
		used = time.Duration(stat.UTime+stat.STime) * tick
		return err
	})
	return used, err
}

// rss is the memory that the child has now, in bytes, as the kernel counts it page by page.
func (s *subject) rss() (bytes int64, err error) {
	bytes, _, err = s.memory()
	return bytes, err
}

// memory is rss, and how much of it is anonymous. The rest are pages of the program's file, which the kernel drops and reads
// again as it likes.
func (s *subject) memory() (rss, anonymous int64, err error) {
	err = s.proc(func(p procfs.Proc) error {
		rollup, err := p.ProcSMapsRollup()
		rss, anonymous = int64(rollup.Rss), int64(rollup.Anonymous)
		return err
	})
	return rss, anonymous, err
}

// leastRSS is rss once it no longer falls, looking once a period: the runtime gives memory back bit by bit.
func (s *subject) leastRSS(ctx context.Context, period time.Duration) (int64, error) {
	const (
		steady  = 5    // looks in a row
		atLeast = 0.99 // of the least so far: less is a fall
		most    = 60   // looks
	)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	least, since := int64(0), 0
	for look := 0; look < most && since < steady; look++ {
		rss, err := s.rss()
		if err != nil {
			return 0, err
		}
		since++
		if least == 0 || float64(rss) < atLeast*float64(least) {
			least, since = rss, 0
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return least, nil
}

// peak is the most that rss has been.
func (s *subject) peak() (bytes int64, err error) {
	err = s.proc(func(p procfs.Proc) error {
		status, err := p.NewStatus()
		bytes = int64(status.VmHWM)
		return err
	})
	return bytes, err
}

// connections is how many TCP connections the child has to a port.
func (s *subject) connections(port int) (n int, err error) {
	err = s.proc(func(p procfs.Proc) error {
		open, err := p.FileDescriptorTargets()
		if err != nil {
			return err
		}
		// The tables have the connections of every process in the same network namespace.
		tables, err := procfs.NewFS(fmt.Sprintf("/proc/%d", p.PID))
		if err != nil {
			return err
		}
		for _, read := range []func() (procfs.NetTCP, error){tables.NetTCP, tables.NetTCP6} { //nolint:staticcheck // Netlink, which it recommends, is for tables with many connections.
			table, err := read()
			if err != nil {
				return err
			}
			const established = 1
			for _, line := range table {
				if line.St == established && line.RemPort == uint64(port) && slices.Contains(open, fmt.Sprintf("socket:[%d]", line.Inode)) {
					n++
				}
			}
		}
		return nil
	})
	return n, err
}

func (s *subject) proc(read func(procfs.Proc) error) error {
	p, err := procfs.NewProc(s.Cmd.Process.Pid)
	if err == nil {
		err = read(p)
	}
	if err != nil {
		return fmt.Errorf("ask the kernel about a process (that needs Linux): %w", err)
	}
	return nil
}
