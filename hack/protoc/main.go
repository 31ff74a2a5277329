// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command protoc is as much of protoc as go-to-protobuf needs, compiled from Go modules as everything else here: it reads one
// .proto file with its imports, and has protoc-gen-gogo make Go code of it.
//
//	protoc -I DIRECTORY... --gogo_out=DIRECTORY FILE
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "protoc:", err)
		os.Exit(1)
	}
}

// command is a parsed command line.
type command struct {
	imports   []string
	out, file string
}

func parse(args []string) (command, error) {
	var c command
	for i := 0; i < len(args); i++ {
		switch out, isOut := strings.CutPrefix(args[i], "--gogo_out="); {
		case isOut:
			c.out = out
		case args[i] == "-I" && i+1 < len(args):
			i++
			c.imports = append(c.imports, args[i])
		case c.file == "" && !strings.HasPrefix(args[i], "-"):
			c.file = args[i]
		default:
			return c, fmt.Errorf("cannot handle the argument %q", args[i])
		}
	}
	if c.out == "" || c.file == "" {
		return c, errors.New("usage: protoc -I DIRECTORY... --gogo_out=DIRECTORY FILE")
	}
	return c, nil
}

func run(ctx context.Context, args []string) error {
	c, err := parse(args)
	if err != nil {
		return err
	}
	name, err := c.importName()
	if err != nil {
		return err
	}
	request, err := c.request(ctx, name)
	if err != nil {
		return err
	}
	response, err := generate(ctx, request)
	if err != nil {
		return err
	}
	for _, file := range response.GetFile() {
		if err := os.WriteFile(filepath.Join(c.out, file.GetName()), []byte(file.GetContent()), 0o644); err != nil { //nolint:gosec // Source code, for everyone.
			return err
		}
	}
	return nil
}

// importName is the name by which other files would import the file: its path in the closest of the directories.
func (c command) importName() (string, error) {
	closest := ""
	for _, directory := range c.imports {
		relative, err := filepath.Rel(directory, c.file)
		if err == nil && !strings.HasPrefix(relative, "..") && (closest == "" || len(relative) < len(closest)) {
			closest = relative
		}
	}
	if closest == "" {
		return "", fmt.Errorf("%s is in none of %v", c.file, c.imports)
	}
	return filepath.ToSlash(closest), nil
}

// request compiles the file. The plugin wants every imported file in front of what imports it.
func (c command) request(ctx context.Context, name string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: c.imports}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", name, err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{name}}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protodesc.ToFileDescriptorProto(file))
	}
	add(files[0])
	return request, nil
}

// generate runs the plugin, which go-to-protobuf expects in PATH as protoc does.
func generate(ctx context.Context, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	encoded, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	plugin := exec.CommandContext(ctx, "protoc-gen-gogo")
	plugin.Stdin, plugin.Stderr = bytes.NewReader(encoded), os.Stderr
	answer, err := plugin.Output()
	if err != nil {
		return nil, fmt.Errorf("run protoc-gen-gogo: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(answer, response); err != nil {
		return nil, fmt.Errorf("read the answer of protoc-gen-gogo: %w", err)
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}
