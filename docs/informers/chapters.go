// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	listandwatch "fairlead.dev/fairlead/docs/informers/01-list-and-watch"
	typetourl "fairlead.dev/fairlead/docs/informers/02-type-to-url"
	reflector "fairlead.dev/fairlead/docs/informers/03-reflector"
	fifo "fairlead.dev/fairlead/docs/informers/04-fifo"
	indexer "fairlead.dev/fairlead/docs/informers/05-indexer"
	sharedinformer "fairlead.dev/fairlead/docs/informers/06-shared-informer"
	lister "fairlead.dev/fairlead/docs/informers/07-lister"
	workqueue "fairlead.dev/fairlead/docs/informers/08-workqueue"
	worker "fairlead.dev/fairlead/docs/informers/09-worker"
	concurrency "fairlead.dev/fairlead/docs/informers/10-concurrency"
	ownwrites "fairlead.dev/fairlead/docs/informers/11-own-writes"
	leaderelection "fairlead.dev/fairlead/docs/informers/12-leader-election"
	crd "fairlead.dev/fairlead/docs/informers/13-crd"
	fourways "fairlead.dev/fairlead/docs/informers/14-four-ways"
	repair "fairlead.dev/fairlead/docs/informers/15-repair"
	apiserver "fairlead.dev/fairlead/docs/informers/16-api-server"
	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// chapter is a chapter with its labs.
type chapter struct {
	// directory begins with the number, in two digits.
	directory string
	// labs run one after the other. The chapter shows the output of each in a block of its own.
	labs []lab.Func
}

func (c chapter) number() string { return c.directory[:2] }

// chapters are all of them, in order.
func chapters() []chapter {
	return []chapter{
		{"01-list-and-watch", labs(listandwatch.Lab, listandwatch.Versions)},
		{"02-type-to-url", labs(typetourl.Lab)},
		{"03-reflector", labs(reflector.Lab)},
		{"04-fifo", labs(fifo.Lab)},
		{"05-indexer", labs(indexer.Lab)},
		{"06-shared-informer", labs(sharedinformer.Lab, sharedinformer.SlowHandler, sharedinformer.Relist)},
		{"07-lister", labs(lister.Lab)},
		{"08-workqueue", labs(workqueue.Lab)},
		{"09-worker", labs(worker.Lab)},
		{"10-concurrency", labs(concurrency.Lab)},
		{"11-own-writes", labs(ownwrites.Lab)},
		{"12-leader-election", labs(leaderelection.Lab)},
		{"13-crd", labs(crd.Lab)},
		{"14-four-ways", labs(fourways.Lab)},
		{"15-repair", labs(repair.Lab)},
		{"16-api-server", labs(apiserver.Lab, apiserver.Costs)},
	}
}

func labs(all ...lab.Func) []lab.Func { return all }

// parts are what labs run in a process of their own.
func parts() map[string]func(ctx context.Context, output io.Writer) error {
	return map[string]func(ctx context.Context, output io.Writer) error{
		lister.PartCorrupt: lister.Corrupt,
	}
}
