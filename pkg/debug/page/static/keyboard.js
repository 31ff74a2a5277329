// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Shortcuts. Tab reaches everything too.
import { jump, select, step, togglePause } from "./model.js";
import { shownEvents } from "./filter.js";

export const help = [
  ["Space", "pause, resume"],
  ["← →", "step through history"],
  ["Home End", "oldest, newest event"],
  ["/", "filter by key"],
  ["Esc", "back to the overview"],
];

export function shortcuts(event, state, act) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  const control = event.target.closest?.("button, a, summary, [role=button]");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing) return;
  const does = {
    " ": control ? undefined : () => act(togglePause),
    ArrowLeft: () => act(step, shownEvents(state), -1),
    ArrowRight: () => act(step, shownEvents(state), 1),
    Home: state.paused ? () => act(jump, shownEvents(state)[0]?.sequence ?? 0) : undefined,
    End: state.paused ? () => act(jump, shownEvents(state).at(-1)?.sequence ?? 0) : undefined,
    "/": () => document.getElementById("filter-text")?.focus(),
    Escape: () => act(select, null),
  }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}
