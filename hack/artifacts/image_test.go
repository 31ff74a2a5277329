// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"regexp"
	"strings"
	"testing"
)

// TestS21Image holds what the Dockerfile promises: the static files of the two servers in an empty image, for a user
// without rights, from a compiler and modules of a fixed version. The pod's half is TestS21Pod.
func TestS21Image(t *testing.T) {
	var instructions []string
	joined := strings.ReplaceAll(readFile(t, "Dockerfile"), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			instructions = append(instructions, strings.Join(strings.Fields(line), " "))
		}
	}
	all := strings.Join(instructions, "\n")
	final := all[strings.LastIndex(all, "\nFROM ")+1:]
	for _, want := range []struct{ where, pattern string }{
		{all, `(?m)^FROM --platform=\$BUILDPLATFORM \S+/golang:\d+\.\d+\.\d+@sha256:[0-9a-f]{64} AS build$`},
		{all, `(?m)^RUN .*CGO_ENABLED=0 GOTOOLCHAIN=local .*go build -trimpath -buildvcs=false .* -o /out/ \./cmd/fairlead-controller \./cmd/fairlead-apiserver$`},
		{final, `(?m)^COPY --from=build /out/ /$`},
		{final, `^FROM scratch\n`},
		{final, `(?m)^USER [1-9]\d*:[1-9]\d*$`},
		{final, `(?m)^ENTRYPOINT \["/fairlead-controller"\]$`},
	} {
		if !regexp.MustCompile(want.pattern).MatchString(want.where) {
			t.Errorf("the Dockerfile has nothing like %s", want.pattern)
		}
	}
	if copies := regexp.MustCompile(`(?m)^(COPY|ADD) `).FindAllString(final, -1); len(copies) != 1 {
		t.Errorf("the image gets %d things, want one directory", len(copies))
	}
	if regexp.MustCompile(`(?m)^(RUN|ADD|VOLUME) `).MatchString(final) {
		t.Error("the last stage does more than to copy files")
	}
}
