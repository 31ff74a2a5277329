// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Read reads files, the YAML and JSON files of directories, and standard input for "-". It keeps the objects of Fairlead's
// API, and Namespaces; files may have others too. With recursive, it reads the directories in directories, too, as kubectl does with -R.
func Read(stdin io.Reader, recursive bool, paths ...string) ([]*Document, error) {
	var documents []*Document
	for _, path := range paths {
		files, err := expand(path, recursive)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := readFile(stdin, file)
			if err != nil {
				return nil, err
			}
			documents = append(documents, parse(file, content)...)
		}
	}
	return documents, nil
}

func readFile(stdin io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(file) //nolint:gosec // The user names it.
}

// expand lists the files of a directory, in the order of their names.
func expand(path string, recursive bool) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil && (strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")) {
		return nil, fmt.Errorf("%s is not read, because -f takes files and directories: download it, or pipe it to -f -, as in curl -L %[1]s", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		switch {
		case entry.IsDir() && recursive:
			found, err := expand(below, recursive)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		case !entry.IsDir() && isManifest(below):
			files = append(files, below)
		}
	}
	return files, nil
}

func isManifest(file string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file))
}

// Unread lists the directories in the given ones that Read leaves out unless it is recursive, and that have files for it. Hidden ones are
// not meant: they belong to tools. What cannot be read is not listed.
func Unread(paths ...string) []string {
	var unread []string
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			continue // It is no directory.
		}
		for _, entry := range entries {
			below := filepath.Join(path, entry.Name())
			isGiven := slices.ContainsFunc(paths, func(given string) bool { return filepath.Clean(given) == below })
			if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && !isGiven && !slices.Contains(unread, below) && hasManifest(below) {
				unread = append(unread, below)
			}
		}
	}
	return unread
}

func hasManifest(directory string) (has bool) {
	_ = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && isManifest(path) {
			has = true
			return fs.SkipAll
		}
		return nil
	})
	return has
}
