// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeInstallation writes artifacts/install.yaml with the images of the release instead of the development ones.
func writeInstallation(_ context.Context, r *release) error {
	content, err := os.ReadFile(filepath.Join(r.root, "artifacts", "install.yaml"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(content),
		"#   kubectl apply --server-side -f artifacts/install.yaml\n#\n# after the image of the Deployment is where your nodes find it; see docs/operations.md.\n",
		"#   kubectl apply --server-side -f install.yaml\n", 1)
	for _, i := range r.images {
		text = strings.ReplaceAll(text, "image: localhost/"+i.command+":"+developmentTag+"\n", "image: "+r.reference(i)+"\n")
	}
	if strings.Contains(text, "image: localhost/") {
		return fmt.Errorf("artifacts/install.yaml names an image that is not part of the release")
	}
	return r.write("install.yaml", []byte(text))
}
