// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What the page shows, as a file. The same types as in docs/pipeline.md.
import { shownEvents } from "./filter.js";
import { nameOf } from "./format.js";

export function exported(state) {
  const { instance, started, time, working, sequence, resources, queue, failing, filter, selected } = state;
  return {
    version: "v1", instance, started, time, working, sequence, stages: [...state.stages.values()], resources, queue, failing,
    filter, selected, events: shownEvents(state), contents: state.fetched.data,
  };
}

export function download(state) {
  const text = JSON.stringify(exported(state), null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
  const what = state.selected?.key ? nameOf(state.selected.key).replace("/", "-") : state.selected?.stage ?? "all";
  link.download = `fairlead-pipeline-${what}-${state.time.replace(/[:.]/g, "").slice(0, 17)}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
