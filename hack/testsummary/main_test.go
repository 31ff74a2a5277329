// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		name  string
		input []string
		good  bool
		// output is everything that is printed.
		output string
	}{
		{
			name: "all pass",
			input: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA/sub"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"PASS\n"}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`,
				`{"Action":"pass","Package":"p"}`,
				`{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}`,
				`{"Action":"skip","Package":"q"}`,
			},
			good:   true,
			output: "ok  \tp\t0.1s\n\n2 passed, 0 failed, 0 skipped (subtests counted; 1 passed ones are top-level)\n",
		},
		{
			name: "a failure, with its output, and a skip, with its reason",
			input: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: broken\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: no root\n"}`,
				`{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB\n"}`,
				`{"Action":"skip","Package":"p","Test":"TestB"}`,
				`{"Action":"pass","Package":"p","Test":"TestC"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			output: "    a_test.go:1: broken\n--- FAIL: TestA\nFAIL\tp\t0.1s\n\n" +
				"skipped: p TestB: b_test.go:1: no root\nfailed: p TestA\n" +
				"1 passed, 1 failed, 1 skipped (subtests counted; 1 passed ones are top-level)\n",
		},
		{
			name: "a package that does not compile",
			input: []string{
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"ImportPath":"q [q.test]","Action":"build-output","Output":"q/q.go:1: undefined: x\n"}`,
				`{"ImportPath":"q [q.test]","Action":"build-fail"}`,
				`{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}`,
				`{"Action":"fail","Package":"q","FailedBuild":"q [q.test]"}`,
			},
			output: "q/q.go:1: undefined: x\nFAIL\tq [build failed]\n\n" +
				"failed: q (not in a test: it did not compile, its process died, or TestMain failed)\n" +
				"1 passed, 1 failed, 0 skipped (subtests counted; 1 passed ones are top-level)\n",
		},
		{
			name: "a process that dies in a test",
			input: []string{
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestB","Output":"panic: os.Exit\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			output: "panic: os.Exit\n\n" +
				"failed: p (not in a test: it did not compile, its process died, or TestMain failed)\n" +
				"1 passed, 1 failed, 0 skipped (subtests counted; 1 passed ones are top-level)\n",
		},
		{
			name:   "nothing ran",
			input:  []string{`go: no module`},
			output: "go: no module\n\n0 passed, 0 failed, 0 skipped (subtests counted; 0 passed ones are top-level)\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var output strings.Builder
			summary, err := read([]io.Reader{strings.NewReader(strings.Join(test.input, "\n") + "\n")}, &output)
			if err != nil {
				t.Fatal(err)
			}
			summary.print(&output)
			if diff := cmp.Diff(test.output, output.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if summary.good() != test.good {
				t.Errorf("good is %t, want %t", summary.good(), test.good)
			}
		})
	}
}

// Several inputs are read at the same time: neither waits for the end of another.
func TestInputsTogether(t *testing.T) {
	first, toFirst := io.Pipe()
	second, toSecond := io.Pipe()
	go func() {
		fmt.Fprintln(toFirst, `{"Action":"pass","Package":"p","Test":"TestA"}`)
		fmt.Fprintln(toSecond, `{"Action":"fail","Package":"q","Test":"TestB"}`)
		fmt.Fprintln(toFirst, `{"Action":"pass","Package":"p"}`)
		toSecond.Close()
		toFirst.Close()
	}()
	var output strings.Builder
	summary, err := read([]io.Reader{first, second}, &output)
	if err != nil {
		t.Fatal(err)
	}
	if summary.good() || summary.passed != 1 || len(summary.failed) != 1 {
		t.Errorf("passed %d, failed %v, good %t", summary.passed, summary.failed, summary.good())
	}
}
