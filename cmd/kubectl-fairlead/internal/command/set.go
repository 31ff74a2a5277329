// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// set has the same form as kubectl set.
func (t *tool) set() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set", Short: "Set the image of an Application", Long: "Set a field of an Application.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usageError(cmd.CommandPath(), "%q cannot be set: use kubectl fairlead set image NAME... [CONTAINER=]IMAGE for the image, and kubectl edit or your file for other fields", args[0])
		},
	}
	cmd.AddCommand(t.setImage())
	return cmd
}

func (t *tool) setImage() *cobra.Command {
	e := &editing{
		tool: t, chosen: selection{last: "an image", names: namesBeforeImages},
		needsAll: "If one of them is meant as an image, write its tag, too, as in nginx:1.29",
	}
	cmd := &cobra.Command{
		Use:   "image NAME... [CONTAINER=]IMAGE... [flags]",
		Short: "Set the image of an Application, or of one of its other containers",
		Long: long(`
			Set the image of the application container, or of a sidecar or init container; or several of them in one edit.

			The names come first. What has a colon, an @ or a = is an image, and so is the last argument. If a name does
			not exist, no image is set.` + "\n\n" + editsNote),
		Example: examples(`
			# Another version of the application
			kubectl fairlead set image web ghcr.io/acme/web:1.3

			# Another version of its sidecar, checked by the API server and not written
			kubectl fairlead set image web proxy=ghcr.io/acme/proxy:2 --dry-run=server

			# Both in one edit
			kubectl fairlead set image web ghcr.io/acme/web:1.3 proxy=ghcr.io/acme/proxy:2

			# Another version of the sidecar of all Applications with a label
			kubectl fairlead set image -l team=shop proxy=ghcr.io/acme/proxy:2`),
		RunE: func(cmd *cobra.Command, args []string) error {
			first := namesBeforeImages(args)
			images, err := imagesOf(cmd.CommandPath(), args[first:])
			if err != nil {
				return err
			}
			return e.run(cmd, args[:first], func(_ context.Context, _ *cluster.Clients, application *v1.Application) (edit.Edit, error) {
				for _, warning := range edit.TagsAlone(application, images...) {
					fmt.Fprintln(t.ErrOut, "Warning: "+warning)
				}
				return edit.SetImages(images...), nil
			})
		},
	}
	e.addEditTo(cmd)
	return cmd
}

// namesBeforeImages is how many arguments are names: those before the first that can only be an image. The last one is always an image.
func namesBeforeImages(args []string) int {
	if first := slices.IndexFunc(args, isImage); first >= 0 {
		return first
	}
	return len(args) - 1
}

// isImage reports whether the argument cannot be the name of an Application, which has no such character.
func isImage(arg string) bool { return strings.ContainsAny(arg, ":@=") }

// imagesOf reads the images. Nothing is written if one of them makes no sense.
func imagesOf(path string, args []string) ([]edit.Image, error) {
	var images []edit.Image
	for i, arg := range args {
		if name, err := nameOf(arg); i > 0 && !isImage(arg) && err == nil {
			return nil, usageError(path, "%q follows an image: put the names first, and write the tag of an image, too, as in %s:TAG", arg, name)
		}
		container, image, found := strings.Cut(arg, "=")
		if !found {
			container, image = "", arg
		} else if container == "" {
			return nil, usageError(path, "the container before = is empty: name it, or leave out = for the application's own")
		}
		if image == "" {
			return nil, errors.New("the image is empty")
		}
		same := slices.IndexFunc(images, func(other edit.Image) bool { return other.Container == container })
		switch {
		case same >= 0 && container == "":
			return nil, usageError(path, "%s and %s are both for the application's own container: write CONTAINER= before the image of another one", images[same].Image, image)
		case same >= 0:
			return nil, usageError(path, "%s and %s are both for container %s: pass one of them", images[same].Image, image, container)
		}
		images = append(images, edit.Image{Container: container, Image: image})
	}
	return images, nil
}
