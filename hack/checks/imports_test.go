// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"go/ast"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is a group of packages and what of this module their files, tests aside, may import.
type layer struct {
	packages string
	mayUse   []string
}

// layers are the packages from the bottom up, those to come included. A package may use what is
// written beside it, which stands further up in this list.
var layers = []layer{
	{"pkg/apis/...", []string{"pkg/apis/..."}},
	{"pkg/generated/...", []string{"pkg/apis/...", "pkg/generated/..."}},
	{"pkg/debug/...", []string{"pkg/debug/..."}},
	// Pure: values in, values out.
	{"pkg/child", []string{"pkg/apis/apps/v1"}},
	{"pkg/reference", []string{"pkg/apis/apps/v1"}},
	{"pkg/class", []string{"pkg/apis/..."}},
	{"pkg/render", []string{"pkg/apis/apps/v1", "pkg/child"}},
	{"pkg/plan", []string{"pkg/apis/apps/v1", "pkg/child"}},
	{"pkg/text", nil},
	{"pkg/apierror", []string{"pkg/apis/apps/v1", "pkg/text"}},
	{"pkg/health", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/text", "pkg/apierror"}},
	{"pkg/revision", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/text", "pkg/health"}},
	{"pkg/tree", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/text"}},
	{"pkg/status", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/plan", "pkg/text", "pkg/apierror", "pkg/health"}},
	{"pkg/preview", []string{"pkg/apis/...", "pkg/child", "pkg/reference", "pkg/class", "pkg/render", "pkg/plan", "pkg/revision", "pkg/health"}},
	// Those that talk to the API server.
	{"pkg/codec", []string{"pkg/apis/apps/v1"}},
	{"pkg/childcodec", []string{"pkg/child"}},
	{"pkg/workqueue", nil},
	{"pkg/consistency", []string{"pkg/debug"}},
	{"pkg/apply", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/plan", "pkg/consistency", "pkg/debug"}},
	{"pkg/payload", []string{"pkg/reference"}},
	{"pkg/informer", []string{"pkg/apis/apps/v1", "pkg/child", "pkg/reference", "pkg/apply", "pkg/generated/...", "pkg/debug"}},
	// The loop. Not the webhooks and servers, which stand beside it.
	{"pkg/controller", []string{
		"pkg/apis/...", "pkg/generated/...", "pkg/child", "pkg/reference", "pkg/class", "pkg/render", "pkg/plan", "pkg/status", "pkg/revision",
		"pkg/health", "pkg/apierror", "pkg/workqueue", "pkg/consistency", "pkg/apply", "pkg/payload", "pkg/informer", "pkg/debug",
	}},
	{"pkg/certs", nil},
	{"pkg/server", []string{"pkg/debug"}},
	{"pkg/admission", []string{"pkg/codec", "pkg/apis/...", "pkg/generated/...", "pkg/child", "pkg/reference", "pkg/class", "pkg/render", "pkg/plan", "pkg/revision", "pkg/text"}},
	// The API server's checks of custom resources, for tests and for the plugin.
	{"pkg/crdschema", nil},
	// The aggregated API server. It reads and decides, so it may use what is pure.
	{"pkg/apiserver", []string{
		"pkg/codec", "pkg/childcodec", "pkg/crdschema", "pkg/apis/...", "pkg/generated/...", "pkg/child", "pkg/class", "pkg/debug", "pkg/health", "pkg/plan", "pkg/preview",
		"pkg/render", "pkg/text",
	}},
	{"pkg/aggregation", []string{"pkg/apis/apps/v1"}},
	// For tests and the demo. It knows clusters and the API, not the controller.
	{"pkg/testing/...", []string{"pkg/apis/apps/v1", "pkg/crdschema", "pkg/testing/..."}},
	// The only place that knows all packages.
	{"cmd/...", []string{
		"cmd/...", "pkg/apis/...", "pkg/generated/...", "pkg/child", "pkg/reference", "pkg/class", "pkg/render", "pkg/plan", "pkg/status", "pkg/revision",
		"pkg/consistency", "pkg/apply", "pkg/payload", "pkg/codec", "pkg/informer", "pkg/controller", "pkg/certs", "pkg/server", "pkg/admission",
		"pkg/debug/...", "pkg/apiserver", "pkg/aggregation",
	}},
}

// pure are the packages that compute and nothing else. validation counts among them, since a
// webhook and the sync must come to the same answer.
var pure = []string{"pkg/apis/...", "pkg/child", "pkg/reference", "pkg/class", "pkg/render", "pkg/plan", "pkg/status", "pkg/revision", "pkg/health", "pkg/text", "pkg/apierror", "pkg/tree", "pkg/preview"}

// TestImportsPointDownwards holds the direction of imports. Tests may import more: helpers, and
// whatever they compare with.
func TestImportsPointDownwards(t *testing.T) {
	for _, file := range sources(t, "pkg", "cmd") {
		if file.isTest() {
			continue
		}
		allowed, found := mayUse(file.dir())
		if !found {
			t.Errorf("%s: nothing is said about what %s may import: add it to layers in hack/checks/imports_test.go", file.path, file.dir())
			continue
		}
		for _, imported := range file.imports() {
			if isOurs(imported) && !within(imported, allowed) {
				t.Errorf("%s imports %s; it may import %q of this module", file.path, imported, allowed)
			}
		}
	}
}

// TestNothingImportsCommands covers tests too, and all of hack.
func TestNothingImportsCommands(t *testing.T) {
	for _, file := range sources(t, "pkg", "hack") {
		for _, imported := range file.imports() {
			if within(imported, []string{"cmd/..."}) {
				t.Errorf("%s imports %s: a command is used by running it", file.path, imported)
			}
		}
	}
}

// TestPurePackagesArePure looks at what pure packages import and call themselves. What the
// libraries below them contain cannot be helped: the apply configurations of client-go alone
// link half of its clients.
func TestPurePackagesArePure(t *testing.T) {
	for _, file := range sources(t, "pkg") {
		if file.isTest() || isTestHelper(file.dir()) || !within(file.dir(), pure) {
			continue
		}
		for _, imported := range file.imports() {
			if why := impure(imported); why != "" {
				t.Errorf("%s imports %s: %s", file.path, imported, why)
			}
		}
		for _, call := range clockUses(file) {
			t.Errorf("%s: a pure package gets the time as an argument", file.tokens.Position(call.Pos()))
		}
	}
}

// impure says what is wrong with an import, or "".
func impure(imported string) string {
	switch {
	case imported == "context":
		return "nothing here waits or is cancelled"
	case within(imported, []string{"math/rand/...", "crypto/rand"}):
		return "the same input must give the same output"
	case within(imported, []string{"k8s.io/klog/...", "log/..."}):
		return "a result says what is to be said; the caller logs"
	case within(imported, []string{"os/...", "net", "net/http/..."}):
		return "nothing is read from outside"
	case within(imported, []string{"k8s.io/client-go/..."}) && !within(imported, []string{"k8s.io/client-go/applyconfigurations/..."}):
		return "of client-go only the apply configurations are values"
	case within(imported, []string{"k8s.io/apimachinery/pkg/util/wait", "k8s.io/apimachinery/pkg/util/rand", "k8s.io/apimachinery/pkg/util/uuid", "k8s.io/utils/clock/..."}):
		return "it waits, or is random"
	default:
		return ""
	}
}

// clockUses finds the uses of functions of package time that read or wait for the clock, called
// or passed on.
func clockUses(file sourceFile) []ast.Node {
	name := importedAs(file, "time")
	if name == "" {
		return nil
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	var uses []ast.Node
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if ident, ok := selector.X.(*ast.Ident); ok && ident.Name == name && slices.Contains(clock, selector.Sel.Name) {
			uses = append(uses, selector)
		}
		return true
	})
	return append(uses, metav1Now(file)...)
}

// metav1Now finds the uses of metav1.Now, which is time.Now in other clothes.
func metav1Now(file sourceFile) []ast.Node {
	name := importedAs(file, "k8s.io/apimachinery/pkg/apis/meta/v1")
	var uses []ast.Node
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if ident, ok := selector.X.(*ast.Ident); ok && name != "" && ident.Name == name && slices.Contains([]string{"Now", "NowMicro"}, selector.Sel.Name) {
				uses = append(uses, selector)
			}
		}
		return true
	})
	return uses
}

// importedAs returns the name under which a file knows an imported package, or "".
func importedAs(file sourceFile, imported string) string {
	for i, candidate := range file.imports() {
		if candidate != imported {
			continue
		}
		if name := file.syntax.Imports[i].Name; name != nil {
			return name.Name
		}
		return path.Base(imported)
	}
	return ""
}

// TestNoFramework keeps controller-runtime and its relatives out, even as modules that nothing
// is used of: whoever reads go.sum should not have to wonder.
func TestNoFramework(t *testing.T) {
	// What the go command reads becomes an input of the test (see sources).
	sources(t, "pkg", "cmd", "hack")
	read(t, "go.mod")
	for _, args := range [][]string{{"list", "-m", "all"}, {"list", "-deps", "-test", "./..."}} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = root
		output, err := command.Output()
		if err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		for line := range strings.Lines(string(output)) {
			for _, framework := range []string{"sigs.k8s.io/controller-runtime", "sigs.k8s.io/kubebuilder", "github.com/operator-framework/"} {
				if strings.HasPrefix(line, framework) {
					t.Errorf("go %s lists %s", strings.Join(args, " "), strings.TrimSpace(line))
				}
			}
		}
	}
}

// TestControllerLinksNoEtcd keeps the storage of API servers in the aggregated API server, whose generic server links
// it although nothing is stored.
func TestControllerLinksNoEtcd(t *testing.T) {
	sources(t, "pkg", "cmd", "hack")
	read(t, "go.mod")
	for command, links := range map[string]bool{"./cmd/fairlead-controller": false, "./cmd/fairlead-apiserver": true} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", command)
		list.Dir = root
		output, err := list.Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", command, err)
		}
		if got := strings.Contains(string(output), "\ngo.etcd.io/"); got != links {
			t.Errorf("%s links etcd's client: %v, want %v", command, got, links)
		}
	}
}

// mayUse looks a package up in layers. A test helper may use what its package may, the package
// itself, and the fake clients.
func mayUse(pkg string) ([]string, bool) {
	helper := isTestHelper(pkg)
	for _, l := range layers {
		switch {
		case within(pkg, []string{l.packages}):
			return l.mayUse, true
		case helper && within(path.Dir(pkg), []string{l.packages}):
			return slices.Concat(l.mayUse, []string{path.Dir(pkg), "pkg/generated/...", "pkg/testing/..."}), true
		}
	}
	return nil, false
}

// isTestHelper recognises packages such as pkg/render/rendertest, which only tests import.
func isTestHelper(pkg string) bool {
	return path.Base(pkg) == path.Base(path.Dir(pkg))+"test"
}

func isOurs(imported string) bool {
	return within(imported, []string{"pkg/...", "cmd/...", "hack/..."})
}
