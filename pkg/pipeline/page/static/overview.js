// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What is shown while nothing is selected: how much moves, and what happened last.
import { html } from "./html.js";
import { Chart } from "./chart.js";
import { EventList } from "./eventlist.js";
import { shownEvents } from "./filter.js";

export function Overview({ state, act, at }) {
  return html`
    <p class="lead">A change comes out of the API server on the left, goes along the upper row into the queue, and back through a sync that
      writes what is missing. Choose a stage to see what is in it, or a key to follow it.</p>
    <h2>Moving per second</h2>
    <${Chart} label="Watch events, syncs and writes per second over the last minutes" samples=${state.samples} theme=${document.documentElement.dataset.theme}
      series=${[
    { name: "watch events", color: "--accent", value: (sample) => sample.stages.watch?.rate },
    { name: "syncs", color: "--good", value: (sample) => sample.stages.outcome?.rate },
    { name: "writes", color: "--other", value: (sample) => sample.stages.apply?.rate },
  ]} />
    <h2>What happened last</h2>
    <${EventList} events=${shownEvents(state)} act=${act} at=${at} withKey=${true} />`;
}
