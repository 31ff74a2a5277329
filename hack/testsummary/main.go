// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command testsummary reads what `go test -json` writes and prints what `go test` would have
// printed: a line for each package, and the output of the tests that failed. After that it says
// why tests were skipped and how many passed, failed and were skipped. It exits with 1 if anything
// failed, or if nothing ran. Its arguments are files, or pipes, that it reads at the same time.
// hack/test.sh runs it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

func main() {
	summary, err := readFiles(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
	summary.print(os.Stdout)
	// For who runs more than the tests and wants to repeat the count at the very end.
	if path := os.Getenv("TEST_SUMMARY"); path != "" {
		if err := os.WriteFile(path, []byte(summary.counts()+"\n"), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "testsummary:", err)
			os.Exit(1)
		}
	}
	if !summary.good() {
		os.Exit(1)
	}
}

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type test struct {
	pkg, name string
}

func (t test) String() string {
	return t.pkg + " " + t.name
}

type summary struct {
	// mu guards everything below, and what is printed meanwhile.
	mu sync.Mutex

	passed, topLevel int
	failed           []test
	skipped          []string // with the reason
	// broken are packages that failed without a failing test: they did not compile, or the
	// process died.
	broken []string
}

func (s *summary) good() bool {
	return s.passed > 0 && len(s.failed) == 0 && len(s.broken) == 0
}

func readFiles(paths []string, out io.Writer) (*summary, error) {
	var inputs []io.Reader
	var files []*os.File
	defer func() {
		for _, file := range files {
			file.Close()
		}
	}()
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		files, inputs = append(files, file), append(inputs, file)
	}
	return read(inputs, out)
}

// read reads all inputs at the same time, and copies what is interesting to out while it comes in. A package is in one input.
func read(inputs []io.Reader, out io.Writer) (*summary, error) {
	result := &summary{}
	var readers errgroup.Group
	for _, input := range inputs {
		readers.Go(func() error { return result.read(input, out) })
	}
	return result, readers.Wait()
}

func (s *summary) read(in io.Reader, out io.Writer) error {
	outputs := map[test][]string{}
	failing := map[string]bool{} // packages with a failing test
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.addLine(line, outputs, failing, out)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the test output: %w", err)
		}
	}
}

func (s *summary) addLine(line []byte, outputs map[test][]string, failing map[string]bool, out io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		// Not from a test: a message of the go command itself.
		fmt.Fprintf(out, "%s", line)
		return
	}
	s.add(e, outputs, failing, out)
}

func (s *summary) add(e event, outputs map[test][]string, failing map[string]bool, out io.Writer) {
	key := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if e.Test != "" {
			outputs[key] = append(outputs[key], e.Output)
		} else if e.Output != "PASS\n" && !strings.Contains(e.Output, "[no test files]") {
			fmt.Fprint(out, e.Output)
		}
	case "pass":
		if e.Test != "" {
			s.passed++
			if !strings.Contains(e.Test, "/") {
				s.topLevel++
			}
		}
		delete(outputs, key)
	case "skip":
		if e.Test != "" {
			s.skipped = append(s.skipped, key.String()+": "+reason(outputs[key]))
		}
		delete(outputs, key)
	case "fail":
		if e.Test == "" {
			if !failing[e.Package] {
				s.broken = append(s.broken, e.Package)
				printUnfinished(out, e.Package, outputs)
			}
			return
		}
		failing[e.Package] = true
		s.failed = append(s.failed, key)
		fmt.Fprint(out, strings.Join(outputs[key], ""))
		delete(outputs, key)
	}
}

// printUnfinished prints what the tests of a package had written when its process died.
func printUnfinished(out io.Writer, pkg string, outputs map[test][]string) {
	for key, lines := range outputs {
		if key.pkg == pkg {
			fmt.Fprint(out, strings.Join(lines, ""))
			delete(outputs, key)
		}
	}
}

// reason finds the message of t.Skip, which is the last line that is not the frame of a test.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "=== ") {
			return line
		}
	}
	return "no reason given"
}

func (s *summary) print(out io.Writer) {
	fmt.Fprintln(out)
	for _, name := range s.skipped {
		fmt.Fprintln(out, "skipped:", name)
	}
	for _, t := range s.failed {
		fmt.Fprintln(out, "failed:", t)
	}
	for _, name := range s.broken {
		fmt.Fprintln(out, "failed:", name, "(not in a test: it did not compile, its process died, or TestMain failed)")
	}
	fmt.Fprintln(out, s.counts())
}

func (s *summary) counts() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped (subtests counted; %d passed ones are top-level)",
		s.passed, len(s.failed)+len(s.broken), len(s.skipped), s.topLevel)
}
