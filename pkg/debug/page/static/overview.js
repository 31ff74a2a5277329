// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The page while nothing is selected: rates and the latest events.
import { html } from "./html.js";
import { Chart } from "./chart.js";
import { EventList } from "./eventlist.js";
import { shownEvents } from "./filter.js";

export function Overview({ state, act, at }) {
  return html`
    <p class="lead">A change enters from the API server on the left, passes along the upper row into the queue, and returns along the lower row through a sync, which
      writes what differs. Select a stage to see its contents, or a key to follow it.</p>
    <h2>Rates per second</h2>
    <${Chart} label="Watch events, syncs and writes per second over the last minutes" samples=${state.samples} theme=${document.documentElement.dataset.theme}
      series=${[
    { name: "watch events", color: "--accent", value: (sample) => sample.stages.watch?.rate },
    { name: "syncs", color: "--good", value: (sample) => sample.stages.outcome?.rate },
    { name: "writes", color: "--other", value: (sample) => sample.stages.apply?.rate },
  ]} />
    <h2>Latest events</h2>
    <${EventList} events=${shownEvents(state)} act=${act} at=${at} withKey=${true} />`;
}
