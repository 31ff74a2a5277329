// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/pkg/render"
)

// A resync renders every Application, so it pays this ten thousand times for nothing.
func BenchmarkChildren(b *testing.B) {
	for _, name := range []string{"smallest", "web", "everything"} {
		b.Run(name, func(b *testing.B) {
			app := goldenApplication(b, filepath.Join(goldenDirectory, name+".in.yaml"))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := render.Children(app, render.Facts{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
