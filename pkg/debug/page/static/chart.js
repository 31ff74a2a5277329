// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Numbers over the last minutes, drawn by uPlot. The names below it say the newest values in words.
import uPlot from "./lib/uPlot.esm.js";
import { Component, html } from "./html.js";
import { clock, rate } from "./format.js";

const height = 130;
/** How far back the axis goes, even while there is less to show: a line that gets ever longer would look like news. */
const seconds = 120;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart extends Component {
  constructor() {
    super();
    this.attach = (element) => { this.element = element; };
  }

  shouldComponentUpdate(next) {
    return next.samples.at(-1) !== this.last || next.theme !== this.drawnTheme || next.series.length !== this.props.series.length;
  }

  componentDidMount() {
    this.make();
    this.observer = new ResizeObserver(() => {
      const width = this.element.clientWidth;
      if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height });
    });
    this.observer.observe(this.element);
  }

  componentDidUpdate() {
    if (this.props.theme !== this.drawnTheme) {
      this.plot.destroy();
      this.make();
      return;
    }
    this.plot.setData(this.data());
  }

  componentWillUnmount() {
    this.observer.disconnect();
    this.plot.destroy();
  }

  data() {
    const { samples, series } = this.props;
    this.last = samples.at(-1);
    return [samples.map(({ at }) => at), ...series.map(({ value }) => samples.map((sample) => value(sample) ?? null))];
  }

  make() {
    this.drawnTheme = this.props.theme;
    const axis = { stroke: style("--muted"), grid: { stroke: style("--line"), width: 1 }, ticks: { show: false }, font: `11px ${style("--sans")}` };
    this.plot = new uPlot({
      width: this.element.clientWidth || 600,
      height,
      padding: [8, 24, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { range: (_, __, newest) => [newest - seconds, newest] }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.15)] } },
      axes: [{ ...axis, size: 24, grid: { show: false }, space: 90, values: (_, times) => times.map((time) => clock(time * 1000, false)) }, { ...axis, size: 40, space: 34 }],
      series: [{}, ...this.props.series.map(({ name, color }) => ({ label: name, stroke: style(color), width: 1.5, points: { show: false } }))],
    }, this.data(), this.element);
  }

  render({ label, samples, series, unit = "/s", format = rate }) {
    const newest = samples.at(-1);
    return html`<figure class="chart">
      <div ref=${this.attach} role="img" aria-label=${label}></div>
      <figcaption>${series.map(({ name, color, value }) => html`<span class="legend"><span class="swatch ${color.slice(2)}" aria-hidden="true"></span>${name}
        <strong class="number">${newest ? format(value(newest)) : "–"}${unit}</strong></span>`)}</figcaption>
    </figure>`;
  }
}
