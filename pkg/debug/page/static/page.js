// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The page as a whole: the flow, the keys beside it, and what is selected.
import { html } from "./html.js";
import { Drawing } from "./drawing.js";
import { Filters } from "./filters.js";
import { Header } from "./header.js";
import { History, current } from "./history.js";
import { Keys } from "./keys.js";
import { Overview } from "./overview.js";
import { StagePanel } from "./stagepanel.js";
import { KeyPanel } from "./timeline.js";
import { Twin } from "./twin.js";
import { count } from "./format.js";

/** Below this the text of the drawing would have no room; then its table takes its place. */
const tooNarrow = 720;

export function Page({ state, act }) {
  const at = state.paused ? current(state) : undefined;
  const asTable = state.asTable || innerWidth < tooNarrow;
  return html`
    <a class="skip" href="#selected">Skip to the selection</a>
    <${Header} state=${state} act=${act} />
    <main>
      <section class="card flow-card" aria-label="The flow">
        ${!asTable && html`<${Drawing} state=${state} act=${act} at=${at?.stage} />`}
        <${Twin} state=${state} act=${act} visible=${asTable} />
      </section>
      <${Filters} state=${state} act=${act} />
      ${state.paused && html`<${History} state=${state} act=${act} at=${at} />`}
      <div class="columns">
        <${Keys} state=${state} act=${act} />
        <section class="card panel" id="selected" tabindex="-1" aria-label="Selection"><${Selected} state=${state} act=${act} at=${at} /></section>
      </div>
    </main>
    <footer class="muted small">
      <span id="kept">${count(state.received)} events received, the newest ${count(state.events.length)} kept.</span>
      ${state.missed > 0 && html` <span>${count(state.missed)} were dropped before they came here.</span>`}
      <span> As JSON: <a href="v1/snapshot">snapshot</a>, <a href="v1/keys">keys</a>, <a href="v1/queue">queue</a>, <a href="v1/cache">caches</a>.</span>
    </footer>`;
}

function Selected({ state, act, at }) {
  const { selected } = state;
  if (selected?.key) return html`<${KeyPanel} state=${state} act=${act} at=${at} />`;
  if (selected?.stage) return html`<${StagePanel} key=${selected.stage} state=${state} act=${act} at=${at} />`;
  return html`<${Overview} state=${state} act=${act} at=${at} />`;
}
