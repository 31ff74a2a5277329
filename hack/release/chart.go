// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	chartDirectory = "artifacts/chart/fairlead"
	// developmentTag is the tag of the images that the manifests in the repository name.
	developmentTag = "dev"
)

// writeChart packages the chart, with the version and the image of the release. `helm package` would put the time of the
// build in.
func writeChart(_ context.Context, r *release) error {
	var entries []entry
	err := walkFollowing(filepath.Join(r.root, filepath.FromSlash(chartDirectory)), "fairlead", func(name, file string) error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		switch name {
		case "fairlead/Chart.yaml":
			content, err = replaceAll(content, "version: 0.0.0-dev", "version: "+strings.TrimPrefix(r.version, "v"), "appVersion: v0.0.0-dev", "appVersion: "+r.version)
		case "fairlead/values.yaml":
			content, err = r.chartValues(content)
		}
		entries = append(entries, entry{name, content, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	packed, err := tarGzip(entries, r.commit.time)
	if err != nil {
		return err
	}
	return r.write("fairlead-"+strings.TrimPrefix(r.version, "v")+".tgz", packed)
}

func (r *release) chartValues(content []byte) ([]byte, error) {
	for _, i := range r.images {
		if i.command == imageCommand {
			return replaceAll(content,
				"repository: localhost/"+i.command, "repository: "+r.registry+"/"+i.command,
				"tag: "+developmentTag, "tag: "+r.version,
				`digest: ""`, `digest: "`+i.digest.String()+`"`)
		}
	}
	return nil, fmt.Errorf("there is no image %s", imageCommand)
}

// replaceAll replaces texts, each of which must be there once: else the release would silently name what it does not have.
func replaceAll(content []byte, oldNew ...string) ([]byte, error) {
	text := string(content)
	for i := 0; i < len(oldNew); i += 2 {
		// A line of its own, or the value would be a part of another one.
		if count := strings.Count(text, oldNew[i]+"\n"); count != 1 {
			return nil, fmt.Errorf("%q is there %d times, want once", oldNew[i], count)
		}
		text = strings.Replace(text, oldNew[i]+"\n", oldNew[i+1]+"\n", 1)
	}
	return []byte(text), nil
}

// walkFollowing visits files in the order of their names. It follows symbolic links, since the chart has CRDs and dashboard
// of other directories.
func walkFollowing(directory, name string, visit func(name, file string) error) error {
	children, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, child := range children {
		file, childName := filepath.Join(directory, child.Name()), path.Join(name, child.Name())
		info, err := os.Stat(file)
		switch {
		case err != nil:
		case info.IsDir():
			err = walkFollowing(file, childName, visit)
		case info.Mode().Type() == fs.FileMode(0):
			err = visit(childName, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
