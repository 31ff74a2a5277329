// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt/corpus"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
)

const intro = `# What can be adopted

<!-- Generated from the corpus: go -C cmd/kubectl-fairlead test ./internal/adopt/corpus -update -->

[kubectl fairlead adopt](guides/migrate.md) takes over a Deployment that runs already. This table says what becomes of %d Deployments
from public charts and manifests: %d are adopted as they are, %d by a user who accepts that the pods lose the fields named here, and %d
are refused because of the one field named here. Charts were rendered with their default values. Each link leads to the commit that was read.

Each row is a [shape](../cmd/kubectl-fairlead/internal/adopt/corpus/corpus.go): a manifest of our own with those fields of the original
that matter for an adoption. A test adopts every shape on a real API server, replaces the pods, and compares: nothing differs but what
the command had announced.

On a *restricted* platform, the default, the pods are adopted with ` + "`--harden`" + `. The others ask for privileges, or say nothing about
them, as images that run as root do: they were adopted on a *privileged* platform, as they are.

| Shape | Chart or manifest | Platform | Result |
|---|---|---|---|
`

// TestDocs keeps docs/adoptable.md as the table is.
func TestDocs(t *testing.T) {
	table, err := corpus.Read()
	if err != nil {
		t.Fatal(err)
	}
	count, rows := map[corpus.Result]int{}, &bytes.Buffer{}
	for _, c := range table.Cases {
		count[c.Result]++
		repository, known := table.Repositories[c.Repository]
		if !known {
			t.Errorf("%s: the table has no repository %q", c.Name, c.Repository)
		}
		fmt.Fprintf(rows, "| %s | [%s](https://github.com/%s/blob/%s/%s) | %s | %s |\n",
			c.Name, repository.Name, repository.Name, repository.Commit, c.Path, c.Platform, result(c))
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, intro, len(table.Cases), count[corpus.Adopted], count[corpus.Accepted], count[corpus.Refused])
	page.Write(rows.Bytes())
	golden.Equal(t, "../../../../../../docs/adoptable.md", page.Bytes())
}

func result(c *corpus.Case) string {
	container := ""
	if c.Container != "" {
		container = ", with `--container`"
	}
	switch c.Result {
	case corpus.Adopted:
		return "adopted" + container
	case corpus.Accepted:
		return "adopted" + container + ", with `--accept=" + strings.Join(c.At, "` `--accept=") + "`"
	default:
		return "refused: `" + c.At[0] + "`"
	}
}
