// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The informers: what each watch has brought, and how it goes.
import { html } from "./html.js";
import { bytes, count, distance } from "./format.js";

const tones = { Watching: "good", Broken: "bad", Listing: "warn" };

export function Informers({ state }) {
  const { filter } = state;
  const shown = state.resources.filter((resource) => (!filter.resource || resource.resource === filter.resource) && (!filter.namespace || !resource.namespace || resource.namespace === filter.namespace));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Informers"><table>
    <thead><tr><th scope="col">Resource</th><th scope="col">State</th><th scope="col" class="number">Objects</th><th scope="col" class="number">In the FIFO</th>
      <th scope="col" class="number">Events</th><th scope="col" class="number">Bookmarks</th><th scope="col" class="number">Lists, watches</th><th scope="col" class="number">410s</th>
      <th scope="col" class="number">Read</th><th scope="col">Last event</th></tr></thead>
    <tbody>${shown.map((one) => html`<tr key=${`${one.resource} ${one.role} ${one.namespace}`}>
      <th scope="row"><span class="ink">${one.resource}</span> <span class="muted">${one.role}${one.namespace ? ` in ${one.namespace}` : ""}</span></th>
      <td><span class="badge ${tones[one.state] ?? ""}">${one.state}</span>${one.error && html`<span class="error">${one.error}</span>`}</td>
      <td class="number">${count(one.objects)}</td><td class="number">${count(one.fifo)}</td><td class="number">${count(one.events)}</td>
      <td class="number">${count(one.bookmarks)}</td><td class="number" title="${count(one.streaming)} of the watches began with the whole state">${count(one.lists)}, ${count(one.watches)}</td>
      <td class="number">${count(one.expired)}</td><td class="number">${bytes(one.bytes)}</td><td>${one.lastEvent ? distance(one.lastEvent, state.time) : ""}</td>
    </tr>`)}</tbody>
  </table></div>`;
}
