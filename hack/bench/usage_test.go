// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	stat := "42 (a) b) S 1 42 42 0 -1 4194560 900 0 0 0 150 25 0 0 20 0 9 0 12345 1000000 500"
	if got, err := parseCPU(stat); err != nil || got != 1750*time.Millisecond {
		t.Errorf("got %s, %v", got, err)
	}
	for _, bad := range []string{"", "42 (a) S 1", "42 (a) S 1 42 42 0 -1 4194560 900 0 0 0 x 25 0"} {
		if _, err := parseCPU(bad); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

func TestParseKiB(t *testing.T) {
	rollup := "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:               84212 kB\nPss:               80000 kB\n"
	if got, err := parseKiB(rollup, "Rss:"); err != nil || got != 84212*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := parseKiB(rollup, "VmHWM:"); err == nil {
		t.Error("found what is not there")
	}
}

func TestParseConnections(t *testing.T) {
	table := `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9C40 0100007F:192B 01 00000000:00000000 00:00000000 00000000     0        0 111 1 0000000000000000 20 4 30 10 -1
   1: 0100007F:9C42 0100007F:192B 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:9C44 0100007F:192B 06 00000000:00000000 00:00000000 00000000     0        0 333 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:9C46 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 444 1 0000000000000000 20 4 30 10 -1
`
	own := map[string]bool{"111": true, "333": true, "444": true}
	if got := parseConnections(table, 6443, own); got != 1 {
		t.Errorf("%d connections, want the one that is its own, established, and to the port", got)
	}
}
