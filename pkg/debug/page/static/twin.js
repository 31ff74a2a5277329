// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The drawing as a table, for screen readers, for narrow screens, and for who prefers it.
import { html } from "./html.js";
import { count, duration, rate } from "./format.js";
import { select } from "./model.js";
import { stages } from "./stages.js";

/** Only a visible table has buttons: nobody should tab into what cannot be seen. */
export function Twin({ state, act, visible }) {
  return html`<div class=${visible ? "twin" : "twin unseen"}><table>
    <caption class="unseen">The pipeline: rates and contents of each stage, in the order of the flow. The outcome leads back to the queue.</caption>
    <thead><tr>
      <th scope="col">Stage</th><th scope="col" class="number">Contents</th><th scope="col" class="number">Per second</th>
      <th scope="col" class="number">Since start</th><th scope="col" class="number">Median</th><th scope="col" class="number">p99</th>
    </tr></thead>
    <tbody>${stages.map(({ id, title, unit, depth }) => {
    const stage = state.stages.get(id);
    return html`<tr key=${id} class=${state.selected?.stage === id ? "selected" : ""}>
        <th scope="row">${visible ? html`<button class="link" onClick=${() => act(select, { stage: id })}>${title}</button>` : title}</th>
        <td class="number">${stage?.depth === undefined ? "" : `${count(stage.depth)}${stage.limit === undefined ? "" : ` of ${count(stage.limit)}`} ${depth ?? ""}`}</td>
        <td class="number">${rate(stage?.rate)}</td>
        <td class="number">${count(stage?.total)} ${unit}</td>
        <td class="number">${stage?.latency ? duration(stage.latency.median) : ""}</td>
        <td class="number">${stage?.latency ? duration(stage.latency.p99) : ""}</td>
      </tr>`;
  })}</tbody>
  </table>
  <p class="muted small">Ready ${count(state.queue.ready)}, worked on ${count(state.queue.processing)}, of these queued again ${count(state.queue.dirty)}, coming back later ${count(state.queue.delayed)}.</p></div>`;
}
