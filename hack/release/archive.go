// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// workDirectory is inside of dist while the release is made, and deleted with the checksums.
const workDirectory = ".work"

// archive is a binary with its license, as users download it.
type archive struct {
	binary
	name string
}

// entry is a file of an archive.
type entry struct {
	name    string
	content []byte
	mode    int64
}

func writeArchives(_ context.Context, r *release) error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	for _, b := range r.binaries {
		program, err := os.ReadFile(b.file)
		if err != nil {
			return err
		}
		entries := []entry{{"LICENSE", license, 0o644}, {filepath.Base(b.file), program, 0o755}}
		if b.os != "windows" {
			completion, err := r.completion(b.command)
			if err != nil {
				return err
			}
			entries = append(entries, completion...)
		}
		name, pack := fmt.Sprintf("%s_%s_%s", b.command, r.version, b.platform()), tarGzip
		if b.os == "windows" {
			name, pack = name+".zip", zipped
		} else {
			name += ".tar.gz"
		}
		content, err := pack(entries, r.commit.time)
		if err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
		if err := r.write(name, content); err != nil {
			return err
		}
		r.archives = append(r.archives, archive{binary: b, name: name})
	}
	return nil
}

// completion is the script beside a plugin that kubectl runs to complete its arguments.
func (r *release) completion(command string) ([]entry, error) {
	files, err := filepath.Glob(filepath.Join(r.root, "cmd", command, "kubectl_complete-*"))
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(files))
	for i, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		entries[i] = entry{filepath.Base(file), script, 0o755}
	}
	return entries, nil
}

// tarred is an archive without owners and with one time, so that it depends on the entries alone.
func tarred(w io.Writer, entries []entry, modified time.Time) error {
	writer := tar.NewWriter(w)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.content)), Mode: e.mode, ModTime: modified, Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		if _, err := writer.Write(e.content); err != nil {
			return err
		}
	}
	return writer.Close()
}

func tarGzip(entries []entry, modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	err = errors.Join(tarred(compressor, entries, modified), compressor.Close())
	return packed.Bytes(), err
}

func zipped(entries []entry, modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(os.FileMode(e.mode))
		file, err := writer.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return packed.Bytes(), err
}
