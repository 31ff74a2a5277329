// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page is the page of the live pipeline view: a few files that a browser runs as they are. Nothing builds them.
//
// The page knows only the JSON and the event stream below its own address (docs/pipeline.md). Every URL in it is
// relative, so it works behind kubectl port-forward and behind the API server's service proxy. Read the files of static
// in the order in which data flows:
//
//	stream.js    the event stream: batches, reconnects, what to do when a delta is missed
//	model.js     what is known: one state, changed by one function
//	main.js      one rendering per animation frame
//	drawing.js   the flow as a drawing; layout.js says where things are, stages.js what they are
//	page.js      the page as a whole; one file for each part of it
//
// static/lib has the libraries, byte for byte as they were published; hack/vendor-page.sh fetches them.
package page
