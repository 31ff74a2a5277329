// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var (
	update = flag.Bool("update", false, "write the output of the labs into their chapters")
	shared = controlplane.NewShared(controlplane.APIOnly())
)

func TestMain(m *testing.M) {
	if part := os.Getenv(childVariable); part != "" {
		os.Exit(runPart(context.Background(), part))
	}
	flag.Parse()
	if !testing.Verbose() {
		quiet()
	}
	os.Exit(shared.Main(m))
}

// TestLabs runs every lab and compares its output with what its chapter shows. It ends with the time that each took.
func TestLabs(t *testing.T) {
	var took []string
	for _, c := range chapters() {
		t.Run(c.directory, func(t *testing.T) {
			setting := settingOf(shared.Get(t))
			start := time.Now()
			for i, run := range c.labs {
				var output bytes.Buffer
				if err := lab.Run(t.Context(), setting, c.number(), run, &output); err != nil {
					t.Fatalf("%v\nUntil then it printed:\n%s", err, output.String())
				}
				compare(t, filepath.Join(c.directory, "README.md"), i, asNewest(output.String()))
			}
			took = append(took, fmt.Sprintf("%-28s %5.1f s", c.directory, time.Since(start).Seconds()))
		})
	}
	t.Logf("Run time\n%s", strings.Join(took, "\n"))
}

// asNewest is what a lab prints on the newest Kubernetes: an older API server repeats the type of a value that a CEL rule of a
// CRD refuses.
func asNewest(output string) string {
	return strings.ReplaceAll(output, `Invalid value: "object": `, "Invalid value: ")
}

// outputBlock is where a chapter shows what a lab prints.
var (
	outputBlock = regexp.MustCompile("(?s)\n```text\n(.*?)```\n")
	measured    = regexp.MustCompile(`~[\d.]+ ms`)
)

// compare compares the output of the chapter's lab number i with block number i, without what was measured.
func compare(t *testing.T, file string, i int, output string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := outputBlock.FindAllSubmatchIndex(content, -1)
	if i >= len(blocks) {
		t.Fatalf("%s has no block of text for the output of lab %d, which is\n%s", file, i+1, output)
	}
	place := blocks[i]
	want, got := measured.ReplaceAllString(string(content[place[2]:place[3]]), "~"), measured.ReplaceAllString(output, "~")
	if want == got {
		return
	}
	if !*update {
		t.Fatalf("the output is not the one of %s; if it should be: go test ./docs/informers -update\n%s", file, cmp.Diff(want, got))
	}
	changed := string(content[:place[2]]) + output + string(content[place[3]:])
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}
